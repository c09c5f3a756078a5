#pragma once

#include <shove/error.hpp>

#include <mutex>
#include <string>
#include <string_view>

#include "output.hpp"

namespace shove::cli {

enum class colour : unsigned char { none, red, yellow, green, dim, bold };

/// What people (or scripts, with `--json`) read: results on stdout, all else on stderr.
/// @par Thread safety  Safe, except for `speak_json`.
class console {
public:
    console();

    /// From now on errors and notes are JSON lines.
    void speak_json(bool on) noexcept { json_ = on; }
    bool json() const noexcept { return json_; }
    void be_quiet(bool on) noexcept { quiet_ = on; }

    output& out() noexcept { return out_; }
    bool out_is_terminal() const noexcept { return out_terminal_; }
    /// Text in a colour, on a terminal that wants colours (see NO_COLOR); else the text alone.
    std::string painted(std::string_view text, colour c) const;

    void error(std::string_view code, std::string_view text);
    void warning(std::string_view text);
    /// Something good to know; not with `--quiet`.
    void note(std::string_view text);
    /// Bytes for stderr as they are.
    void raw_error(std::string_view bytes);

    /// Shows a line that the next one replaces; on a terminal only. Empty: takes it away.
    void progress(std::string_view text);
    bool shows_progress() const noexcept { return error_terminal_ && !json_ && !quiet_; }

private:
    void say(std::string_view kind, colour c, std::string_view code, std::string_view text);
    void erase_progress();

    output out_{1};
    output error_{2};
    const bool out_terminal_;
    const bool error_terminal_;
    bool out_colours_ = false;
    bool error_colours_ = false;
    bool json_ = false;
    bool quiet_ = false;
    std::mutex mutex_;
    bool progress_shown_ = false;
};

}  // namespace shove::cli
