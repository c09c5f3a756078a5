#pragma once

#include "attendance.hpp"
#include "mailbox.hpp"

#include <memory>
#include <string>

namespace shove::sqlite_backend {

/// The port's subscription: a handle on a reader of the writer's.
class subscription final : public spi::subscription {
public:
    subscription(std::shared_ptr<mailbox> inbox, std::shared_ptr<reader> who, std::string dead_letter_queue);
    ~subscription() override;

    void receive(std::size_t max, spi::callback<void(result<std::vector<spi::delivery>>)> done) override;
    void cancel_receive() override;
    void settle(std::vector<spi::settlement> batch,
                spi::callback<void(std::vector<spi::failed_settlement>)> done) override;
    void extend(std::vector<std::uint64_t> tags, spi::callback<void(std::vector<std::uint64_t>)> done) override;
    void isolate(std::uint64_t tag, spi::callback<void(error)> done) override;
    void close(spi::callback<void(error)> done) override;

private:
    std::shared_ptr<mailbox> inbox_;
    std::shared_ptr<reader> who_;
    std::string dead_letter_queue_;
};

}  // namespace shove::sqlite_backend
