#include "management_json.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace shove::rabbitmq_backend {

namespace json = boost::json;

namespace {

/// The last second of the year 9999; later ones are nonsense, and would overflow.
constexpr std::uint64_t last_second = 253'402'300'799;

/// Reads members of one object. The first fault sticks in `fault`; after it all values are empty.
class member_reader {
public:
    member_reader(const json::value& from, std::string path, std::string& fault)
        : object_(from.if_object()), path_(std::move(path)), fault_(&fault) {
        if (object_ == nullptr) note("", "is not an object");
    }

    /// Null and absent are empty.
    std::string text(std::string_view name) { return as_text(name, find(name)); }
    /// Must be there, and not empty.
    std::string needed_text(std::string_view name) {
        auto read = text(name);
        if (read.empty()) note(name, "is missing");
        return read;
    }
    std::uint64_t count(std::string_view name) {
        const auto* const found = find(name);
        if (found == nullptr) return 0;
        if (const auto* const number = found->if_uint64()) return *number;
        if (const auto* const number = found->if_int64()) return *number < 0 ? 0 : static_cast<std::uint64_t>(*number);
        note(name, "is not a whole number");
        return 0;
    }
    bool flag(std::string_view name) {
        const auto* const found = find(name);
        if (found == nullptr) return false;
        if (!found->is_bool()) note(name, "is neither true nor false");
        return found->is_bool() && found->get_bool();
    }
    argument_list arguments(std::string_view name);
    const json::array* list(std::string_view name) {
        const auto* const found = find(name);
        if (found == nullptr || !found->is_array()) note(name, "is not a list");
        return found == nullptr ? nullptr : found->if_array();
    }

private:
    const json::value* find(std::string_view name) const {
        const auto* const found = object_ != nullptr ? object_->if_contains({name.data(), name.size()}) : nullptr;
        return found == nullptr || found->is_null() ? nullptr : found;
    }
    std::string as_text(std::string_view name, const json::value* found) {
        if (found == nullptr) return {};
        if (found->is_string()) return std::string(found->get_string());
        note(name, "is not a text");
        return {};
    }
    void note(std::string_view name, std::string_view what) {
        if (!fault_->empty()) return;
        *fault_ = path_;
        if (!name.empty()) fault_->append("/").append(name);
        if (fault_->empty()) *fault_ = "it";
        fault_->append(" ").append(what);
    }

    const json::object* object_;
    std::string path_;
    std::string* fault_;
};

argument_list member_reader::arguments(std::string_view name) {
    argument_list read;
    const auto* const found = find(name);
    // No arguments at all come as an empty list from some versions.
    if (found == nullptr || (found->is_array() && found->get_array().empty())) return read;
    if (!found->is_object()) {
        note(name, "is not an object");
        return read;
    }
    for (const auto& member : found->get_object()) {
        const auto& value = member.value();
        read.emplace_back(member.key(), value.is_string() ? std::string(value.get_string()) : json::serialize(value));
    }
    return read;
}

queue_stats queue_of(const json::value& from, std::string path, std::string& fault) {
    member_reader members(from, std::move(path), fault);
    queue_stats read;
    read.name = members.needed_text("name");
    read.ready = members.count("messages_ready");
    read.unacknowledged = members.count("messages_unacknowledged");
    read.consumers = members.count("consumers");
    read.type = members.text("type");
    if (read.type.empty()) read.type = "classic";  // before 3.8 there was no other
    read.durable = members.flag("durable");
    read.arguments = members.arguments("arguments");
    const auto stamp = members.count("head_message_timestamp");
    if (stamp > 0 && stamp <= last_second) {
        read.head_published = wall_time(std::chrono::seconds(static_cast<std::int64_t>(stamp)));
    }
    read.state = members.text("state");
    return read;
}

binding_info binding_of(const json::value& from, std::string path, std::string& fault) {
    member_reader members(from, std::move(path), fault);
    binding_info read;
    read.destination = members.needed_text("destination");
    read.destination_type = members.text("destination_type");
    read.routing_key = members.text("routing_key");
    read.arguments = members.arguments("arguments");
    return read;
}

error faulty(const std::string& fault) {
    return {errc::decode_failed, "the management API's answer cannot be read: " + fault +
                                     "; check that the url is that of a RabbitMQ management API"};
}

/// Parses, and has `read(value, fault)` make something of it.
template <class Read>
auto read_with(std::string_view body, Read read)
    -> result<std::invoke_result_t<Read, const json::value&, std::string&>> {
    error_code code;
    const auto parsed = json::parse({body.data(), body.size()}, code);
    if (code) return faulty("it is not JSON (" + code.message() + ")");
    std::string fault;
    auto made = read(parsed, fault);
    if (!fault.empty()) return faulty(fault);
    return made;
}

}  // namespace

result<queue_stats> read_queue(std::string_view body) {
    return read_with(body, [](const json::value& from, std::string& fault) { return queue_of(from, "", fault); });
}

result<queue_page> read_queue_page(std::string_view body) {
    return read_with(body, [](const json::value& from, std::string& fault) {
        member_reader members(from, "", fault);
        queue_page read;
        read.pages = members.count("page_count");
        if (const auto* const items = members.list("items")) {
            for (const auto& item : *items) {
                read.queues.push_back(queue_of(item, "/items/" + std::to_string(read.queues.size()), fault));
            }
        }
        return read;
    });
}

result<std::vector<binding_info>> read_bindings(std::string_view body) {
    return read_with(body, [](const json::value& from, std::string& fault) {
        std::vector<binding_info> read;
        const auto* const items = from.if_array();
        if (items == nullptr) {
            fault = "it is not a list";
            return read;
        }
        for (const auto& item : *items)
            read.push_back(binding_of(item, "/" + std::to_string(read.size()), fault));
        return read;
    });
}

result<broker_facts> read_facts(std::string_view body) {
    return read_with(body, [](const json::value& from, std::string& fault) {
        member_reader members(from, "", fault);
        broker_facts read;
        read.rabbitmq_version = members.needed_text("rabbitmq_version");
        read.erlang_version = members.text("erlang_version");
        read.cluster_name = members.text("cluster_name");
        read.node = members.text("node");
        read.statistics_disabled = members.flag("disable_stats");
        return read;
    });
}

}  // namespace shove::rabbitmq_backend
