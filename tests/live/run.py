# SPDX-License-Identifier: GPL-3.0-or-later
"""A live run: processes that are killed, stopped and started again, their histories, and the lab's twin of
the run.

sqlite.py and nodes.py define the processes and the place of their rows.
"""

import json
import math
import os
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import protocols

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cassandra5"))
import latency

SECOND = 10**9
KEYS = 6
# In the format of judge: key, bucket, number and time of rows; key and columns of states; key, bucket and sum
# of counters.
TABLES = "row,key-%d,%d,%d,%d\n", "state,key-%d,%d,%d,%d,%d\n", "counter,key-%d,%d,%d\n"
ROWS_ASTRAY = 20  # several bursts, so that zero is no coincidence


def lognormal(p50, p99, trips):
    """A single trip when `trips` trips together have these percentiles, in seconds."""
    hop = latency.hop_of(p50 * 1e6, p99 * 1e6, trips)
    return f"{{lognormal: {{mean: {hop['mean']}, sigma: {hop['sigma']}}}}}"


class Run:
    """A run of one protocol: its folder, its processes, and its own log of its actions on them."""

    scale, nodes, bound_ms, client_s = 1, 1, protocols.CLOCK_BOUND_MS, 12
    node_pauses = node_stops = 0

    def __init__(self, name, folder, agents, rows, burst, pause_us):
        self.name, self.folder, self.rows = name, folder, rows
        self.agents, self.burst, self.pause_us = agents, burst, pause_us
        self.processes, self.logged, self.kills, self.pauses, self.faults = {}, {}, 0, 0, []
        self.lasting = {}  # active faults, by their numbers in the history
        os.makedirs(folder)
        self.write("setting.bk", protocols.setting_text(name, self.scale))
        with open(self.path("numbers"), "wb") as numbers:
            numbers.write(struct.pack("q", 0) * (KEYS + 1))
        self.prepare()
        self.began, self.world = time.monotonic_ns(), time.time_ns()
        self.driver = open(self.path("driver.log"), "w", encoding="ascii", buffering=1)
        self.note(self.began, f"strategy live is observed from {self.world}")

    def prepare(self):
        """Prepares the run before the clock begins."""

    def program(self):
        """The words that start a process, without the arguments that all hosts take; and the place of the rows."""
        raise NotImplementedError

    def tables(self):
        """The data read back after the run: rows by the columns of TABLES."""
        raise NotImplementedError

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
        # The clocks differ within the bound.
        offset = (agent * 2 - self.agents + 1) * self.bound_ms * 1000000 // (2 * self.agents)
        program, store = self.program()
        arguments = [
            store,
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
            f"operations={protocols.OPERATIONS}",
            "retries=3",
            f"clock_bound={self.bound_ms * 1000000}",
            f"cache_entries={entries}",
            f"client_s={self.client_s}",
        ]
        self.logged[agent] = self.log_size(agent)
        self.processes[agent] = subprocess.Popen([*program, *map(str, arguments)])

    def log_size(self, agent):
        path = self.path(f"agent-{agent}.log")
        return os.path.getsize(path) if os.path.exists(path) else 0

    def awake(self):
        """The agents that have begun and are not stopped."""
        stopped = {target for _, place, target, *_ in self.lasting.values() if place == "agent"}
        return [
            agent
            for agent in range(self.agents)
            if agent not in stopped and self.log_size(agent) > self.logged[agent]
        ]

    def keeps_state(self):
        kind, values = protocols.SETTINGS[self.name]
        return kind == "probabilistic" or values["counter"] not in ("external", "counter")

    def seconds(self):
        return (time.monotonic_ns() - self.began) / SECOND

    def kill(self, agent):
        """The process's end is awaited before it is logged, so none of its events come later; it is restarted
        immediately."""
        at = self.seconds()
        self.processes[agent].kill()
        self.processes[agent].wait()
        self.note(time.monotonic_ns(), f"fault agent_crash begins, target {agent} lasts 0 by 0")
        self.kills += 1
        self.fault("agent_crash", "agent", agent, at, None)
        self.start(agent)

    def begin_fault(self, kind, place, target, until, end):
        """until: seconds of the run, or a function that returns whether the fault is over; then `end` is
        called. place: the name of the target in the scenario."""
        number = next(i for i in range(len(self.lasting) + 1) if i not in self.lasting)
        self.lasting[number] = (kind, place, target, self.seconds(), until, end)
        self.note(time.monotonic_ns(), f"fault {kind} begins, target {target} lasts 0 by 0")

    def end_faults(self, now=math.inf):
        for number, (kind, place, target, at, until, end) in list(self.lasting.items()):
            if until() if callable(until) else now >= until:
                self.note(time.monotonic_ns(), f"fault ends, number {number}")
                end()
                del self.lasting[number]
                self.fault(kind, place, target, at, self.seconds() - at)

    def fault(self, kind, place, target, at, lasts):
        """Records a fault for the twin."""
        self.faults.append((kind, place, target, at, lasts))

    def pause(self, agent, seconds):
        os.kill(self.processes[agent].pid, signal.SIGSTOP)
        _, status = os.waitpid(self.processes[agent].pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):  # it has already ended
            self.processes[agent].returncode = os.waitstatus_to_exitcode(status)
            return
        self.pauses += 1
        until, pid = self.seconds() + seconds, self.processes[agent].pid
        self.begin_fault("agent_pause", "agent", agent, until, lambda: os.kill(pid, signal.SIGCONT))

    def taken(self):
        with open(self.path("numbers"), "rb") as numbers:
            return struct.unpack("q", numbers.read(8))[0]

    def stop_taking(self):
        """Pretends that all rows were accepted, so that the processes end."""
        with open(self.path("numbers"), "r+b") as numbers:
            numbers.write(struct.pack("q", self.rows))

    def check_ends(self):
        for agent, process in self.processes.items():
            if process.poll() not in (None, 0):
                raise SystemExit(f"{self.name}: agent {agent} ended with {process.returncode}")

    def drive(self, kills, draws, most_seconds, more=()):
        """Runs until all rows were accepted, or for most_seconds since all processes had begun; the kills are
        spread over whichever comes first. more: (share of the run, action), in ascending order."""
        for agent in range(self.agents):
            self.start(agent)
        due = sorted(draws.uniform(0.02, 0.97) for _ in range(kills))
        stops = sorted(draws.uniform(0.05, 0.9) for _ in range(max(2, kills // 10)))
        more, ready = list(more), None
        while self.taken() < self.rows:
            time.sleep(0.002)
            now, awake = self.seconds(), self.awake()
            if ready is None and len(awake) == self.agents:
                ready = now
            elapsed = 0 if ready is None else (now - ready) / most_seconds
            share = max(self.taken() / self.rows, elapsed)
            if elapsed > 1:
                self.stop_taking()
            self.end_faults(now)
            if due and share >= due[0] and awake:
                due.pop(0)
                self.kill(draws.choice(awake))
            elif stops and share >= stops[0] and len(awake) > 1:
                stops.pop(0)
                self.pause(draws.choice(awake), draws.choice([0.3, 0.7, 1.6]))
            elif more and share >= more[0][0]:
                more.pop(0)[1]()
            self.check_ends()
        while self.lasting:
            self.end_faults()
            time.sleep(0.01)
        for process in self.processes.values():
            process.wait(timeout=120)
        self.check_ends()
        self.lasted = self.seconds()
        self.driver.close()
        with open(self.path("numbers"), "rb") as numbers:
            self.rows = sum(struct.unpack("q" * (KEYS + 1), numbers.read())[1:])
        with open(self.path("tables.csv"), "w", encoding="ascii") as out:
            for rows, line in zip(self.tables(), TABLES):
                out.writelines(line % tuple(row) for row in rows)

    def end(self):
        """Ends the processes that still run when the run was aborted."""
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()

    def latency(self, judged):
        """The one-way latency of the twin's network; judged: the metrics of the run, None before they are
        known."""
        if not judged or not judged.get("latency.write.p50"):
            return "50us"
        trips = 2 * protocols.REQUESTS.get(self.name, 1)
        return lognormal(judged["latency.write.p50"] / 1e3, judged["latency.write.p99"] / 1e3, trips)

    def logs(self):
        return [self.path(f"agent-{agent}.log") for agent in range(self.agents)] + [self.path("driver.log")]


def outcome_of(lab, *arguments):
    done = subprocess.run([lab, *arguments, "--quiet", "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"bucketlab {' '.join(arguments)}: {done.stderr.strip()}")
    return done.returncode, json.loads(done.stdout)["strategies"][0]["metrics"], done.stderr.strip()


def read_logs(run, logs):
    """The rows in the order of their arrival, and the time at which each killed process was back."""
    rows, backs = [], []
    for log in logs:
        with open(log, encoding="ascii") as stream:
            for line in stream:
                if " takes row " in line:
                    words = line.split()
                    seconds, _, nanoseconds = words[0].partition(".")
                    rows.append((run.world + int(seconds) * SECOND + int(nanoseconds), words[2].rstrip(":")))
                elif " is back, " in line:
                    words = line.split()
                    backs.append((float(words[0]), int(words[3])))
    return sorted(rows), sorted(backs)


def faults_of_twin(run, backs, first):
    """first: the time of the first row in seconds of the run, which is the twin's beginning."""
    texts = []
    for kind, place, target, at, lasts in run.faults:
        if lasts is None:
            back = next((back for back, agent in backs if agent == target and back > at), run.lasted)
            lasts = max(0.001, back - at)
        at = max(0, at - first)
        texts.append(f"{kind}: {{{place}: {target}, at: {at * 1000:.0f}ms, lasts: {lasts * 1000:.0f}ms}}")
    return texts


def judge(lab, run, twins=1):
    """The verdict on the run, and its twins in the lab with the measured latencies."""
    logs = run.logs()
    rows, backs = read_logs(run, logs)
    run.write("rows.csv", "time,key\n" + "".join(f"{time},{key}\n" for time, key in rows))
    faults = faults_of_twin(run, backs, (rows[0][0] - run.world) / SECOND)

    def scenario(judged=None, trace=None, seed=1):
        text = protocols.twin(
            run.name,
            run.agents,
            KEYS,
            run.rows / run.lasted,
            run.lasted,
            run.latency(judged),
            scale=run.scale,
            nodes=run.nodes,
            bound_ms=run.bound_ms,
            client_s=run.client_s,
            faults=faults,
            seed=seed,
            trace=trace,
        )
        run.write("twin.yaml", text)
        return run.path("twin.yaml")

    code, live, why = outcome_of(lab, "judge", scenario(), *logs, "--tables", run.path("tables.csv"))
    labs = [
        outcome_of(lab, "run", scenario(live, "rows.csv", seed), "--no-charts", "--no-store")[1]
        for seed in range(1, twins + 1)
    ]
    return {
        "protocol": run.name,
        "rows": run.rows,
        "kills": run.kills,
        "pauses": run.pauses,
        "seconds": run.lasted,
        "agents": run.agents,
        "nodes": run.nodes,
        "node_pauses": run.node_pauses,
        "node_stops": run.node_stops,
        "broken": why if code == 1 else None,
        "live": live,
        "lab": labs,
    }


def violations(metrics):
    return {
        name.split(".")[1]: int(value)
        for name, value in metrics.items()
        if name.startswith("oracle.") and value
    }


def report(result):
    live, labs = result["live"], result["lab"]
    print(
        f"{result['protocol']:16} {result['rows']} rows, {result['kills']} kills, {result['pauses']} pauses, "
        f"{result['seconds']:.1f} s; misrouted {int(live.get('writes.misrouted', 0))}, lab "
        f"{misrouted_in_lab(result):.0f}; live {violations(live)}, lab {violations(labs[0])}",
        flush=True,
    )


def misrouted_in_lab(result):
    return statistics.mean(lab.get("writes.misrouted", 0) for lab in result["lab"])


def faults_of(result):
    """The reasons for which the run is a failure."""
    name = result["protocol"]
    if result["broken"]:
        yield f"{name}: {result['broken']}"
    if name == "unsafe" and not result["live"]["writes.misrouted"] and misrouted_in_lab(result) > ROWS_ASTRAY:
        yield "unsafe: the lead of 20 ms put no row into a wrong bucket"


def add_options(parser, rows, kills, pause_us):
    parser.add_argument("--protocols", default=",".join(protocols.SETTINGS))
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--rows", type=int, default=rows)
    parser.add_argument("--kills", type=int, default=kills)
    parser.add_argument("--burst", type=int, default=8)
    parser.add_argument("--pause-us", type=int, default=pause_us)
    parser.add_argument("--seconds", type=float, default=math.inf, help="of each run at most")
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds after which no run begins")
    parser.add_argument(
        "--twins", type=int, default=1, help="runs of the lab beside each run, of as many seeds"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--out")
    parser.add_argument("--json")


def run_all(options, make, more=lambda run: ()):
    """Runs, judges and reports each protocol; returns the exit code. more: additional actions on a run."""
    folder = options.out or tempfile.mkdtemp(prefix="bucketlab-live-")
    results, faults, begun = [], [], time.monotonic()
    print(f"seed {options.seed}, in {folder}")
    for name in options.protocols.split(","):
        if time.monotonic() - begun > options.budget:
            print(f"{name:16} skipped: no time is left")
            continue
        path = os.path.join(folder, name)
        run = make(name, path, options.agents, options.rows, options.burst, options.pause_us)
        try:
            run.drive(options.kills, random.Random(f"{options.seed} {name}"), options.seconds, more(run))
        finally:
            run.end()
        results.append(judge(os.path.abspath(options.lab), run, options.twins))
        report(results[-1])
        faults += faults_of(results[-1])
        if options.json:
            with open(options.json, "w", encoding="utf-8") as stream:
                json.dump(results, stream, indent=1)
    for fault in faults:
        print(f"FAILED {fault}")
    if not options.out and not faults:
        shutil.rmtree(folder)
    return 1 if faults else 0
