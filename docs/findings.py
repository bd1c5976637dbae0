# SPDX-License-Identifier: GPL-3.0-or-later
"""Regenerates the figures of docs/findings.md: runs the scenarios of scenarios/findings/ with many settings
and seeds, and writes docs/findings/NAME.csv, docs/images/findings-NAME.png and the tables in
docs/findings.md.

usage: docs/findings.py [--only STUDY]... [--campaigns] [--quick --out DIR] [--cache DIR] [BUCKETLAB]"""
import argparse
import os
import sys

from findings_harness import (ROOT, Failure, Figure, Output, Runner, Study, closed_mean, number, oracle,
                              per_million, per_row,
                              plain, say_progress, write_tables)

ORDERLY = ("newest", "monotone", "agreement")


def seconds(text):
    """5s, 200ms -> 5, 0.2"""
    return float(text[:-2]) / 1000 if text.endswith("ms") else float(text[:-1])


def agents_of(at):
    return "1 agent" if at["agents"] == 1 else f"{at['agents']} agents"


def in_rows(rows, rate):
    """Returns the duration in which this number of rows arrives."""
    return f"{round(1000 * rows / rate)}ms"


def violations(names):
    return {f"{name} violations per million rows": per_million(oracle(name)) for name in names}


class SingleAgents(Study):
    name = scenario = "single-agents"
    quick = {"duration": "10s"}
    agents = (1, 2, 4, 8, 16, 32)
    caches = ("0s", "200ms", "1s", "5s")
    rates = (40, 100, 400, 1000, 4000)

    def points(self):
        grid = [(count, cache, 400) for cache in self.caches for count in self.agents]
        grid += [(16, "5s", rate) for rate in self.rates if rate != 400]
        return [({"agents": count, "cache_ttl": seconds(cache), "rate": rate},
                 {"agents.count": count, "agents.cache_ttl": cache, "arrivals.rate": f"{rate}/s",
                  "duration": in_rows(240000, rate)}) for count, cache, rate in grid]

    def report(self, data, out):
        names = (*ORDERLY, "findable", "no_gaps", "conserved")
        out.csv(self.name, data, {**violations(names), "rows of a closed partition": closed_mean})
        out.chart(self.name, {
            "title": "Readers that miss rows over the number of agents",
            "subtitle": "coordination: single · 8 keys, 50 rows/s each, 640 rows per partition",
            "foot": "newest: rows after which a reader of the newest 20 rows gets other rows · bars: 95 % confidence",
            "x": "agents | plain | log", "y": "share of rows that violate newest | share | log",
        }, [(f"cache_ttl {cache}",
             data.curve("agents", "single", per_row(oracle("newest")), cache_ttl=seconds(cache), rate=400))
            for cache in reversed(self.caches)])
        out.chart("single-rates", {
            "title": "Violations over the rate of a key",
            "subtitle": "coordination: single by 16 agents · cache_ttl 5 s, 640 rows per partition",
            "foot": "bars: 95 % confidence", "x": "rate of a key, rows/s | plain | log",
            "y": "share of rows | share | linear",
        }, [(name, sorted((x / 8, y) for x, y in data.curve("rate", "single", per_row(oracle(name)), agents=16,
                                                             cache_ttl=5))) for name in ORDERLY])
        rows = []
        for at in data.at(cache_ttl=5, rate=400):
            for strategy in ("single", "locked"):
                rows.append([f"{strategy}, {agents_of(at)}",
                             *(number(data.figure(at, strategy, per_million(oracle(name)))) for name in names)])
        out.table(self.name, ["violations per million rows", *names], rows)


class LeadSweep(Study):
    name = scenario = "lead-sweep"
    quick = {"duration": "20s"}
    seeds = 8
    oracles = ("newest", "monotone", "agreement", "findable", "no_gaps")
    leads = (0, 200, 400, 600, 700, 800, 900, 950, 1000, 1050, 1100, 1150, 1200, 1250, 1300, 1400, 1600, 2000, 2500)

    def points(self):
        return [self.point(1000, 100, lead) for lead in self.leads]

    @staticmethod
    def point(cache_ms, bound_ms, lead_ms):
        """Returns a point whose only strategy is three-state with this lead."""
        return ({"cache_ttl": cache_ms / 1000, "bound": bound_ms / 1000, "lead": lead_ms / 1000},
                {"duration": "10m", "agents.cache_ttl": f"{cache_ms}ms",
                 "agents.clock": f"{{offset: {bound_ms}ms, drift: 20ppm, bound: {bound_ms}ms}}",
                 "strategies": "[{probabilistic: {bits: 6, threshold: 20, coordination: three-state, "
                               f"lead: {lead_ms}ms, label: three-state}}}}]"})

    @staticmethod
    def write_time(data, at):
        """p999 of the latency of a write, including the read of the state, in seconds."""
        return data.figure(at, "three-state", plain("latency.write.p999")).value / 1000

    def safe_lead(self, data, points):
        """The formula: time of a write + time to live of the cache + twice the bound of the clocks."""
        at = points[-1]
        return self.write_time(data, at) + at["cache_ttl"] + 2 * at["bound"]

    def least_lead(self, data, points):
        """Returns the shortest tested lead from which on no run had a violation, and the next shorter one."""
        for i in range(len(points) - 1, -1, -1):
            found = [data.figure(points[i], "three-state", per_million(oracle(name))).value for name in self.oracles]
            if any(found):
                return points[i + 1]["lead"] if i + 1 < len(points) else None, points[i]["lead"]
        return points[0]["lead"], None

    def report(self, data, out):
        out.csv(self.name, data, {**violations(self.oracles), "rows of a closed partition": closed_mean,
                                  "write p999, ms": plain("latency.write.p999"),
                                  "rolls of a run": plain("partitions.closed")})
        safe, (least, _) = self.safe_lead(data, data.points), self.least_lead(data, data.points)
        rules = [(safe, f"safe lead by the formula: {safe:.2f} s")]
        if least is not None:
            rules.append((least, f"least lead without a violation: {least:.2f} s"))
        out.chart(self.name, {
            "title": "Violations of three-state over its lead",
            "subtitle": "16 agents, cache_ttl 1 s, clocks within 100 ms · 8 keys, 50 rows/s each, "
                        "1,280 rows per partition",
            "foot": f"{self.seeds} runs of 240,000 rows per point · bars: 95 % confidence",
            "x": "lead | seconds | linear", "y": "violations per million rows | plain | log",
        }, [(name, data.curve("lead", "three-state", per_million(oracle(name)))) for name in self.oracles], rules)
        rows = [[f"{at['lead']:g} s", *(number(data.figure(at, "three-state", per_million(oracle(name))))
                                        for name in self.oracles),
                 number(data.figure(at, "three-state", closed_mean), 4)] for at in data.points]
        out.table(self.name, ["lead", *self.oracles, "rows of a closed partition"], rows)


class LeadFormula(LeadSweep):
    """Compares the formula with simulated results, for several caches and clocks."""

    name = "lead-formula"
    seeds = 4
    setups = ((500, 100), (2000, 100), (1000, 0), (1000, 300))

    def points(self):
        points = []
        for cache_ms, bound_ms in self.setups:
            base = cache_ms + 2 * bound_ms
            points += [self.point(cache_ms, bound_ms, round(base * part / 100))
                       for part in (50, 60, 70, 75, 80, 85, 90, 95, 100, 110)]
        return points

    def report(self, data, out):
        out.csv(self.name, data, {**violations(self.oracles), "write p999, ms": plain("latency.write.p999")})
        rows = []
        for cache_ms, bound_ms in self.setups:
            points = data.at(cache_ttl=cache_ms / 1000, bound=bound_ms / 1000)
            if not points:
                continue
            least, below = self.least_lead(data, points)
            rows.append([f"{cache_ms / 1000:g} s, {bound_ms} ms", f"{1000 * self.write_time(data, points[-1]):.0f} ms",
                         f"{self.safe_lead(data, points):.2f} s",
                         "–" if below is None else f"{below:.2f} s", "–" if least is None else f"{least:.2f} s"])
        out.table(self.name, ["cache_ttl, clock bound", "write p999", "safe lead by the formula",
                              "longest lead with a violation", "least lead without"], rows)


def threshold_rows(threshold):
    """The size that partitions would have if a key rolled at its last increment, computed from the share of
    rows that fired in this run. The counter column gives that share, which is the same for all strategies.
    This estimate has far less noise than threshold x 2^bits."""
    return lambda metrics, run: (threshold * metrics["writes.rows"] * metrics["partitions.closed"]
                                 / run["counter"]["writes.counter_increments"])


def growth(threshold, lead_rows=0):
    """The number of rows by which a closed partition exceeds its threshold, without the rows of the lead."""
    base = threshold_rows(threshold)

    def measure(metrics, run):
        count = metrics["partitions.closed"]
        if count == 0:
            return None
        return metrics["partitions.closed.rows.mean"] * count - base(metrics, run) - lead_rows * count, count
    return measure


class Resets(Study):
    name = scenario = "resets"
    quick = {"duration": "30s"}
    seeds = 2
    labels = {"rmw": "rmw: a column, read and written back", "counter": "counter: Cassandra's, less a base",
              "lwt": "lwt: conditional updates"}

    def points(self):
        grid = [(16, 10 * 2 ** k, 2 + k, 500, 1300) for k in range(4)]
        grid += [(count, 100, 5, 500, 1300) for count in (1, 4, 16)]
        grid += [(16, 100, 5, latency, 3000) for latency in (500, 5000, 20000)]
        points = []
        for agents, rate, bits, latency, lead in grid:
            settings = {"agents.count": agents, "arrivals.rate": f"{8 * rate}/s",
                        "cluster.network.latency": f"{{lognormal: {{mean: {latency}us, sigma: 0.4}}}}",
                        "duration": in_rows(min(60000, 9600 * rate), 8 * rate)}
            for label in self.labels:
                settings[f"strategies.{label}.bits"] = bits
                settings[f"strategies.{label}.lead"] = f"{lead}ms"
            points.append(({"agents": agents, "rate_of_a_key": rate, "rows": 40 * 2 ** bits, "latency": latency / 1e6,
                            "lead": lead / 1000}, settings))
        return points

    @staticmethod
    def grown(data, at, label):
        """The number of rows beyond the threshold and the lead, relative to the rows of the threshold."""
        figure = data.figure(at, label, growth(40, at["lead"] * at["rate_of_a_key"]), True)
        return figure if figure is None else figure.times(1 / at["rows"])

    def report(self, data, out):
        out.csv(self.name, data, {"rows of a closed partition": closed_mean,
                                  "rows of a closed partition by its threshold": lambda metrics, run: (
                                      threshold_rows(40)(metrics, run), metrics["partitions.closed"]),
                                  "state writes per million rows": per_million("writes.state_writes"),
                                  "conditional updates per million rows": per_million("writes.lwt")})
        out.chart(self.name, {
            "title": "How much partitions grow when resets overlap",
            "subtitle": "three-state by 16 agents, lead 1.3 s, cache_ttl 1 s, partitions that last about 15 s",
            "foot": "growth: mean rows of closed partitions beyond threshold and lead, relative to the threshold · "
                    "bars: 95 % confidence", "x": "rate of a key, rows/s | plain | log", "y": "growth | share | linear",
        }, [(text, [(at["rate_of_a_key"], self.grown(data, at, label))
                    for at in data.at(agents=16, lead=1.3, latency=0.0005) if at["rate_of_a_key"] != 100
                    and self.grown(data, at, label) is not None]) for label, text in self.labels.items()])
        rows = []
        for at in data.points:
            cells = []
            for label in self.labels:
                share = self.grown(data, at, label)
                cells.append("–" if share is None else
                             f"{100 * share.value:+.1f} ± {100 * (share.high - share.value):.1f} %"
                             .replace("-0.0", "0.0")
                             .replace("+0.0", "0.0"))
            rows.append([f"{agents_of(at)}, {at['rate_of_a_key']} rows/s, {at['rows']:,} rows, "
                         f"{1000 * at['latency']:g} ms", *cells])
        out.table(self.name, ["agents, rate of a key, size, latency one way", *self.labels], rows)


class CounterTimeouts(Study):
    name = scenario = "counter-timeouts"
    quick = {"duration": "30s"}
    losses = (0, 1, 2, 5, 10)
    labels = ("guarded", "three-state")

    def points(self):
        return [({"retries": retries, "loss": loss / 100},
                 {"agents.counter_retries": retries, "cluster.network.loss": f"{loss}%", "duration": "3m"})
                for retries in (0, 2) for loss in self.losses]

    @staticmethod
    def share(name):
        """As a share of the increments that were due, one in 32 rows."""
        return lambda metrics, _: (metrics[name], metrics["writes.rows"] / 32)

    def report(self, data, out):
        measures = {"rows of a closed partition": closed_mean,
                    "share of increments lost": self.share("writes.increments_lost"),
                    "share of increments doubled": self.share("writes.increments_doubled"),
                    "share of increments of unknown outcome": self.share("writes.increments_unresolved"),
                    "conserved violations": plain(oracle("conserved"))}
        out.csv(self.name, data, measures)
        out.chart(self.name, {
            "title": "Rows of a partition when additions to its counter go unanswered",
            "subtitle": "16 agents, 100 rows/s per key · a threshold of 1,280 rows, "
                        "plus the rows of the grant or the lead",
            "foot": "mean of closed partitions · bars: 95 % confidence", "x": "messages lost | share | linear",
            "y": "rows of a closed partition | rows | linear",
        }, [(f"{label}, {'two retries' if retries else 'no retry'}",
             data.curve("loss", label, closed_mean, retries=retries)) for label in self.labels for retries in (0, 2)])
        rows = []
        for at in data.points:
            base = data.at(retries=at["retries"], loss=0)
            for label in self.labels:
                lost, doubled = (data.figure(at, label, measures[f"share of increments {what}"]).value
                                 for what in ("lost", "doubled"))
                size = data.figure(at, label, closed_mean)
                first = data.figure(base[0], label, closed_mean) if base else None
                change = "–" if first is None or size is None else f"{100 * (size.value / first.value - 1):+.1f} %"
                rows.append([f"{label}, {at['retries']} retries, {100 * at['loss']:g} % lost",
                             f"{100 * lost:.2f} %", f"{100 * doubled:.2f} %", number(size, 4), change,
                             f"{100 * (1 / (1 - lost + doubled) - 1):+.1f} %",
                             number(data.figure(at, label, measures["conserved violations"]))])
        out.table(self.name, ["", "increments lost", "doubled", "rows of a closed partition", "change of it",
                              "change that lost and doubled explain", "conserved"], rows)


class GuardedPrice(Study):
    name = scenario = "guarded-price"
    quick = {"duration": "10s"}
    seeds = 2

    def points(self):
        return [({"agents": count}, {"agents.count": count, "duration": "2m"}) for count in (1, 4, 16, 32)]

    def report(self, data, out):
        conditional = per_million("writes.lwt", "writes.lock_ops")
        others = per_million("writes.state_reads", "writes.state_writes", "writes.counter_increments")
        out.csv(self.name, data, {"conditional updates per million rows": conditional,
                                  "other operations beside the inserts per million rows": others,
                                  **violations(ORDERLY), "rows of a closed partition": closed_mean,
                                  "write p50, ms": plain("latency.write.p50"),
                                  "write p99, ms": plain("latency.write.p99")})
        out.chart(self.name, {
            "title": "Conditional updates per million rows over the number of agents",
            "subtitle": "8 keys, 100 rows/s each, 10,240 rows per partition · guarded with grants of 0.5 to 30 s",
            "foot": "operations on locks are conditional updates too · bars: 95 % confidence",
            "x": "agents | plain | log", "y": "conditional updates per million rows | plain | log",
        }, [(label, data.curve("agents", label, conditional)) for label in data.strategies()])
        at = data.at(agents=16) or data.points
        out.table(self.name, ["16 agents", "conditional updates per million rows", "other operations",
                              "newest, violations per million rows", "rows of a closed partition", "write p99, ms"],
                  [[label, number(data.figure(at[0], label, conditional)), number(data.figure(at[0], label, others)),
                    number(data.figure(at[0], label, per_million(oracle("newest")))),
                    number(data.figure(at[0], label, closed_mean)),
                    number(data.figure(at[0], label, plain("latency.write.p99")))] for label in data.strategies()])


class GuardedBurst(Study):
    name = scenario = "guarded-burst"
    quick = {"duration": "10m"}
    seeds = 2
    grants = (0.5, 2, 5, 15, 30, 60, 120, 300)

    def points(self):
        return [({"bursts": kind, "grant": grant},
                 {"strategies.guarded.grant": f"{round(1000 * grant)}ms", "duration": "1h",
                  **({} if kind == "bursts" else {"arrivals.bursts": "null"})})
                for kind in ("bursts", "steady") for grant in self.grants]

    def report(self, data, out):
        conditional = per_million("writes.lwt")
        measures = {"conditional updates per million rows": conditional, "rows of a closed partition": closed_mean,
                    "p99": plain("partitions.closed.rows.p99"), "largest": plain("partitions.closed.rows.max"),
                    "write p99, ms": plain("latency.write.p99")}
        out.csv(self.name, data, measures)
        head = {"subtitle": "8 keys, 5 rows/s each: steady, or quiet for 20 min and 200 times as busy for 1 min",
                "x": "grant | seconds | log"}
        out.chart("guarded-burst-rows", {
            "title": "Rows of a partition over the length of grants", **head,
            "foot": "16 agents, a threshold of 1,280 rows · bars: 95 % confidence",
            "y": "rows of a closed partition | rows | log",
        }, [(f"{kind}, {what}", data.curve("grant", "guarded", measures[measure], bursts=kind))
            for kind in ("bursts", "steady") for what, measure in (("largest", "largest"),
                                                                  ("mean", "rows of a closed partition"))])
        out.chart("guarded-burst-price", {
            "title": "What grants cost over their length", **head, "foot": "16 agents · bars: 95 % confidence",
            "y": "conditional updates per million rows | plain | log",
        }, [(kind, data.curve("grant", "guarded", conditional, bursts=kind)) for kind in ("bursts", "steady")])
        out.table(self.name, ["keys, grant", *measures],
                  [[f"{at['bursts']}, {at['grant']:g} s",
                    *(number(data.figure(at, "guarded", measure)) for measure in measures.values())]
                   for at in data.points])


class GuardedClock(Study):
    name = scenario = "guarded-clock"
    quick = {"duration": "40s"}
    jumps = (50, 200, 500, 1000, 2000, 5000, 10000, 30000)
    oracles = ("findable", "newest", "agreement", "monotone", "bounded", "live")

    def points(self):
        return [({"way": way, "jump": jump / 1000},
                 {"duration": "2m", "faults": f"[{{clock_jump: {{agent: 3, at: 30s, by: {sign}{jump}ms}}}}]"})
                for way, sign in (("ahead", ""), ("behind", "-")) for jump in self.jumps]

    def report(self, data, out):
        out.csv(self.name, data, {**violations(self.oracles), "largest": plain("partitions.closed.rows.max"),
                                  "rows refused per million": per_million("writes.refused")})
        out.chart(self.name, {
            "title": "Violations when one clock of eight leaves its bound",
            "subtitle": "bound 50 ms · 8 keys, 50 rows/s each, 640 rows per partition · the clock jumps once "
                        "and stays wrong",
            "foot": "bars: 95 % confidence", "x": "jump of the clock | seconds | log",
            "y": "rows that violate newest, per million | plain | log",
        }, [(f"{label}, {way}", data.curve("jump", label, per_million(oracle("newest")), way=way))
            for label in data.strategies() for way in ("ahead", "behind")])
        out.table(self.name, ["violations per million rows", *self.oracles, "largest partition"],
                  [[f"{label}, {at['jump']:g} s {at['way']}",
                    *(number(data.figure(at, label, per_million(oracle(name)))) for name in self.oracles),
                    number(data.figure(at, label, plain("partitions.closed.rows.max")), 4)]
                   for label in data.strategies() for at in data.points])


class HotKey(Study):
    name = scenario = "hot-key"
    quick = {"duration": "1s"}
    seeds = 2
    setups = ((4, 5000), (4, 20000), (4, 50000), (16, 50000))
    latencies = (1700, 4300, 8600, 17000, 34000)

    def points(self):
        points = []
        for agents, rate in self.setups:
            for latency in self.latencies:
                strategies = ["counter", "rmw"] if rate == 50000 else ["counter"]
                points.append(({"agents": agents, "rate": rate, "latency": latency / 1e6}, {
                    "agents": f"{{count: {agents}, cache_ttl: 5s, operations: 4096}}", "arrivals.rate": f"{rate}/s",
                    "cluster.network.latency": f"{{lognormal: {{mean: {latency}us, sigma: 0.1}}}}",
                    "duration": in_rows(150000, rate),
                    "strategies": "[" + ", ".join(
                        "{probabilistic: {bits: 9, threshold: 40, coordination: single, "
                        f"counter: {label}, label: {label}}}}}" for label in strategies) + "]"}))
        return points

    def report(self, data, out):
        lag = plain("latency.counter.p50")
        out.csv(self.name, data, {"counter p50, ms": lag, "rows beyond the threshold": growth(40),
                                  "rows of a partition": plain("partitions.all.rows.mean"),
                                  "rows refused per million": per_million("writes.refused")},
                is_signed=("rows beyond the threshold",))
        curves, rows = [], []
        for agents, rate in self.setups:
            curve = []
            for at in data.at(agents=agents, rate=rate):
                milliseconds, beyond = data.figure(at, "counter", lag), data.figure(at, "counter", growth(40), True)
                if beyond is None:
                    continue
                product = rate * milliseconds.value / 1000
                curve.append((product, beyond))
                rmw = data.figure(at, "rmw", plain("partitions.all.rows.mean"))
                rows.append([f"{rate:,} rows/s, {agents} agents",
                             f"{milliseconds.value:.0f} ms", number(product), number(beyond),
                             f"{beyond.value / product:.1f}", number(rmw)])
            curves.append((f"{rate:,} rows/s, {agents} agents",
                           [(x, figure) for x, figure in curve if figure.low > 0]))
        products = sorted(x for _, curve in curves for x, _ in curve)
        if products:
            curves.append(("rate x lag", [(x, Figure(x, x, x, 1)) for x in (products[0], products[-1])]))
        out.chart(self.name, {
            "title": "Rows beyond the threshold at one hot key",
            "subtitle": "9 bits, threshold 40: 20,480 rows · coordination: single, counter: counter",
            "foot": "lag: the median time of an addition to the counter · bars: 95 % confidence",
            "x": "rate of the key x lag of its counter | rows | log", "y": "rows beyond the threshold | rows | log",
        }, curves)
        out.table(self.name, ["", "lag of the counter", "rate x lag", "rows beyond the threshold", "of rate x lag",
                              "rows of a partition with rmw"], rows)


class HotKeyOthers(Study):
    """The other methods of counting, at 50,000 rows/s and a lag of 100 ms."""

    name = "hot-key-others"
    scenario = "hot-key"
    quick = {"duration": "1s"}
    seeds = 4

    def points(self):
        settings = ["coordination: single, counter: counter, label: single counter",
                    "coordination: single, counter: rmw, label: single rmw",
                    "coordination: single, counter: lwt, label: single lwt",
                    "coordination: three-state, counter: counter, lead: 6s, label: three-state counter",
                    "coordination: guarded, grant: 500ms, label: guarded 500 ms",
                    "coordination: guarded, grant: 2s, label: guarded 2 s"]
        return [({"agents": agents}, {
            "agents": f"{{count: {agents}, cache_ttl: 5s, operations: 4096}}", "duration": "10s",
            "strategies": "[" + ", ".join(f"{{probabilistic: {{bits: 9, threshold: 40, {text}}}}}"
                                          for text in settings) + "]"}) for agents in (4,)]

    def report(self, data, out):
        measures = {"rows of a closed partition": closed_mean, "rolls": plain("partitions.closed"),
                    "rows refused per million": per_million("writes.refused"),
                    **{f"{name} per million rows": per_million(oracle(name)) for name in ("newest", "agreement")}}
        out.csv(self.name, data, measures)
        out.table(self.name, ["", *measures], [[label, *(number(data.figure(data.points[0], label, measure))
                                                         for measure in measures.values())]
                                               for label in data.strategies()])


# Campaigns of fuzz: table, scenario, last seed, --set arguments, and conditions that do not excuse
# violations.
CAMPAIGNS = (
    ("three-state-safe", 20000, (), ()),
    ("guarded-faults", 100000, (), ()),
)
# A description, the conditions that do not excuse violations, and the scenario; the result is the smallest
# seed that then breaks a guarantee.
HELD = (
    ("three-state, two changes at once", ("changes_at_once",), None),
    ("three-state, a state write that outlasts the lead", ("late_state_write",), None),
    ("three-state, both", ("changes_at_once", "late_state_write"), None),
    ("three-state, a clock beyond its bound", ("clock_jump",), "three-state-safe"),
    ("three-state, levels that need not overlap", ("weak_levels",), "three-state-safe"),
    ("guarded, levels that need not overlap", ("weak_levels",), "guarded-faults"),
    ("guarded, a clock beyond its bound", ("clock_jump",), "guarded-faults"),
)


def run_campaigns(runner, out):
    """The tables of findings 2 and 6."""
    for name, last, settings, held in CAMPAIGNS:
        found = runner.fuzz(name, last, settings, held)
        rows = found["guarantees"]
        out.table(f"campaign-{name}", ["oracle", "runs judged", "guaranteed", "broken", "violated where excused"], [
            [row["oracle"], f"{row['judged']:,}",
             *("–" if row["guaranteed"] is None else f"{row[count]:,}" for count in ("guaranteed", "broken")),
             f"{row['violated'] - row['broken']:,}"] for row in rows])
    rows = []
    for text, held, scenario in HELD:
        failures = runner.fuzz(scenario, 20000, (), held, False)["failures"]
        first = failures[0] if failures else {"seed": "none of 20,000", "oracle": "–"}
        rows.append([text, ", ".join(f"`{name}`" for name in held), first["seed"], first["oracle"]])
    out.table("campaign-held", ["what is not excused", "`--hold`", "smallest seed that breaks", "oracle"], rows)


STUDIES = (SingleAgents, LeadSweep, LeadFormula, Resets, CounterTimeouts, GuardedPrice, GuardedBurst, GuardedClock,
           HotKey, HotKeyOthers)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="docs/findings.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--only", action="append", choices=[study.name for study in STUDIES], help="repeatable")
    parser.add_argument("--quick", action="store_true", help="two points and one seed of each study, for a test")
    parser.add_argument("--out", help="folder for all output, instead of docs/")
    parser.add_argument("--campaigns", action="store_true", help="also run the campaigns of fuzz: ten minutes more")
    parser.add_argument("--cache", help="folder for cached runs, so that only changed runs are repeated")
    parser.add_argument("bucketlab", nargs="?", default=os.path.join(ROOT, "build", "release", "bucketlab"))
    arguments = parser.parse_args()
    if arguments.quick and arguments.out is None:
        parser.error("--quick needs --out, as its figures are no findings")
    return arguments


def main():
    arguments = parse_arguments()
    docs = os.path.join(ROOT, "docs")
    folder = arguments.out or docs
    program = os.path.abspath(arguments.bucketlab)
    studies = [study() for study in STUDIES if not arguments.only or study.name in arguments.only]
    out = Output(os.path.join(folder, "findings"), os.path.join(folder, "images"), arguments.quick)
    for name in filter(None, (out.tables_folder, out.images_folder, arguments.cache)):
        os.makedirs(name, exist_ok=True)
    try:
        runner = Runner(program, cache=arguments.cache)
        for study, data in zip(studies, runner.run_all(studies, arguments.quick, say_progress)):
            study.report(data, out)
        if arguments.campaigns:
            run_campaigns(runner, out)
        page = os.path.join(docs, "findings.md")
        write_tables(page, os.path.join(folder, "findings.md"), out.tables)
    except (Failure, OSError) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
