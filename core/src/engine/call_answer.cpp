#include "call_answer.hpp"

#include <utility>

namespace shove::detail {
namespace {

std::string text_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "the handler threw something that is not a std::exception";
    }
}

}  // namespace

std::optional<outcome_kind> counted_outcome(const decide::ended& how) noexcept {
    switch (how.how) {
        case decide::ending::acked:
            return outcome_kind::ack;
        case decide::ending::reject:
            return outcome_kind::reject;
        case decide::ending::defer:
            return outcome_kind::defer;
        case decide::ending::timed_out:
            return how.timeout_kind;
        case decide::ending::retry:
        case decide::ending::exception:
            return outcome_kind::retry;
        default:
            return std::nullopt;
    }
}

decide::ended ended_of(call_result answer) {
    decide::ended how;
    if (answer.undecodable) {
        how.how = decide::ending::undecodable;
        how.text = std::move(answer.decode_error);
        return how;
    }
    switch (answer.outcome.kind()) {
        case outcome_kind::ack:
            return how;
        case outcome_kind::retry:
            how.how = decide::ending::retry;
            break;
        case outcome_kind::reject:
            how.how = decide::ending::reject;
            break;
        case outcome_kind::defer:
            how.how = decide::ending::defer;
            break;
    }
    how.delay = answer.outcome.delay();
    how.text = answer.outcome.reason();
    return how;
}

decide::ended ended_of(const std::exception_ptr& thrown) {
    decide::ended how;
    how.how = decide::ending::exception;
    how.text = text_of(thrown);
    return how;
}

}  // namespace shove::detail
