#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts which settings `bucketlab fuzz` draws.

Aim: no setting that a user can type stays untried without a reason. Method: docs/scenario.md lists the fields of
each mapping; the scenarios of SEEDS seeds are printed, and the values of each field are counted. Each field has
at least three different values, or as many as it takes, unless NOT_DRAWN says why not. Each kind of fault is
drawn together with each protocol, with each other kind, and twice, unless NOT_TOGETHER says why not.

    draws.py BUCKETLAB SCENARIO_MD [--seeds N] [--table]
"""
import argparse
import collections
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from share import SHARE  # noqa: E402

try:
    import yaml
except ImportError:
    sys.exit(77)  # skipped

VALUES = 3
BATCH = 500  # of seeds; ./test.sh draws no more when everything has been drawn
# Mappings, and single fields, that are not drawn, or have fewer values.
NOT_DRAWN = {
    "trace": "a file that a seed cannot have; lab/trace_run_test and the stream fuzzer read traces",
    "columns of a trace": "as trace",
    "table": "the design of a table decides sizes and CQL, and no agent sees it; lab/row_cost_test",
    "values": "as table",
    "columns": "as table",
    "row.columns": "as table",
    "What a row weighs": "as table",
    "Protocols of count": "the words of `counter`",
    "row.schema": "a file that a seed cannot have; lab/row_cost_test",
    "schema": "as row.schema",
    "row.writes": "as table: it decides sizes; the agents of a run insert their rows",
    "row.absent": "as writes",
    "row.gc_grace": "as table: it decides sizes on disk, and a run of the fuzzer ends before",
    "popularity.top": "it gives the exponent of `zipf`, which is drawn",
    "row.compaction": "as table: the windows decide sizes on disk and CQL",
    "compaction": "as row.compaction",
    "arrivals.weekend": "a run of the fuzzer lasts less than a day; the stream fuzzer draws it",
    "arrivals.growth": "as weekend",
    "max_age": "a table of protocols",
    "count.shards": "with agents only windows have shards; the stream fuzzer draws it",
    "probabilistic.shards": "as count.shards",
    "weighted.shards": "as count.shards",
    "state_lost.age": "of state_restored, where it is drawn",
    "observed": "sizes of a real table, without agents and oracles",
    "strategies.observed": "as observed",
    "limits": "they judge a result and change no run",
    "Limits of services": "as limits",
    "prices": "they judge a result and change no run",
    "expect": "fuzz removes expectations",
    "tune": "another command",
    "sweep": "another command",
    "seeds": "another command",
    "Plans": "the words of `plan`",
    "node.like": "a file that a seed cannot have; its fields are drawn",
    "The top level.about": "text",
    "The top level.start": "the time zone of all draws; traces and lab/cluster_test begin elsewhere",
    "The top level.engine": "faults need agents, and agents the cluster engine",
    "The top level.trace": "as trace",
    "The top level.table": "as table",
    "The top level.limits": "as limits",
    "The top level.prices": "as prices",
    "The top level.expect": "as expect",
    "The top level.tune": "as tune",
    "The top level.sweep": "as sweep",
    "arrivals.every": "rows at equal distances; the stream fuzzer draws it",
    "arrivals.jitter": "as every",
    "count.max_age": "only without agents; the stream fuzzer draws it",
    "label": "text",
}
# Words that are drawn by leaving the field out.
DEFAULTS = {"read.remember_empty", "agents.routing", "agents.retry", "then.keep_old", "datacenters.racks"}
# A kind of fault with a protocol or another kind.
NO_STATE = "identifiers have no state rows of keys"
NOT_TOGETHER = {(fault, f"idgen, {lock}"): NO_STATE
                for fault in ("state_lost", "state_restored") for lock in ("columns", "lwt")}


def fields_of(text):
    """The documented fields by the name of their mapping, and the words that each takes."""
    found, mapping = collections.defaultdict(dict), None
    for line in text.splitlines():
        heading = re.match(r"#+ (?:(?:the|A|a) )?`?([\w -]+)`?", line)
        if heading:
            mapping = heading[1]
        row = re.match(r"\| `(\w+)` \|([^|]*)\|", line)
        if row and mapping:
            found[mapping][row[1]] = re.findall(r"`([\w-]+)`", row[2])
    return found


def count(node, name, values):
    """Counts the values of each field. A mapping of names, as of datacenters, has its own name's fields."""
    if isinstance(node, dict):
        for word, value in node.items():
            values[name][word][str(value)] += 1
            count(value, name if name == "datacenters" else word, values)
    elif isinstance(node, list):
        for item in node:
            count(item, name, values)


def reason_of(mapping, field):
    names = (mapping, f"{mapping}.{field}", field if field == "label" else None)
    return next((NOT_DRAWN[name] for name in names if name in NOT_DRAWN), None)


def is_drawn(mapping, field, words, seen):
    wanted = min(VALUES, len(words)) if len(words) > 1 else VALUES
    return len(seen) + (f"{mapping}.{field}" in DEFAULTS) >= wanted


def faults_of(scenario):
    """The kinds of its faults, each as often as it has them."""
    for fault in scenario.get("faults") or []:
        for kind, figures in fault.items():
            yield from figures.get("kinds", []) if kind == "random" else [kind]


def protocol_of(strategy):
    """The kind of a strategy, with the word that selects its protocol."""
    for kind, settings in strategy.items():
        if kind in ("probabilistic", "weighted"):
            return settings.get("coordination", "single")
        if kind in ("count", "idgen"):
            return f"{kind}, {settings.get('counter') or settings.get('lock', 'columns')}"
        if kind != "label":
            return kind
    return None


def count_pairs(scenario, pairs):
    faults = collections.Counter(faults_of(scenario))
    protocols = {protocol_of(strategy) for strategy in scenario["strategies"]}
    for kind, times in faults.items():
        pairs.update((kind, other) for other in protocols | set(faults) if other != kind or times > 1)


def wanted_pairs(fields):
    faults = [kind for kind in fields["faults"] if kind != "random"]
    protocols = ["unbucketed", "time", "hash", *fields["probabilistic"]["coordination"],
                 *(f"{kind}, {word}" for kind, field in (("count", "counter"), ("idgen", "lock"))
                   for word in fields[kind][field])]
    return [(fault, other) for fault in faults for other in protocols + faults]


def is_complete(fields, values, pairs):
    return (all(pairs[pair] > 0 or pair in NOT_TOGETHER for pair in wanted_pairs(fields))
            and all(reason_of(mapping, field) is not None or is_drawn(mapping, field, words, values[mapping][field])
                    for mapping in fields for field, words in fields[mapping].items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("document")
    parser.add_argument("--seeds", type=int, default=6000)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    with open(args.document, encoding="utf-8") as file:
        fields = fields_of(file.read())
    values = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    pairs = collections.Counter()
    for first in range(1, args.seeds + 1, BATCH):
        last = min(first + BATCH - 1, args.seeds)
        printed = subprocess.run([args.program, "fuzz", "--print", "--seeds", f"{first}..{last}"],
                                 capture_output=True, text=True, check=True).stdout
        for scenario in yaml.load_all(printed, loader):
            count(scenario, "The top level", values)
            count_pairs(scenario, pairs)
        if SHARE > 1 and not args.table and is_complete(fields, values, pairs):
            break
    faults = 0
    for pair in wanted_pairs(fields):
        if (pairs[pair] == 0) != (pair in NOT_TOGETHER):
            print(f"{' and '.join(pair)}: together in {pairs[pair]} of {args.seeds} seeds; draw them, or say why not")
            faults += 1
        if args.table:
            print(f"{pair[0]:18} {pair[1]:18} {pairs[pair]:6}")
    for mapping in fields:
        for field, words in fields[mapping].items():
            seen, reason = values[mapping][field], reason_of(mapping, field)
            if args.table:
                few = ", ".join(text[:20] for text, _ in seen.most_common(4))
                print(f"{mapping + '.' + field:34} {sum(seen.values()):7} {len(seen):6}  {reason or few}")
            if reason is None and not is_drawn(mapping, field, words, seen):
                print(f"{mapping}.{field}: {len(seen)} values in {args.seeds} seeds; draw more, or say why not")
                faults += 1
    print(f"{sum(map(len, fields.values()))} fields and {len(wanted_pairs(fields))} pairs, "
          f"{faults} of them not drawn and without a reason")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
