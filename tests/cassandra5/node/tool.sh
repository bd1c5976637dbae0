#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs one of Cassandra's tools: tool.sh [-n NODE] nodetool|sstablepartitions|sstablemetadata|sstabledump|stop [ARGS]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
home=${CASSANDRA_HOME_DIR:-$PWD/cassandra-home}
n=1
if [[ $1 == -n ]]; then
    n=$2
    shift 2
fi
. "$here/jvm.sh"
node=$home/node$n
tool=$1
shift
case $tool in
nodetool) main=org.apache.cassandra.tools.NodeTool; set -- -h 127.0.0.1 -p $((${JMX_PORT:-7199} + n - 1)) "$@" ;;
sstablepartitions) main=org.apache.cassandra.tools.SSTablePartitions ;;
sstablemetadata) main=org.apache.cassandra.tools.SSTableMetadataViewer ;;
sstabledump) main=org.apache.cassandra.tools.SSTableExport ;;
stop) kill "$(cat "$node/pid")"; exit ;;
*) echo "unknown tool '$tool'" >&2; exit 2 ;;
esac
mkdir -p "$home/tools"
exec java "${jvm_opens[@]}" -Xmx256m -XX:+UseSerialGC -Dcassandra.config="file://$node/conf/cassandra.yaml" \
    -Dcassandra.storagedir="$home/tools" -Dlogback.configurationFile="$here/logback-tools.xml" \
    -cp "$node/conf:$home/lib/*" "$main" "$@"
