#include "profile_probe.hpp"

namespace shove::sqlite_backend::lease {

namespace {

constexpr std::string_view text = "rullst.messaging.storage.probe.v1";

record_identity place_in(std::string_view name_space) {
    return {.name_space = name_space,
            .topic = "storage-profile-probe",
            .id = "probe",
            .event_kind = "storage.profile",
            .content_type = "application/octet-stream"};
}

}  // namespace

result<std::string> seal_probe(const keyring& keys, std::string_view name_space, const random_source& random) {
    return seal_record(keys, place_in(name_space), text, random);
}

error check_probe(const keyring& keys, std::string_view name_space, std::string_view blob) {
    const auto opened = open_record(keys, place_in(name_space), blob);
    if (!opened) return opened.error();
    if (*opened != text)
        return {errc::authentication_failed, "the probe of the store holds another text than a probe's"};
    return {};
}

}  // namespace shove::sqlite_backend::lease
