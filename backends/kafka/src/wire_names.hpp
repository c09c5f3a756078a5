#pragma once

#include <string_view>

/// The names of headers on the wire that mean something to this backend. The first five are the Rust library's, too.
namespace shove::kafka_backend::wire_names {

inline constexpr std::string_view prefix = "Shove-";

inline constexpr std::string_view message_id = "Shove-Message-Id";
inline constexpr std::string_view retry_count = "Shove-Retry-Count";
inline constexpr std::string_view death_reason = "Shove-Death-Reason";
inline constexpr std::string_view original_queue = "Shove-Original-Queue";
inline constexpr std::string_view death_count = "Shove-Death-Count";

inline constexpr std::string_view published_at = "Shove-Published-At";  ///< Microseconds since the epoch, as all times.
inline constexpr std::string_view expires_at = "Shove-Expires-At";
inline constexpr std::string_view content_type = "Shove-Content-Type";
inline constexpr std::string_view type = "Shove-Type";
inline constexpr std::string_view crashes = "Shove-Crashes";
inline constexpr std::string_view first_error = "Shove-First-Error";
inline constexpr std::string_view last_error = "Shove-Last-Error";
inline constexpr std::string_view first_failed_at = "Shove-First-Failed-At";
inline constexpr std::string_view last_failed_at = "Shove-Last-Failed-At";
inline constexpr std::string_view dead_at = "Shove-Dead-At";
inline constexpr std::string_view due = "Shove-Due";  ///< Of a copy that waits: not to be handed out before.
/// Which of the other headers are no texts: Kafka's values are bytes. See `header_types`.
inline constexpr std::string_view types = "Shove-Types";

/// On the wire: a header of the user's whose own name begins with our prefix.
inline constexpr std::string_view kept_prefix = "Shove-Kept-";
/// In a message: the header whose name on the wire is empty.
inline constexpr std::string_view unnamed = "x-shove-kafka-unnamed";

}  // namespace shove::kafka_backend::wire_names
