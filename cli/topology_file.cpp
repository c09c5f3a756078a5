#include <toml++/toml.h>
#include <algorithm>
#include <limits>
#include <sstream>

#include "duration.hpp"
#include "failure.hpp"
#include "topology_settings.hpp"

namespace shove::cli {
namespace {

/// Reads the topics of one file; every refusal names file, line and key.
class file_reader {
public:
    explicit file_reader(const std::string& path) : path_(path) {}

    std::vector<topic_settings> read() {
        const auto document = parse();
        for (const auto& [key, value] : document) {
            if (key.str() != "topic") refuse(value, "unknown key '" + std::string(key.str()) + "'; write [[topic]]");
        }
        const auto* list = document["topic"].as_array();
        if (!list || list->empty())
            refuse(document, "there is no topic; write [[topic]] and below it queue = \"NAME\"");
        for (const auto& each : *list) {
            const auto* fields = each.as_table();
            if (!fields) refuse(each, "'topic' must be a list of tables; write [[topic]]");
            add(*fields);
        }
        return std::move(found_);
    }

private:
    toml::table parse() const {
        try {
            return toml::parse_file(path_);
        } catch (const toml::parse_error& e) {
            const auto line = e.source().begin.line;
            const auto where = line > 0 ? path_ + ":" + std::to_string(line) : path_;
            throw usage_failure(where + ": " + std::string(e.description()));
        }
    }

    [[noreturn]] void refuse(const toml::node& at, const std::string& why) const {
        throw usage_failure(path_ + ":" + std::to_string(at.source().begin.line) + ": " + why);
    }

    void add(const toml::table& fields) {
        topic_settings topic;
        for (const auto& [key, value] : fields)
            take(std::string(key.str()), value, topic);
        if (topic.queue.empty()) refuse(fields, "the topic has no 'queue'; give it queue = \"NAME\"");
        const bool known = std::ranges::any_of(found_, [&](const auto& t) { return t.queue == topic.queue; });
        if (known) refuse(fields, "queue '" + topic.queue + "' is listed already; give each queue once");
        if (auto made = topic.make(); !made) refuse(fields, made.error().message());
        found_.push_back(std::move(topic));
    }

    void take(const std::string& key, const toml::node& value, topic_settings& into) const {
        if (key == "queue") {
            into.queue = text(key, value);
        } else if (key == "hold") {
            into.holds = durations(key, value);
        } else if (key == "dlq") {
            take_dlq(value, into);
        } else if (key == "max_retries") {
            into.max_retries = count(key, value);
        } else if (key == "allow_message_loss") {
            into.allow_message_loss = yes_or_no(key, value);
        } else if (key == "sequenced") {
            into.sequenced = policy(key, value);
        } else if (key == "shards") {
            into.shards = shards(key, value);
        } else if (key == "key_field") {
            into.key_field = text(key, value);
        } else {
            refuse(value, "unknown key '" + key +
                              "'; known are queue, hold, dlq, max_retries, allow_message_loss, sequenced, shards, "
                              "key_field");
        }
    }

    void take_dlq(const toml::node& value, topic_settings& into) const {
        if (value.is_string()) {
            into.dlq = true;
            into.dlq_name = text("dlq", value);
            if (into.dlq_name.empty()) refuse(value, "'dlq' is empty; give true, false or a queue's name");
        } else if (value.is_boolean()) {
            into.dlq = yes_or_no("dlq", value);
        } else {
            refuse(value, "'dlq' must be true, false or a queue's name");
        }
    }

    std::string text(const std::string& key, const toml::node& value) const {
        const auto found = value.value<std::string>();
        if (!found) refuse(value, "'" + key + "' must be a text in quotes");
        return *found;
    }

    bool yes_or_no(const std::string& key, const toml::node& value) const {
        if (!value.is_boolean()) refuse(value, "'" + key + "' must be true or false");
        return value.as_boolean()->get();
    }

    std::uint32_t count(const std::string& key, const toml::node& value) const {
        const auto* number = value.as_integer();
        constexpr auto most = std::numeric_limits<std::uint32_t>::max();
        if (!number || number->get() < 0 || number->get() > most) {
            refuse(value, "'" + key + "' must be a whole number from 0 to " + std::to_string(most));
        }
        return static_cast<std::uint32_t>(number->get());
    }

    std::uint16_t shards(const std::string& key, const toml::node& value) const {
        const auto written = count(key, value);
        if (written < 1 || written > 65'535) refuse(value, "'" + key + "' must be from 1 to 65535");
        return static_cast<std::uint16_t>(written);
    }

    sequence_failure policy(const std::string& key, const toml::node& value) const {
        const auto written = value.value<std::string>();
        if (written == "skip") return sequence_failure::skip;
        if (written == "fail-all") return sequence_failure::fail_all;
        refuse(value, "'" + key + "' must be \"skip\" or \"fail-all\"");
    }

    milliseconds duration(const std::string& key, const toml::node& value) const {
        const auto written = value.value<std::string>();
        const auto found = written ? parse_duration(*written) : std::nullopt;
        if (!found) refuse(value, "'" + key + "' must be " + std::string(duration_form) + ", in quotes");
        return *found;
    }

    std::vector<milliseconds> durations(const std::string& key, const toml::node& value) const {
        std::vector<milliseconds> all;
        if (const auto* list = value.as_array()) {
            for (const auto& each : *list)
                all.push_back(duration(key, each));
        } else {
            all.push_back(duration(key, value));
        }
        return all;
    }

    const std::string& path_;
    std::vector<topic_settings> found_;
};

}  // namespace

std::vector<topic_settings> read_topology_file(const std::string& path) {
    return file_reader(path).read();
}

}  // namespace shove::cli
