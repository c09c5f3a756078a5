#pragma once

#include <shove/clock.hpp>
#include <shove/headers.hpp>
#include <shove/outcome.hpp>
#include <shove/publisher.hpp>
#include <shove/topic.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove {

/// What one call of a handler did.
struct audit_record {
    /// The message's header `x-trace-id`, else the id of its trace context, else a new UUID for this call.
    std::string trace_id;
    std::string topic;    ///< The queue's name.
    std::string payload;  ///< The message's bytes. In `to_json` as they are if they are JSON, else a base64 string.
    std::uint32_t retry_count = 0;
    std::string delivery_id;  ///< The message's id.
    bool redelivered = false;
    shove::headers headers{};
    std::optional<std::uint32_t> delivery_count{};  ///< Where the backend counts.
    outcome_kind outcome = outcome_kind::ack;       ///< An exception is `retry`; a timeout what it counts as.
    milliseconds duration{0};                       ///< Of the handler.
    wall_time timestamp{};
};

/// The record as JSON: the reference's fields in its order.
std::string to_json(const audit_record& record);

struct audit_options {
    std::size_t max_records = 10'000;    ///< Of the outbox.
    std::size_t max_bytes = 64U << 20U;  ///< Of their payloads and headers.
    std::size_t batch = 500;             ///< Records that are written at once at most.
};

struct audit_counts {
    std::uint64_t written = 0;
    std::uint64_t failed = 0;   ///< The writer threw for them.
    std::uint64_t dropped = 0;  ///< There was no room in the outbox.
    std::uint64_t waiting = 0;  ///< In the outbox now.
};

/// What became of the records of one hand-over to the writer.
struct audit_progress {
    std::size_t written = 0;
    std::size_t failed = 0;
    /// Of the first failure in a row: one of its records, and what the writer threw.
    const audit_record* first_failed = nullptr;
    std::string_view why{};
};

/// Writes down what handlers did, beside their work: calls put their records into a bounded outbox, and one thread
/// hands them to the writer. Whatever the writer does (throw, hang, be slow), no outcome changes (G12); what is not
/// written is counted and told as an event. Give it to `consumer_options::audit`, of a group for all its
/// registrations or of one. The topic `shove-audit-log` itself is never audited.
/// @par Thread safety  All members may be called from several threads.
/// @par Lifetime  The destructor hands over what is left and waits for the writer.
class audit_trail {
public:
    /// Is given records in the order in which calls ended. May throw: then they count as failed.
    using writer = std::function<void(std::span<const audit_record>)>;
    explicit audit_trail(writer write, audit_options options = {});
    ~audit_trail();
    audit_trail(const audit_trail&) = delete;
    audit_trail& operator=(const audit_trail&) = delete;

    /// Puts a record into the outbox. Never blocks. False: there was no room.
    bool add(audit_record record);
    /// Waits until all that was added is written, at most for the deadline. True: it is.
    bool flush(milliseconds deadline);
    audit_counts counts() const;
    /// Called after each hand-over, on the trail's thread. A broker that uses the trail sets it, for events and
    /// metrics.
    void on_progress(std::function<void(const audit_progress&)> told);

private:
    class outbox;
    std::unique_ptr<outbox> outbox_;
};

/// JSON text as it is.
struct json_bytes {
    static constexpr std::string_view content_type = "application/json";
    static constexpr bool replaces = true;
    static result<void> encode(const std::string& in, std::string& out) {
        out += in;
        return {};
    }
    static result<void> decode(std::span<const std::byte> bytes, std::string& into, decode_scratch&) {
        into.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
    }
};

/// The shipped audit topic: messages are `audit_record`s as JSON text.
struct audit_log : topic<std::string, json_bytes> {
    static constexpr auto topology = shove::topology("shove-audit-log").dlq();
};

/// Writes records to the topic `audit_log`; throws if one was not stored.
/// @param publisher  Of the same broker or of another; declare `audit_log` there before.
/// @param timeout    For the publish of one batch.
template <class Publisher>
audit_trail::writer audit_to(Publisher publisher, milliseconds timeout = milliseconds(5'000)) {
    return [publisher = std::move(publisher), timeout](std::span<const audit_record> records) {
        std::vector<std::string> texts;
        for (const auto& record : records)
            texts.push_back(to_json(record));
        publish_options how;
        how.timeout = timeout;
        const auto report = publisher.template publish_batch<audit_log>(texts, how);
        if (!report.all_stored()) throw exception(report.first_error());
    };
}

}  // namespace shove
