#include "management_http.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <utility>

namespace shove::rabbitmq_backend {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

error stopped_error() {
    return {errc::closed, "the management client was stopped"};
}

/// True if the server may have closed the connection before it saw the request.
bool is_stale(const http_transfer& failed) {
    return !failed.began && failed.code != asio::error::timed_out && failed.code != asio::error::operation_aborted;
}

}  // namespace

result<std::unique_ptr<http_client>> http_client::make(settings with) {
    std::optional<asio::ssl::context> tls;
    if (with.url.tls) {
        auto made = make_tls_context(with.ca_file, with.verify_peer);
        if (!made) return made.error();
        tls.emplace(std::move(*made));
    }
    return std::unique_ptr<http_client>(new http_client(std::move(with), std::move(tls)));
}

http_client::http_client(settings with, std::optional<asio::ssl::context> tls)
    : settings_(std::move(with)),
      tls_(std::move(tls)),
      link_(wait_, settings_.url, tls_ ? &*tls_ : nullptr, settings_.verify_peer) {}

result<http_answer> http_client::get(std::string_view path, steady_time deadline) {
    if (wait_.is_stopped()) return stopped_error();
    const auto target = settings_.url.prefix + std::string(path);
    if (link_.is_open()) {
        auto kept = link_.get(target, settings_.authorization, deadline);
        if (!kept.code) return std::move(kept.answer);
        if (!is_stale(kept)) return not_answered(kept.code);
    }
    if (auto failed = dial(deadline)) return failed;
    auto fresh = link_.get(target, settings_.authorization, deadline);
    if (fresh.code) return not_answered(fresh.code);
    return std::move(fresh.answer);
}

error http_client::dial(steady_time deadline) {
    const auto limit = std::min(deadline, std::chrono::steady_clock::now() + settings_.connect_timeout);
    const auto failed = link_.dial(limit);
    return failed ? not_dialled(failed) : error();
}

error http_client::not_dialled(const error& cause) const {
    if (wait_.is_stopped()) return stopped_error();
    const auto text = "no connection to the management API at " + origin();
    if (cause.code == asio::error::timed_out) {
        return {errc::not_connected,
                text + " in time; check that it runs there, or raise connect_timeout and total_timeout"};
    }
    return {errc::not_connected,
            text + ": " + cause.detail + "; check that the broker runs there with its management plugin"};
}

error http_client::not_answered(const error_code& cause) const {
    if (wait_.is_stopped()) return stopped_error();
    const auto text = "the management API at " + origin();
    if (cause == asio::error::timed_out) {
        return {errc::not_connected, text + " did not answer in time; try again, or raise total_timeout"};
    }
    if (cause == http::error::body_limit) {
        return {errc::too_large, text + " sent an answer of over 16 MiB; check that the url is that of a broker"};
    }
    if (cause == http::error::end_of_stream || cause == http::error::partial_message || cause == asio::error::eof) {
        return {errc::not_connected, text + " closed the connection before its answer was complete; try again"};
    }
    return {errc::not_connected, text + " gave no usable answer (" + cause.message() +
                                     "); check that the url is that of the API, and its http or https"};
}

}  // namespace shove::rabbitmq_backend
