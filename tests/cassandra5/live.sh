#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Compares the mock with real Cassandra nodes, which it starts on loopback and stops: one node under Paxos v1, one
# under v2, and a ring of three with one node down under each, with two concurrent clients; increments while a
# node is stopped; then four clients contend by LWTs.
# See README.md.
#   live.sh CASSANDRA_REPLAY [OPERATIONS]      OPERATIONS: new ones, in all (default 20000)
# CASSANDRA_HOME_DIR: folder of jars and nodes. LINEAR: concurrent LWTs per round (2000).
# Exit code: 0 all agree, 1 some differ, 3 no node, 77 skipped.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tool=$1 operations=${2:-20000} status=0
. "$here/nodes.sh"
need_tools cassandra-driver || exit 77
trap stop EXIT

ask() { # variant, seed, operations, more arguments: two concurrent clients
    local variant=$1 seed=$2 each=$(($3 / 2)) pids=() pid
    shift 3
    "$home/venv/bin/python" "$here/live.py" "$tool" "$variant" --tables "$@" || exit 3
    for client in 0 1; do
        nice -n 5 "$home/venv/bin/python" "$here/live.py" "$tool" "$variant" --seed $((seed + client)) \
            --operations "$each" --out "$home/answers-$variant-$((seed + client)).txt" "$@" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || status=1
    done
}

contend() { # variant, seed, addresses, more arguments: concurrent LWTs, judged by linear.py
    local variant=$1 seed=$2 hosts=$3
    shift 3
    nice -n 5 "$home/venv/bin/python" "$here/live.py" "$tool" "$variant" --linear --host "$hosts" --seed "$seed" \
        --operations "${LINEAR:-2000}" --out "$home/linear-$variant-$seed.txt" "$@" || status=1
}

round() { # variant, nodes, seed, operations
    rm -rf "$home"/node[0-9]*
    echo "== Paxos $1, $2 node(s)"
    if (($2 == 1)); then
        SETTINGS="tombstone_warn_threshold: 0" PAXOS=$1 HEAP=700m "$here/node/start.sh" 1 1 || exit 3
        ask "$1" "$3" "$4"
        contend "$1" "$3" 127.0.0.1
    else
        PAXOS=$1 HEAP=700m TOKENS="-6148914691236517206 0 6148914691236517205" "$here/node/start.sh" 1 "$2" || exit 3
        # The nodes create the tables together, before one is stopped.
        "$home/venv/bin/python" "$here/live.py" "$tool" "$1" --tables --down "$2" || exit 3
        [[ $1 == v2 ]] || "$home/venv/bin/python" "$here/counters.py" "$(cat "$home/node$2/pid")" || status=1
        kill "$(cat "$home/node$2/pid")"
        for ((i = 0; ; i++)); do
            "$here/node/tool.sh" nodetool status 2>/dev/null | grep -q '^DN' && break
            ((i < 120)) || { echo "node 1 does not see that node $2 is down" >&2; exit 3; }
            sleep 1
        done
        ask "$1" "$3" "$4" --down "$2"
        contend "$1" "$3" 127.0.0.1,127.0.0.2 --down "$2"
    fi
    stop
}

seed=${SEED:-$(date +%s)}
echo "seed $seed"
round v1 1 "$seed" $((operations * 4 / 10))
round v2 1 $((seed + 10)) $((operations * 4 / 10))
round v1 3 $((seed + 20)) $((operations / 10))
round v2 3 $((seed + 30)) $((operations / 10))
exit $status
