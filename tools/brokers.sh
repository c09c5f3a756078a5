#!/usr/bin/env bash
# Real brokers on loopback for the tests, each a process of its own with its data in build/brokers.
#
#   tools/brokers.sh up NAME...      starts what does not run, and waits until it serves
#   tools/brokers.sh down [NAME...]  stops in order; the data stays (all brokers, if none is named)
#   tools/brokers.sh wipe [NAME...]  down, and deletes the data
#   tools/brokers.sh kill NAME...    SIGKILL, as a crash; `up` brings it back with its data
#   tools/brokers.sh pause NAME...   SIGSTOP, as a server that hangs; `resume` lets it go on
#   tools/brokers.sh restore NAME... undoes all of this, whatever happened before
#   tools/brokers.sh status [NAME...]
#   tools/brokers.sh env             shell exports for the tests: addresses, certificates, this script
#
# A broker may know more commands, COMMAND NAME [ARGUMENT]; the file tools/brokers/KIND.sh says which. NAME is a kind,
# or one of its instances: rabbitmq, which tests share, and rabbitmq-faults, for tests that break their broker.
#
# BROKERS_DIR        state: data, logs, certificates, pids; default build/brokers
# BROKERS_PORT_BASE  every port is this plus less than 100; default: a free hundred from 21000 to 32000
# BROKERS_TIMEOUT    seconds that a start may take; default 120
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${BROKERS_DIR:-$here/../build/brokers}
timeout=${BROKERS_TIMEOUT:-120}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

say() { echo "brokers: $*" >&2; }
die() { say "$@"; exit 1; }

# Each broker's file adds its instances with their first port, and defines KIND_start, KIND_ready and KIND_env.
declare -A first_port=()
for file in "$here"/brokers/*.sh; do
    # shellcheck source=/dev/null
    . "$file"
done
kind() { echo "${1%%-*}"; }

# ---- ports --------------------------------------------------------------------------------------
listening() { grep -qE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$1") [0-9A-F:]+ 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null; }
free_from() {
    local port
    for ((port = $1; port < $1 + 100; port++)); do ! listening "$port" || return 1; done
}
# The base is chosen once and kept until `down` of the last broker, so that a killed one comes back where it was.
choose_base() {
    local base first
    if [ -s "$dir/base" ]; then
        [ "${BROKERS_PORT_BASE:-$(<"$dir/base")}" = "$(<"$dir/base")" ] || die "brokers of $dir use the ports from $(<"$dir/base"); 'down' first"
        return 0
    fi
    # Each folder begins to look elsewhere, so that two that start at the same time do not choose the same.
    first=$((21000 + $(cksum <<<"$dir" | cut -d ' ' -f 1) % 110 * 100))
    for base in ${BROKERS_PORT_BASE:-$(seq $first 100 31900) $(seq 21000 100 $first)}; do
        free_from "$base" && { echo "$base" >"$dir/base"; return 0; }
    done
    die "no free ports from ${BROKERS_PORT_BASE:-21000 to 32000}; set BROKERS_PORT_BASE"
}
# port NAME [N]: the Nth port of an instance.
port() {
    [ -s "$dir/base" ] || die "no broker was started: $0 up $1"
    echo $(($(<"$dir/base") + first_port[$1] + ${2:-0}))
}

# ---- processes ----------------------------------------------------------------------------------
# A pid file holds the pid and the time of birth, so that a pid used again is never taken for ours.
birth() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    read -ra stat <<<"${stat##*) }"
    [ "${stat[0]}" != Z ] && echo "${stat[19]}"
}
# pid NAME [PROCESS]: of a process that runs; without PROCESS the broker itself.
pid() {
    local number born
    { read -r number born <"$dir/$1/${2:-server}.pid"; } 2>/dev/null || return 1
    [ "$(birth "$number")" = "$born" ] && echo "$number"
}
# spawn NAME PROCESS COMMAND...: in the background, with nothing of ours open.
spawn() {
    local name=$1 process=$2 child
    shift 2
    pid "$name" "$process" >/dev/null && return 0
    (
        cd "$dir/$name"
        for fd in /proc/self/fd/*; do
            fd=${fd##*/}
            [ "$fd" -le 2 ] || eval "exec $fd>&-"
        done
        exec setsid "$@" >>"$dir/$name/log/$process.log" 2>&1 </dev/null
    ) &
    child=$!
    echo "$child $(birth "$child" || true)" >"$dir/$name/$process.pid"
}
send() { # SIGNAL NAME [PROCESS]
    local number
    number=$(pid "$2" "${3:-server}") || return 0
    kill -"$1" "$number" 2>/dev/null || true
}
gone() { # NAME PROCESS SECONDS
    local end=$((SECONDS + $3))
    while pid "$1" "$2" >/dev/null; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}
end_process() { # NAME PROCESS
    send TERM "$@"
    send CONT "$@"
    gone "$@" 30 || { send KILL "$@"; gone "$@" 10; } || die "$1: $2 does not end"
    rm -f "$dir/$1/$2.pid"
}

# ---- certificates -------------------------------------------------------------------------------
# ca.pem signs server.pem (localhost, 127.0.0.1) and client.pem; other-ca.pem signs nothing.
certificates() {
    command -v openssl >/dev/null || die "openssl is missing; run tools/install-deps.sh test"
    [ -e "$dir/certs/done" ] || (
        mkdir -p "$dir/certs" && cd "$dir/certs"
        make_certificates >log 2>&1 && touch done || { tail -n 3 log >&2; die "openssl failed"; }
    )
}
make_certificates() {
    local new=(openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes) who
    for who in ca other-ca; do
        "${new[@]}" -x509 -days 3650 -subj "/CN=shove test $who" -keyout $who.key -out $who.pem || return 1
    done
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n' >leaf.ext
    for who in server client; do
        "${new[@]}" -subj "/CN=shove test $who" -keyout $who.key -out $who.csr || return 1
        openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -extfile leaf.ext -out $who.pem || return 1
    done
}

# ---- commands -----------------------------------------------------------------------------------
ready() { "$(kind "$1")_ready" "$1" >/dev/null 2>&1; }
serves() { pid "$1" >/dev/null && ready "$1"; }
start() {
    mkdir -p "$dir/$1/log"
    "$(kind "$1")_start" "$1"
}
wait_ready() {
    local end=$((SECONDS + timeout))
    until ready "$1"; do
        if ! pid "$1" >/dev/null; then
            tail -qn 15 "$dir/$1"/log/*.log >&2
            die "$1 ended while it started"
        fi
        if [ $SECONDS -ge $end ]; then
            tail -qn 15 "$dir/$1"/log/*.log >&2
            die "$1 does not serve after $timeout s"
        fi
        sleep 0.1
    done
}
command_up() {
    local name
    for name; do serves "$name" || start "$name"; done
    for name; do wait_ready "$name"; done
}
command_down() {
    local name file
    for name; do send TERM "$name" && send CONT "$name"; done
    for name; do
        for file in "$dir/$name"/server.pid "$dir/$name"/*.pid; do
            [ -e "$file" ] && end_process "$name" "$(basename "$file" .pid)"
        done
    done
    for file in "$dir"/*/*.pid; do [ -e "$file" ] && return 0; done
    rm -f "$dir/base"
}
command_wipe() {
    local name
    command_down "$@"
    for name; do rm -rf "${dir:?}/$name"; done
}
command_kill() {
    local name
    for name; do send KILL "$name"; done
    for name; do gone "$name" server 10 || die "$name does not end"; done
}
command_pause() { local name; for name; do send STOP "$name"; done; }
command_resume() { local name; for name; do send CONT "$name"; done; }
command_restore() {
    local name
    command_resume "$@"
    command_up "$@"
    for name; do
        ! declare -F "$(kind "$name")_restore" >/dev/null || "$(kind "$name")_restore" "$name"
    done
}
command_status() {
    local name rc=0
    for name; do
        if serves "$name"; then
            echo "$name up, ports from $(port "$name"), $(($(awk '/VmRSS/ { print $2 }' "/proc/$(pid "$name")/status") / 1024)) MB"
        else
            echo "$name down" && rc=3
        fi
    done
    return $rc
}
export_line() { printf 'export %s=%q\n' "$1" "$2"; }
command_env() {
    local name
    export_line SHOVE_TEST_BROKERS "$here/$(basename "$0")"
    export_line BROKERS_DIR "$dir"
    export_line SHOVE_TEST_CA "$dir/certs/ca.pem"
    export_line SHOVE_TEST_OTHER_CA "$dir/certs/other-ca.pem"
    export_line SHOVE_TEST_CLIENT_CERTIFICATE "$dir/certs/client.pem"
    export_line SHOVE_TEST_CLIENT_KEY "$dir/certs/client.key"
    for name; do
        [ ! -e "$dir/$name/server.pid" ] || "$(kind "$name")_env" "$name"
    done
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
    help | -h | --help) sed -nE '2,/^set /s/^# ?//p' "$0"; exit 0 ;;
    down | wipe | status | env) [ $# -gt 0 ] || mapfile -t all < <(printf '%s\n' "${!first_port[@]}" | sort) ;;&
    up | down | wipe | kill | pause | resume | restore | status | env)
        [ $# -gt 0 ] || set -- ${all[@]+"${all[@]}"}
        names=("$@") ;;
    *) names=("${1:-}") ;;
esac
[ $# -gt 0 ] || die "$command: which broker? There are: ${!first_port[*]}"
for name in "${names[@]}"; do
    [ -n "${first_port[$name]:-}" ] || die "no broker is named '$name'; there are: ${!first_port[*]}"
done

if [[ $command = up || $command = restore ]]; then
    exec 9>"$dir/lock"  # the choice of ports and the certificates are common to all
    flock -w "$timeout" 9 || die "another command takes too long"
    choose_base
    certificates
    exec 9>&-
fi
if declare -F "command_$command" >/dev/null; then
    "command_$command" "$@"
elif declare -F "$(kind "$1")_${command//-/_}" >/dev/null; then
    "$(kind "$1")_${command//-/_}" "$@"
else
    die "no command '$command' for $1; see $0 help"
fi
