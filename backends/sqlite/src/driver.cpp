#include "driver.hpp"

#include "queue_jobs.hpp"
#include "schema.hpp"
#include "subscription.hpp"
#include "subscription_jobs.hpp"
#include "writer.hpp"

#include <sqlite3.h>

#include <string>
#include <utility>

namespace shove::sqlite_backend {

namespace {

mailbox::limits limits_of(const sqlite::config& settings) {
    mailbox::limits made;
    made.messages = std::max<std::size_t>(1, settings.max_queued_publishes);
    made.bytes = std::max<std::size_t>(1, settings.max_queued_bytes);
    return made;
}

spi::description described(const sqlite::config& settings) {
    return {{{"SQLite library", sqlite3_libversion()},
             {"file", settings.path.string()},
             {"schema", std::to_string(schema_version)},
             {"durability", settings.durability == sqlite::durability::full ? "full" : "normal"}},
            {}};
}

}  // namespace

driver::driver(const sqlite::config& settings, std::shared_ptr<clock> time, std::unique_ptr<store> file,
               std::shared_ptr<ending> end)
    : capabilities_(sqlite::capabilities),
      description_(described(settings)),
      time_(std::move(time)),
      inbox_(std::make_shared<mailbox>(limits_of(settings))),
      lookout_(std::make_shared<lookout>(
          database::options{settings.path, database::access::read_only, settings.busy_timeout, end->hurry()}, time_)),
      ending_(std::move(end)) {
    capabilities_.lease = settings.lease;
    writer_ = std::thread([file = std::move(file), inbox = inbox_, time = time_, poll = settings.poll,
                           others = lookout_, end = ending_]() mutable {
        {
            writer works(std::move(file), std::move(inbox), std::move(time), poll);
            works.run();
        }
        others->stop();
        others.reset();
        end->reached();
    });
}

driver::~driver() {
    using namespace std::chrono_literals;
    close(time_->now() + 5s, [](const error&) {});
    // A callback may drop the last handle on the driver; then the threads end by themselves.
    if (writer_.get_id() == std::this_thread::get_id() || lookout_->is_own_thread()) {
        writer_.detach();
    } else {
        writer_.join();
    }
}

void driver::declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) {
    inbox_->post(std::make_unique<declare_job>(std::move(topology), std::move(done)));
}

void driver::publish(const queue_topology& topology, spi::publish_request request,
                     spi::callback<void(spi::publish_report)> done) {
    if (request.messages.empty()) return done({});
    inbox_->publish(std::make_unique<publish_job>(topology.target_of(request.shard), std::move(request),
                                                  std::move(done), topology.broadcast),
                    *time_);
}

void driver::subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) {
    const auto& topology = *from.topology;
    if (from.dead_letters && topology.dead_letter_queue.empty()) {
        return done(error(errc::invalid_argument,
                          "queue '" + topology.queue + "' has no dead-letter queue; add .dlq() to its topology"));
    }
    if (from.broadcast && from.broadcast->from != broadcast_start::kind::tail) {
        return done(error(errc::unsupported, "queue '" + topology.queue +
                                                 "': the sqlite backend keeps no history of a "
                                                 "broadcast; begin at the tail"));
    }
    const auto& queue = from.dead_letters ? topology.dead_letter_queue : topology.place_of(from.shard);
    inbox_->post(std::make_unique<subscribe_job>(
        queue, from,
        [inbox = inbox_, dead = topology.dead_letter_queue,
         done = std::move(done)](result<std::shared_ptr<reader>> made) mutable {
            if (!made) return done(made.error());
            done(std::make_shared<subscription>(std::move(inbox), std::move(*made), std::move(dead)));
        }));
}

void driver::depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) {
    lookout_->depth(std::move(queue), std::move(done));
}

void driver::ping(steady_time deadline, spi::callback<void(error)> done) {
    // Whichever comes first, the answer or the deadline.
    struct race {
        std::atomic<bool> over{false};
        spi::callback<void(error)> done;
    };
    auto shared = std::make_shared<race>();
    shared->done = std::move(done);
    const auto finish = [shared](const error& cause) {
        if (!shared->over.exchange(true)) shared->done(cause);
    };
    clock::timer_id timer = 0;
    if (deadline != steady_time::max()) {
        timer = time_->call_at(deadline, [finish] {
            finish({errc::timed_out, "the sqlite file did not answer by the deadline; is another process holding it?"});
        });
    }
    inbox_->post(std::make_unique<ping_job>([finish, timer, time = time_](const error& cause) {
        if (timer != 0) time->cancel(timer);
        finish(cause);
    }));
}

void driver::describe(spi::callback<void(result<spi::description>)> done) {
    done(description_);
}

void driver::close(steady_time deadline, spi::callback<void(error)> done) {
    inbox_->shut();
    ending_->wait(deadline, *time_, std::move(done));
}

void driver::list_queues(spi::callback<void(result<std::vector<spi::queue_info>>)> done) {
    lookout_->list(std::move(done));
}

void driver::browse(std::string queue, std::uint64_t after, std::size_t max,
                    spi::callback<void(result<std::vector<spi::browsed>>)> done) {
    lookout_->browse(std::move(queue), after, max, std::move(done));
}

void driver::move(std::string from, std::string to, std::vector<spi::moved> items,
                  spi::callback<void(result<std::size_t>)> done) {
    inbox_->post(std::make_unique<move_job>(std::move(from), std::move(to), std::move(items), std::move(done)));
}

void driver::remove(std::string queue, std::vector<std::uint64_t> cursors,
                    spi::callback<void(result<std::size_t>)> done) {
    std::vector<spi::moved> items(cursors.size());
    for (std::size_t i = 0; i < cursors.size(); ++i)
        items[i].cursor = cursors[i];
    inbox_->post(std::make_unique<move_job>(std::move(queue), std::string(), std::move(items), std::move(done)));
}

void driver::list_keys(std::vector<std::string> queues,
                       spi::callback<void(result<std::vector<spi::poisoned_key>>)> done) {
    lookout_->list_keys(std::move(queues), std::move(done));
}

void driver::release_key(std::string queue, std::string key, spi::callback<void(result<std::size_t>)> done) {
    inbox_->post(std::make_unique<release_key_job>(std::move(queue), std::move(key), std::move(done)));
}

}  // namespace shove::sqlite_backend
