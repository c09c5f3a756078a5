// Standard headers only, as a yardstick for tools/compile-cost.sh: how fast is this machine today?
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>
int main() {
    std::vector<std::string> texts{"a"};
    std::function<std::size_t()> size = [&] { return texts.size(); };
    std::unordered_set<std::string> set(texts.begin(), texts.end());
    return static_cast<int>(size() + set.size() + std::chrono::milliseconds(1).count());
}
