#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explores worlds of every protocol, and compares what holds in them with docs/proof.json.

Aim: the protocols keep in every schedule what docs/proof.md says. Method: `bucketlab explore` of each world below; what
breaks, in how many steps, the number of states, and the digest of the agents' requests and waits must be as recorded.
The counter-example of each world, written as a history, must break the same guarantee by the lab's own oracles
(`bucketlab judge`).

    worlds.py PROGRAM [--all] [--write]

Without --all, only worlds of at most QUICK states. --write explores all of them and records what it saw.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECORD = HERE.parent.parent / "docs" / "proof.json"
QUICK, FEW = 50_000, 320_000  # states that take a tenth of a second, and less than a second

COUNTERS = ("rmw", "lwt", "counter")
FAULTY = "late,unknown,refused,crash"
FAILING = "lost,late,unknown,refused"


def worlds():
    """The worlds: protocol, counter or None, and the other options."""
    for counter in COUNTERS:
        yield "single", counter, "--agents 1 --rows 3 --fires 3 --threshold 2 --faults none"
        yield "single", counter, "--rows 3 --fires 3 --threshold 2 --seconds 1 --faults none"
        yield "single", counter, f"--rows 3 --fires 3 --threshold 2 --seconds 1 --faults {FAULTY}"
        yield "locked", counter, "--seconds 2 --faults none"
        yield "locked", counter, "--seconds 3 --faults late,crash"
        yield "three-state", counter, "--lead 2s --cache 1s --rows 3 --faults none"
        yield "three-state", counter, "--lead 1s --cache 2s --rows 3 --fires 1 --seconds 3 --faults none"
        yield ("three-state", counter,
               f"--lead 2s --cache 1s --rows 3 --fires 3 --threshold 2 --seconds 2 --faults {FAULTY}")
        yield "three-state", counter, "--lead 4s --cache 1s --seconds 5 --faults skew"
        yield ("three-state", counter,
               "--max-age 2s --lead 1s --rows 3 --fires 0 --seconds 4 --last-row ahead --faults none")
        for protocol in ("single", "locked", "three-state"):
            yield protocol, counter, "--agents 1 --rows 4 --fires 4 --threshold 2 --seconds 3 --faults none"
            yield protocol, counter, "--agents 1 --rows 4 --fires 4 --threshold 2 --then 1 --seconds 3 --faults none"
            yield protocol, counter, "--agents 1 --rows 4 --fires 3 --seconds 4 --last-row old --faults none"
            yield protocol, counter, "--agents 1 --rows 3 --fires 3 --seconds 3 --faults gone"
            yield protocol, counter, "--agents 1 --rows 3 --fires 3 --seconds 3 --faults refused"
            yield protocol, counter, "--max-age 2s --rows 3 --fires 2 --threshold 2 --seconds 2 --faults none"
            yield (protocol, counter, "--agents 1 --max-age 2s --lead 1s --rows 4 --fires 4 --threshold 2 --seconds 6 "
                   "--faults none")
            yield protocol, counter, f"--max-age 1s --lead 1s --rows 2 --threshold 2 --seconds 2 --faults {FAULTY}"
            yield protocol, counter, f"--agents 1 --fires 2 --threshold 2 --retries 0 --seconds 1 --faults {FAILING}"
        yield "single", counter, "--agents 1 --rows 2 --seconds 3 --retries 2 --most-faults 2 --faults refused"
        yield "locked", counter, "--lock 1s --seconds 2 --faults crash"
        yield "locked", counter, "--agents 1 --rows 4 --fires 4 --threshold 2 --seconds 0 --faults none"
    yield "single", "rmw", "--max-age 1s --lead 1s --rows 2 --retries 0 --seconds 2 --faults unknown"
    yield "three-state", "lwt", "--lead 1s --rows 4 --fires 3 --seconds 3 --faults none"
    yield "guarded", None, "--agents 1 --rows 4 --fires 4 --threshold 2 --grant 1s --seconds 3 --faults none"
    yield "guarded", None, "--agents 1 --rows 4 --fires 4 --threshold 2 --then 1 --grant 1s --seconds 3 --faults none"
    yield "guarded", None, "--agents 1 --rows 4 --fires 3 --grant 1s --seconds 4 --last-row old --faults none"
    yield "guarded", None, "--agents 1 --rows 4 --fires 3 --grant 1s --seconds 4 --last-row old --faults lost,refused"
    yield "guarded", None, "--agents 1 --reads 1 --seconds 2 --last-row ahead --faults skew"
    yield "guarded", None, "--agents 1 --reads 1 --seconds 2 --faults gone"
    yield "guarded", None, "--agents 1 --rows 3 --fires 3 --threshold 2 --seconds 2 --faults refused"
    yield "guarded", None, "--max-age 2s --rows 3 --fires 1 --threshold 2 --seconds 2 --faults none"
    yield ("guarded", None, "--agents 1 --max-age 1s --rows 4 --fires 0 --reads 1 --seconds 4 --last-row old "
           "--faults none")
    yield "guarded", None, f"--max-age 1s --rows 2 --seconds 2 --faults {FAULTY}"
    yield "guarded", None, "--max-age 1s --rows 5 --fires 0 --seconds 3 --last-row ahead --bound 1s --faults none"
    yield "guarded", None, "--agents 1 --rows 1 --fires 1 --grant 1s --seconds 12 --faults lost"
    yield "guarded", None, "--reads 1 --seconds 2 --faults none"
    yield "guarded", None, "--reads 1 --seconds 2 --faults skew"
    yield "guarded", None, f"--reads 1 --seconds 2 --faults {FAULTY}"
    yield "guarded", None, "--rows 3 --fires 2 --reads 1 --seconds 3 --faults skew,pause"
    yield "guarded", None, "--agents 3 --rows 3 --fires 1 --seconds 2 --grant 1s --faults none"
    yield "guarded", None, "--operations 2 --agents 2 --rows 2 --fires 1 --seconds 2 --faults late"
    yield "guarded", None, f"--agents 1 --fires 2 --retries 0 --seconds 1 --faults {FAILING}"
    yield ("guarded", None, "--agents 1 --rows 4 --fires 3 --grant 1s --seconds 4 --last-row old --retries 0 "
           "--faults lost,refused")
    yield "guarded", None, "--agents 1 --rows 7 --fires 0 --seconds 0 --faults none"
    yield "guarded", None, "--agents 1 --max-age 1s --rows 6 --fires 0 --seconds 4 --last-row old --faults none"
    yield "guarded", None, "--agents 1 --reads 1 --seconds 1 --most-faults 2 --faults lost,refused"
    yield "guarded", None, "--rows 3 --fires 1 --reads 1 --seconds 2 --grant 1s --faults none"
    yield "guarded", None, "--rows 3 --fires 1 --seconds 3 --grant 1s --faults none"
    yield "guarded", None, "--rows 3 --fires 1 --reads 1 --seconds 2 --faults skew"
    yield "guarded", None, "--rows 3 --fires 1 --reads 1 --seconds 2 --faults skew --bound 0s"
    yield "weighted, guarded", None, "--reads 1 --seconds 2 --faults none"
    for source in ("counter", "lwt", "lease", "incremental", "scan", "memory"):
        yield f"count, {source}", None, "--rows 3 --reads 1 --seconds 1 --faults none"
        yield f"count, {source}", None, f"--rows 3 --seconds 1 --faults {FAULTY}"
        yield f"count, {source}", None, "--agents 1 --rows 5 --threshold 2 --seconds 1 --faults none"
        yield f"count, {source}", None, "--agents 1 --rows 7 --threshold 3 --seconds 0 --faults none"
        yield f"count, {source}", None, f"--agents 1 --retries 0 --seconds 1 --faults {FAILING}"
        yield f"count, {source}", None, "--agents 1 --rows 4 --threshold 2 --retries 0 --seconds 0 --faults refused"
        yield f"count, {source}", None, "--agents 1 --operations 2 --rows 4 --threshold 2 --seconds 0 --faults refused"
        if source != "counter":
            yield f"count, {source}", None, "--agents 1 --rows 8 --threshold 2 --then 3 --seconds 1 --faults none"
            yield f"count, {source}", None, "--agents 1 --rows 5 --threshold 3 --then 2 --seconds 1 --faults none"
            yield f"count, {source}", None, "--agents 1 --rows 3 --seconds 1 --faults gone"


def command_of(program, world):
    protocol, counter, options = world
    return ([program, "explore", "--quiet", "--protocol", protocol] + (["--counter", counter] if counter else []) +
            options.split())


def explore(program, world, history, memory):
    run = subprocess.run(command_of(program, world) + ["--json", "--history", history, "--memory", memory],
                         capture_output=True, text=True)
    assert run.returncode in (0, 1) and run.stdout, f"{world}: exit {run.returncode}: {run.stderr}"
    answer = json.loads(run.stdout)
    assert answer["exhausted"], world
    return {"states": answer["states"], "transitions": answer["transitions"], "requests": answer["requests"],
            "request_digest": answer["request_digest"],
            "holds": [g["name"] for g in answer["guarantees"] if g["holds"]],
            "broken": {g["name"]: g["steps"] for g in answer["guarantees"] if not g["holds"]},
            "guaranteed": [g["name"] for g in answer["guarantees"] if g["guaranteed"]],
            "never": [s["name"] for s in answer["sometimes"] if not s["reached"]]}


def judge(program, world, broken, history):
    """The lab's oracles break the guarantee of the counter-example that is printed, too."""
    name = next(iter(broken))
    if name == "available" or "--bound" in world[2]:
        return  # the lab judges it by times, and excuses what overlaps a fault; its clocks are within their bound
    run = subprocess.run([program, "judge", f"{history}.yaml", history, "--json", "--quiet"], capture_output=True,
                         text=True)
    assert run.stdout, f"{world}: {run.stderr}"
    metrics = json.loads(run.stdout)["strategies"][0]["metrics"]
    assert metrics[f"oracle.{name}.violations"] > 0, f"{world}: judge finds no break of {name}"


def key(world):
    return ", ".join(part for part in world[:2] if part) + ": " + world[2]


def main():
    program = sys.argv[1]
    is_all = "--all" in sys.argv or "--write" in sys.argv
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    seen = {}
    for world in worlds():
        if not is_all and record[key(world)]["states"] > QUICK:
            continue
        with tempfile.TemporaryDirectory(prefix="bucketlab-test-") as folder:
            history = pathlib.Path(folder) / "broken.log"
            seen[key(world)] = explore(program, world, history, "1GiB" if is_all else "64MiB")
            if seen[key(world)]["broken"]:
                judge(program, world, seen[key(world)]["broken"], history)
        if "--write" not in sys.argv:
            assert seen[key(world)] == record[key(world)], f"{key(world)}\n{seen[key(world)]}\n{record[key(world)]}"
    if "--write" in sys.argv:
        RECORD.write_text(json.dumps(seen, indent=1) + "\n")
    print(f"{len(seen)} worlds as recorded")


if __name__ == "__main__":
    main()
