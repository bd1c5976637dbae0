#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records ids of real generators, 500 per file, in this folder: python-*.txt with Python's uuid and the
packages uuid6, python-ulid and cassandra-driver; npm-*.txt and cassandra-driver-nodejs.txt with node and the
packages uuid, ulid and cassandra-driver; cassandra-driver-java.txt (3) and cassandra-driver-java4.txt with a
JDK and the jars of that version of the driver in CLASSPATH; cassandra-now.txt from a node on 127.0.0.1
(tests/cassandra5/node/start.sh; NATIVE_PORT, unless it is 9042). A generator that is missing on this machine
is skipped with a message.

    make.py [NAME...]        all, or only the files with these names
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
COUNT = 500
JAVA = """public class Ids {
    public static void main(String[] a) { for (int i = 0; i < %d; i++) System.out.println(%s.timeBased()); }
}
"""


def driver_python():
    from cassandra.util import uuid_from_time
    return [uuid_from_time(time.time()) for _ in range(COUNT)]


def uuid7():
    import uuid6
    return [uuid6.uuid7() for _ in range(COUNT)]


def ulid():
    from ulid import ULID
    return [ULID() for _ in range(COUNT)]


def now():
    from cassandra.cluster import Cluster
    port = int(os.environ.get("NATIVE_PORT", "9042"))
    with Cluster(["127.0.0.1"], port=port) as cluster, cluster.connect() as session:
        return [session.execute("SELECT now() FROM system.local").one()[0] for _ in range(COUNT)]


def node(package, make):
    def ids():
        script = f"const p = require('{package}'); for (let i = 0; i < {COUNT}; i++) console.log(String({make}));"
        return subprocess.run(["node", "-e", script], check=True, capture_output=True, text=True).stdout.split()
    return ids


def driver_java(maker):
    def ids():
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "Ids.java"
            source.write_text(JAVA % (COUNT, maker), encoding="ascii")
            return subprocess.run(["java", source], check=True, capture_output=True, text=True).stdout.split()
    return ids


MAKERS = {
    "python-uuid1": lambda: [uuid.uuid1() for _ in range(COUNT)],
    "python-uuid4": lambda: [uuid.uuid4() for _ in range(COUNT)],
    "python-uuid7": uuid7,
    "python-ulid": ulid,
    "npm-uuid7": node("uuid", "p.v7()"),
    "npm-ulid-monotonic": node("ulid", "(globalThis.m ??= p.monotonicFactory())()"),
    "cassandra-driver-python": driver_python,
    "cassandra-driver-nodejs": node("cassandra-driver", "p.types.TimeUuid.now()"),
    "cassandra-driver-java": driver_java("com.datastax.driver.core.utils.UUIDs"),
    "cassandra-driver-java4": driver_java("com.datastax.oss.driver.api.core.uuid.Uuids"),
    "cassandra-now": now,
}


def main():
    for name in sys.argv[1:] or MAKERS:
        try:
            ids = MAKERS[name]()
        except Exception as error:  # a generator that is not installed
            print(f"{name}: left out: {error}", file=sys.stderr)
            continue
        (HERE / f"{name}.txt").write_text("".join(f"{one}\n" for one in ids), encoding="ascii")


if __name__ == "__main__":
    main()
