#include <shove/audit.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace shove {

/// The records that wait, and the thread that hands them over.
class audit_trail::outbox {
public:
    outbox(writer write, audit_options options)
        : write_(std::move(write)), options_(options), thread_([this](const std::stop_token& stop) { run(stop); }) {}

    bool add(audit_record record) {
        const auto size = size_of(record);
        const std::lock_guard lock(mutex_);
        if (waiting_.size() + under_way_ >= options_.max_records || bytes_ + size > options_.max_bytes) {
            ++counts_.dropped;
            return false;
        }
        bytes_ += size;
        waiting_.push_back(std::move(record));
        changed_.notify_all();
        return true;
    }
    bool flush(milliseconds deadline) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, deadline, [&] { return waiting_.empty() && under_way_ == 0; });
    }
    audit_counts counts() const {
        const std::lock_guard lock(mutex_);
        auto now = counts_;
        now.waiting = waiting_.size() + under_way_;
        return now;
    }
    void on_progress(std::function<void(const audit_progress&)> told) {
        const std::lock_guard lock(mutex_);
        told_ = std::move(told);
    }

private:
    static std::size_t size_of(const audit_record& record) {
        return record.payload.size() + record.headers.view().encoded().size() + sizeof record;
    }

    void run(const std::stop_token& stop) {
        while (take(stop)) {
            std::string why;
            tell(hand_over(why), why);
            const std::lock_guard lock(mutex_);
            under_way_ = 0;
            batch_.clear();
            changed_.notify_all();
        }
    }
    void tell(bool written, const std::string& why) {
        audit_progress what;
        (written ? what.written : what.failed) = batch_.size();
        if (!written && !std::exchange(failing_, true)) {
            what.first_failed = &batch_.front();
            what.why = why;
        }
        if (written) failing_ = false;
        std::function<void(const audit_progress&)> told;
        {
            const std::lock_guard lock(mutex_);
            counts_.written += what.written;
            counts_.failed += what.failed;
            told = told_;
        }
        if (told) told(what);
    }
    /// Waits for records and takes some; false: stopped, and nothing is left.
    bool take(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, stop, [&] { return !waiting_.empty(); });
        while (!waiting_.empty() && batch_.size() < options_.batch) {
            bytes_ -= size_of(waiting_.front());
            batch_.push_back(std::move(waiting_.front()));
            waiting_.pop_front();
        }
        under_way_ = batch_.size();
        return under_way_ > 0;
    }
    bool hand_over(std::string& why) {
        try {
            write_(batch_);
            return true;
        } catch (const std::exception& e) {
            why = e.what();
        } catch (...) {
            why = "the writer threw something that is not a std::exception";
        }
        return false;
    }

    const writer write_;
    const audit_options options_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<audit_record> waiting_;
    std::vector<audit_record> batch_;  ///< The thread's own.
    std::size_t under_way_ = 0;
    std::size_t bytes_ = 0;
    audit_counts counts_;
    bool failing_ = false;  ///< The thread's own.
    std::function<void(const audit_progress&)> told_;
    std::jthread thread_;
};

audit_trail::audit_trail(writer write, audit_options options)
    : outbox_(std::make_unique<outbox>(std::move(write), options)) {}

audit_trail::~audit_trail() = default;

bool audit_trail::add(audit_record record) {
    return outbox_->add(std::move(record));
}

bool audit_trail::flush(milliseconds deadline) {
    return outbox_->flush(deadline);
}

audit_counts audit_trail::counts() const {
    return outbox_->counts();
}

void audit_trail::on_progress(std::function<void(const audit_progress&)> told) {
    outbox_->on_progress(std::move(told));
}

}  // namespace shove
