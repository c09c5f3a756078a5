"""The examples of docs/guide/command.md, in their order, as they stand."""

import pathlib
import re
import subprocess
import unittest

from shove_case import BINARY, PATIENCE, ShoveCase

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide" / "command.md"


class Guide(ShoveCase):
    def test_every_example_works_when_pasted(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "shove").symlink_to(BINARY)
        self.environment["PATH"] = f"{self.folder / 'bin'}:{self.environment['PATH']}"
        blocks = re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(), re.S | re.M)
        self.assertGreater(len(blocks), 5)
        for block in blocks:
            done = subprocess.run(["bash", "-euc", block], cwd=self.folder, env=self.environment, capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, 0, f"{block}\n{done.stderr.decode()}")


if __name__ == "__main__":
    unittest.main()
