#include "management_desk.hpp"

#include <utility>

namespace shove::rabbitmq_backend {
namespace {

management_options options_of(const rabbitmq::config& settings) {
    management_options made;
    made.url = settings.management;
    const bool own = !settings.management_user.empty();
    made.user = own ? settings.management_user : settings.user;
    made.password = own ? settings.management_password : settings.password;
    made.virtual_host = settings.virtual_host;
    made.ca_file = settings.ca_file;
    made.verify_peer = settings.verify_peer;
    made.connect_timeout = settings.connect_timeout;
    return made;
}

}  // namespace

management_desk::management_desk(const rabbitmq::config& settings) {
    auto made = management::make(options_of(settings));
    if (made) {
        client_ = std::move(*made);
    } else {
        no_client_ = made.error();
    }
}

management_desk::~management_desk() {
    finish();
}

void management_desk::ask(unique_function<void(management&)> what, unique_function<void(const error&)> refused) {
    if (no_client_) return refused(no_client_);
    desk_.ask([client = client_.get(), what = std::move(what)]() mutable { what(*client); }, std::move(refused));
}

void management_desk::shut() {
    // The order matters: a question that this ends must not be followed by the next.
    desk_.shut();
    if (client_) client_->stop();
}

void management_desk::finish() {
    shut();
    desk_.finish();
}

}  // namespace shove::rabbitmq_backend
