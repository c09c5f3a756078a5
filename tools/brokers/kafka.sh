# Apache Kafka, one node that is broker and controller (KRaft), for tools/brokers.sh. More commands:
#
#   topics NAME         the names of all topics, one a line
#   log-end NAME TOPIC  the end offset of each partition: PARTITION OFFSET
#
# User and password of its SASL listeners are app and app-secret (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512); OAUTHBEARER takes unsigned
# tokens of any principal. What a client of the listener `proxied` is told to connect to is the port `proxy`: a test puts its
# proxy there.
#
# shellcheck shell=bash disable=SC2154
first_port[kafka]=20
first_port[kafka-faults]=30

kafka_listeners=(plaintext sasl_ssl sasl_plaintext ssl proxied)

# Its ports: those of the listeners in their order, the controller, the proxy of a test.
kafka_start() {
    local name=$1 d=$dir/$1 jars
    pid "$name" >/dev/null && return 0
    command -v java kcat >/dev/null || die "java or kcat is missing; run tools/install-deps.sh test"
    jars=$("$here/fetch-kafka.sh") || die "no Kafka"
    cat "$dir/certs/server.key" "$dir/certs/server.pem" >"$d/server-keystore.pem"
    kafka_config "$name" >"$d/server.properties"
    if [ ! -e "$d/data/meta.properties" ]; then
        "${kafka_java[@]}" -cp "$jars/*" kafka.tools.StorageTool format -t TnJva2Vyc0Jyb2tlcnNCUg -c "$d/server.properties" \
            --add-scram 'SCRAM-SHA-256=[name=app,password=app-secret]' \
            --add-scram 'SCRAM-SHA-512=[name=app,password=app-secret]' >"$d/log/format.log" 2>&1 </dev/null ||
            { tail -n 5 "$d/log/format.log" >&2; die "$name: its folder cannot be formatted"; }
    fi
    spawn "$name" server "${kafka_java[@]}" -cp "$jars/*" kafka.Kafka "$d/server.properties"
}
# Quick to start and small; twice the memory would make no test faster.
kafka_java=(java -Xms64m -Xmx320m -XX:MaxDirectMemorySize=64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto
    -Dorg.slf4j.simpleLogger.defaultLogLevel=info -Dorg.slf4j.simpleLogger.showDateTime=true
    -Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS)

kafka_config() {
    local name=$1 listener listeners= advertised= i=0
    for listener in "${kafka_listeners[@]}"; do
        listeners+="${listener^^}://127.0.0.1:$(port "$name" $i),"
        [ "$listener" = proxied ] || advertised+="${listener^^}://127.0.0.1:$(port "$name" $i),"
        i=$((i + 1))
    done
    cat <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$(port "$name" 5)
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT
listeners=${listeners}CONTROLLER://127.0.0.1:$(port "$name" 5)
advertised.listeners=${advertised}PROXIED://127.0.0.1:$(port "$name" 6)
log.dirs=$dir/$name/data
auto.create.topics.enable=true
num.partitions=1
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
controlled.shutdown.enable=false
log.cleaner.dedupe.buffer.size=4194304
num.network.threads=2
num.io.threads=4
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
ssl.keystore.type=PEM
ssl.keystore.location=$dir/$name/server-keystore.pem
ssl.truststore.type=PEM
ssl.truststore.location=$dir/certs/ca.pem
ssl.client.auth=requested
END
    for listener in sasl_ssl sasl_plaintext; do
        cat <<END
listener.name.$listener.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="admin" password="admin-secret" user_admin="admin-secret" user_app="app-secret";
listener.name.$listener.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.$listener.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.$listener.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";
END
    done
}

# It serves once its group coordinator does: the topic of offsets is made by the first question for a group.
kafka_ready() { timeout 5 kcat -b "127.0.0.1:$(port "$1")" -L -m 2; }

kafka_topics() { kcat -b "127.0.0.1:$(port "$1")" -L -m 5 | sed -n 's/^  topic "\(.*\)" with .*/\1/p'; }
kafka_log_end() {
    local name=$1 topic=$2 partition
    for partition in $(kcat -b "127.0.0.1:$(port "$name")" -L -m 5 -t "$topic" | sed -n 's/^    partition \([0-9]*\),.*/\1/p'); do
        kcat -b "127.0.0.1:$(port "$name")" -m 5 -Q -t "$topic:$partition:-1" | sed 's/.* \[\([0-9]*\)\] offset /\1 /'
    done
}

kafka_env() {
    local name=${1^^} i=0 listener
    name=SHOVE_TEST_${name//-/_}
    export_line "$name" "kafka://127.0.0.1:$(port "$1")"
    for listener in "${kafka_listeners[@]:1}"; do
        i=$((i + 1))
        case $listener in
            sasl_ssl) export_line "${name}_SASL_TLS" "kafkas://app:app-secret@127.0.0.1:$(port "$1" $i)" ;;
            sasl_plaintext) export_line "${name}_SASL" "kafka://app:app-secret@127.0.0.1:$(port "$1" $i)" ;;
            ssl) export_line "${name}_TLS" "kafkas://127.0.0.1:$(port "$1" $i)" ;;
            proxied) export_line "${name}_PROXIED" "kafka://127.0.0.1:$(port "$1" $i)" ;;
        esac
    done
    export_line "${name}_PROXY" "kafka://127.0.0.1:$(port "$1" 6)"
}
