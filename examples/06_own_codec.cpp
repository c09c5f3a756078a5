// A codec of your own: three members. Here lines of CSV instead of JSON.
#include <shove/inprocess.hpp>
#include <shove/shove.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <latch>
#include <span>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;

struct quote {
    std::string symbol;
    int cents = 0;
};

struct csv {
    static constexpr std::string_view content_type = "text/csv";

    static shove::result<void> encode(const quote& in, std::string& out) {
        if (in.symbol.find(',') != std::string::npos)
            return shove::error(shove::errc::encode_failed, "comma in symbol");
        out.append(in.symbol).append(",").append(std::to_string(in.cents));
        return {};
    }
    static shove::result<void> decode(std::span<const std::byte> bytes, quote& into, shove::decode_scratch&) {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        const auto comma = text.find(',');
        if (comma == text.npos) return shove::error(shove::errc::decode_failed, "no comma");
        into.symbol = text.substr(0, comma);
        const auto* end = text.data() + text.size();
        const auto [stop, code] = std::from_chars(text.data() + comma + 1, end, into.cents);
        if (code != std::errc() || stop != end) return shove::error(shove::errc::decode_failed, "cents: not a number");
        return {};
    }
};

struct quotes : shove::topic<quote, csv> {
    static constexpr auto topology = shove::topology("quotes").dlq();
};

}  // namespace

int main() {
    shove::broker<shove::inprocess> broker{{.capacity = 1'000}};
    broker.declare<quotes>();
    const auto publisher = broker.publisher();
    publisher.publish<quotes>({"ACME", 1234});
    const auto refused = publisher.try_publish<quotes>({"A,B", 1});
    std::printf("refused: %s\n", refused.has_error() ? refused.error().message().c_str() : "no");

    std::latch handled(1);
    auto group = broker.consumer_group();
    group.add<quotes>([&](const quote& what, const shove::delivery& info) {
        const std::string type(info.content_type());
        std::printf("%s costs %d.%02d (%s)\n", what.symbol.c_str(), what.cents / 100, what.cents % 100, type.c_str());
        handled.count_down();
        return shove::ack;
    });
    group.start();
    handled.wait();
    return group.stop(5s).exit_code();
}
