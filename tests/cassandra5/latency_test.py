# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: latency.py measures a node correctly, its fit gives the settings in the recorded files, and the lab
with these settings answers the same load approximately as the node did. Method: a test server that implements
the part of the protocol which the script uses, and answers after a known time; the recordings of latency/.
The bounds are those in docs/mock.md. Usage: latency_test.py CLUSTER_LOAD.
"""
import json
import math
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import latency

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent))
from share import part  # noqa: E402

DELAY_S = 0.002
RESULT_VOID, RESULT_PREPARED, FAILED = struct.pack(">i", 1), struct.pack(">iH4s", 4, 4, b"name"), b"\0\0\0\0\0\5wrong"


class Waiting:
    """The number of EXECUTEs that the server has in progress, now and at most."""
    lock, now, most = threading.Lock(), 0, 0

    @classmethod
    def add(cls, number):
        with cls.lock:
            cls.now += number
            cls.most = max(cls.most, cls.now)


def serve(connection, wrong):
    """Answers each frame; an EXECUTE after a delay, and with an error when its statement contains `wrong`."""
    buffer = b""
    while data := connection.recv(1 << 16):
        buffer += data
        while len(buffer) >= 9 and len(buffer) >= 9 + (length := struct.unpack_from(">i", buffer, 5)[0]):
            version, _, stream, opcode = struct.unpack_from(">BBhB", buffer)
            assert version == 4
            body, buffer = buffer[9:9 + length], buffer[9 + length:]
            answer = {latency.STARTUP: (latency.READY, b""), latency.PREPARE: (latency.RESULT, RESULT_PREPARED)}.get(
                opcode, (latency.RESULT, RESULT_VOID))
            if wrong and wrong in body:
                answer = (0, FAILED)
            if opcode == latency.EXECUTE:
                Waiting.add(1)
                time.sleep(DELAY_S)
                Waiting.add(-1)
            connection.sendall(latency.HEADER.pack(0x84, 0, stream, answer[0], len(answer[1])) + answer[1])


def measure(wrong=b""):
    """Runs the script against such a server; returns the exit code, stderr, and the file."""
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        def accept():
            while True:
                try:
                    connection = server.accept()[0]
                except OSError:
                    return
                threading.Thread(target=serve, args=(connection, wrong), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        out = pathlib.Path(folder, "measured.json")
        done = subprocess.run([sys.executable, HERE / "latency.py", "--port", str(server.getsockname()[1]), "--seconds",
                               "0.3", "--warm-up", "0", "--only", "insert", "--in-flight", "1", "4",
                               "--scale", "0.0001", "--cores", "5", "--out", out],
                              capture_output=True, text=True, check=False, timeout=120)
        return done.returncode, done.stderr, json.loads(out.read_text()) if out.exists() else None


def check(is_so, text):
    if not is_so:
        sys.exit(f"FAILED: {text}")


def check_script():
    code, err, measured = measure()
    check(code == 0, err)
    one, four = measured["points"]
    check((one["kind"], one["in_flight"], four["in_flight"]) == ("insert", 1, 4), "the points are others")
    # The excess over the delay depends on the machine. But the number in flight is the rate times the mean
    # latency (Little's theorem), and a median is at most twice the mean.
    check(DELAY_S <= one["p50_us"] / 1e6, f"p50 is {one['p50_us']} us")
    for point in (one, four):
        check(point["per_second"] * point["p50_us"] / 1e6 < 2.01 * point["in_flight"],
              f"{point['per_second']} a second of {point['p50_us']} us are more than {point['in_flight']} in flight")
    write_us = int(measured["node"]["write"][:-2]) / 1000
    check(measured["node"]["concurrency"] == 5 and abs(write_us * four["per_second"] / 5e6 - 1) < 1e-3,
          "without processes five cores have the rate that was measured")
    check(one["p50_us"] <= one["p99_us"] <= one["p999_us"], "percentiles fall")
    check(2 <= Waiting.most <= 4, f"with four in flight the server had {Waiting.most} at once")
    code, err, measured = measure(b"CREATE TABLE")
    check(code == 3 and "the node answers: wrong" in err and measured is None, err)
    done = subprocess.run([sys.executable, HERE / "latency.py", "--port", "1"], capture_output=True, text=True,
                          check=False)
    check(done.returncode == 3 and "start one with node/start.sh" in done.stderr, done.stderr)


def check_fit():
    """By hand: in a ring a write costs the other two nodes 30 and 50, so 40; and the coordinator 100 more."""
    def point(kind, *cpu):
        return {"kind": kind, "in_flight": 128, "p50_us": 1.0, "node_cpu_us": list(cpu)}

    points = [point(kind, 140.0, 30.0, 50.0) for kind in ("insert", "state_write", "delete")]
    points += [point(kind, 160.0, 60.0, 0.0) for kind in ("state_read", "read_1")]
    points += [point("read_100", 0.0, 160.0, 0.0), point("read_1000", 0.0, 1060.0, 0.0),
               point("tombstones_900", 0.0, 510.0, 0.0)]
    ring = latency.fit(points, 3, 2)
    wanted = {"coordinate": 100.0, "write": 40.0, "read": 60.0, "scan_row": 1.0, "scan_tombstone": 0.5}
    check(ring == wanted, f"the fit of a ring is {ring}")
    points = [point("insert", 30.0), point("state_read", 50.0)]
    one = latency.fit(points, 1, 2)
    check(one == {"coordinate": 0.0, "write": 30.0, "read": 50.0}, f"the fit of one node is {one}")
    # Two hops and a service of 40 us give a median of 240 us: without a tail each hop takes 100 us.
    quick = [{"kind": "insert", "in_flight": 1, "p50_us": 240.0, "p99_us": 240.0}]
    node = {"concurrency": 1, "coordinate": "0ns", "write": "30000ns", "read": "50000ns"}
    ways = latency.latency_of(quick, node, False)
    check(ways["lognormal"]["sigma"] <= 0.01 and abs(int(ways["lognormal"]["mean"][:-2]) - 100000) < 1000,
          f"ways without a tail are {ways}")
    quick[0]["p99_us"] = 4040.0
    ways = latency.latency_of(quick, node, False)
    tail = latency.hops(ways["lognormal"]["sigma"], 2, 990) / latency.hops(ways["lognormal"]["sigma"], 2, 500)
    check(abs(tail - 20) < 1, f"a tail of 20 medians is {tail}")


def apart(pairs):
    """The ratio of two figures: the mean of the logarithms, and the maximum."""
    logs = [abs(math.log(mine / node)) for node, mine in pairs]
    return math.exp(sum(logs) / len(logs)), math.exp(max(logs))


def check_recordings(tool):
    for path in part(sorted((HERE / "latency").glob("*.json"))):
        measured = json.loads(path.read_text(encoding="utf-8"))
        points, node = measured["points"], measured["node"]
        fitted = latency.settings(points, measured["nodes"], node["concurrency"])
        check(fitted == node, f"{path.name}: its settings are not those of its fit, {fitted}")
        ways = latency.latency_of(points, node, measured["nodes"] > 1)
        check({"latency": ways} == measured["network"], f"{path.name}: the network is not that of the fit, {ways}")
        told = latency.in_lab(measured, tool)
        check(len(told) == len(points), f"{path.name}: not every load ran")
        for i, (name, field) in enumerate((("rate", "per_second"), ("p50", "p50_us"), ("p99", "p99_us"))):
            mean, most = apart((point[field], mine[i]) for point, mine in zip(points, told))
            print(f"{path.name}: {len(points)} loads, {name} on average within {mean:.2f} times, at worst {most:.2f}")
            check(mean <= MEAN[name] and most <= MOST[name], f"{path.name}: {name} is too far from the node's")


MEAN, MOST = {"rate": 1.8, "p50": 1.6, "p99": 2.2}, {"rate": 3.5, "p50": 3.8, "p99": 9}
check_fit()
check_script()
check_recordings(sys.argv[1])
