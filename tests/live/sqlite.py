#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Live runs on a SQLite file: several processes that embed the core write rows in bursts, and are killed, stopped for
longer than their leases, and started again with the same number. Their logs, and the tables that are read back, are
judged by `bucketlab judge`; the lab's twin of each run is run beside it.

    sqlite.py HOST BUCKETLAB [--protocols A,B] [--rows N] [--kills N] [--out DIR] [--json FILE]

HOST is the program of host.c. Exit code 1: a guarantee was broken, or the unsafe lead was not seen to break.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

import protocols

SECOND = 10**9
KEYS = 6
FAULTS_MAX = 1000  # of a scenario


class Run:
    """One run of one protocol: its folder, its processes, and its own log of what it does to them."""

    def __init__(self, name, host, folder, agents, rows, burst, pause_us):
        self.name, self.host, self.folder, self.rows = name, host, folder, rows
        self.agents, self.burst, self.pause_us = agents, burst, pause_us
        self.processes, self.kills, self.pauses, self.faults = {}, 0, 0, []
        self.paused = {}  # agent -> (number of the fault, when it ends)
        os.makedirs(folder)
        self.write("setting.bk", protocols.setting_text(name))
        with open(self.path("numbers"), "wb") as numbers:
            numbers.write(struct.pack("q", 0) * (KEYS + 1))
        sqlite3.connect(self.path("store.db")).close()
        self.began, self.world = time.monotonic_ns(), time.time_ns()
        self.driver = open(self.path("driver.log"), "w", encoding="ascii", buffering=1)
        self.note(self.began, f"strategy live is observed from {self.world}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def note(self, now, text):
        since = now - self.began
        self.driver.write(f"{since // SECOND:6d}.{since % SECOND:09d} s  {text}.\n")

    def start(self, agent):
        entries = KEYS * 64 if self.keeps_state() else 1
        # Clocks lie apart within the bound.
        offset = (agent * 2 - self.agents + 1) * protocols.CLOCK_BOUND_MS * 1000000 // (2 * self.agents)
        arguments = [
            self.path("store.db"),
            self.path(f"agent-{agent}.log"),
            self.path("numbers"),
            self.path("setting.bk"),
            self.began,
            self.world,
            offset,
            agent,
            KEYS,
            self.rows,
            self.burst,
            self.pause_us,
            f"cache_ttl={protocols.CACHE_TTL_MS * 1000000}",
            "operations=64",
            "retries=3",
            f"clock_bound={protocols.CLOCK_BOUND_MS * 1000000}",
            f"cache_entries={entries}",
        ]
        self.processes[agent] = subprocess.Popen([self.host, *map(str, arguments)])

    def keeps_state(self):
        kind, values = protocols.SETTINGS[self.name]
        return kind == "probabilistic" or values["counter"] not in ("external", "counter")

    def seconds(self):
        return (time.monotonic_ns() - self.began) / SECOND

    def kill(self, agent):
        """Its end is seen before it is logged, so nothing of it comes later; the next life begins at once."""
        at = self.seconds()
        self.processes[agent].kill()
        self.processes[agent].wait()
        self.note(time.monotonic_ns(), f"fault agent_crash begins, target {agent} lasts 0 by 0")
        self.kills += 1
        self.faults.append(f"agent_crash: {{agent: {agent}, at: {at * 1000:.0f}ms, lasts: 5ms}}")
        self.start(agent)

    def pause(self, agent, seconds):
        at = self.seconds()
        os.kill(self.processes[agent].pid, signal.SIGSTOP)
        _, status = os.waitpid(self.processes[agent].pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):  # it has ended meanwhile
            self.processes[agent].returncode = os.waitstatus_to_exitcode(status)
            return
        number = next(
            i for i in range(self.agents + 1) if i not in {place for place, _ in self.paused.values()}
        )
        self.paused[agent] = (number, at + seconds)
        self.note(time.monotonic_ns(), f"fault agent_pause begins, target {agent} lasts 0 by 0")
        self.pauses += 1
        self.faults.append(
            f"agent_pause: {{agent: {agent}, at: {at * 1000:.0f}ms, lasts: {seconds * 1000:.0f}ms}}"
        )

    def go_on(self, agent):
        number, _ = self.paused.pop(agent)
        self.note(time.monotonic_ns(), f"fault ends, number {number}")
        os.kill(self.processes[agent].pid, signal.SIGCONT)

    def taken(self):
        with open(self.path("numbers"), "rb") as numbers:
            return struct.unpack("q", numbers.read(8))[0]

    def stop_taking(self):
        """Before all rows were taken: the processes end as if they had been."""
        with open(self.path("numbers"), "r+b") as numbers:
            numbers.write(struct.pack("q", self.rows))

    def drive(self, kills, draws, most_seconds):
        """Kills and pauses by the rows that were taken, so that a busy machine has as many."""
        for agent in range(self.agents):
            self.start(agent)
        due = sorted(draws.uniform(0.02, 0.97) * self.rows for _ in range(kills))
        stops = sorted(draws.uniform(0.05, 0.9) * self.rows for _ in range(max(2, kills // 10)))
        while self.taken() < self.rows:
            time.sleep(0.002)
            taken, now = self.taken(), self.seconds()
            if now > most_seconds:
                self.stop_taking()
            for agent in [agent for agent, (_, until) in self.paused.items() if now >= until]:
                self.go_on(agent)
            awake = [agent for agent in range(self.agents) if agent not in self.paused]
            if due and taken >= due[0] and awake:
                due.pop(0)
                self.kill(draws.choice(awake))
            elif stops and taken >= stops[0] and len(awake) > 1:
                stops.pop(0)
                self.pause(draws.choice(awake), draws.choice([0.3, 0.7, 1.6]))
            for agent, process in self.processes.items():
                if agent not in self.paused and process.poll() not in (None, 0):
                    raise SystemExit(f"{self.name}: agent {agent} ended with {process.returncode}")
        for agent in list(self.paused):
            self.go_on(agent)
        for agent, process in self.processes.items():
            if process.wait(timeout=120) != 0:
                raise SystemExit(f"{self.name}: agent {agent} ended with {process.returncode}")
        self.lasted = self.seconds()
        self.driver.close()
        with open(self.path("numbers"), "rb") as numbers:
            self.rows = sum(struct.unpack("q" * (KEYS + 1), numbers.read())[1:])

    def read_back(self):
        store = sqlite3.connect(self.path("store.db"))
        with open(self.path("tables.csv"), "w", encoding="ascii") as out:
            for row in store.execute("SELECT key, bucket, number, time FROM rows"):
                out.write("row,key-%d,%d,%d,%d\n" % row)
            for row in store.execute("SELECT key, c0, c1, c2, c3 FROM states"):
                out.write("state,key-%d,%d,%d,%d,%d\n" % row)
            for row in store.execute("SELECT key, bucket, total FROM counters"):
                out.write("counter,key-%d,%d,%d\n" % row)
        store.close()


def outcome_of(lab, *arguments):
    done = subprocess.run([lab, *arguments, "--quiet", "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"bucketlab {' '.join(arguments)}: {done.stderr.strip()}")
    return done.returncode, json.loads(done.stdout)["strategies"][0]["metrics"], done.stderr.strip()


def judge(lab, run, twin=True):
    """The verdict on the run, and the lab's twin of it with the latencies that were measured."""
    crashes = f"agent_crash: {{rate: {run.kills / run.lasted:.6f}/s, lasts: 5ms}}"
    faults = run.faults if len(run.faults) <= FAULTS_MAX else [crashes]
    text = protocols.twin(run.name, run.agents, KEYS, run.rows / run.lasted, run.lasted, 5, faults=faults)
    run.write("twin.yaml", text)
    logs = [run.path(f"agent-{agent}.log") for agent in range(run.agents)] + [run.path("driver.log")]
    code, live, why = outcome_of(
        lab, "judge", run.path("twin.yaml"), *logs, "--tables", run.path("tables.csv")
    )
    lab_metrics = None
    if twin:
        latency_us = max(1, int(live.get("latency.write.p50", 0.05) * 1000 / 2))
        run.write("twin.yaml", text.replace("latency: 5us", f"latency: {latency_us}us"))
        _, lab_metrics, _ = outcome_of(lab, "run", run.path("twin.yaml"), "--no-charts", "--no-store")
    return {
        "protocol": run.name,
        "rows": run.rows,
        "kills": run.kills,
        "pauses": run.pauses,
        "seconds": run.lasted,
        "agents": run.agents,
        "broken": why if code == 1 else None,
        "live": live,
        "lab": lab_metrics,
    }


def violations(metrics):
    return {
        name.split(".")[1]: int(value)
        for name, value in metrics.items()
        if name.startswith("oracle.") and value
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("host")
    parser.add_argument("lab")
    parser.add_argument("--protocols", default=",".join(protocols.SETTINGS))
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--burst", type=int, default=8)
    parser.add_argument("--pause-us", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of each run at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--out")
    parser.add_argument("--json")
    options = parser.parse_args()
    folder = options.out or tempfile.mkdtemp(prefix="bucketlab-live-")
    results, faults = [], []
    print(f"seed {options.seed}, in {folder}")
    for name in options.protocols.split(","):
        run = Run(
            name,
            os.path.abspath(options.host),
            os.path.join(folder, name),
            options.agents,
            options.rows,
            options.burst,
            options.pause_us,
        )
        try:
            run.drive(options.kills, random.Random(f"{options.seed} {name}"), options.seconds)
        finally:
            for process in run.processes.values():
                if process.poll() is None:
                    process.kill()
        run.read_back()
        result = judge(os.path.abspath(options.lab), run)
        results.append(result)
        print(
            f"{name:16} {run.rows} rows, {run.kills} kills, {run.pauses} pauses, {run.lasted:.1f} s; misrouted "
            f"{int(result['live'].get('writes.misrouted', 0))}, lab {int(result['lab'].get('writes.misrouted', 0))}; "
            f"live {violations(result['live'])}, lab {violations(result['lab'])}",
            flush=True,
        )
        if result["broken"]:
            faults.append(f"{name}: {result['broken']}")
        if name == "unsafe" and not result["live"]["writes.misrouted"]:
            faults.append("unsafe: the lead of 20 ms put no row into a wrong bucket")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(results, stream, indent=1)
    for fault in faults:
        print(f"FAILED {fault}")
    if not options.out and not faults:
        shutil.rmtree(folder)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
