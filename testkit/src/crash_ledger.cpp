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
#include <sstream>
#include <thread>

#include "stage.hpp"

namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

// Lines: P id (confirmed) · H id attempt redelivered process (a call began) · S run (a child has started).
constexpr char confirmed = 'P';
constexpr char called = 'H';
constexpr char started = 'S';

constexpr std::uint16_t shards = 4;
constexpr unsigned keys_per_run = 5;

runtime_topic ledger_topic(bool sequenced) {
    auto spec = shove::topology("crash-ledger").hold(5ms).hold(20ms).dlq();
    if (sequenced) spec = spec.sequenced(sequence_failure::skip).routing_shards(shards);
    return runtime_topic::make(spec).value();
}

bool is_sequenced(const child_arguments& told) {
    return told.contains("sequenced");
}

/// Where a message stands among those of its run, which are published one after another: its id is "run-n-i".
struct place {
    std::string run;
    std::uint64_t n = 0;
    std::uint64_t i = 0;

    explicit place(const std::string& id) {
        std::istringstream words(id);
        std::getline(words, run, '-');
        char dash = 0;
        words >> n >> dash >> i;
    }
    std::string id() const { return run + "-" + std::to_string(n) + "-" + std::to_string(i); }
    /// Each run has its own keys: there is no order between publishers.
    std::string key() const { return run + "." + std::to_string((n + i) % keys_per_run); }
    std::uint64_t number() const { return n * 100 + i; }
};

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
                   std::to_string(info.attempt()) + (info.redelivered() ? " redelivered " : " first ") +
                       std::to_string(::getpid()));
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
void publish_for_ever(const any_broker& broker, const ledger& book, const std::string& run, bool sequenced) {
    const auto topic = ledger_topic(sequenced);
    const auto publisher = broker.publisher();
    for (std::size_t n = 0;; ++n) {
        std::vector<shove::publisher<any_backend>::raw_outgoing> batch(n % 5 == 4 ? 10 : 1);
        std::vector<std::string> keys;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const place at(run + "-" + std::to_string(n) + "-" + std::to_string(i));
            batch[i].body = "body";
            batch[i].options.id = at.id();
            keys.push_back(at.key());
        }
        for (std::size_t i = 0; sequenced && i < batch.size(); ++i)
            batch[i].options.key = keys[i];
        for (const auto& each : publisher.publish_batch(topic, batch).each) {
            if (each.status == publish_status::ok) book.note(confirmed, each.id);
        }
    }
}

int publish_and_handle(backend_store& store, const child_arguments& told) {
    const auto book = std::make_shared<ledger>(told.at("ledger"));
    const auto broker = store.open({});
    auto group = broker.consumer_group();
    group.add(ledger_topic(is_sequenced(told)), worker(book),
              worker_options(std::stoul(told.at("consumers")), std::stoul(told.at("prefetch"))));
    group.start();
    book->note(started, told.at("run"));
    publish_for_ever(broker, *book, told.at("run"), is_sequenced(told));
    return 0;
}

const bool role_known = add_child_role("publish_and_handle", &publish_and_handle);

/// Runs a child and kills it: mostly in the middle of its work, when some lines have been written, sometimes
/// while it starts. If there is another one, either of the two: the survivor is the other one then.
void crash_once(const child_arguments& told, std::unique_ptr<child_process>& other, std::mt19937_64& random) {
    constexpr std::uintmax_t bytes_per_line = 16;
    const std::filesystem::path file = told.at("ledger");
    const auto size = [&] { return std::filesystem::exists(file) ? std::filesystem::file_size(file) : 0; };
    const auto goal = size() + bytes_per_line * (random() % 100);
    const bool while_starting = random() % 8 == 0;
    const std::chrono::microseconds then(random() % (while_starting ? 60'000 : 3'000));
    auto child = std::make_unique<child_process>("publish_and_handle", told);
    if (!while_starting) {
        eventually("a child's work", [&] {
            if (!child->alive()) throw impatience("a child ended by itself; SHOVE_CHILD_OUTPUT=1 shows why");
            return size() > goal;
        });
    }
    until(std::chrono::steady_clock::now() + then);
    if (is_sequenced(told) && (!other || random() % 2 == 0)) std::swap(child, other);
    if (child) child->kill();
}

/// Waits until nothing is there, and nothing is on a broker's own way from one queue to another.
void wait_for_the_end(const any_broker& broker, const runtime_topic& topic, milliseconds unseen) {
    eventually("the rest to be handled", lasting(unseen, [&] { return is_empty(broker.depth(topic)); }),
               patience() * 6);
}

constexpr auto other_reason = " (other reason)";

std::vector<std::string> browse_dead(const any_broker& broker, const runtime_topic& topic) {
    std::vector<std::string> dead;
    broker.admin().browse(topic.topology->dead_letter_queue, {}, [&](const spi::browsed& letter) {
        dead.push_back(letter.msg.id() + (letter.past && letter.past->death_reason == "rejected" ? "" : other_reason));
        return true;
    });
    return dead;
}

/// Where dead letters cannot be browsed they are handled.
std::vector<std::string> take_dead(const any_broker& broker, const runtime_topic& topic) {
    const recorder<std::string> dead;
    const auto count = broker.depth(topic.topology->dead_letter_queue).ready;
    auto group = broker.consumer_group();
    group.add_dead(topic, [dead](std::span<const std::byte>, const delivery& info) {
        const auto death = info.death();
        dead.add(std::string(info.id()) + (death && death->reason == "rejected" ? "" : other_reason));
        return ack;
    });
    group.start();
    (void)dead.wait(count, "the dead letters");
    (void)group.stop(patience());
    return dead.all();
}

/// Handles what the children left, until nothing is there. The dead letters' ids.
std::vector<std::string> finish(const backend_factory& factory, backend_store& store, const std::filesystem::path& file,
                                bool sequenced) {
    const auto topic = ledger_topic(sequenced);
    const auto broker = store.open({});
    broker.declare(topic);
    auto group = broker.consumer_group();
    group.add(topic, worker(std::make_shared<ledger>(file)), worker_options(2, 20));
    group.start();
    wait_for_the_end(broker, topic, factory.unseen);
    (void)group.stop(patience());
    return factory.capabilities.admin ? browse_dead(broker, topic) : take_dead(broker, topic);
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

/// Of each key, first calls only go forward. A process that takes over may begin again with what its predecessor had
/// handled and not settled, and then goes only forward too.
void judge_order(const std::vector<ledger_line>& lines, crash_report& report) {
    std::map<std::string, place> latest;
    std::set<std::string> met;
    const auto check = [&](const std::string& by, const place& now) {
        const auto [at, first] = latest.try_emplace(by, now);
        if (!first && at->second.number() > now.number()) {
            report.breaches.push_back("out of order: " + now.id() + " was called after " + at->second.id());
        }
        at->second = now;
    };
    for (const auto& line : lines) {
        if (line.kind != called) continue;
        const place now(line.id);
        if (met.insert(line.id).second) check(now.key(), now);
        check(line.fields.at(2) + " " + now.key(), now);
    }
}

void judge_dead(const std::vector<ledger_line>& lines, const std::vector<std::string>& dead, bool once,
                crash_report& report) {
    const std::multiset<std::string> letters(dead.begin(), dead.end());
    std::map<std::string, std::size_t> rejected;  // with how often
    for (const auto& line : lines) {
        if (line.kind == called && is_rejected(line.id)) ++rejected[line.id];
    }
    for (const auto& [id, calls] : rejected) {
        if (const auto n = letters.count(id); n < 1 || n > (once ? 1 : calls)) {
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
    std::unique_ptr<child_process> other;
    for (unsigned point = 0; point < plan.points; ++point) {
        child_arguments told{{"store", store->location()},
                             {"ledger", file.string()},
                             {"run", "r" + std::to_string(point)},
                             {"consumers", std::to_string(plan.consumers)},
                             {"prefetch", std::to_string(plan.prefetch)}};
        if (plan.sequenced) told["sequenced"] = "yes";
        crash_once(told, other, random);
    }
    if (other) other->kill();
    const auto dead = finish(factory, *store, file, plan.sequenced);
    const auto lines = ledger::read(file);
    judge_calls(lines, report);
    judge_dead(lines, dead, plan.dead_once, report);
    if (plan.sequenced) judge_order(lines, report);
    const auto readers = plan.sequenced ? shards : plan.consumers;
    const auto bound = std::uint64_t{plan.points + 1} * readers * plan.prefetch;
    if (report.doubled > bound) {
        report.breaches.push_back(std::to_string(report.doubled) + " repeated calls; the bound is " +
                                  std::to_string(bound));
    }
    return report;
}

}  // namespace shove::testkit
