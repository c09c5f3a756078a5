#!/usr/bin/env bash
# Rules about the text of the tree that no compiler checks; prints each breach and fails.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
breach() { echo "check-tree: $1"; failed=1; }

# Tracked files, and new ones that are not ignored.
files() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ -f "$f" ] && echo "$f"; done; }

# 1. Temporaries that g++ 12 destroys twice.
files '*.cpp' '*.hpp' | grep -v '^bench/peers/' | xargs -r tools/check-coawait.py ||
    breach "a co_await expression holds a temporary that g++ 12 destroys twice"

# 2. Paths of one machine and hosts of package registries. (The patterns do not match themselves.)
words='/wor[k]/|/roo[t]/|/hom[e]/[a-z]|bash_job[s]|deb\.debia[n]\.org|pyp[i]\.org|pythonhoste[d]\.org'
words+='|crate[s]\.io|npmj[s]\.(org|com)|golan[g]\.org|rubygem[s]\.org|artifactor[y]|jfro[g]'
files . | grep -vE '^data/.*\.(csv|json|jsonl|ndjson|gz)$' | xargs -r grep -InE "$words" &&
    breach "a file names a machine's path or a registry's host"

# 3. Tests wait on events. A sleep says on its line, or on the one above, why time itself is the matter.
files '*/test/*.cpp' '*/test/*.hpp' 'testkit/*.cpp' 'testkit/*.hpp' | xargs -r awk '
    FNR == 1 { previous = "" }
    /sleep_for|sleep_until|usleep|nanosleep|[^_a-z]sleep *\(/ && !/\/\/ real time:/ && previous !~ /\/\/ real time:/ {
        print FILENAME ":" FNR ": " $0; bad = 1 }
    { previous = $0 }
    END { exit bad }' || breach "a test sleeps without saying why ('// real time: ...')"

# 4. Every source is built: it stands in a CMakeLists.txt of a folder above it.
while read -r f; do
    folder=$(dirname "$f") listed=no
    while [ "$folder" != . ]; do
        [ -f "$folder/CMakeLists.txt" ] &&
            grep -qE "(^|[ (/])$(sed 's/\./\\./g' <<<"${f#"$folder/"}")([ )]|\$)" "$folder/CMakeLists.txt" && { listed=yes; break; }
        folder=$(dirname "$folder")
    done
    [ $listed = yes ] || breach "$f is in no CMakeLists.txt"
done < <(files '*.cpp' | grep -vE '^(bench/peers|test/package|core/test/compile_fail)/')

exit $failed
