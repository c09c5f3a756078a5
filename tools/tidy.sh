#!/usr/bin/env bash
# clang-tidy with the short list of .clang-tidy over the sources of the product: tools/tidy.sh [REGEX]
# A file that passed is not looked at again until it, a header of ours or the list changes. A build from nothing (CI)
# looks for five minutes, at what the last commits changed first, and at its folders where that was a header; it says how
# many files were left. `make test-long` looks at all.
set -euo pipefail
cd "$(dirname "$0")/.."

filter=${1:-'^(core/src|(backends|codecs)/[^/]+/src|cli)/'}
build=build/tidy  # only configured, for its compile commands
cmake --preset asan -B $build -DSHOVE_BUILD_CLI=ON >/dev/null
mkdir -p $build/stamps
rm -f $build/stamps/*.left

# Headers decide for everybody: their hash is in each stamp.
rules=$( (cat .clang-tidy tools/tidy.sh; git ls-files -co --exclude-standard -- '*.hpp' | sort | xargs cat) | sha256sum)
newest_first() { sort; }
if [ -n "${CI:-}" ] && base=$(git rev-parse --quiet --verify HEAD~60); then
    newest_first() {
        local candidates
        candidates=$(cat)
        git log --format= --name-only "$base"..HEAD -- '*.cpp' '*.hpp' | awk '!seen[$0]++' |
            while read -r changed; do
                case $changed in *.cpp) echo "$changed" ;; *) git ls-files -- "$(dirname "$changed")/*.cpp" ;; esac
            done | awk '!seen[$0]++' | grep -xFf <(printf '%s\n' "$candidates") || true
    }
fi
seconds=86400
[ -z "${CI:-}" ] || seconds=300
export until=$(($(date +%s) + ${TIDY_SECONDS:-$seconds}))

files=() stamps=()
while read -r f; do
    stamp=$build/stamps/$( (echo "$rules $f"; cat "$f") | sha256sum | cut -c1-32)
    [ -f "$stamp" ] || { files+=("$f"); stamps+=("$stamp"); }
done < <(git ls-files -co --exclude-standard -- '*.cpp' | grep -E "$filter" | grep -vE '/(test|example|fuzz)/' | newest_first)
[ ${#files[@]} -gt 0 ] || { echo "tidy: nothing has changed"; exit 0; }

echo "tidy: ${#files[@]} files"
one() {
    if [ "$(date +%s)" -gt "$until" ]; then
        touch "$3.left"
        return 0
    fi
    if clang-tidy-16 -p "$1" --quiet --warnings-as-errors='*' "$2" >"$3.log" 2>&1; then
        touch "$3"
        rm -f "$3.log"
    else
        grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter' "$3.log"
        return 1
    fi
}
export -f one
for i in "${!files[@]}"; do printf '%s\0%s\0%s\0' $build "${files[$i]}" "${stamps[$i]}"; done |
    xargs -0 -n 3 -P "${JOBS:-$(nproc)}" bash -c 'one "$@" || exit 1' _
left=$(find $build/stamps -name '*.left' | wc -l)
[ "$left" -eq 0 ] || echo "tidy: $left of them were left, the time was up; 'make tidy' looks at all"
