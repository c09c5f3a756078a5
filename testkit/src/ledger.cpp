#include <shove/testkit/ledger.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

namespace shove::testkit {

ledger::ledger(const std::filesystem::path& file)
    : file_(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), "open " + file.string());
}

ledger::~ledger() {
    close(file_);
}

void ledger::note(char kind, std::string_view id, std::string_view fields) const {
    std::string line{kind, ' '};
    line.append(id).append(fields.empty() ? "" : " ").append(fields).append("\n");
    if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw std::system_error(errno, std::generic_category(), "write to a ledger");
    }
}

std::vector<ledger_line> ledger::read(const std::filesystem::path& file) {
    std::vector<ledger_line> made;
    std::ifstream in(file);
    for (std::string text; std::getline(in, text);) {
        std::istringstream words(text);
        ledger_line line;
        words >> line.kind >> line.id;
        for (std::string field; words >> field;)
            line.fields.push_back(field);
        made.push_back(std::move(line));
    }
    return made;
}

}  // namespace shove::testkit
