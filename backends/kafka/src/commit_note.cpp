#include "commit_note.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace shove::kafka_backend {

namespace {

// The broker keeps metadata as a text in UTF-8, so a note is one: `shove1`, then fields, each a letter and numbers
// to the base of 36. Offsets are told as distances from the committed one.
constexpr std::string_view version = "shove1";
constexpr int base = 36;
constexpr char end_of_number = ',';

class writer {
public:
    void field(char letter) {
        text += ';';
        text += letter;
    }
    void number(std::int64_t value) {
        std::array<char, 16> room{};
        const auto end = std::to_chars(room.data(), room.data() + room.size(), value, base).ptr;
        text.append(room.data(), end);
        text += end_of_number;
    }
    /// A text of any bytes: its length stands before it.
    void bytes(std::string_view value) {
        number(static_cast<std::int64_t>(value.size()));
        text += value;
    }
    std::string text{version};
};

class reader {
public:
    explicit reader(std::string_view text) : rest_(text) {}
    bool good() const noexcept { return good_; }
    bool at_end() const noexcept { return rest_.empty(); }
    char field() {
        if (rest_.size() < 2 || rest_[0] != ';') return fail();
        const char letter = rest_[1];
        rest_.remove_prefix(2);
        return letter;
    }
    bool more() const noexcept { return good_ && !rest_.empty() && rest_[0] != ';'; }
    std::int64_t number() {
        std::int64_t value = 0;
        const auto* end = rest_.data() + rest_.size();
        const auto [at, bad] = std::from_chars(rest_.data(), end, value, base);
        if (bad != std::errc() || at == end || *at != end_of_number) return fail();
        rest_.remove_prefix(static_cast<std::size_t>(at - rest_.data()) + 1);
        return value;
    }
    std::string bytes() {
        const auto size = number();
        if (!good_ || size < 0 || static_cast<std::size_t>(size) > rest_.size()) return fail(), std::string();
        std::string value(rest_.substr(0, static_cast<std::size_t>(size)));
        rest_.remove_prefix(value.size());
        return value;
    }

private:
    char fail() {
        good_ = false;
        rest_ = {};
        return 0;
    }
    std::string_view rest_;
    bool good_ = true;
};

std::int64_t in_ms(wall_time when) {
    return std::chrono::floor<milliseconds>(when).time_since_epoch().count();
}

wall_time from_ms(std::int64_t when) {
    return wall_time(milliseconds(when));
}

/// How much of the story of its errors goes along.
enum class story { whole, short_texts, none };
constexpr std::size_t short_text = 60;

std::string_view cut(const std::string& text, story how) {
    if (how == story::whole) return text;
    std::string_view shown(text);
    std::size_t size = std::min(shown.size(), short_text);
    while (size > 0 && size < shown.size() && (static_cast<unsigned char>(shown[size]) & 0xC0U) == 0x80U)
        --size;
    return shown.substr(0, size);
}

void write_kept(writer& to, std::int64_t offset, const kept_record& one, story how) {
    to.field('k');
    to.number(offset);
    to.number(in_ms(one.not_before));
    to.number(one.past.retries);
    to.number(one.past.crashes);
    const bool told = !one.past.first_error.empty() || one.past.first_failed_at != wall_time{};
    if (how == story::none || !told) return;
    to.number(in_ms(one.past.first_failed_at));
    to.number(in_ms(one.past.last_failed_at) - in_ms(one.past.first_failed_at));
    to.bytes(cut(one.past.first_error, how));
    const bool same = one.past.last_error == one.past.first_error;
    to.bytes(same ? std::string_view() : cut(one.past.last_error, how));
}

std::pair<std::int64_t, kept_record> read_kept(reader& from) {
    const auto offset = from.number();
    kept_record made;
    made.not_before = from_ms(from.number());
    made.past.retries = static_cast<std::uint32_t>(from.number());
    made.past.crashes = static_cast<std::uint32_t>(from.number());
    if (!from.more()) return {offset, std::move(made)};
    const auto first = from.number();
    made.past.first_failed_at = from_ms(first);
    made.past.last_failed_at = from_ms(first + from.number());
    made.past.first_error = from.bytes();
    made.past.last_error = from.bytes();
    if (made.past.last_error.empty()) made.past.last_error = made.past.first_error;
    return {offset, std::move(made)};
}

}  // namespace

bool operator==(const kept_record& a, const kept_record& b) {
    return a.not_before == b.not_before && a.past.retries == b.past.retries && a.past.crashes == b.past.crashes &&
           a.past.first_error == b.past.first_error && a.past.last_error == b.past.last_error &&
           a.past.first_failed_at == b.past.first_failed_at && a.past.last_failed_at == b.past.last_failed_at;
}

std::optional<std::string> commit_note::write(std::int64_t position) const {
    writer head;
    const auto told = [&](char letter, std::int64_t value) {
        head.field(letter);
        head.number(value);
    };
    told('f', static_cast<std::int64_t>(fence));
    if (clean) told('c', 1);
    if (reach > position) told('r', reach - position);
    if (suspect_until > position) told('u', suspect_until - position);
    if (handled_until > position) told('h', handled_until - position);
    if (alone) told('a', *alone - position);
    for (const auto how : {story::whole, story::short_texts, story::none}) {
        auto out = head;
        for (const auto& [offset, one] : kept)
            write_kept(out, offset - position, one, how);
        if (out.text.size() > most_bytes) continue;
        auto last = position;
        if (!settled.empty()) out.field('s');
        for (const auto& run : settled) {
            const auto fits = out.text.size();
            out.number(run.first - last);
            out.number(run.count);
            last = run.end();
            if (out.text.size() <= most_bytes) continue;
            out.text.resize(fits);
            break;
        }
        if (how != story::none && out.text.size() + 64 > most_bytes && !settled.empty()) continue;
        if (out.text.size() <= most_bytes) return std::move(out.text);
    }
    return std::nullopt;
}

std::optional<commit_note> commit_note::read(std::string_view text, std::int64_t position) {
    if (!text.starts_with(version)) return std::nullopt;
    reader from(text.substr(version.size()));
    commit_note made;
    made.reach = made.suspect_until = made.handled_until = position;
    while (from.good() && !from.at_end()) {
        switch (from.field()) {
            case 'f':
                made.fence = static_cast<std::uint64_t>(from.number());
                break;
            case 'c':
                made.clean = from.number() == 1;
                break;
            case 'r':
                made.reach = position + from.number();
                break;
            case 'u':
                made.suspect_until = position + from.number();
                break;
            case 'h':
                made.handled_until = position + from.number();
                break;
            case 'a':
                made.alone = position + from.number();
                break;
            case 'k': {
                auto [offset, one] = read_kept(from);
                made.kept.emplace(position + offset, std::move(one));
                break;
            }
            case 's':
                for (auto last = position; from.more();) {
                    const auto first = last + from.number();
                    const auto count = from.number();
                    if (!from.good() || count <= 0 || first < last) return std::nullopt;
                    made.settled.push_back({first, count});
                    last = first + count;
                }
                break;
            default:  // of a later version
                while (from.more())
                    (void)from.number();
        }
    }
    if (!from.good()) return std::nullopt;
    return made;
}

takeover take_over(std::optional<commit_note> last, std::int64_t position) {
    takeover made;
    if (!last) {
        made.mine.fence = 1;
        made.mine.reach = made.mine.suspect_until = made.mine.handled_until = position;
        return made;
    }
    made.mine = std::move(*last);
    auto& note = made.mine;
    ++note.fence;
    made.unclean = !note.clean;
    const auto alone = std::exchange(note.alone, std::nullopt);
    if (made.unclean) {
        note.handled_until = std::max(note.handled_until, note.reach);
        if (alone) {  // that death was its own
            auto& one = note.kept[*alone];
            one.past.crashes = std::max<std::uint32_t>(one.past.crashes, *alone < note.suspect_until ? 1 : 0) + 1;
        } else {
            note.suspect_until = std::max(note.suspect_until, note.reach);
        }
    }
    note.clean = false;
    return made;
}

}  // namespace shove::kafka_backend
