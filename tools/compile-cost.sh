#!/usr/bin/env bash
# What including the library costs a user: CPU seconds to compile the README's tour with g++ 12 -O2, as on the machine
# where the limit was set. How fast this one is today is told by a file of standard headers, compiled in turn with the
# tour; of both the least of four counts. Fails over the limit.
set -euo pipefail
cd "$(dirname "$0")/.."

limit=${COMPILE_COST_LIMIT:-4.0}
yardstick=1.42  # CPU seconds of the reference where the tour took 3.69
tour=examples/tour.cpp
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
object=$work/tour.o
reference=$work/reference.cpp
cat >"$reference" <<'END'
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
END
includes=(-Icore/include -Ibuild/release/include)
for folder in backends/*/include; do includes+=("-I$folder"); done

# seconds SOURCE: CPU seconds of one compilation.
seconds() {
    local user system
    TIMEFORMAT='%U %S'
    read -r user system < <({ time g++-12 -std=c++20 -O2 "${includes[@]}" -c "$1" -o "$object" >&2; } 2>&1 | tail -n 1)
    [ -s "$object" ] || { echo "compile-cost: $1 does not compile" >&2; exit 1; }
    awk -v u="$user" -v s="$system" 'BEGIN { print u + s }'
}
least() { printf '%s\n' "$@" | sort -g | head -n 1; }

ours=() others=()
for _ in 1 2 3 4; do
    others+=("$(seconds "$reference")")
    ours+=("$(seconds "$tour")")
done
raw=$(least "${ours[@]}")
found=$(awk -v o="$raw" -v r="$(least "${others[@]}")" -v y="$yardstick" 'BEGIN { printf "%.2f", o * y / r }')
echo "compile-cost: $tour takes $found CPU seconds with g++ 12 -O2 (limit $limit; $raw measured here today)"
awk -v f="$found" -v l="$limit" 'BEGIN { exit !(f <= l) }'
