#pragma once

#include <shove/autoscaler.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crew.hpp"
#include "respawner.hpp"

namespace shove::detail {

/// A registration as the scaler sees it: something that can be made larger and smaller. Used on the broker's
/// supervising thread only.
class scaled {
public:
    virtual ~scaled() = default;
    /// The queue's name, for people.
    virtual const std::string& queue() const = 0;
    /// The queues whose messages are its backlog.
    virtual std::vector<std::string> places() const = 0;
    virtual bool draining() const = 0;
    /// How many consumers there should be.
    virtual std::uint32_t target() const = 0;
    /// What there is now, the depth of the queues apart.
    virtual scale_snapshot look() const = 0;
    /// Adds up to `n` consumers; gives how many.
    virtual std::uint32_t engage(std::uint32_t n) = 0;
    /// Takes up to `n` idle consumers away; gives how many.
    virtual std::uint32_t retire(std::uint32_t n) = 0;
    /// Has dead consumers replaced soon.
    virtual void look_soon() = 0;
};

/// The consumers of a plain topic.
class scaled_crew final : public scaled {
public:
    explicit scaled_crew(std::shared_ptr<respawner> keeper);

    const std::string& queue() const override { return keeper_->members().plan().queue(); }
    std::vector<std::string> places() const override { return {queue()}; }
    bool draining() const override { return keeper_->members().draining(); }
    std::uint32_t target() const override { return keeper_->members().target(); }
    scale_snapshot look() const override;
    std::uint32_t engage(std::uint32_t n) override;
    std::uint32_t retire(std::uint32_t n) override { return keeper_->members().retire(n); }
    void look_soon() override { keeper_->look_soon(); }

private:
    const std::shared_ptr<respawner> keeper_;
    const std::shared_ptr<service_meter> meter_;
};

/// The shards of a sequenced topic. Each has one reader at all times; what scales is how many calls all of them make
/// at once: as many as so many consumers would, spread evenly. Keys stay where they are, so nothing is ever handed
/// from one reader to another.
class scaled_shards final : public scaled {
public:
    /// @param keepers  One per shard, at least one; their plans have the range.
    explicit scaled_shards(std::vector<std::shared_ptr<respawner>> keepers);

    const std::string& queue() const override { return keepers_.front()->members().plan().queue(); }
    std::vector<std::string> places() const override;
    bool draining() const override { return keepers_.front()->members().draining(); }
    std::uint32_t target() const override { return consumers_; }
    scale_snapshot look() const override;
    std::uint32_t engage(std::uint32_t n) override;
    std::uint32_t retire(std::uint32_t n) override;
    void look_soon() override;

private:
    void spread();

    const std::vector<std::shared_ptr<respawner>> keepers_;
    const std::shared_ptr<service_meter> meter_;
    std::uint32_t consumers_;
};

}  // namespace shove::detail
