#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The random events of the cluster engine occur as often as the scenario declares.

Aim: an oracle judges each fault, read, delete and message by itself, and cannot see that they are too rare,
too mild or of the wrong kind. Method: long runs with fixed seeds; their event traces are counted, and each
count and mean must be within 6 standard deviations of the declared value. With random seeds, a false alarm
would have a chance of 2e-9; seeds are fixed. A failure prints "seed N: CHECK: ..." and ends with exit code 1.

    rates_test.py BUCKETLAB
"""
import collections
import math
import os
import re
import subprocess
import sys
import tempfile

SIGMAS = 6
SEED = 1
FAULTS = ["node_down", "slow_node", "gc_storm", "lost_message", "duplicate_message", "delay", "hint_loss",
          "agent_crash", "clock_jump", "agent_pause", "late_message", "state_lost", "paxos_loss"]
OF_NODES = ["node_down", "slow_node", "gc_storm", "hint_loss"]
OF_AGENTS = ["agent_crash", "clock_jump", "agent_pause"]
LASTING = ["node_down", "slow_node", "lost_message", "duplicate_message", "delay", "agent_pause", "late_message"]

failures = 0


def fail(check, text):
    global failures
    failures += 1
    print(f"seed {SEED}: {check}: {text}")


def demand_count(check, count, tries, chance):
    """A binomial number."""
    mean, deviation = tries * chance, math.sqrt(tries * chance * (1 - chance))
    if tries == 0 or abs(count - mean) > SIGMAS * deviation:
        fail(check, f"{count} of {tries}; {chance:.4f} are {mean:.0f} +- {deviation:.1f}")


def demand_poisson(check, count, mean):
    if abs(count - mean) > SIGMAS * math.sqrt(mean):
        fail(check, f"{count}; declared are {mean:.0f}")


def demand_mean(check, values, mean, deviation):
    """The mean of values with this standard deviation."""
    found = sum(values) / max(1, len(values))
    if not values or abs(found - mean) > SIGMAS * deviation / math.sqrt(len(values)):
        fail(check, f"the mean of {len(values)} is {found:.6g}, not {mean:.6g}")


class Run:
    """The event trace of a scenario: (seconds, text) of each event. kinds None: its history instead."""

    def __init__(self, program, text, kinds):
        with tempfile.TemporaryDirectory() as folder:
            scenario = os.path.join(folder, "rates.yaml")
            with open(scenario, "w", encoding="utf-8") as file:
                file.write(text)
            trace = os.path.join(folder, "events.txt")
            form = ["--kinds", kinds] if kinds else ["--trace-format", "record"]
            done = subprocess.run([program, "run", scenario, "--seed", str(SEED), "--trace-events", trace, *form,
                                   "--no-store", "--no-charts", "--quiet", "--json"],
                                  capture_output=True, text=True, check=False, cwd=folder)
            if done.returncode != 0:
                sys.exit(f"the run failed: {done.stderr}{text}")
            with open(trace, encoding="utf-8") as file:
                lines = [line.split(" s  ", 1) for line in file]
        self.events = [(float(time), text.strip()) for time, text in lines]

    def find(self, pattern):
        """(seconds, groups...) of the events that the pattern matches."""
        matches = ((time, re.search(pattern, text)) for time, text in self.events)
        return [(time, *match.groups()) for time, match in matches if match]


def check_random_faults(program):
    until, rate, lasts = 3000, 1, 2
    run = Run(program, f"""
duration: 4000s
keys: {{count: 3}}
arrivals: {{rate: 0.2/s}}
agents: {{count: 4}}
cluster: {{nodes: 5}}
faults: [{{random: {{rate: {rate}/s, until: {until}s, lasts: {lasts}s, kinds: [{', '.join(FAULTS)}]}}}}]
strategies: [{{probabilistic: {{bits: 1, threshold: 5, coordination: guarded}}}}]
""", "faults")
    begins = run.find(r"fault: (\w+)(?: at (?:node|agent) (\d+))? begins")
    demand_poisson("random.rate", len(begins), rate * until)
    demand_count("random.until", sum(time < until / 2 for time, *_ in begins), len(begins), 0.5)
    if any(time >= until for time, *_ in begins):
        fail("random.until", f"a fault begins at {begins[-1][0]} s, and the last should by {until} s")
    kinds = collections.Counter(kind for _, kind, _ in begins)
    for kind in FAULTS:
        demand_count(f"random.kinds.{kind}", kinds[kind], len(begins), 1 / len(FAULTS))
    for names, count in ((OF_NODES, 5), (OF_AGENTS, 4)):
        targets = [int(target) for _, kind, target in begins if kind in names]
        for target in range(count):
            demand_count(f"random.target.{names[0]}", targets.count(target), len(targets), 1 / count)
    # The sum of all durations is the same, whichever end belongs to which beginning.
    ends = [time for time, kind in run.find(r"fault: (\w+).* ends$") if kind in LASTING]
    starts = [time for time, kind, _ in begins if kind in LASTING]
    if len(ends) != len(starts):
        fail("random.lasts", f"{len(starts)} faults begin and {len(ends)} end")
    else:
        mean = (sum(ends) - sum(starts)) / len(ends)
        demand_mean("random.lasts", [mean] * len(ends), lasts, lasts)
    run = Run(program, """
duration: 1000s
keys: {count: 1}
arrivals: {rate: 0.1/s}
agents: {count: 4}
faults: [{agent_crash: {rate: 1/s}}]
strategies: [{unbucketed: {}}]
""", "faults")
    demand_poisson("agent_crash.rate", len(run.find("fault: agent_crash .* begins")), 1000)


def check_jumps(program):
    """Random jumps of clocks are uniform up to their size forwards and backwards."""
    size = 2e9  # the default
    run = Run(program, """
duration: 2000s
keys: {count: 1}
arrivals: {rate: 0.1/s}
agents: {count: 4}
faults: [{random: {rate: 1/s, kinds: [clock_jump]}}]
strategies: [{unbucketed: {}}]
""", None)
    jumps = [int(by) for _, by in run.find(r"fault clock_jump begins, .* by (-?\d+)")]
    demand_count("jumps.sign", sum(by > 0 for by in jumps), len(jumps), 0.5)
    demand_count("jumps.size", sum(abs(by) > size / 2 for by in jumps), len(jumps), 0.5)
    if any(abs(by) > size for by in jumps):
        fail("jumps.size", f"a clock jumps by {max(jumps, key=abs)} ns, and their size is {size:.0f} ns")


def check_reads(program):
    run = Run(program, """
duration: 3000s
keys: {count: 200}
arrivals: {rate: 0.1/s}
agents: {count: 3}
reads: {latest: {rows: 2, rate: 2/s}, range: {span: 10s, rate: 1/s}, all: {rate: 0.5/s}}
strategies: [{unbucketed: {}}]
""", "reads")
    for kind, pattern, rate in (("latest", "reads the newest", 2), ("range", "reads the rows from", 1),
                                ("all", "reads all rows", 0.5)):
        reads = run.find(r"(key-\d+): agent \d+ " + pattern)
        demand_poisson(f"reads.{kind}.rate", len(reads), 3000 * rate)
        for quarter in range(4):
            within = sum(750 * quarter <= time < 750 * quarter + 750 for time, _ in reads)
            demand_count(f"reads.{kind}.quarter", within, len(reads), 0.25)
        first = {}
        for time, key in reads:
            first.setdefault(key, time)
        gap = 200 / rate  # exponential, and cut off at the end of the run
        share = math.exp(-3000 / gap)
        demand_mean(f"reads.{kind}.first", list(first.values()), gap - 3000 * share / (1 - share), gap)


def check_deletes(program):
    run = Run(program, """
duration: 3000s
keys: {count: 3}
arrivals: {rate: 2/s}
deletes: {share: 30%, after: 20s}
agents: {count: 3}
strategies: [{unbucketed: {}}]
""", "rows")
    stored = {(key, row): time for time, key, row in run.find(r"(key-\d+): agent \d+ acknowledges row (\d+)")
              if time < 2600}
    deleted = {(key, row): time for time, key, row in run.find(r"(key-\d+): agent \d+ deletes row (\d+)")}
    gone = [deleted[name] - time for name, time in stored.items() if name in deleted]
    demand_count("deletes.share", len(gone), len(stored), 0.3)
    demand_mean("deletes.after", gone, 20, 20)


def check_own_times(program):
    for field, sign in (("late", -1), ("early", 1)):
        run = Run(program, f"""
duration: 3000s
keys: {{count: 3}}
arrivals: {{rate: 2/s, {field}: {{share: 20%, by: 5s}}}}
agents: {{count: 3}}
strategies: [{{time: {{window: 1ms}}}}]
""", "requests")
        start = 1767225600  # the default, 2026-01-01
        puts = run.find(r"puts row \d+ into bucket (\d+)$")
        apart = [sign * (int(bucket) / 1000 - start - time) for time, bucket in puts]
        moved = [span for span in apart if span > 0.003]
        demand_count(f"arrivals.{field}.share", len(moved), len(puts), 0.2 * math.exp(-0.003 / 5))
        demand_mean(f"arrivals.{field}.by", moved, 5.003, 5)


def check_rollout(program):
    run = Run(program, """
duration: 300s
keys: {count: 1}
arrivals: {rate: 1/s}
agents: {count: 400}
strategies: [{hash: {buckets: 4, then: [{at: 100s, buckets: 6, rollout: 100s}]}}]
""", "state")
    times = [time for time, in run.find("is given new settings")]
    if len(times) != 400:
        fail("rollout", f"{len(times)} of 400 agents get new settings")
    demand_mean("rollout", times, 150, 100 / math.sqrt(12))
    for quarter in range(4):
        within = sum(100 + 25 * quarter <= time < 125 + 25 * quarter for time in times)
        demand_count("rollout.quarter", within, len(times), 0.25)


def trips(program, faults, network, rows=6000):
    """The seconds from each row's first request to its outcome; None if there was no outcome in time."""
    run = Run(program, f"""
duration: {rows}s
keys: {{count: 1}}
arrivals: {{rate: 1/s}}
agents: {{count: 1, retries: 0, operations: 512}}
cluster:
  nodes: 1
  network: {{{network}}}
  node: {{write: 0s, gc: {{every: 0s}}}}
  timeouts: {{write: 60s, client: 60s}}
faults: [{faults}]
strategies: [{{unbucketed: {{}}}}]
""", "rows,requests")
    begun = {row: time for time, row in run.find(r"puts row (\d+) into bucket 0$")}
    ended = {row: time for time, row in run.find(r"acknowledges row (\d+)")}
    return [ended[row] - time if row in ended else None for row, time in begun.items()]


# A row takes two messages, to the node and back; the latencies of the two are independent.
def check_messages(program):
    steady = "latency: {uniform: [5ms, 5ms]}"
    share = 0.1
    both = 1 - (1 - share) ** 2
    for check, faults, network in (("lost_message", "lost_message: {chance: 10%, at: 0s}", steady),
                                   ("network.loss", "", steady + ", loss: 10%")):
        found = trips(program, f"{{{faults}}}" if faults else "", network)
        demand_count(check, sum(span is None for span in found), len(found), both)
    found = trips(program, "{late_message: {chance: 10%, by: 3s, at: 0s}}", steady)
    demand_count("late_message.chance", sum(span is not None and span > 1 for span in found), len(found), both)
    demand_count("late_message.by", sum(span is not None and span > 5 for span in found), len(found), share ** 2)
    late = [span for span in found if span is not None and 1 < span < 5]
    demand_mean("late_message.lateness", late, 3.01, 1e-3)
    for check, faults, factor in (("latency", "", 1), ("delay", "{delay: {factor: 7, at: 0s}}", 7)):
        found = trips(program, faults, "latency: {lognormal: {mean: 5ms, sigma: 0.5}}")
        deviation = 0.005 * math.sqrt(math.exp(0.25) - 1)
        demand_mean(check, found, 0.01 * factor, deviation * math.sqrt(2) * factor)
    found = trips(program, "", "latency: {uniform: [2ms, 8ms]}")
    demand_mean("latency.uniform", found, 0.01, 0.006 / math.sqrt(12) * math.sqrt(2))


def main():
    program = os.path.abspath(sys.argv[1])
    for check in (check_random_faults, check_jumps, check_reads, check_deletes, check_own_times, check_rollout,
                  check_messages):
        check(program)
    if failures == 0:
        print("all rates are as declared")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
