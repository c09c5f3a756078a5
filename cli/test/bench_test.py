"""bench: what its line says of a sequenced run, and mistakes."""

import json
import unittest

from shove_case import ShoveCase

SEQUENCED = ["bench", "--mode", "sequenced", "--messages", "3000"]


class Bench(ShoveCase):
    def measure(self, *flags):
        return json.loads(self.run_shove(*SEQUENCED, "--json", *flags).stdout)

    def test_order_is_kept_and_told_of(self):
        for url in ("memory:", "sqlite:bench.db?durability=normal"):
            for flags, shards, keys in [((), 8, 64), (("--shards", "1", "--keys", "3", "--concurrent"), 1, 3),
                                        (("--keys", "1000000"), 8, 1_000_000), (("--keys", "2", "--publishers", "4"), 8, 2)]:
                found = self.measure("--url", url, *flags)
                self.assertEqual((found["mode"], found["shards"], found["keys"]), ("sequenced", shards, keys))
                self.assertEqual((found["handled"], found["misordered"], found["duplicates"]), (3000, 0, 0), flags)
                self.assertTrue(found["complete"])
        self.assertEqual([path.name for path in self.folder.iterdir()], [], "the measured file stayed")

    def test_other_modes_have_no_keys(self):
        found = json.loads(self.run_shove("bench", "--url", "memory:", "--messages", "100", "--json").stdout)
        self.assertEqual((found["shards"], found["keys"], found["misordered"]), (None, None, None))

    def test_people_are_told_of_the_order(self):
        text = self.run_shove(*SEQUENCED, "--url", "memory:", "--shards", "2").stdout.decode()
        self.assertIn("2 shard(s), 64 key(s)", text)
        self.assertIn("out of order 0", text)

    def test_mistakes_name_flag_value_and_remedy(self):
        for flags, words in [(["--keys", "0"], ["--keys", "0", "1 to"]), (["--shards", "70000"], ["--shards", "70000", "65535"]),
                             (["--messages", "0"], ["--messages", "'0'", "above zero"]),
                             (["--keys", "5", "--mode", "consume"], ["--keys 5", "--mode sequenced"]),
                             (["--shards", "5", "--mode", "publish"], ["--shards 5", "--mode sequenced"]),
                             (["--consumers", "3"], ["--consumers 3", "--shards"]), (["--mode", "order"], ["--mode", "order"])]:
            arguments = ["bench", "--url", "memory:", *([] if "--mode" in flags else ["--mode", "sequenced"]), *flags]
            told = self.run_shove(*arguments, code=2).stderr.decode()
            for word in words:
                self.assertIn(word, told, flags)


if __name__ == "__main__":
    unittest.main()
