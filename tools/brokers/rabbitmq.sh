# RabbitMQ, for tools/brokers.sh. More commands:
#
#   stop-app NAME, start-app NAME   the broker without its process: connections are closed, its ports refuse
#   alarm NAME set|clear            a memory alarm: publishers are blocked
#   flush NAME                      writes what was declared to disk; by itself RabbitMQ is up to some seconds late, and a
#                                   queue that was declared just before a kill may be lost, with what was confirmed in it
#   eval NAME EXPRESSION            an Erlang expression in the node; prints what it gives
#
# shellcheck shell=bash disable=SC2154
first_port[rabbitmq]=0
first_port[rabbitmq-faults]=10

# Its ports: AMQP, AMQP over TLS, management, metrics, distribution, epmd.
rabbitmq_start() {
    local name=$1 d=$dir/$1
    if pid "$name" >/dev/null; then
        [ "$(rabbitmq_state "$name" 2>/dev/null)" != stopped ] || rabbitmq_start_app "$name"
        return 0
    fi
    command -v /usr/lib/rabbitmq/bin/rabbitmq-server erl_call >/dev/null || die "RabbitMQ is missing; run tools/install-deps.sh test"
    echo '[rabbitmq_management,rabbitmq_consistent_hash_exchange,rabbitmq_prometheus].' >"$d/enabled_plugins"
    : >"$d/env.conf"
    rabbitmq_config "$name" >"$d/rabbitmq.config"
    [ -e "$d/.erlang.cookie" ] || { head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$d/.erlang.cookie"; }
    chmod 400 "$d/.erlang.cookie"
    # Erlang would start one by itself, and leave it behind.
    spawn "$name" epmd epmd -port "$(port "$name" 5)" -address 127.0.0.1
    (
        export HOME=$d RABBITMQ_NODENAME=shove-$name@localhost \
            RABBITMQ_MNESIA_BASE="$d/mnesia" RABBITMQ_LOG_BASE="$d/log" RABBITMQ_CONF_ENV_FILE="$d/env.conf" \
            RABBITMQ_CONFIG_FILE="$d/rabbitmq.config" RABBITMQ_ADVANCED_CONFIG_FILE="$d/none.config" \
            RABBITMQ_ENABLED_PLUGINS_FILE="$d/enabled_plugins" RABBITMQ_DIST_PORT="$(port "$name" 4)" \
            RABBITMQ_SCHEDULER_BIND_TYPE=u ERL_EPMD_PORT="$(port "$name" 5)" ERL_EPMD_ADDRESS=127.0.0.1 \
            RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}' \
            detached=1  # the script becomes the node, instead of waiting for it: then the pid is the node's
        # Debian's own wrapper would insist on its own user.
        spawn "$name" server /usr/lib/rabbitmq/bin/rabbitmq-server
    )
}

# Erlang terms: the newer format would be translated at each start, which takes a second.
# Limits that a small machine does not reach; statistics and the check of unacknowledged deliveries come often.
rabbitmq_config() {
    cat <<END
[{rabbit, [
  {tcp_listeners, [{"127.0.0.1", $(port "$1" 0)}]},
  {ssl_listeners, [{"127.0.0.1", $(port "$1" 1)}]},
  {ssl_options, [{cacertfile, "$dir/certs/ca.pem"}, {certfile, "$dir/certs/server.pem"}, {keyfile, "$dir/certs/server.key"},
                 {verify, verify_peer}, {fail_if_no_peer_cert, false}]},
  {vm_memory_high_watermark, {absolute, $rabbitmq_memory}},
  {disk_free_limit, 1000000},
  {collect_statistics_interval, 200},
  {channel_tick_interval, 1000},
  {log, [{console, [{enabled, false}]}]}]},
 {rabbitmq_management, [{tcp_config, [{ip, "127.0.0.1"}, {port, $(port "$1" 2)}]}, {management_db_cache_multiplier, 0}]},
 {rabbitmq_prometheus, [{tcp_config, [{ip, "127.0.0.1"}, {port, $(port "$1" 3)}]}]}].
END
}
rabbitmq_memory=1000000000

# Not rabbitmqctl: it takes a second each time.
rabbitmq_eval() {
    local name=$1 answer try
    shift
    # Its own limit does not hold while a paused node accepts connections. A busy node refuses one now and then.
    for try in 1 2 3 4 5; do
        if answer=$(HOME=$dir/$name timeout "${rabbitmq_patience:-60}" erl_call -r -address "127.0.0.1:$(port "$name" 4)" -c "$(<"$dir/$name/.erlang.cookie")" -e <<<"$*." 2>&1); then break; fi
        case $answer in *'failed to connect'*) ;; *) try=5 ;; esac
        [ "$try" -lt 5 ] || { echo "$answer" >&2; return 1; }
        sleep 0.2
    done
    case $answer in
        '{ok, '*'}') answer=${answer#'{ok, '} && echo "${answer%\}}" ;;
        *) echo "$answer" >&2; return 1 ;;
    esac
}
rabbitmq_state() { rabbitmq_patience=5 rabbitmq_eval "$1" 'rabbit_boot_state:get()'; }
rabbitmq_ready() { [ "$(rabbitmq_state "$1")" = ready ]; }

rabbitmq_stop_app() { rabbitmq_eval "$1" 'ok = rabbit:stop()' >/dev/null; }
rabbitmq_start_app() { rabbitmq_eval "$1" 'ok = rabbit:start()' >/dev/null; }
rabbitmq_flush() { rabbitmq_patience=10 rabbitmq_eval "$1" 'dumped = mnesia:dump_log()' >/dev/null; }
rabbitmq_alarm() {
    local limit
    case ${2:-} in
        set) limit=1 ;;
        clear) limit=$rabbitmq_memory ;;
        *) die "alarm NAME set|clear" ;;
    esac
    rabbitmq_eval "$1" "ok = vm_memory_monitor:set_vm_memory_high_watermark({absolute, $limit})" >/dev/null
}
rabbitmq_restore() {
    rabbitmq_eval "$1" "application:set_env(rabbit, consumer_timeout, 1800000)" >/dev/null
    rabbitmq_alarm "$1" clear
}

rabbitmq_env() {
    local name=${1^^} at=guest:guest@127.0.0.1
    name=SHOVE_TEST_${name//-/_}
    export_line "$name" "amqp://$at:$(port "$1" 0)"
    export_line "${name}_TLS" "amqps://$at:$(port "$1" 1)"
    export_line "${name}_MANAGEMENT" "http://$at:$(port "$1" 2)"
    export_line "${name}_METRICS" "http://127.0.0.1:$(port "$1" 3)/metrics"
}
