#pragma once

#include <shove/broker.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "envelope.hpp"
#include "json_parts.hpp"
#include "line_reader.hpp"

namespace shove::cli {

/// What `shove publish` does with its input.
struct publish_plan {
    bool envelopes = false;
    bool whole = false;
    shove::headers headers;
    std::optional<std::string> key;
    std::string key_field;  ///< The member of a JSON body that is its key; empty: none.
    std::string content_type;
    std::string type;
    std::size_t batch = 256;
    milliseconds delay{0};
    std::optional<milliseconds> expires_in;
    milliseconds timeout{30'000};
};

/// Reads messages from standard input and publishes those at hand in one go: a line that comes alone
/// does not wait for others.
class publish_batcher {
public:
    publish_batcher(publisher<any_backend> to, const runtime_topic& topic, const publish_plan& plan, console& told)
        : publisher_(std::move(to)), topic_(topic), plan_(plan), console_(told) {}

    /// Reads the next messages; false at the end of the input, when there are none. A bad envelope ends the
    /// batch before it; the next call throws its `failure`, with the line.
    bool collect();
    /// Publishes them; false, and the console was told of each line, if not all were stored.
    bool send();

    std::uint64_t published() const noexcept { return published_; }
    std::uint64_t failed() const noexcept { return failed_; }

private:
    struct item {
        std::uint64_t line = 0;
        envelope content;
        publish_options options;
    };

    bool read_one(bool wait);
    void add(std::string line);
    envelope parse(std::string line);
    publish_options options_for(envelope& content);
    std::string key_in(std::string_view body);
    void send_run(std::size_t from, std::size_t to);
    void tell(const item& which, const publish_state& state);

    publisher<any_backend> publisher_;
    const runtime_topic& topic_;
    const publish_plan& plan_;
    console& console_;
    line_reader input_{0};
    envelope_reader envelopes_;
    decode_scratch scratch_;
    json_values values_;
    std::vector<item> items_;
    std::size_t bytes_ = 0;
    std::optional<std::string> bad_line_;
    bool warned_reserved_ = false;
    std::uint64_t published_ = 0;
    std::uint64_t failed_ = 0;
    unsigned told_ = 0;
};

}  // namespace shove::cli
