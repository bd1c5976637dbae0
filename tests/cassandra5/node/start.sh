#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Downloads Apache Cassandra 5 through Maven and starts nodes on loopback. See README.md.
#   start.sh [first_node] [last_node]      default: 1 1
# Environment: CASSANDRA_HOME_DIR (folder of all files, default ./cassandra-home), PAXOS=v1|v2, NUM_TOKENS,
# TOKENS ("t1 t2 t3": one token per node), HEAP (default 1g), NICE (5), NATIVE_PORT (9042), STORAGE_PORT (7000),
# JMX_PORT (7199; node n has JMX_PORT + n - 1), JVM_OPTIONS (further options), START_SECONDS (600: the time limit for the start
# of a node; nodes start one by one, since a ring accepts one new node at a time), SSTABLE=big|bti (format nb, the default, or da), SNITCH=GossipingPropertyFileSnitch with PLACES ("dc1:r1 dc1:r2 ..."),
# SETTINGS (more lines of cassandra.yaml).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
home=${CASSANDRA_HOME_DIR:-$PWD/cassandra-home}
first=${1:-1} last=${2:-$first}
: "${PAXOS:=v1}" "${NUM_TOKENS:=16}" "${TOKENS:=}" "${HEAP:=1g}" "${NATIVE_PORT:=9042}" "${STORAGE_PORT:=7000}"
: "${NICE:=5}" "${START_SECONDS:=600}" "${JVM_OPTIONS:=}" "${JMX_PORT:=7199}" "${SNITCH:=SimpleSnitch}" "${PLACES:=}" "${SSTABLE:=big}"
mkdir -p "$home"
if [[ ! -d $home/lib ]]; then
    mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$home/lib"
fi
. "$here/jvm.sh"
read -r -a tokens <<<"$TOKENS"
read -r -a jvm_options <<<"$JVM_OPTIONS"
for ((n = first; n <= last; n++)); do
    node=$home/node$n
    mkdir -p "$node/conf" "$node/logs"
    rm -f "$node/logs/system.log" # an old log would make this node appear to listen
    token=""
    if ((${#tokens[@]})); then
        token="initial_token: ${tokens[n - 1]}"
        NUM_TOKENS=1
    fi
    sed -e "s|@HOME@|$node|g" -e "s|@ADDRESS@|127.0.0.$n|g" -e "s|@NUM_TOKENS@|$NUM_TOKENS|" -e "s|@PAXOS@|$PAXOS|" \
        -e "s|@INITIAL_TOKEN@|$token|" -e "s|@STORAGE_PORT@|$STORAGE_PORT|g" -e "s|@NATIVE_PORT@|$NATIVE_PORT|" \
        -e "s|@SNITCH@|$SNITCH|" "$here/cassandra.yaml.in" >"$node/conf/cassandra.yaml"
    if [[ $SSTABLE == bti ]]; then
        printf 'storage_compatibility_mode: NONE\nsstable:\n  selected_format: bti\n' >>"$node/conf/cassandra.yaml"
    fi
    printf '%s\n' "${SETTINGS:-}" >>"$node/conf/cassandra.yaml"
    cp "$here/logback.xml" "$node/conf/"
    read -r -a places <<<"$PLACES"
    if ((${#places[@]})); then
        printf 'dc=%s\nrack=%s\n' "${places[n - 1]%:*}" "${places[n - 1]#*:}" >"$node/conf/cassandra-rackdc.properties"
    fi
    nice -n "$NICE" java "${jvm_opens[@]}" -Xms"$HEAP" -Xmx"$HEAP" -XX:+UseG1GC -XX:ParallelGCThreads=2 -XX:ConcGCThreads=1 \
        "${jvm_options[@]}" \
        -javaagent:"$(echo "$home"/lib/jamm-*.jar)" -Dcassandra.config="file://$node/conf/cassandra.yaml" \
        -Dcassandra.storagedir="$node" -Dcassandra.logdir="$node/logs" -Dlogback.configurationFile="$node/conf/logback.xml" \
        -Dcassandra.jmx.local.port=$((JMX_PORT + n - 1)) -Dcassandra.ring_delay_ms="${RING_DELAY_MS:-2000}" \
        -Dcassandra.skip_wait_for_gossip_to_settle=0 -Dcassandra.superuser_setup_delay_ms=0 \
        -cp "$node/conf:$home/lib/*" -Dcassandra-foreground=yes -Xss512k \
        org.apache.cassandra.service.CassandraDaemon >"$node/logs/out.log" 2>&1 &
    echo $! >"$node/pid"
    until=$((SECONDS + START_SECONDS))
    until grep -q "Starting listening for CQL clients" "$node/logs/system.log" 2>/dev/null; do
        if ! kill -0 "$(cat "$node/pid")" 2>/dev/null; then
            echo "node $n ended; see $node/logs" >&2
            tail -20 "$node/logs/out.log" >&2
            exit 1
        fi
        if ((SECONDS >= until)); then
            echo "node $n is not up after $START_SECONDS s; raise START_SECONDS, or see $node/logs/system.log" >&2
            tail -3 "$node/logs/system.log" >&2
            exit 1
        fi
        sleep 0.5
    done
    echo "node $n: 127.0.0.$n:$NATIVE_PORT, pid $(cat "$node/pid"), jmx $((JMX_PORT + n - 1))"
done
