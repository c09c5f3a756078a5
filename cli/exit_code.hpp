#pragma once

namespace shove::cli {

/// What the command ends with. Documented in docs/guide/command.md; scripts depend on it.
enum class exit_code : int {
    ok = 0,
    failure = 1,  ///< Something that was asked for did not happen; the text on stderr says what.
    usage = 2,    ///< The command line or the topology file is wrong; nothing was done.
    timeout = 3,  ///< A drain did not end in time, or fewer than `--count` messages came.
};

}  // namespace shove::cli
