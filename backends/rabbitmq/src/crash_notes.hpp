#pragma once

#include <shove/spi/delivery.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control.hpp"
#include "note_reader.hpp"
#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// What a process that lives says of messages that go back to their queue.
struct farewell {
    std::vector<std::string> innocent;                              ///< Nobody has died over them.
    std::vector<std::pair<std::string, std::uint32_t>> suspects{};  ///< With their crashes: no more than they had.
    std::vector<std::string> missed{};  ///< It found nothing written of these, and had not decided yet.
    bool empty() const noexcept { return innocent.empty() && suspects.empty() && missed.empty(); }
};

/// What processes tell each other of a queue's messages, in the queue `{queue}-notes`, where it is kept for a day.
///
/// The broker says of a message only that it was delivered before. Whoever gave it back, or lost it with its channel,
/// says so here; of any other it must be assumed that its process died over it. Such a message runs alone, and that it
/// begins to is written down first: if the process dies then, the message is the cause (G3). That a message went back
/// clears it once: whoever has it then takes that note away before the message is begun.
/// @par Thread safety  Safe.
class crash_notes : public std::enable_shared_from_this<crash_notes> {
public:
    crash_notes(std::shared_ptr<control> asking, std::shared_ptr<outlet> publishing, const std::string& queue);

    /// Reads all notes, and removes those that later ones make needless. Nothing: they could not be read.
    void read(unique_function<void(std::optional<findings>)> done);
    /// Writes down that these go back to the queue. `done` is called in any case.
    void give_back(const farewell& what, std::chrono::seconds patience, unique_function<void()> done);
    /// Takes away that these were given back. `done` is called in any case.
    void take(const std::vector<std::string>& ids, unique_function<void()> done);
    /// Writes down that a message, which had so many crashes, runs alone.
    void alone(const std::string& id, std::uint32_t crashes, spi::callback<void(error)> done);
    /// Its call has ended.
    void ended(const std::string& id);

private:
    void write(shard_record what, spi::callback<void(error)> done);
    parcel listing(shard_record::kind what, const std::vector<std::string>& ids) const;

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
