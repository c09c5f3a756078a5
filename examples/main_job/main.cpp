// The main job: `make run`. Publishes 10,000 real records to a durable SQLite queue and works them, with retries
// and dead letters, replays a dead letter after a fix, and draws what happened.
//
//   shove-main-job [RECORDS=data/birdstrikes.csv] [FOLDER=build/run]
//
// Exit code: 0 everything adds up, 1 it does not, or an error.
#include "chart.hpp"
#include "job.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>

namespace {

using main_job::grouped;

void print_waits(const main_job::timeline& times) {
    std::vector<double> waits;
    for (const auto& c : times.calls()) {
        if (c.attempt == 1) waits.push_back(c.waited_ms);
    }
    const auto median = main_job::quantile(waits, 0.5);
    std::printf("  publish to first call   p50 %.1f ms, p99 %.1f ms\n", median, main_job::quantile(waits, 0.99));
}

void print_summary(const main_job::job_result& result, const main_job::job& done) {
    std::printf("\nSummary\n");
    std::printf("  published               %s\n", grouped(result.published).c_str());
    std::printf("  = acked + dead          %s + %s\n", grouped(result.acked).c_str(), grouped(result.dead).c_str());
    std::printf("  retries                 %s (the register was busy)\n", grouped(result.retried).c_str());
    for (const auto& d : result.dead_by_reason) {
        std::printf("  dead: %-4s              %s\n", grouped(d.letters).c_str(), d.reason.c_str());
    }
    std::printf("  replayed after a fix    %s (%s): handled, %s dead letters left\n", grouped(result.replayed).c_str(),
                result.replayed_id.c_str(), grouped(result.dead_after_fix).c_str());
    const auto rate = static_cast<double>(result.published) / result.seconds;
    std::printf("  throughput              %s records/s over %.2f s\n",
                grouped(static_cast<std::uint64_t>(rate)).c_str(), result.seconds);
    print_waits(done.times());
    std::printf("  filed strikes cost      $%s; most often hit:",
                grouped(static_cast<std::uint64_t>(done.filed().total_cost())).c_str());
    const char* joint = " ";
    for (const auto& [species, hits] : done.filed().top_species(3)) {
        std::printf("%s%s (%s)", joint, species.c_str(), grouped(hits).c_str());
        joint = ", ";
    }
    std::printf("\n");
}

void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw std::runtime_error("cannot write " + file.string());
}

int run(const std::filesystem::path& records, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    const auto database = folder / "strikes.db";
    main_job::job work(records, database);
    const auto result = work.run();
    print_summary(result, work);
    write(folder / "summary.svg", main_job::draw_summary(result, work.times()));
    std::printf("\nPicture: %s\nDead letters: shove dlq list strikes --dlq --url sqlite:%s\n",
                (folder / "summary.svg").c_str(), database.c_str());
    for (const auto& mistake : result.mistakes())
        std::printf("WRONG: %s\n", mistake.c_str());
    return result.mistakes().empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc > 1 ? argv[1] : "data/birdstrikes.csv", argc > 2 ? argv[2] : "build/run");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "shove-main-job: %s\n", e.what());
        return EXIT_FAILURE;
    }
}
