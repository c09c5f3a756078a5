#pragma once

#include <shove/spi/delivery.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "control.hpp"
#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// What processes tell each other of a queue's messages, in the queue `{queue}-notes`, where it is kept for a day.
///
/// The broker says of a message only that it was delivered before. Whoever gave it back without having begun it says so
/// here; of any other it must be assumed that its process died over it. Such a message runs alone, and that it begins
/// to is written down first: if the process dies then, the message is the cause (G3).
/// @par Thread safety  Safe.
class crash_notes : public std::enable_shared_from_this<crash_notes> {
public:
    /// What is known of one message.
    struct finding {
        bool given_back = false;    ///< Nobody had begun it.
        std::uint32_t crashes = 0;  ///< Deaths that were its own.
    };
    using findings = std::unordered_map<std::string, finding>;  ///< By `record_id`.

    crash_notes(std::shared_ptr<control> asking, std::shared_ptr<outlet> publishing, const std::string& queue);

    /// Reads all notes, and removes those that later ones make needless. Where that fails there are none.
    void read(unique_function<void(findings)> done);
    /// Writes down that these go back to the queue, not begun. `done` is called in any case.
    void give_back(const std::vector<std::string>& ids, unique_function<void()> done);
    /// Writes down that a message, which had so many crashes, runs alone.
    void alone(const std::string& id, std::uint32_t crashes, spi::callback<void(error)> done);
    /// Its call has ended.
    void ended(const std::string& id);

private:
    void write(parcel what, spi::callback<void(error)> done);

    const std::shared_ptr<control> asking_;
    const std::shared_ptr<outlet> publishing_;
    const std::string queue_;
    const std::shared_ptr<const route> way_;
};

/// `{queue}-notes`.
std::string notes_queue(const std::string& queue);
/// How long a note is kept.
inline constexpr std::chrono::hours note_life{24};

}  // namespace shove::rabbitmq_backend
