#!/usr/bin/env bash
# What including the library costs a user: CPU seconds to compile the README's tour with g++ 12 -O2.
# Takes the least of three (the machine may be busy) and fails over the limit.
set -euo pipefail
cd "$(dirname "$0")/.."

limit=${COMPILE_COST_LIMIT:-4.0}
tour=examples/tour.cpp
object=$(mktemp --suffix=.o)
trap 'rm -f "$object"' EXIT
includes=(-Icore/include -Ibuild/release/include)
for folder in backends/*/include; do includes+=("-I$folder"); done

best=
for _ in 1 2 3; do
    TIMEFORMAT='%U %S'
    read -r user system < <({ time g++-12 -std=c++20 -O2 "${includes[@]}" -c "$tour" -o "$object" >&2; } 2>&1 | tail -n 1)
    [ -s "$object" ] || { echo "compile-cost: $tour does not compile" >&2; exit 1; }
    best=$(awk -v u="$user" -v s="$system" -v b="${best:-1e9}" 'BEGIN { t = u + s; print (t < b ? t : b) }')
done
echo "compile-cost: $tour takes $best CPU seconds with g++ 12 -O2 (limit $limit)"
awk -v b="$best" -v l="$limit" 'BEGIN { exit !(b <= l) }'
