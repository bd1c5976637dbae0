#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Live runs of real processes that embed the core (docs/live.md). Each run is judged and repeated in the lab. They run
# over SQLite and, if a JDK, Maven and the Python packages are available, on one Cassandra node and on a ring of three
# nodes, which the script starts on loopback and stops. The limit is 15 minutes: parts for which a slow machine has no
# time are skipped with a message.
#   live.sh BUCKETLAB LIVE_HOST [FOLDER]      FOLDER: receives the figures, in the format of docs/live.py
# CASSANDRA_HOME_DIR: folder of jars and nodes. LIVE: an integer factor of rows, kills and seconds (1). LIVE_PLACES: a
# subset of (sqlite node ring), or long: 10 million rows on SQLite and a million on a ring, with guarded only.
# Exit code: 0 success, 1 a guarantee was broken or the unsafe lead does not break where the lab says so, 3 no node.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lab=$1 host=$2 figures=${3:-} status=0 times=${LIVE:-1} places=${LIVE_PLACES:-sqlite node ring}
export HEAP=${HEAP:-600m} PYTHONDONTWRITEBYTECODE=1
. "$here/../cassandra5/nodes.sh"
trap stop EXIT

figures_of() { # name; prints the option for its figures
    [[ -z $figures ]] || echo "--json $figures/$1.json"
}

left() { # prints the seconds until the current part has to end
    echo $((over > SECONDS ? over - SECONDS : 0))
}

over_sqlite() { # name, protocols, rows, kills, seconds of each run at most, more arguments
    local name=$1 protocols=$2 rows=$(($3 * times)) kills=$(($4 * times)) seconds=$(($5 * times))
    shift 5
    python3 -B "$here/sqlite.py" "$host" "$lab" --protocols "$protocols" --rows "$rows" --kills "$kills" \
        --seconds "$seconds" --budget "$(left)" --twins 5 "$@" $(figures_of "$name") || status=1
}

on_nodes() { # name, addresses, protocols, rows, kills, seconds, more arguments
    local name=$1 addresses=$2 protocols=$3 rows=$(($4 * times)) kills=$(($5 * times)) seconds=$(($6 * times))
    shift 6
    PYTHONPATH=$home/built "$home/venv/bin/python" -B "$here/nodes.py" "$addresses" "$lab" --protocols "$protocols" \
        --rows "$rows" --kills "$kills" --seconds "$seconds" --budget "$(left)" --home "$home" --twins 5 "$@" \
        $(figures_of "$name") || status=1
}

build_package() { # core/python, for the environment's interpreter
    local compiler=cc
    ! command -v ccache >/dev/null || compiler="ccache cc"
    rm -rf "$home/core" "$home/built"
    cp -r "$here/../../core" "$home/core"
    (cd "$home/core/python" && CC=$compiler "$home/venv/bin/python" setup.py -q build --build-lib "$home/built") \
        >"$home/build.log" 2>&1
}

example() { # core/python/examples as a user starts it, in the tables that nodes.py created
    local setting=$home/setting.bk rows
    (cd "$here" && python3 -c "import protocols; print(protocols.setting_text('guarded', 4), end='')") >"$setting"
    rows=$(seq 200 | sed 's/.*/100 & some text/' | PYTHONPATH=$home/built "$home/venv/bin/python" -B \
        "$here/../../core/python/examples/cassandra_host.py" 127.0.0.1 live_guarded "$setting" 9 | grep -c ' OK ')
    echo "cassandra_host.py: $rows of 200 lines are stored"
    ((rows == 200)) || status=1
}

start() { # first, last node
    rm -rf "$home"/node[0-9]*
    "$here/../cassandra5/node/start.sh" "$1" "$2" || exit 3
}

all=127.0.0.1,127.0.0.2,127.0.0.3
others=unsafe,three-state,lease,single,locked,three-state-lwt,external,counter,lwt,incremental,scan,memory

sqlite() {
    over=$((330 * times))
    echo "== SQLite"
    over_sqlite sqlite-guarded guarded 1000000 100 120
    over_sqlite sqlite "$others" 30000 30 10
    over_sqlite sqlite-singles single,unsafe 10000 6 10 --burst 1 --pause-us 600
}

node() {
    over=$((560 * times))
    echo "== one node"
    start 1 1
    on_nodes node 127.0.0.1 "guarded,$others" 3000 6 12
    example
    stop
}

ring() {
    local most
    over=$((840 * times))
    export TOKENS="-6148914691236517206 0 6148914691236517205"
    echo "== a ring of three"
    start 1 3
    most=$(($(left) / times - 120))
    on_nodes ring-guarded $all guarded 100000 10 $((most < 40 ? 40 : most > 200 ? 200 : most))
    on_nodes ring $all "$others" 6000 5 25
    stop
}

long() { # needs an otherwise idle machine, and takes an hour and a half
    over=$((SECONDS + 36000)) times=1
    echo "== in the long run"
    over_sqlite long-sqlite guarded 10000000 1000 7200 --pause-us 800
    need_tools cassandra-driver cffi setuptools || return
    build_package || return
    export TOKENS="-6148914691236517206 0 6148914691236517205" HEAP=1200m JVM_OPTIONS=-XX:TieredStopAtLevel=4
    start 1 3
    on_nodes long-ring $all guarded 1000000 100 10000 --pause-us 5000
    stop
}

[[ -z $figures ]] || mkdir -p "$figures"
[[ $places != *sqlite* ]] || sqlite
[[ $places != *long* ]] || long
[[ $places == *node* || $places == *ring* ]] || exit $status
need_tools cassandra-driver cffi setuptools || exit $status
if ! build_package; then
    echo "skipped: core/python cannot be built; see $home/build.log"
    exit $status
fi
[[ $places != *node* ]] || node
[[ $places != *ring* ]] || ring
exit $status
