# SPDX-License-Identifier: GPL-3.0-or-later
"""The claims of the design's sources, and how to compute our figure for each of them from runs; used by
facts.py.

A figure is a function of the lab and of the metrics of the claim's scenarios, in their order: run["LABEL",
"METRIC"]. The statements in `agrees` and `why` are checked by the `expect` lines of these scenarios; facts.py
fails if one of them is false."""
from dataclasses import dataclass
from typing import Callable

from findings_harness import Failure

YES, PARTLY, NO = "yes", "with terms", "no"

MEAN, SPREAD = "partitions.closed.rows.mean", "partitions.closed.rows.stddev"
INCREMENTS = "writes.counter_increments"
PARTITIONS = "reads.partitions_per_read.mean"


@dataclass(frozen=True)
class Claim:
    text: str
    scenarios: tuple
    figure: Callable
    agrees: str
    why: str
    command: str = ""


@dataclass(frozen=True)
class Part:
    name: str
    claims: tuple


def share_of_busiest(run):
    return run["unbucketed", "partitions.all.rows.max"] / run["unbucketed", "writes.rows"]


def per_1000_rows(run, label, metric):
    return 1000 * run[label, metric] / run[label, "writes.rows"]


def share(run, label, part, whole="partitions.total"):
    return run[label, part] / run[label, whole]


def percent(value, digits=0):
    return f"{100 * value:.{digits}f} %"


def megabytes(run, label, metric):
    return f"{run[label, metric] / 1e6:,.1f} MB"


def violations(run, label, oracle):
    return run[label, f"oracle.{oracle}.violations"]


def odds_tails(lab, *words):
    """P(rows < N) and P(rows > N)."""
    odds = lab.odds(9, 40, *words)
    return odds["below"][0]["probability"], odds["above"][0]["probability"]


def missed(run, label):
    """Reads that returned too few rows, or rows that are not the newest."""
    return f"{run[label, 'reads.incomplete'] + run[label, 'reads.out_of_order']:,}"


def design_figure(_, run):
    """Of a table's design."""
    return (f"{run['logs', 'partitions.total']} partitions of {run['logs', 'writes.rows']:,} lines in two "
            f"days; the busiest takes {percent(run['logs', 'peak.minute_share_one_partition'])} of all "
            f"writes at its time; {run['logs', 'rows.stored']:,} lines are left")


def uncounted(run):
    behind = run["incremental", "writes.rows_uncounted"]
    return f"{behind:,} of {run['incremental', 'writes.rows']:,} rows"


def distribution_figure(label):
    return lambda _, run: (f"standard deviation {run[label, SPREAD]:,.0f} at a mean of "
                           f"{run[label, MEAN]:,.0f}, {per_1000_rows(run, label, INCREMENTS):.2f} increments "
                           "per 1000 rows")


def far_tails(lab):
    below, above = odds_tails(lab, "--below", "4200", "--above", "58000")
    return f"{below:.7g} below 4200, {above:.7g} above 58,000"


def near_tails(lab, run):
    below, above = odds_tails(lab, "--below", "12000", "--above", "32000")
    name = "probabilistic"
    return (f"{percent(below, 4)} below, {percent(above, 4)} above; of {run[name, 'partitions.closed']:,} "
            f"closed partitions {run[name, 'partitions.tiny']} and {run[name, 'partitions.over_limit_rows']}")


def consistent_hash(lab):
    """Checks one answer of the consistent hash, and which keys move when a bucket is added."""
    users = [f"user{i}" for i in range(5000)]
    before, after = ([key["bucket"] for key in lab.json_of("bucket-of", "--json", "--buckets", count, *users)]
                     for count in ("256", "257"))
    moved = [(old, new) for old, new in zip(before, after) if old != new]
    if {new for _, new in moved} != {256}:
        raise Failure("a key moves from one old bucket to another")
    return (f"`user1` in bucket {before[1]}; of 5000 users {len(moved)} change buckets when 256 become 257, "
            "all to the new one")


def nanoseconds(lab):
    scenario = ("reads: {latest: {rows: 50, rate: 1/h}}\nstrategies: [{time: {window: 1s}}]\n"
                "trace: {file: trace.csv}\n")
    lines = [lab.refusal(f"timestamp_ms,key,bytes\n{first},a,100\n1767225600000,a,100\n", scenario)
             for first in (1767225600, 1767225600000000000)]
    texts = [line.split(": ", 1)[1].split(";")[0] for line in lines]
    return f"seconds: refused, “{texts[0]}”; nanoseconds: “{texts[1]}”"


PROBABILISTIC = Part("probabilistic", (
    Claim("9 bits, threshold 40: one increment in 512 rows; a mean of 20,480 rows, a standard deviation of "
          "3235",
          ("facts/distribution",),
          lambda lab, run: (f"mean {lab.odds(9, 40)['mean_rows']:,.0f}, standard deviation "
                            f"{lab.odds(9, 40)['stddev_rows']:.10f}; simulated {run['9/40', MEAN]:,.0f} and "
                            f"{run['9/40', SPREAD]:,.0f}, {per_1000_rows(run, '9/40', INCREMENTS):.2f} "
                            "increments per 1000 rows"),
          YES, "rows up to the 40th success are negative binomial: mean T/p, variance T(1-p)/p²"),
    Claim("53.85 % of partitions hold more than 20,000 rows", ("facts/distribution",),
          lambda lab, run: (f"{percent(lab.odds(9, 40, '--above', '20000')['above'][0]['probability'], 10)}; "
                            f"simulated {percent(share(run, '9/40', 'partitions.over_limit_rows'), 1)}"),
          YES, "20,000 lies a little below the median, 20,310"),
    Claim("around 1 in 1000 holds fewer than 12,000 rows or more than 32,000", ("facts/distribution-tails",),
          near_tails,
          YES, "this is the probability of each tail; together they are 1 in 480"),
    Claim("1 in 1 quadrillion holds less than 4200 or more than 58,000", (), far_tails,
          YES, "as an order of magnitude. No simulation meets such a partition; the computed sum is exact",
          "`bucketlab odds --bits 9 --threshold 40 --below 4200 --above 58000`"),
    Claim("7 bits, threshold 160: half the spread for four times the increments", ("facts/distribution",),
          distribution_figure("7/160"),
          YES, "at equal means, the standard deviation is proportional to 1 / the square root of the "
               "threshold, the number of increments to the threshold"),
    Claim("11 bits, threshold 10: twice the spread for a quarter", ("facts/distribution",),
          distribution_figure("11/10"),
          YES, "the same rule with a smaller threshold"),
    Claim("rows of 1 KB, partitions of 10 MB: bucket = sequence / 10,000", ("facts/count-example",),
          lambda _, run: (f"{run['count', 'partitions.closed']} closed partitions, each of "
                          f"{run['count', 'partitions.closed.rows.min']:,} rows and "
                          f"{megabytes(run, 'count', 'partitions.closed.bytes.max')}"),
          YES, "exact, if the sequence has no gaps. The cost of a sequence is not part of this claim"),
    Claim("a sensor may write 50 MB in an hour: time is forced to hourly buckets", ("facts/sensor-hour",),
          lambda _, run: (f"hourly {megabytes(run, 'hourly', 'partitions.closed.bytes.p50')}, daily "
                          f"{megabytes(run, 'daily', 'partitions.closed.bytes.p50')} and all "
                          f"{run['daily', 'partitions.over_limit']} over the limit; partitions per read of "
                          f"5000 rows: hourly {run['hourly', PARTITIONS]:.2f}, count "
                          f"{run['count', PARTITIONS]:.2f}, probabilistic "
                          f"{run['probabilistic', PARTITIONS]:.2f}"),
          YES, "a day of this sensor is 1.2 GB"),
    Claim("or take a month: then a read walks dozens of hours; with the probabilistic strategy one "
          "partition, and at most one more", ("facts/sensor-month",),
          lambda lab, run: (f"partitions per read of 5000 rows: hourly {run['hourly', PARTITIONS]:.1f}, "
                            f"daily {run['daily', PARTITIONS]:.2f}, count {run['count', PARTITIONS]:.2f}, "
                            f"probabilistic {run['probabilistic', PARTITIONS]:.2f}, p99 "
                            f"{run['probabilistic', 'reads.partitions_per_read.p99']}, at most "
                            f"{run['probabilistic', 'reads.partitions_per_read.max']}; a partition holds "
                            "fewer than 5000 with "
                            f"{percent(lab.odds(9, 20, '--below', '5000')['below'][0]['probability'], 2)}"),
          PARTLY, "one more partition is enough if a closed partition holds as many rows as the read "
                  "needs; here one in 380 does not. The mean is 1 + rows read / rows of a partition"),
    Claim("start at the current bucket, go down only when rows are missing, stop at bucket 0",
          ("facts/read-walk",),
          lambda _, run: (f"{run['probabilistic', PARTITIONS]:.2f} partitions a read, p50 "
                          f"{run['probabilistic', 'latency.read.p50']:.1f} ms, p99 "
                          f"{run['probabilistic', 'latency.read.p99']:.1f} ms"),
          YES, "this causes the least load; a read that needs the second bucket takes two round trips"),
    Claim("or ask two buckets at once", ("facts/read-pair",),
          lambda _, run: (f"{run['probabilistic', PARTITIONS]:.2f} partitions a read, p50 "
                          f"{run['probabilistic', 'latency.read.p50']:.1f} ms, p99 "
                          f"{run['probabilistic', 'latency.read.p99']:.1f} ms"),
          YES, "each read costs half a partition more; slow reads save one round trip"),
    Claim("`GetRows` as published asks bucket - 1 again and again: a key with too few rows never returns",
          ("facts/read-short-keys",),
          lambda _, run: (f"{run['probabilistic', 'reads.count']:,} reads of 5000 rows of 200 keys, most of "
                          f"which have fewer: {run['probabilistic', 'reads.incomplete']} incomplete, at most "
                          f"{run['probabilistic', 'reads.partitions_per_read.max']} partitions queried"),
          YES, "our read plan goes down one bucket each time and ends at bucket 0, with fewer rows than "
               "requested"),
    Claim("several agents: a change that is stored ahead of its time, in three states", ("findings/lead-sweep",),
          lambda _, run: ("rows after which a reader misses some: " + ", ".join(
              f"{violations(run, label, 'newest')} with {text}" for label, text in
              (("three-state", "a lead of 1.3 s"), ("too short", "one of 0.5 s")))),
          PARTLY, "safe if the lead is longer than the write of the state, the caches and twice the clock "
                  "bound together: see [3](#3-how-long-a-lead-is-long-enough)"),
    Claim("several agents may reset the counter; that is inconsequential", ("findings/resets",),
          lambda _, run: ("rows of a partition, 1280 by its threshold and 130 by its lead: " + ", ".join(
              f"{label} {run[label, MEAN]:,.0f}" for label in ("rmw", "counter", "lwt"))),
          PARTLY, "true if the state is read right before the reset and access to the state is fast; at 20 "
                  "ms one way, partitions grow by a quarter: see "
                  "[4](#4-several-agents-reset-the-counter)"),
    Claim("Cassandra's own counters cannot be reset, so the count needs another form", ("findings/counter-timeouts",),
          lambda _, run: (f"rows of a partition, 1280 by its threshold: {run['three-state', MEAN]:,.0f} with "
                          f"a counter less a stored base, {run['guarded', MEAN]:,.0f} with a counter for "
                          "each bucket"),
          YES, "neither form needs a reset. The first stores the sum at the change. The second begins at 0 "
               "by itself, and late additions do not disturb it. The excess comes from the lead or the "
               "grant, and from increments that time out"),
    Claim("“this could be accomplished with locking”: a lock row around the roll", ("facts/lock-holder-dies",),
          lambda _, run: ("largest partition, 320 rows by its threshold: "
                          f"{run['no lock', 'partitions.all.rows.max']:,} without, "
                          f"{run['lock of 2 s', 'partitions.all.rows.max']:,} under a lock that expires "
                          f"after 2 s, {run['lock of 1 h', 'partitions.all.rows.max']:,} after an hour; "
                          f"operations on locks {per_1000_rows(run, 'lock of 2 s', 'writes.lock_ops'):.1f} "
                          f"and {per_1000_rows(run, 'lock of 1 h', 'writes.lock_ops'):.1f} per 1000 rows"),
          NO, "a holder that dies prevents the key from rolling until the lock expires. The violations "
              "come from agents that still write to an old bucket, with or without a lock: see "
              "[1](#1-one-writers-coordination-used-by-16-agents)"),
))

COUNTING = Part("counting", (
    Claim("`count(*)` on a partition of 40,000 rows reads every row again each time", ("facts/counting-rows",),
          lambda _, run: (f"counted after each 500 rows: {run['scan', 'writes.rows_scanned']:,} rows read "
                          f"for {run['scan', 'writes.rows']:,} written, "
                          f"{run['scan', 'writes.rows_scanned'] / run['scan', 'writes.rows']:.1f} each"),
          YES, "every count reads each row again until its partition is full: 40,000 / 500 / 2 times, or "
               "less where the last partitions are not full"),
    Claim("counting only what is newer than the last counted row, every row is read once", ("facts/counting-rows",),
          lambda _, run: (f"{run['incremental', 'writes.rows_scanned']:,} rows read for "
                          f"{run['incremental', 'writes.rows']:,} written, "
                          f"{per_1000_rows(run, 'incremental', 'writes.lwt'):.2f} conditional updates per "
                          f"1000 rows; partitions of {run['incremental', MEAN]:,.0f} rows"),
          YES, "the rows since the last count have not been read yet"),
    Claim("one process that counts may keep the sum in memory, and recount after a restart", ("facts/counting-rows",),
          lambda _, run: (f"{run['memory', 'writes.rows_scanned']:,} rows read after crashes, every closed "
                          f"partition of exactly {run['memory', 'partitions.closed.rows.max']:,} rows"),
          YES, "exact and nearly free, if all rows of a key go to one process"),
    Claim("a failed condition means that another process has counted further: discard the count",
          ("facts/counting-together",),
          lambda _, run: (f"8 agents counting: {run['incremental', 'writes.conditions_lost']:,} of "
                          f"{run['incremental', 'writes.lwt']:,} conditions lost, {uncounted(run)} never "
                          "counted; a closed partition has from "
                          f"{run['incremental', 'partitions.closed.rows.min']:,} to "
                          f"{run['incremental', 'partitions.closed.rows.max']:,} rows, where 1000 are intended"),
          YES, "no row counts twice, or partitions would be smaller. The rows beyond 1000 are written "
               "before the next count, and before all agents have read its result"),
    Claim("a row older than the last counted one (a late write, a slow clock) is never counted",
          ("facts/counting-late", "facts/counting-clocks"),
          lambda _, late, slow: (f"one row in ten 10 s late: {uncounted(late)} never counted; clocks within "
                                 f"500 ms: {uncounted(slow)}, and partitions hold "
                                 f"{slow['incremental', MEAN]:,.0f} instead of 1000"),
          YES, "the agent whose clock is most ahead sets the position of the count, and the count skips "
               "rows that other agents write at earlier times. Clock errors do more harm than late rows"),
))

DESIGN = Part("design", (
    Claim("a partition has at most 10 MB ideally, and 100 MB and 2 billion cells at most",
          ("facts/sensor-hour", "facts/likes"),
          lambda _, sensor, likes: ("a sensor's hour has "
                                    f"{megabytes(sensor, 'hourly', 'partitions.closed.bytes.p50')}, its day "
                                    f"{megabytes(sensor, 'daily', 'partitions.closed.bytes.p50')}, a partition "
                                    f"by count {megabytes(sensor, 'count', 'partitions.closed.bytes.max')}; "
                                    "one partition of likes, at a scale of 1 to 1000, has "
                                    f"{likes['1 bucket', 'partitions.all.rows.max']:,} cells, where the hard "
                                    "limit is 2,000,000"),
          PARTLY, "the number of cells is a hard limit, the bytes are a recommendation. A scenario sets "
                  "its own limits, and partitions over them are counted"),
    Claim("`server_logs` by (log_hour)", ("server-logs-1-hour",), design_figure,
          PARTLY, "a hot spot, as the source says: all servers write to one partition at a time. The hour "
                  "is the whole primary key, so each line replaces the previous line"),
    Claim("by (log_hour), clustered by level", ("server-logs-2-hour-level",), design_figure,
          PARTLY, "the same hot spot; one line per level remains of each hour"),
    Claim("by ((log_hour, server))", ("server-logs-3-hour-server",), design_figure,
          PARTLY, "the load is divided into one partition per server. The busiest partition has the share "
                  "of the busiest server: the skew remains. One line per hour and server is left"),
    Claim("by ((log_hour, server)), clustered by level descending", ("server-logs-4-hour-server-level",),
          design_figure, PARTLY, "the order is the requested one, and one line per level is left. All four "
                                 "tables need a column that makes lines unique: "
                                 "[server-logs-5-every-line](../scenarios/server-logs-5-every-line.yaml)"),
    Claim("a key by server alone is unbounded", ("facts/logs-by-server",),
          lambda _, run: (f"after 20 days {run['server alone', 'partitions.over_limit']} of "
                          f"{run['server alone', 'partitions.total']} partitions over 10 MB, the largest of "
                          f"{megabytes(run, 'server alone', 'partitions.all.bytes.max')}; the fullest node "
                          f"holds {percent(run['server alone', 'nodes.load_share_max'])}, the emptiest "
                          f"{percent(run['server alone', 'nodes.load_share_min'])}"),
          YES, "no partition is ever closed"),
    Claim("a dummy column, which the application increases when a partition is full, bounds it",
          ("facts/logs-by-server",),
          lambda _, run: (f"the largest of {run['part moved on', 'partitions.total']} partitions "
                          f"{megabytes(run, 'part moved on', 'partitions.all.bytes.max')}; the fullest node "
                          f"holds {percent(run['part moved on', 'nodes.load_share_max'])}, the emptiest "
                          f"{percent(run['part moved on', 'nodes.load_share_min'])}"),
          YES, "that column is a bucket. The rest of this page is about detecting that a partition is full"),
    Claim("large partitions cost in repair: the whole partition is streamed for one differing row", ("facts/likes",),
          lambda _, run: ("streamed for one row: " + ", ".join(
              f"{label} {megabytes(run, label, 'repair.bytes_max')}" for label in
              ("1 bucket", "4 buckets", "256 buckets"))),
          YES, "repair compares hashes of partitions, not of rows"),
    Claim("and in tombstones that wait for repair", ("deletes",),
          lambda _, run: ("tombstones that a read of the newest 50 meets, and those in the largest "
                          "partition: " + "; ".join(
              f"{label} {run[label, 'tombstones.scanned_per_read']:,.1f}, "
              f"{run[label, 'tombstones.partition.max']:,}"
              for label in ("unbucketed", "time", "guarded", "hash"))),
          YES, "tombstones can be removed after repair; until then they are stored between the rows. A "
               "reader scans the tombstones before the last row that it needs. Here rows are deleted "
               "minutes after they are written, so their tombstones are older than the newest 50 rows. A "
               "read of 50 rows from each of 16 hash buckets reaches sixteen times as far back"),
))

IDS = Part("ids", (
    Claim("a lock row: write my column, read all columns, mine alone: acquired; else delete mine and back "
          "off",
          ("idgen-stripes",),
          lambda _, run: (f"{run['plain', 'locks.tried']:,} attempts, {run['plain', 'locks.acquired']:,} "
                          f"locks, {violations(run, 'plain', 'unique')} identifiers given twice; half of the "
                          f"locks were acquired within {run['plain', 'latency.lock.p50']:.1f} ms, one in a "
                          f"hundred after {run['plain', 'latency.lock.p99']:.0f} ms or more"),
          PARTLY, "safe if a lease ends before another client may remove its lock as stale, by a margin of "
                  "twice the clock bound. Contenders that see each other all back off: see "
                  "[idgen](strategies.md#identifiers-in-leased-batches)"),
    Claim("constant and exponential back-off keep contenders in step; random separates them", ("idgen-backoff",),
          lambda _, run: ("identifiers per second: " + ", ".join(
              f"{label} {run[label, 'ids.per_second']:,.0f}" for label in
              ("random", "constant", "exponential", "exponential-capped"))),
          YES, "clients that tried at the same time and wait equally long collide again. Exponential waits "
               "without a cap grow until the end of the run"),
    Claim("one node, 10 clients, batches of 100: about 30,000 identifiers/s", ("idgen-stripes",),
          lambda _, run: (f"{run['plain', 'ids.per_second']:,.0f}/s, "
                          f"{run['plain-lwt', 'ids.per_second']:,.0f}/s with a conditional update instead "
                          "of the columns"),
          YES, "with a round trip of 0.4 ms, which is our assumption; the source gives none"),
    Claim("about 100,000 with 5 stripes; stripe s of n hands out s, s + n, s + 2n ...", ("idgen-stripes",),
          lambda _, run: (f"{run['striped', 'ids.per_second']:,.0f}/s, "
                          f"{run['striped', 'ids.per_second'] / run['plain', 'ids.per_second']:.1f} times as "
                          f"many; {violations(run, 'striped', 'unique')} given twice"),
          YES, "the source's factor is 3.3. Two clients in ten still meet at one of five locks"),
    Claim("identifiers of a dead client's batch are lost, none is ever given twice", ("facts/ids-dead-clients",),
          lambda _, run: (f"{run['striped', 'ids.leased']:,} leased, {run['striped', 'ids.lost']:,} lost by "
                          f"about one crash a second for a minute, {violations(run, 'striped', 'unique')} "
                          "given twice"),
          YES, "each crash loses half a batch on average"),
))

HASH = Part("hash", (
    Claim("Guava's `murmur3_128` of the user's id, `consistentHash` into 256 buckets", (), consistent_hash,
          YES, "hash and bucket equal Guava's published test values exactly; consistent hashing moves one "
               "key in 257",
          "`bucketlab bucket-of --buckets 256 user1`"),
    Claim("a post liked by 7 billion users needs 4 partitions because of the limit of 2 billion cells",
          ("facts/likes",),
          lambda _, run: (f"at a scale of 1 to 1000: {run['1 bucket', 'partitions.all.rows.max']:,} rows in "
                          f"one, {run['4 buckets', 'partitions.all.rows.max']:,} at most in 4, the limit "
                          "being 2,000,000"),
          YES, "4 buckets are enough, with a margin of 12 %, because consistent hashing divides evenly. "
               "Adding a bucket requires moving rows"),
    Claim("256 buckets spread the load over the nodes; without buckets one replica set holds everything",
          ("facts/likes",),
          lambda _, run: ("largest and smallest share of 12 nodes: " + ", ".join(
              f"{label} {percent(run[label, 'nodes.load_share_max'], 1)} and "
              f"{percent(run[label, 'nodes.load_share_min'], 1)}"
              for label in ("1 bucket", "4 buckets", "256 buckets"))),
          YES, "the unevenness that remains at 256 buckets is that of the ring itself, with 16 tokens per "
               "node"),
    Claim("hash buckets also spread tombstones and repair over the ring", ("facts/likes",),
          lambda _, run: ("tombstones on the fullest of 12 nodes, bytes streamed to one node for one "
                          "differing row: "
                          + "; ".join(
                              f"{label} "
                              f"{3 * run[label, 'nodes.load_share_max'] * run[label, 'rows.deleted']:,.0f}, "
                              f"{megabytes(run, label, 'repair.bytes_max')}"
                              for label in ("1 bucket", "4 buckets", "256 buckets"))),
          YES, "a node has the tombstones of its own rows: all of them without buckets, three in eight "
               "with 256 buckets. One row that differs causes its whole partition to be streamed"),
    Claim("the number of reads is known in advance: N", ("facts/likes-reads",),
          lambda _, run: ("partitions per read of the newest 20: " + ", ".join(
              f"{run[label, PARTITIONS]:.0f}" for label in ("1 bucket", "4 buckets", "256 buckets"))),
          YES, "known, and expensive: each of the newest rows may be in any bucket"),
    Claim("read lazily, bucket by bucket, or all in parallel", ("facts/likes-iterators", "likes-readers"),
          lambda _, run, newest: ("ms for all rows of 64 buckets, half of the reads and 99 %: " + "; ".join(
              f"{text} {run[label, 'latency.read.p50']:.0f}, {run[label, 'latency.read.p99']:.0f}" for label, text in
              (("lazy", "lazily"), ("parallel", "eight at once"), ("all", "all at once")))
              + "; lazily, a read of 20 likes queries "
                f"{newest['lazy', 'reads.latest.partitions_per_read.mean']:.1f} buckets"),
          YES, "reading lazily is cheap for a caller that wants some likes and expensive for one that "
               "wants all. The rows come in no order"),
    Claim("the published iterator ends at its first empty bucket: rows in later buckets are lost",
          ("facts/likes-iterators",),
          lambda _, run: (f"of 64 buckets {run['lazy', 'reads.empty_partitions_per_read']:.0f} are empty, "
                          f"and {run['lazy', 'reads.incomplete']} of {run['lazy', 'reads.count']:,} reads "
                          "incomplete"),
          YES, "our iterator continues to the last bucket: an empty bucket says nothing about the next"),
))

USERS = Part("users", (
    Claim("one width cannot fit skewed keys: Discord's 10 days fit its largest channels, readers of quiet ones "
          "query many empty buckets, and remembering these solved the problem",
          ("facts/windows-large", "facts/windows-quiet"),
          lambda _, large, quiet: (f"large: {large['time', 'partitions.over_limit_bytes']} windows over 100 "
                                   f"MB, the largest {megabytes(large, 'time', 'partitions.all.bytes.max')}, "
                                   "probabilistic at most "
                                   f"{megabytes(large, 'probabilistic', 'partitions.all.bytes.max')}; quiet: "
                                   "partitions per read, and how many of them are empty: " + "; ".join(
                                       f"{text} {quiet[label, PARTITIONS]:.2f}, "
                                       f"{quiet[label, 'reads.empty_partitions_per_read']:.2f}" for label, text in
                                       (("time", "windows"), ("remembers", "remembered"),
                                        ("probabilistic", "probabilistic")))),
          PARTLY, "remembering empty windows avoids nine in ten queries of them. Windows of one or two "
                  "rows remain, and so do windows that are far too large"),
    Claim("size advice conflicts (1, 10, 100 MB; 100,000 rows)",
          ("facts/size-advice-small", "facts/size-advice-large"),
          lambda _, small, large: ("partitions over the limit in rows / in bytes: with rows of 200 B "
                                   f"{small['too many', 'partitions.over_limit_rows']} / "
                                   f"{small['too many', 'partitions.over_limit_bytes']}, with rows of 5 KB "
                                   f"{large['too many', 'partitions.over_limit_rows']} / "
                                   f"{large['too many', 'partitions.over_limit_bytes']}"),
          YES, "the row size decides which limit is exceeded, so bucketlab keeps both limits and counts "
               "them separately"),
    Claim("the choice cannot be changed later without a migration", ("settings-change",),
          lambda _, run: (f"of {run['time', 'reads.count']:,} reads, those that did not get the newest 50 "
                          "rows, if the old settings are kept as an era / if they are forgotten: " + "; ".join(
                              f"{text}: {missed(run, label)} / {missed(run, label + '-forgets')}"
                              for label, text in (
                                  ("time", "windows of 1 day, then of 10"), ("count", "1000 rows, then 2000"),
                                  ("fewer", "64 hash buckets, then 4"), ("hash", "4 hash buckets, then 64"),
                                  ("probabilistic", "6 bits, then 7")))),
          NO, "no migration is needed, only a list of the settings and their periods (eras): the time of "
              "each row selects its era, and readers walk down through the eras. `probabilistic` and "
              "`weighted` do not even need the list: see "
              "[changing settings](strategies.md#changing-the-settings-of-a-live-table)"),
    Claim("a retried write must go to the same bucket, or the row is stored twice",
          ("facts/retried", "facts/retried-elsewhere"),
          lambda _, run, elsewhere: ("5 % of messages lost, some 7000 rows sent again; rows stored twice "
                                     "when the bucket is kept, and when it is computed again: " + "; ".join(
                                         f"{label} {violations(run, label, 'no_duplicates')}, "
                                         f"{violations(elsewhere, label, 'no_duplicates'):,}"
                                         for label in ("single", "three-state", "time", "hash"))),
          YES, "our agents keep the first bucket of a row for all retries. `retry: route-again` shows what "
               "happens otherwise"),
    Claim("rows are late and out of order", ("late-rows",),
          lambda _, run: ("rows put into closed partitions, rows after which a reader misses some, rows "
                          "refused: "
                          + "; ".join(f"{label} {run[label, 'writes.into_closed']:,}, "
                                      f"{violations(run, label, 'newest'):,}, "
                                      f"{run[label, 'writes.refused']:,}"
                                      for label in ("time", "single", "three-state", "guarded"))),
          YES, "the runs have 20 minutes with 5 % of the rows late by 2 minutes, and a history that is "
               "loaded backwards. `time` and `guarded` find the right bucket of an old row. `three-state` "
               "knows the last two changes and refuses older rows. `single` treats all rows as new"),
    Claim("1825 rows came in one second, more than a counter's round trip", ("facts/dense-second",),
          lambda _, run: ("rows of a closed partition, 160 by its threshold: " + ", ".join(
              f"{label} {run[label, MEAN]:,.0f}" for label in ("single", "three-state", "guarded"))),
          YES, "rows that arrive during the round trip, the lead or the grant still go to the old "
               "partition: with a lead of 2 s, all rows of that second"),
    Claim("both ends roll at once: a skipped bucket, or a bucket of one row", ("facts/both-ends-roll",),
          lambda _, run: (f"{run['probabilistic', 'partitions.closed']} rolls by 16 agents: "
                          f"{violations(run, 'probabilistic', 'no_gaps')} buckets skipped, "
                          f"{run['probabilistic', 'partitions.tiny']} below 10 rows, the smallest has "
                          f"{run['probabilistic', 'partitions.closed.rows.min']}"),
          NO, "not here: a roll names the bucket that it opens instead of adding 1, so two concurrent "
              "rolls open the same bucket"),
    Claim("equal rows are not equal bytes: in one real trace 1 % of the rows hold 57 % of the bytes",
          ("facts/unequal-rows",),
          lambda _, run: (f"{run['count', 'partitions.closed.rows.max']:,} rows in each closed partition, "
                          f"and from {megabytes(run, 'count', 'partitions.closed.bytes.min')} to "
                          f"{megabytes(run, 'count', 'partitions.closed.bytes.max')}; standard deviation: "
                          "" + ", ".join(
                              f"{label} {megabytes(run, label, 'partitions.closed.bytes.stddev')}"
                              for label in ("count", "probabilistic", "weighted"))),
          YES, "a lognormal distribution with sigma 2.5 has exactly that share. A strategy that weighs "
               "rows makes partitions more equal, except where single rows are as large as a partition: "
               "see [weighted](strategies.md#weighted-partitions-of-equal-bytes)"),
    Claim("on sparse keys half of all partitions are small because the key gets no more rows", ("facts/sparse-keys",),
          lambda _, run: (f"{percent(share(run, 'probabilistic', 'partitions.open'))} are open; half of all "
                          f"hold at most {run['probabilistic', 'partitions.all.rows.p50']} rows, half of "
                          f"the closed ones at most {run['probabilistic', 'partitions.closed.rows.p50']:,}, "
                          "where 1280 are intended"),
          YES, "therefore the metrics count closed and open partitions separately"),
    Claim("counter lag hides in the spread until rate x lag nears the standard deviation", ("facts/counter-lag",),
          lambda _, run: ("200 rows under way; beyond the threshold, in standard deviations: " + ", ".join(
              f"{label} {(run[label, MEAN] - 40 * 2 ** bits) / (40 * (1 - 2 ** -bits)) ** .5 / 2 ** bits:.1f}"
              for label, bits in (("640 rows", 4), ("2560 rows", 6), ("10240 rows", 8)))),
          YES, "the excess is 2 to 3 times rate x lag. This number of rows does not depend on the "
               "threshold: see [7](#7-one-hot-key)"),
    Claim("a reader that is given nanoseconds for milliseconds enumerates buckets until memory is gone", (),
          nanoseconds, NO, "not here: the program checks that times are within a valid range, and it "
                           "bounds every walk before it begins", "`bucketlab run` on two such traces"),
))

TRACES = Part("traces", (
    Claim("409,706 tweets naming 6 companies, 56 days of 2015", ("tweets",),
          lambda _, run: (f"{run['unbucketed', 'writes.rows']:,} rows, "
                          f"{run['unbucketed', 'partitions.total']} keys, the busiest "
                          f"of {run['unbucketed', 'partitions.all.rows.max']:,}; days hold up to "
                          f"{run['time', 'partitions.closed.rows.max']:,}, probabilistic partitions "
                          f"{run['probabilistic', 'partitions.closed.rows.max']:,}"),
          YES, "6 companies; one of them has 44 % of the tweets"),
    Claim("3,224,439 tweets of 10 companies; one window of five minutes has 13,479, where the mean is 86",
          ("facts/trace-tweets",),
          lambda _, run: (f"{run['unbucketed', 'writes.rows']:,} rows; windows of five minutes: half hold at most "
                          f"{run['time', 'partitions.all.rows.p50']}, the largest "
                          f"{run['time', 'partitions.all.rows.max']:,}; the largest probabilistic partition "
                          f"{run['probabilistic', 'partitions.all.rows.max']:,}, where 2560 are intended"),
          YES, "the mean of 86 is that of this company alone. No window width fits a burst of a few "
               "minutes"),
    Claim("28,185 requests to two services in one hour", ("facts/trace-requests",),
          lambda _, run: (f"{run['unbucketed', 'writes.rows']:,} rows, "
                          f"{run['unbucketed', 'partitions.total']} keys; 640 rows "
                          f"make {megabytes(run, 'count', 'partitions.closed.bytes.min')} to "
                          f"{megabytes(run, 'count', 'partitions.closed.bytes.max')}"),
          YES, "equal numbers of rows have unequal bytes"),
    Claim("38,537 sensor frames by 370 gateways, one with a third of all; 83 % of its day slots are empty",
          ("facts/trace-frames",),
          lambda _, run: (f"{run['unbucketed', 'partitions.total']} keys, the busiest with "
                          f"{percent(share_of_busiest(run))}; "
                          f"partitions per read of the newest 50: days {run['time', PARTITIONS]:.0f}, of "
                          f"them empty {run['time', 'reads.empty_partitions_per_read']:.0f}; count "
                          f"{run['count', PARTITIONS]:.2f}, probabilistic "
                          f"{run['probabilistic', PARTITIONS]:.2f}"),
          YES, "83 % is the share between a gateway's first and last frame. A reader that comes later "
               "walks over more empty slots"),
    Claim("26,412 file changes by 356 paths over six years, up to 282 in one second", ("facts/trace-changes",),
          lambda _, run: (f"{run['unbucketed', 'writes.rows']:,} rows, "
                          f"{run['unbucketed', 'partitions.total']} keys, up to "
                          f"{run['unbucketed', 'peak.rows_per_second_one_partition']} of one key in a second; "
                          f"partitions per read of the newest 50: months {run['time', PARTITIONS]:.2f}, "
                          f"probabilistic {run['probabilistic', PARTITIONS]:.2f}"),
          YES, "282 is the number for all paths together, 268 the largest for one path"),
))

PARTS = (PROBABILISTIC, COUNTING, DESIGN, HASH, IDS, USERS, TRACES)
