#include <shove/detail/json_writer.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "envelope.hpp"
#include "failure.hpp"

namespace shove::cli {
namespace {

constexpr json_limits no_limits{1'024, SIZE_MAX, SIZE_MAX};

bool is_utf8(std::string_view text) {
    std::string probe;
    return detail::json_writer(probe, no_limits).string(text);
}

/// An object holds a list of headers if each name occurs once and is a text.
bool fit_an_object(const headers_view& headers) {
    std::set<std::string_view> names;
    for (const auto& each : headers) {
        if (!names.insert(each.name).second || !is_utf8(each.name)) return false;
    }
    return true;
}

/// A value that JSON has no kind for, as `{"kind":"…"}`.
void write_tagged(detail::json_writer& writer, std::string_view kind, std::string_view bytes) {
    writer.begin_object();
    writer.plain_key(kind);
    writer.bytes(std::as_bytes(std::span(bytes)));
    writer.end_object();
}

/// Always with a point or an exponent, so that it is read as a floating number again.
void write_floating(detail::json_writer& writer, double value) {
    if (!std::isfinite(value)) {
        writer.begin_object();
        writer.plain_key("floating");
        writer.string(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        writer.end_object();
        return;
    }
    std::array<char, 32> buffer;
    std::string text(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
    if (text.find_first_of(".e") == text.npos) text += ".0";
    writer.raw_json(text);
}

void write_value(detail::json_writer& writer, const header_value& value) {
    switch (value.type()) {
        case header_type::none:
            return writer.null();
        case header_type::boolean:
            return writer.boolean(value.as_boolean().value_or(false));
        case header_type::integer:
            return writer.integer(value.as_integer().value_or(0));
        case header_type::floating:
            return write_floating(writer, value.as_floating().value_or(0));
        case header_type::binary:
            return write_tagged(writer, "base64", value.bytes());
        case header_type::foreign:
            return write_tagged(writer, "foreign", value.bytes());
        case header_type::text:
            break;
    }
    if (!writer.string(value.bytes())) write_tagged(writer, "text_base64", value.bytes());
}

void write_as_object(detail::json_writer& writer, const headers_view& headers) {
    writer.begin_object();
    for (const auto& each : headers) {
        writer.key(each.name);
        write_value(writer, each.value);
    }
    writer.end_object();
}

void write_as_list(detail::json_writer& writer, const headers_view& headers) {
    writer.begin_array();
    for (const auto& each : headers) {
        writer.begin_object();
        const bool text = is_utf8(each.name);
        writer.plain_key(text ? "name" : "name_base64");
        if (text) {
            writer.string(each.name);
        } else {
            writer.bytes(std::as_bytes(std::span(each.name)));
        }
        writer.plain_key("value");
        write_value(writer, each.value);
        writer.end_object();
    }
    writer.end_array();
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
    throw failure("bad_envelope", "header '" + name + "': " + why);
}

/// Reads one header's value into a list.
class header_reader {
public:
    header_reader(headers& into, json_values& values) : into_(into), values_(values) {}

    void add(const std::string& name, std::string_view json) {
        switch (json.empty() ? '\0' : json[0]) {
            case '"':
                into_.add(name, std::string_view(*values_.text(json)));
                return;
            case 't':
                into_.add(name, true);
                return;
            case 'f':
                into_.add(name, false);
                return;
            case 'n':
                into_.add(name, header_value());
                return;
            case '{':
                add_tagged(name, json);
                return;
            case '[':
                refuse(name, "a list is no header value; give a text, number, boolean or {\"base64\":\"...\"}");
            default:
                add_number(name, json);
        }
    }

private:
    void add_number(const std::string& name, std::string_view json) {
        if (json.find_first_of(".eE") == json.npos) {
            const auto value = values_.integer(json);
            if (!value) refuse(name, std::string(json) + " does not fit 64 bits; write it as a text");
            into_.add(name, *value);
            return;
        }
        const auto value = values_.number(json);
        if (!value) refuse(name, std::string(json) + " is out of range for a floating number");
        into_.add(name, *value);
    }

    void add_tagged(const std::string& name, std::string_view json) {
        const auto members = members_of(json);
        const auto kind = members && members->size() == 1 ? values_.text(members->front().key) : std::nullopt;
        if (!kind) refuse(name, "an object must be {\"base64\":\"...\"} or another single kind");
        if (*kind == "floating") return add_special(name, members->front().value);
        const auto bytes = values_.bytes(members->front().value);
        if (!bytes) refuse(name, "'" + *kind + "' must hold a base64 text");
        if (*kind == "base64") {
            into_.add(name, std::as_bytes(std::span(*bytes)));
        } else if (*kind == "foreign") {
            into_.add(name, header_value::foreign(*bytes));
        } else if (*kind == "text_base64") {
            into_.add(name, std::string_view(*bytes));
        } else {
            refuse(name, "the kind '" + *kind + "' is unknown; known are base64, text_base64, floating and foreign");
        }
    }

    void add_special(const std::string& name, std::string_view json) {
        const auto word = values_.text(json).value_or("");
        if (word == "nan") {
            into_.add(name, std::nan(""));
        } else if (word == "inf" || word == "-inf") {
            into_.add(name, word[0] == '-' ? -HUGE_VAL : HUGE_VAL);
        } else {
            refuse(name, "'floating' must be \"nan\", \"inf\" or \"-inf\"");
        }
    }

    headers& into_;
    json_values& values_;
};

/// One element of the list form.
void read_listed(std::string_view json, json_values& values, header_reader& to) {
    std::optional<std::string> name;
    std::string_view value;
    for (const auto& member : members_of(json).value_or(std::vector<json_member>{})) {
        const auto key = values.text(member.key).value_or("");
        if (key == "name") name = values.text(member.value);
        if (key == "name_base64") name = values.bytes(member.value);
        if (key == "value") value = member.value;
    }
    if (!name || name->empty() || value.empty()) {
        throw failure("bad_envelope", "each element of 'headers' must be {\"name\":\"...\",\"value\":...}");
    }
    to.add(*name, value);
}

}  // namespace

void write_headers(detail::json_writer& writer, const headers_view& headers) {
    if (fit_an_object(headers)) {
        write_as_object(writer, headers);
    } else {
        write_as_list(writer, headers);
    }
}

std::string headers_as_json(const headers_view& headers) {
    std::string text;
    detail::json_writer writer(text, no_limits);
    write_headers(writer, headers);
    writer.flush();
    return text;
}

headers read_headers(std::string_view json, json_values& values) {
    headers found;
    header_reader reader(found, values);
    if (const auto members = members_of(json)) {
        for (const auto& each : *members) {
            const auto name = values.text(each.key).value_or("");
            if (name.empty()) throw failure("bad_envelope", "'headers' has an empty name; give it one");
            reader.add(name, each.value);
        }
    } else if (const auto elements = elements_of(json)) {
        for (const auto each : *elements)
            read_listed(each, values, reader);
    } else {
        throw failure("bad_envelope", "'headers' must be an object, or a list of {\"name\":...,\"value\":...}");
    }
    return found;
}

}  // namespace shove::cli
