#include "cursor_book.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>

namespace shove::rabbitmq_backend {
namespace {

/// Gathers what is hashed.
class digester {
public:
    digester() : state_(EVP_MD_CTX_new()) {
        if (!state_ || EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
    }
    void add(const void* bytes, std::size_t size) { EVP_DigestUpdate(state_.get(), bytes, size); }
    void add(wall_time when) {
        const auto micros = when.time_since_epoch().count();
        add(&micros, sizeof micros);
    }
    likeness take() {
        std::array<unsigned char, EVP_MAX_MD_SIZE> whole{};
        EVP_DigestFinal_ex(state_.get(), whole.data(), nullptr);
        likeness made;
        std::memcpy(made.digest.data(), whole.data(), made.digest.size());
        return made;
    }

private:
    struct destroy {
        void operator()(EVP_MD_CTX* what) const noexcept { EVP_MD_CTX_free(what); }
    };
    std::unique_ptr<EVP_MD_CTX, destroy> state_;
};

}  // namespace

likeness likeness_of(const message& msg, const spi::history* past) {
    digester all;
    const auto id = msg.id();
    all.add(id.data(), id.size() + 1);  // with its end
    all.add(msg.published_at());
    all.add(past ? past->dead_at : wall_time{});
    all.add(msg.payload().data(), msg.payload().size());
    return all.take();
}

std::uint64_t cursor_book::add(reading of, const likeness& what) {
    if (entries_.size() == most) {
        cut_ = std::max(cut_, entries_.front().of);
        entries_.pop_front();
        ++first_;
    }
    entries_.push_back({of, what});
    return next() - 1;
}

const cursor_book::entry* cursor_book::at(std::uint64_t cursor) const noexcept {
    return cursor >= first_ && cursor - first_ < entries_.size() ? &entries_[cursor - first_] : nullptr;
}

std::optional<likeness> cursor_book::find(std::uint64_t cursor) const {
    const auto* found = at(cursor);
    return found && !found->gone ? std::optional(found->what) : std::nullopt;
}

void cursor_book::forget(std::uint64_t cursor) {
    if (at(cursor)) entries_[cursor - first_].gone = true;
}

std::optional<cursor_book::progress> cursor_book::up_to(std::uint64_t cursor) const {
    const auto* last = at(cursor);
    if (!last || last->of <= cut_) return std::nullopt;
    progress made;
    made.of = last->of;
    for (std::uint64_t i = 0; i <= cursor - first_; ++i) {
        const auto& each = entries_[i];
        if (each.of == last->of && !each.gone) ++made.seen[each.what];
    }
    return made;
}

}  // namespace shove::rabbitmq_backend
