# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by scripts that start real Cassandra nodes. Sets `home`, the folder of jars, nodes and the Python environment.
# The speed of the nodes does not matter here, and a JVM that compiles less starts faster.
export JVM_OPTIONS=${JVM_OPTIONS:--XX:TieredStopAtLevel=1}
export CASSANDRA_HOME_DIR=${CASSANDRA_HOME_DIR:-${TMPDIR:-/tmp}/bucketlab-cassandra}
home=$CASSANDRA_HOME_DIR

need_tools() { # Python packages; false, with a message, when something is missing
    local word package
    for word in java mvn python3; do
        if ! command -v "$word" >/dev/null; then
            echo "skipped: there is no $word; install a JDK 17, Maven and Python to ask a real Cassandra"
            return 1
        fi
    done
    mkdir -p "$home"
    [[ -x $home/venv/bin/python ]] || python3 -m venv "$home/venv" >/dev/null 2>&1
    for package in "$@"; do
        if ! "$home/venv/bin/python" -m pip show -q "$package" >/dev/null 2>&1 &&
            ! "$home/venv/bin/python" -m pip install -q "$package" >/dev/null 2>&1; then
            echo "skipped: the Python package $package cannot be installed; see to the network"
            return 1
        fi
    done
}

stop() { # stops the running nodes, by their process ids
    local file pid
    for file in "$home"/node*/pid; do
        [[ -f $file ]] || continue
        pid=$(cat "$file")
        kill "$pid" 2>/dev/null
        kill -CONT "$pid" 2>/dev/null # it may be stopped by SIGSTOP
        for ((i = 0; i < 300; i++)); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        rm -f "$file"
    done
}
