#include "management.hpp"

#include "management_http.hpp"
#include "management_json.hpp"
#include "management_url.hpp"

#include <shove/clock.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove::rabbitmq_backend {

namespace {

constexpr std::size_t page_size = 500;                                         // the most that the API allows
constexpr std::chrono::milliseconds longest_timeout = std::chrono::hours(24);  // so that no deadline overflows

error wrong(std::string text) {
    return {errc::invalid_argument, std::move(text)};
}

std::string basic_authorization(const std::string& user, const std::string& password) {
    const auto plain = user + ':' + password;
    std::string encoded((plain.size() + 2) / 3 * 4, '\0');
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                    reinterpret_cast<const unsigned char*>(plain.data()), static_cast<int>(plain.size()));
    return "Basic " + encoded;
}

/// A path cannot hold these segments: servers and proxies resolve them, encoded too.
bool is_path_name(std::string_view name) {
    return !name.empty() && name != "." && name != "..";
}

error check(const management_options& options) {
    constexpr std::size_t max_credential_bytes = 4096;
    if (options.user.empty()) return wrong("the management user is empty; give the name of a user of the broker");
    if (options.user.find(':') != std::string::npos) {
        return wrong("the management user holds a ':'; HTTP basic authentication cannot carry that");
    }
    if (options.user.size() > max_credential_bytes || options.password.size() > max_credential_bytes) {
        return wrong("the management user or password is longer than 4096 bytes");
    }
    if (!is_path_name(options.virtual_host)) {
        return wrong("the virtual host '" + options.virtual_host + "' cannot be asked for by HTTP; use another name");
    }
    if (options.connect_timeout.count() < 1) return wrong("the management connect_timeout must be above 0 ms");
    if (options.total_timeout.count() < 1) return wrong("the management total_timeout must be above 0 ms");
    return {};
}

/// A queue made between two pages moves others to the next page, where they come again.
void drop_doubles(std::vector<queue_stats>& queues) {
    std::sort(queues.begin(), queues.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    const auto same = [](const auto& a, const auto& b) { return a.name == b.name; };
    queues.erase(std::unique(queues.begin(), queues.end(), same), queues.end());
}

}  // namespace

/// Turns questions into requests, and statuses into errors.
class management::asker {
public:
    asker(management_options options, std::unique_ptr<http_client> http)
        : options_(std::move(options)), http_(std::move(http)) {}

    /// When a call that begins now must have ended.
    steady_time deadline() const { return std::chrono::steady_clock::now() + options_.total_timeout; }
    /// `/api/{kind}/{vhost}`
    std::string path_to(std::string_view kind) const {
        return "/api/" + std::string(kind) + '/' + percent_encoded(options_.virtual_host);
    }
    const std::string& virtual_host() const noexcept { return options_.virtual_host; }
    void stop() { http_->stop(); }

    /// The answer to one request, of whatever status.
    result<http_answer> answer(const std::string& path, steady_time deadline) { return http_->get(path, deadline); }
    /// The body, if the status is one of success. `missing` is what 404 means.
    result<std::string> body_of(result<http_answer> answer, const error& missing) const {
        if (!answer) return answer.error();
        if (answer->status >= 200 && answer->status < 300) return std::move(answer->body);
        if (answer->status == 404) return missing;
        return refusal(answer->status);
    }
    result<std::string> body(const std::string& path, const error& missing) {
        return body_of(answer(path, deadline()), missing);
    }

    /// Any status but those of success, as an error.
    error refusal(unsigned status) const {
        const auto code = std::to_string(status);
        if (status == 401 || status == 403) {
            return wrong("the management API at " + http_->origin() + " refuses the user '" + options_.user +
                         "' (HTTP status " + code +
                         "); check user and password, give the user the tag 'management' or 'monitoring' and access "
                         "to the virtual host '" +
                         options_.virtual_host + "'");
        }
        return {errc::not_connected, "the management API at " + http_->origin() + " answered with HTTP status " + code +
                                         "; check the url and its path, and the broker's log"};
    }
    error no_virtual_host() const {
        return wrong("the broker has no virtual host '" + options_.virtual_host + "'; make it, or name another");
    }

private:
    management_options options_;  // its password has been taken out
    std::unique_ptr<http_client> http_;
};

management::management(std::unique_ptr<asker> asks) : asks_(std::move(asks)) {}

management::~management() = default;

result<std::unique_ptr<management>> management::make(management_options options) {
    if (auto bad = check(options)) return bad;
    auto url = parse_management_url(options.url);
    if (!url) return url.error();
    options.connect_timeout = std::min(options.connect_timeout, longest_timeout);
    options.total_timeout = std::min(options.total_timeout, longest_timeout);
    http_client::settings settings;
    settings.url = std::move(*url);
    settings.authorization = basic_authorization(options.user, options.password);
    settings.ca_file = options.ca_file;
    settings.verify_peer = options.verify_peer;
    settings.connect_timeout = options.connect_timeout;
    auto http = http_client::make(std::move(settings));
    if (!http) return http.error();
    options.password.clear();
    return std::unique_ptr<management>(new management(std::make_unique<asker>(std::move(options), std::move(*http))));
}

result<queue_stats> management::queue(std::string_view name) {
    if (!is_path_name(name)) return wrong("a queue named '" + std::string(name) + "' cannot be asked for by HTTP");
    const auto body =
        asks_->body(asks_->path_to("queues") + '/' + percent_encoded(name) + "?columns=" + std::string(queue_columns),
                    {errc::unknown_queue, "the broker has no queue '" + std::string(name) + "' in the virtual host '" +
                                              asks_->virtual_host() + "'; declare its topic first"});
    if (!body) return body.error();
    return read_queue(*body);
}

result<std::vector<queue_stats>> management::queues() {
    const auto deadline = asks_->deadline();
    std::vector<queue_stats> all;
    for (std::uint64_t page = 1, pages = 1; page <= pages; ++page) {
        auto answer = asks_->answer(asks_->path_to("queues") + "?page=" + std::to_string(page) + "&page_size=" +
                                        std::to_string(page_size) + "&columns=" + std::string(queue_columns),
                                    deadline);
        // Queues were deleted meanwhile: this page is no longer there.
        if (page > 1 && answer && answer->status == 400) break;
        const auto body = asks_->body_of(std::move(answer), asks_->no_virtual_host());
        if (!body) return body.error();
        auto read = read_queue_page(*body);
        if (!read) return read.error();
        std::move(read->queues.begin(), read->queues.end(), std::back_inserter(all));
        pages = read->pages;
    }
    drop_doubles(all);
    return all;
}

result<std::vector<binding_info>> management::bindings_of_exchange(std::string_view name) {
    if (name == "." || name == "..") {
        return wrong("an exchange named '" + std::string(name) + "' cannot be asked for by HTTP");
    }
    const auto body =
        asks_->body(asks_->path_to("exchanges") + '/' + (name.empty() ? "amq.default" : percent_encoded(name)) +
                        "/bindings/source?columns=" + std::string(binding_columns),
                    wrong("the broker has no exchange '" + std::string(name) + "' in the virtual host '" +
                          asks_->virtual_host() + "', or no such virtual host; declare its topic first"));
    if (!body) return body.error();
    return read_bindings(*body);
}

result<broker_facts> management::overview() {
    const auto body = asks_->body("/api/overview?columns=" + std::string(facts_columns), asks_->refusal(404));
    if (!body) return body.error();
    return read_facts(*body);
}

void management::stop() {
    asks_->stop();
}

}  // namespace shove::rabbitmq_backend
