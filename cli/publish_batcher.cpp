#include "publish_batcher.hpp"

#include <shove/detail/json_text.hpp>

#include <algorithm>

#include "failure.hpp"

namespace shove::cli {
namespace {

constexpr std::size_t batch_bytes = std::size_t{8} << 20;
constexpr unsigned most_told = 10;

/// Headers that only shove may set tell of an earlier life: a new publish cannot bring them.
bool drop_reserved(headers& from) {
    const bool any = std::ranges::any_of(from.view(), [](const auto& h) { return is_reserved_header(h.name); });
    if (!any) return false;
    headers kept;
    for (const auto& each : from.view()) {
        if (!is_reserved_header(each.name)) kept.add(each.name, each.value);
    }
    from = std::move(kept);
    return true;
}

}  // namespace

bool publish_batcher::collect() {
    items_.clear();
    bytes_ = 0;
    if (bad_line_) throw failure("bad_envelope", *bad_line_);
    bool more = read_one(true);
    while (more && items_.size() < plan_.batch && bytes_ < batch_bytes)
        more = read_one(false);
    if (items_.empty() && bad_line_) throw failure("bad_envelope", *bad_line_);
    return !items_.empty();
}

/// False where the batch ends.
bool publish_batcher::read_one(bool wait) {
    std::string line;
    if (plan_.whole) {
        if (input_.count() == 0 && published_ + failed_ == 0 && items_.empty()) add(input_.rest());
        return false;
    }
    if (input_.next(line, wait) != line_reader::state::line) return false;
    try {
        add(std::move(line));
        return true;
    } catch (const failure& e) {
        bad_line_ =
            "line " + std::to_string(input_.count()) + ": " + e.what() + "; it and what follows were not published";
        return false;
    }
}

void publish_batcher::add(std::string line) {
    item made;
    made.line = input_.count();
    made.content = parse(std::move(line));
    made.options = options_for(made.content);
    bytes_ += made.content.body.size();
    items_.push_back(std::move(made));
}

envelope publish_batcher::parse(std::string line) {
    envelope content;
    if (plan_.envelopes) {
        content = envelopes_.read(line);
    } else {
        content.body = std::move(line);
    }
    if (content.type.empty()) content.type = plan_.type;
    if (!plan_.content_type.empty()) content.content_type = plan_.content_type;
    if (content.content_type.empty() && !plan_.envelopes) {
        const bool json = detail::is_valid_json(std::as_bytes(std::span(content.body)), scratch_);
        content.content_type = json ? "application/json" : "application/octet-stream";
    }
    return content;
}

publish_options publish_batcher::options_for(envelope& content) {
    publish_options options;
    if (drop_reserved(content.headers) && !warned_reserved_) {
        console_.note("headers that only shove may set are left out of what is published");
        warned_reserved_ = true;
    }
    options.headers = std::move(content.headers);
    for (const auto& each : plan_.headers.view())
        options.headers.set(each.name, each.value);
    options.id = content.id;
    options.key = content.key ? content.key : plan_.key;
    if (!options.key && !plan_.key_field.empty()) options.key = key_in(content.body);
    options.delay = plan_.delay;
    options.expires_in = plan_.expires_in;
    options.timeout = plan_.timeout;
    const auto left = content.expires_at ? *content.expires_at - std::chrono::system_clock::now()
                                         : std::chrono::system_clock::duration::zero();
    if (!options.expires_in && left.count() > 0) options.expires_in = std::chrono::ceil<milliseconds>(left);
    return options;
}

/// The key that stands in a JSON body: a text, or an integer in decimal. Throws `failure`.
std::string publish_batcher::key_in(std::string_view body) {
    const auto& field = plan_.key_field;
    if (detail::is_valid_json(std::as_bytes(std::span(body)), scratch_)) {
        for (const auto& member : members_of(body).value_or(std::vector<json_member>())) {
            if (values_.text(member.key) != field) continue;
            if (auto text = values_.text(member.value)) return *text;
            if (const auto number = values_.integer(member.value)) return std::to_string(*number);
            throw failure("no_key", "its member '" + field + "' (--key-field) is neither a text nor an integer");
        }
    }
    throw failure("no_key", "the body is no JSON object with a member '" + field + "' (--key-field)");
}

bool publish_batcher::send() {
    const auto failed_before = failed_;
    const auto same_kind = [](const item& a, const item& b) {
        return a.content.content_type == b.content.content_type && a.content.type == b.content.type;
    };
    for (std::size_t from = 0; from < items_.size() && failed_ == failed_before;) {
        std::size_t to = from + 1;
        while (to < items_.size() && same_kind(items_[from], items_[to]))
            ++to;
        send_run(from, to);
        from = to;
    }
    if (failed_ == failed_before) return true;
    console_.error("publish_failed", std::to_string(published_) + " messages were published; the rest of the input, " +
                                         "and the lines named, were not");
    return false;
}

/// Publishes messages that differ in neither content type nor type name.
void publish_batcher::send_run(std::size_t from, std::size_t to) {
    auto topic = topic_;
    topic.content_type = items_[from].content.content_type;
    topic.type = items_[from].content.type;
    std::vector<publisher<any_backend>::raw_outgoing> messages;
    messages.reserve(to - from);
    for (auto i = from; i < to; ++i)
        messages.push_back({items_[i].content.body, std::move(items_[i].options)});
    const auto result = publisher_.publish_batch(topic, messages);
    for (auto i = from; i < to; ++i) {
        const auto& state = result.each.at(i - from);
        if (state.status == publish_status::ok) {
            ++published_;
        } else {
            ++failed_;
            tell(items_[i], state);
        }
    }
}

void publish_batcher::tell(const item& which, const publish_state& state) {
    if (++told_ > most_told) return;
    const bool unknown = state.status == publish_status::unknown;
    const auto line = plan_.whole ? std::string("the input") : "line " + std::to_string(which.line);
    console_.error(word_for(state.cause.code),
                   line + (unknown ? " may be stored or not: " : " was not stored: ") + state.cause.message());
}

}  // namespace shove::cli
