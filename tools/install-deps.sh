#!/usr/bin/env bash
# Installs the Debian packages that are missing: tools/install-deps.sh [run|test]
#   run   what it takes to build the libraries, the command and the main job (the default)
#   test  that, and what `make test` needs; Maven fetches the SBE tool
# Does nothing, and needs no network, where all are there.
set -euo pipefail

run=(g++-12 g++ cmake ninja-build make pkg-config ccache
     libboost1.81-dev libsimdjson-dev libsqlite3-dev libprotobuf-dev protobuf-compiler
     librabbitmq-dev libboost-json1.81-dev libssl-dev librdkafka-dev
     prometheus-cpp-dev libspdlog-dev libcli11-dev libtomlplusplus-dev)
test=(clang-16 clang-format-16 clang-tidy-16 libclang-rt-16-dev lld-16
      prometheus
      libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
      sqlite3 doxygen graphviz python3 binutils git groff-base
      default-jre-headless maven
      rabbitmq-server amqp-tools kcat curl openssl)

case "${1:-run}" in
    run)  wanted=("${run[@]}") ;;
    test) wanted=("${run[@]}" "${test[@]}") ;;
    *)    echo "usage: $0 [run|test]" >&2; exit 64 ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "install-deps: not a Debian system; install the equivalents of: ${wanted[*]}" >&2
    exit 0
fi

# Code generator of the SBE codec's tests: one jar, kept in the user's cache. Debian has no package of it.
# The broker of the Kafka tests is fetched in the same way.
fetched() {
    [ "${1:-run}" = test ] || return 0
    "$(dirname "$0")/fetch-kafka.sh" >/dev/null
    cmake -P "$(dirname "$0")/../codecs/sbe/cmake/FetchSbeTool.cmake"
}

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    fetched "$@"
    echo "install-deps: nothing missing (${#wanted[@]} packages)"
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "install-deps: run as root, or install sudo; missing: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
fi
echo "install-deps: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Servers are not started when they are installed: the tests start their own (tools/brokers.sh).
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    trap 'rm -f "$log"; "${as_root[@]}" rm -f $policy' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee $policy >/dev/null
    "${as_root[@]}" chmod 755 $policy
fi
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" \
        </dev/null >"$log" 2>&1
}
# The package lists at hand may do; where they are absent or too old, fetch them and try again.
if ! apt install -y --no-install-recommends "${missing[@]}"; then
    echo "install-deps: fetching the package lists"
    apt update || { cat "$log" >&2; exit 1; }
    apt install -y --no-install-recommends "${missing[@]}" || { cat "$log" >&2; exit 1; }
fi
fetched "$@"
echo "install-deps: done"
