#include <shove/lease_message.hpp>

#include <algorithm>

namespace shove {
namespace {

std::string content(std::string_view topic, std::string_view kind, headers_view headers, std::size_t payload) {
    std::string text = "topic ";
    text.append(topic).append(", kind ").append(kind).append(", ");
    text.append(std::to_string(payload)).append(" bytes, headers: ");
    std::size_t count = 0;
    for (const auto& header : headers) {
        if (count++ > 0) text += ' ';
        text.append(header.name);
    }
    return count == 0 ? text + "none" : text;
}

}  // namespace

std::string describe(const lease_message& what) {
    return content(what.topic, what.event_kind, what.headers, what.payload.size());
}

std::string describe(const lease_envelope& what) {
    return what.id.text() + " (" + what.name_space + "/" + std::to_string(what.sequence) + ", " +
           content(what.topic, what.event_kind, what.headers, what.payload.size()) + ")";
}

std::string describe(const leased& what) {
    return "group " + what.group + ", consumer " + what.consumer + ", attempt " + std::to_string(what.attempt) + ": " +
           (what.envelope ? describe(*what.envelope) : "none");
}

std::string describe(const lease_dead_letter& what) {
    return "group " + what.group + ", " + std::to_string(what.attempts) + " attempts, " + what.code + ": " +
           (what.envelope ? describe(*what.envelope) : "none");
}

}  // namespace shove
