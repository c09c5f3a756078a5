#include <shove/testkit/backend_factory.hpp>

#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace shove::testkit {

scratch_folder::scratch_folder(std::string_view stem) {
    auto pattern = (std::filesystem::temp_directory_path() / (std::string(stem) + "-XXXXXX")).string();
    if (!mkdtemp(pattern.data())) throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
    path_ = pattern;
}

scratch_folder::~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace shove::testkit
