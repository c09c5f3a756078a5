#include <shove/shove.hpp>
#include <shove/testkit/child_process.hpp>
#include <shove/testkit/events.hpp>
#include <shove/testkit/ledger.hpp>

#include <unistd.h>

#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

// Lines: P id (confirmed) · H id attempt redelivered (a call began) · S run (a child has started).
constexpr char confirmed = 'P';
constexpr char called = 'H';
constexpr char started = 'S';

runtime_topic ledger_topic() {
    return runtime_topic::make(shove::topology("crash-ledger").hold(5ms).hold(20ms).dlq()).value();
}

bool is_rejected(std::string_view id) {
    return std::hash<std::string_view>()(id) % 17 == 0;
}
bool is_retried(std::string_view id) {
    return std::hash<std::string_view>()(id) % 10 == 1;
}

/// Notes the call, then answers what the id asks for.
detail::raw_function worker(std::shared_ptr<ledger> book) {
    return [book = std::move(book)](std::span<const std::byte>, const delivery& info) {
        book->note(called, info.id(),
                   std::to_string(info.attempt()) + (info.redelivered() ? " redelivered" : " first"));
        if (is_rejected(info.id())) return reject("as asked");
        if (is_retried(info.id()) && info.attempt() == 1) return retry("as asked");
        return ack;
    };
}

consumer_options worker_options(std::size_t consumers, std::size_t prefetch) {
    consumer_options how;
    how.consumers = static_cast<std::uint32_t>(consumers);
    how.prefetch = prefetch;
    how.crash_budget = 1'000'000;  // the killer comes from outside: no message is to blame
    return how;
}

/// Publishes one by one and in batches, noting what was confirmed, until it is killed.
void publish_for_ever(const any_broker& broker, const ledger& book, const std::string& run) {
    const auto topic = ledger_topic();
    const auto publisher = broker.publisher();
    for (std::size_t n = 0;; ++n) {
        std::vector<shove::publisher<any_backend>::raw_outgoing> batch(n % 5 == 4 ? 10 : 1);
        for (std::size_t i = 0; i < batch.size(); ++i) {
            batch[i].body = "body";
            batch[i].options.id = run + "-" + std::to_string(n) + "-" + std::to_string(i);
        }
        for (const auto& each : publisher.publish_batch(topic, batch).each) {
            if (each.status == publish_status::ok) book.note(confirmed, each.id);
        }
    }
}

int publish_and_handle(backend_store& store, const child_arguments& told) {
    const auto book = std::make_shared<ledger>(told.at("ledger"));
    const auto broker = store.open({});
    auto group = broker.consumer_group();
    group.add(ledger_topic(), worker(book),
              worker_options(std::stoul(told.at("consumers")), std::stoul(told.at("prefetch"))));
    group.start();
    book->note(started, told.at("run"));
    publish_for_ever(broker, *book, told.at("run"));
    return 0;
}

const bool role_known = add_child_role("publish_and_handle", &publish_and_handle);

/// Runs a child and kills it: mostly in the middle of its work, when it has written some lines, sometimes
/// while it starts.
void crash_once(const child_arguments& told, std::mt19937_64& random) {
    constexpr std::uintmax_t bytes_per_line = 16;
    const std::filesystem::path file = told.at("ledger");
    const auto size = [&] { return std::filesystem::exists(file) ? std::filesystem::file_size(file) : 0; };
    const auto goal = size() + bytes_per_line * (random() % 100);
    const bool while_starting = random() % 8 == 0;
    const std::chrono::microseconds then(random() % (while_starting ? 60'000 : 3'000));
    child_process child("publish_and_handle", told);
    if (!while_starting) {
        eventually("a child's work", [&] {
            if (!child.alive()) throw impatience("a child ended by itself; SHOVE_CHILD_OUTPUT=1 shows why");
            return size() > goal;
        });
    }
    until(std::chrono::steady_clock::now() + then);
    child.kill();
}

/// Handles what the children left, until nothing is there. The dead letters' ids.
std::vector<std::string> finish(backend_store& store, const std::filesystem::path& file) {
    const auto topic = ledger_topic();
    const auto broker = store.open({});
    broker.declare(topic);
    auto group = broker.consumer_group();
    group.add(topic, worker(std::make_shared<ledger>(file)), worker_options(2, 20));
    group.start();
    eventually(
        "the rest to be handled",
        [&] {
            const auto depth = broker.depth(topic.topology->queue);
            return depth.ready + depth.in_flight + depth.delayed == 0;
        },
        patience() * 6);
    (void)group.stop(patience());
    std::vector<std::string> dead;
    broker.admin().browse(topic.topology->dead_letter_queue, {}, [&](const spi::browsed& letter) {
        dead.push_back(letter.msg.id() +
                       (letter.past && letter.past->death_reason == "rejected" ? "" : " (other reason)"));
        return true;
    });
    return dead;
}

void judge_calls(const std::vector<ledger_line>& lines, crash_report& report) {
    std::set<std::string> published;
    std::set<std::string> handled;
    std::map<std::pair<std::string, std::string>, unsigned> calls;
    for (const auto& line : lines) {
        if (line.kind == confirmed) published.insert(line.id);
        if (line.kind != called) continue;
        handled.insert(line.id);
        if (calls[{line.id, line.fields.at(0)}]++ == 0) continue;
        ++report.doubled;
        if (line.fields.at(1) != "redelivered") report.breaches.push_back("a repeated call is not flagged: " + line.id);
    }
    report.published = published.size();
    for (const auto& id : published) {
        if (handled.contains(id)) {
            ++report.handled;
        } else {
            report.breaches.push_back("confirmed, then lost: " + id);
        }
        if (is_retried(id) && !is_rejected(id) && !calls.contains({id, "2"})) {
            report.breaches.push_back("lost on its way to a second call: " + id);
        }
    }
}

void judge_dead(const std::vector<ledger_line>& lines, const std::vector<std::string>& dead, crash_report& report) {
    const std::multiset<std::string> letters(dead.begin(), dead.end());
    std::set<std::string> rejected;
    for (const auto& line : lines) {
        if (line.kind == called && is_rejected(line.id)) rejected.insert(line.id);
    }
    for (const auto& id : rejected) {
        if (const auto n = letters.count(id); n != 1) {
            report.breaches.push_back(std::to_string(n) + " dead letters in place of 1: " + id);
        }
    }
    for (const auto& id : letters) {
        if (!rejected.contains(id)) report.breaches.push_back("dead without a reason: " + id);
    }
}

}  // namespace

crash_report run_crashes(const backend_factory& factory, const crash_plan& plan) {
    crash_report report;
    report.seed = plan.seed ? plan.seed : std::random_device{}();
    std::cout << "crash points by seed " << report.seed << std::endl;
    std::mt19937_64 random(report.seed);
    const scratch_folder folder("shove-ledger");
    const auto file = folder.path() / "ledger";
    const auto store = factory.make_store();
    for (unsigned point = 0; point < plan.points; ++point) {
        crash_once({{"store", store->location()},
                    {"ledger", file.string()},
                    {"run", "r" + std::to_string(point)},
                    {"consumers", std::to_string(plan.consumers)},
                    {"prefetch", std::to_string(plan.prefetch)}},
                   random);
    }
    const auto dead = finish(*store, file);
    const auto lines = ledger::read(file);
    judge_calls(lines, report);
    judge_dead(lines, dead, report);
    const auto bound = std::uint64_t{plan.points} * plan.consumers * plan.prefetch;
    if (report.doubled > bound) {
        report.breaches.push_back(std::to_string(report.doubled) + " repeated calls; the bound is " +
                                  std::to_string(bound));
    }
    return report;
}

}  // namespace shove::testkit
