#!/usr/bin/env bash
# clang-tidy with the short list of .clang-tidy over the sources of the product: tools/tidy.sh [REGEX]
# A file that passed is not looked at again until it, a header of ours or the list changes. A build from nothing (CI)
# looks at what the last commits changed, and at its folders where that was a header; `make test-long` looks at all.
set -euo pipefail
cd "$(dirname "$0")/.."

filter=${1:-'^(core/src|(backends|codecs)/[^/]+/src|cli)/'}
build=build/tidy  # only configured, for its compile commands
cmake --preset asan -B $build -DSHOVE_BUILD_CLI=ON >/dev/null
mkdir -p $build/stamps

# Headers decide for everybody: their hash is in each stamp.
rules=$( (cat .clang-tidy tools/tidy.sh; git ls-files -co --exclude-standard -- '*.hpp' | sort | xargs cat) | sha256sum)
recent() { cat; }
if [ -n "${CI:-}" ] && base=$(git rev-parse --quiet --verify HEAD~60); then
    recent() {
        grep -xFf <(git diff --name-only "$base" -- '*.cpp'
            git diff --name-only "$base" -- '*.hpp' .clang-tidy tools/tidy.sh | xargs -r -n1 dirname | sort -u |
                while read -r folder; do git ls-files -- "$folder/*.cpp"; done) || true
    }
fi

files=() stamps=()
while read -r f; do
    stamp=$build/stamps/$( (echo "$rules $f"; cat "$f") | sha256sum | cut -c1-32)
    [ -f "$stamp" ] || { files+=("$f"); stamps+=("$stamp"); }
done < <(git ls-files -co --exclude-standard -- '*.cpp' | grep -E "$filter" | grep -vE '/(test|example|fuzz)/' | sort | recent)
[ ${#files[@]} -gt 0 ] || { echo "tidy: nothing has changed"; exit 0; }

echo "tidy: ${#files[@]} files"
one() {
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
