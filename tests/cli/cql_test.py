#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `bucketlab cql` prints CQL that a cluster would accept, and everything that a strategy needs. Method:
a small strict parser of the statements that may occur (anything else is an error), which builds the tables
from the CREATE TABLEs and checks every statement against them, over every coordination with every counter; a
few texts written out by hand; and mutated texts that the parser must refuse, which shows that the parser
detects faults.
"""
import re
import unittest

from program import ProgramTest

RESERVED = set("""
add allow alter and apply asc authorize batch begin by columnfamily create default delete desc describe
drop entries execute from full grant if in index infinity insert into is keyspace limit materialized
mbean mbeans modify nan norecursive not null of on or order primary rename replace revoke schema select
set table to token truncate unlogged unset update use using view where with
""".split())
TYPES = {"text", "bigint", "timestamp", "timeuuid", "counter"}
TOKEN = re.compile(r'\s*("(?:[^"]|"")+"|[A-Za-z][A-Za-z0-9_]*|[0-9]+|\x27\w+\x27|>=|[(),?=+*<>{}:])')


class Bad(Exception):
    """The text is not CQL, or CQL that a cluster refuses."""


class Parser:
    """Parses one statement at a time; `tables` holds the tables created so far: name -> (columns, partition,
    clustering)."""

    def __init__(self, text, tables):
        self.tables, self.tokens, at = tables, [], 0
        text = text.strip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if match is None:
                raise Bad(f"at {text[at:at + 20]!r}")
            self.tokens.append(match.group(1))
            at = match.end()

    def word(self):
        if not self.tokens:
            raise Bad("ends too early")
        return self.tokens.pop(0)

    def want(self, *words):
        for word in words:
            got = self.word()
            if got.upper() != word:
                raise Bad(f"{got}, not {word}")

    def has(self, word):
        if self.tokens and self.tokens[0].upper() == word:
            self.tokens.pop(0)
            return True
        return False

    def name(self):
        token = self.word()
        if token[0] == '"':
            return token[1:-1].replace('""', '"')
        if not re.fullmatch("[a-zA-Z][a-zA-Z0-9_]*", token) or token.lower() in RESERVED:
            raise Bad(f"{token} is no identifier")
        return token.lower()

    def names(self):
        found = [self.name()]
        while self.has(","):
            found.append(self.name())
        return found

    def assigned(self, between):
        """column = ?, with more of them joined by the given word."""
        found = []
        while True:
            found.append(self.name())
            self.want("=", "?")
            if not self.has(between):
                return found

    def table(self):
        name = self.name()
        if name not in self.tables:
            raise Bad(f"no table {name}")
        return self.tables[name]

    def parse(self):
        verb = self.word().upper()
        {"CREATE": self.create, "INSERT": self.insert, "SELECT": self.select, "UPDATE": self.update,
         "DELETE": self.delete}[verb]()
        if self.tokens:
            raise Bad(f"{self.tokens[0]} behind the end")
        return verb

    def create(self):
        self.want("TABLE")
        name = self.name()
        if name in self.tables or not re.fullmatch(r"\w{1,48}", name):
            raise Bad(f"table {name}")
        self.want("(")
        columns = {}
        while not self.has("PRIMARY"):
            column, kind = self.name(), self.word()
            if column in columns or kind not in TYPES:
                raise Bad(f"column {column} {kind}")
            columns[column] = kind
            self.want(",")
        self.want("KEY", "(")
        if self.has("("):
            partition = self.names()
            self.want(")")
        else:
            partition = [self.name()]
        clustering = []
        while self.has(","):
            clustering.append(self.name())
        self.want(")", ")")
        joins = iter(["WITH"] + ["AND"] * 9)
        if self.tokens[1:2] == ["CLUSTERING"]:
            self.want(next(joins), "CLUSTERING", "ORDER", "BY", "(")
            ordered = []
            while True:
                ordered.append(self.name())
                if self.word() not in ("ASC", "DESC"):
                    raise Bad("no order")
                if not self.has(","):
                    break
            self.want(")")
            if ordered != clustering:
                raise Bad("orders other columns than it clusters by")
        if self.tokens[1:2] == ["default_time_to_live"]:
            self.want(next(joins), "DEFAULT_TIME_TO_LIVE", "=")
            int(self.word())
            self.want(next(joins), "COMPACTION", "=", "{", "'CLASS'", ":", "'TIMEWINDOWCOMPACTIONSTRATEGY'", ",",
                      "'COMPACTION_WINDOW_UNIT'", ":")
            if self.word() not in ("'MINUTES'", "'HOURS'", "'DAYS'"):
                raise Bad("no unit of windows")
            self.want(",", "'COMPACTION_WINDOW_SIZE'", ":")
            if int(self.word().strip("'")) < 1:
                raise Bad("windows of no size")
            self.want("}")
        key = partition + clustering
        if len(set(key)) != len(key) or not set(key) <= set(columns):
            raise Bad("primary key")
        rest = {columns[column] for column in columns if column not in key}
        if "counter" in rest and rest != {"counter"} or any(columns[column] == "counter" for column in key):
            raise Bad("a table of counters holds nothing else beside its key")
        self.tables[name] = (columns, partition, clustering)

    def insert(self):
        self.want("INTO")
        columns, partition, clustering = self.table()
        self.want("(")
        given = self.names()
        self.want(")", "VALUES", "(")
        marks = 1
        self.want("?")
        while self.has(","):
            self.want("?")
            marks += 1
        self.want(")")
        if self.has("IF"):
            self.want("NOT", "EXISTS")
        if self.has("USING"):
            self.want("TTL")
            if int(self.word()) < 1:
                raise Bad("a time to live of no seconds")
        self.check(given, columns)
        if marks != len(given):
            raise Bad(f"{marks} values for {len(given)} columns")
        if not set(partition + clustering) <= set(given) or "counter" in columns.values():
            raise Bad("an insert names the whole key, and adds to no counter")

    def select(self):
        """Columns; or COUNT(*), possibly with columns of the first row, whose order then matters."""
        given, counts = [], self.has("COUNT")
        if counts:
            self.want("(", "*", ")")
        if not counts or self.has(","):
            given = self.names()
        self.want("FROM")
        columns, partition, clustering = self.table()
        self.check(given, columns)
        if counts and given != clustering[:len(given)]:
            raise Bad("beside a count only what orders the rows")
        self.want("WHERE")
        named = [self.equal()]
        while self.has("AND"):
            if self.tokens[:1] == ["("]:
                self.after(clustering, counts)
                break
            if self.tokens[1:2] == [">="]:
                self.between(clustering[0])
                break
            named.append(self.equal())
        if sorted(named) != sorted(partition):
            raise Bad("a select names the partition")
        if self.has("ORDER"):
            self.want("BY")
            if [self.name()] != clustering[:1]:
                raise Bad("order by the first clustering column")
            self.want("DESC")
        if self.has("LIMIT"):
            self.want("?")

    def equal(self):
        name = self.name()
        self.want("=", "?")
        return name

    def between(self, column):
        """at >= ? AND at < ?, for the first clustering column."""
        if self.name() != column:
            raise Bad("a span of the first clustering column")
        self.want(">=", "?", "AND")
        if self.name() != column:
            raise Bad("a span of one column")
        self.want("<", "?")

    def after(self, clustering, counts):
        """(at, id) > (?, ?): the first clustering columns, and the same number of marks."""
        self.want("(")
        named = self.names()
        self.want(")", ">", "(", "?")
        for _ in named[1:]:
            self.want(",", "?")
        self.want(")")
        if not counts or named != clustering[:len(named)] or len(named) < 2:
            raise Bad("a slice begins with the clustering")

    def update(self):
        columns, partition, clustering = self.table()
        self.want("SET")
        if "counter" in columns.values():
            column = self.name()
            self.want("=")
            if self.name() != column:
                raise Bad("adds to another counter")
            self.want("+")
            if self.word() not in ("1", "?"):
                raise Bad("adds something else")
            given = [column]
        else:
            given = self.assigned(",")
        self.check(given, columns)
        if set(given) & set(partition + clustering):
            raise Bad("sets a column of the key")
        self.want("WHERE")
        if sorted(self.assigned("AND")) != sorted(partition + clustering):
            raise Bad("an update names the whole key")
        if self.has("IF"):
            named = self.assigned("AND")
            self.check(named, columns)
            if "counter" in columns.values() or set(named) != set(columns) - set(partition + clustering):
                raise Bad("a condition names every column, and no counter")

    def delete(self):
        self.want("FROM")
        _, partition, clustering = self.table()
        self.want("WHERE")
        if self.assigned("AND") != partition + clustering:
            raise Bad("a delete names the whole key")

    @staticmethod
    def check(given, columns):
        if len(set(given)) != len(given) or not set(given) <= set(columns):
            raise Bad(f"columns {given} of {list(columns)}")


def check_text(texts, before=()):
    """Parses statements in order, after others that created the tables `before`; returns the tables and the
    verbs."""
    tables = dict(before)
    verbs = [Parser(text, tables).parse() for text in texts]
    return tables, verbs


HEAD = """\
duration: 1d
keys: {count: 10}
arrivals: {rate: 1/s}
"""
AGENTS = HEAD + """\
agents: {count: 2}
cluster: {consistency: {write: ONE, read: TWO, state: QUORUM, serial: SERIAL}}
"""
LOGS = """\
table:
  name: server_logs
  columns: {server: key, log_hour: bucket, log_level: {values: 5}, at: time, id: id, message: data}
  partition_key: [log_hour, server]
  clustering: [{log_level: desc}, at, id]
"""
ODD = """\
table:
  name: Token
  columns: {bucket: key, "order": bucket, 'a "b"': time, ID: id, größe: data}
  partition_key: [bucket, "order"]
  clustering: ['a "b"', ID]
"""


class CqlTest(ProgramTest):
    def strategies(self, text, *arguments):
        self.write("x.yaml", text)
        return self.good_json("cql", "x.yaml", "--json", *arguments)

    def every_strategy(self, but=""):
        lines = ["unbucketed: {}", "time: {window: 1h}", "count: {rows: 100, counter: external}", "hash: {buckets: 8}"]
        for coordination in ("single", "locked", "three-state"):
            for counter in ("rmw", "lwt", "counter"):
                lead = ", lead: 5s" if coordination == "three-state" else ""
                for threshold in (1, 20):
                    lines.append(f"probabilistic: {{bits: 4, threshold: {threshold}, coordination: {coordination}, "
                                 f"counter: {counter}{lead}, label: {coordination} {counter} {threshold}}}")
        lines.append("probabilistic: {bits: 4, threshold: 20, coordination: guarded, label: guarded}")
        for counter in ("rmw", "lwt", "counter"):
            for how in ("three-state, lead: 5s", "single"):
                lines.append(f"probabilistic: {{bits: 4, threshold: 20, coordination: {how}, counter: {counter}, "
                             f"max_age: 1d, label: {how[:6]} {counter} aged}}")
        lines.append("weighted: {bytes: 1KB, threshold: 20, coordination: locked, counter: counter}")
        for source in ("counter", "lwt", "lease", "incremental", "scan", "memory"):
            if source == but:
                continue
            every = ", every_rows: 10" if source == "incremental" else ""
            lines.append(f"count: {{rows: 100, counter: {source}{every}, label: count {source}}}")
        return "strategies:\n" + "".join(f"  - {line}\n" for line in lines)

    def test_every_statement_fits_its_tables(self):
        for table in ("", LOGS, ODD):
            found = self.strategies(AGENTS + self.every_strategy("incremental" if table == LOGS else "") + table)
            self.assertEqual(len(found), 35 if table == LOGS else 36)
            for strategy in found:
                with self.subTest(strategy=strategy["strategy"], table=table):
                    statements = strategy["statements"]
                    tables, verbs = check_text([one["cql"] for one in statements])
                    self.assertEqual([one["table"] for one in statements], [verb == "CREATE" for verb in verbs])
                    used = " ".join(one["cql"] for one in statements if not one["table"])
                    for name in tables:
                        self.assertIn(name, used.replace('"', ""), "a table that nothing uses")
                    texts = [(one["cql"], one["level"]) for one in statements]
                    self.assertEqual(len(set(texts)), len(texts), "a statement that stands twice")
                    self.assertEqual(len(tables) == 1, strategy["strategy"] in ("unbucketed", "time", "count", "hash"))

    def test_age_has_statements_for_rows_beyond_a_line(self):
        """The statements that agents execute before they write such a row: the dates under three-state,
        otherwise those of a full count."""
        for how, columns in (("coordination: three-state, lead: 5s", "bucket = ?, last_change = ?, next_change = ?"),
                             ("counter: lwt", "bucket = ?, counted = ?, last_change = ?")):
            for age in ("", ", max_age: 1d"):
                self.write("x.yaml", AGENTS + "strategies:\n"
                           f"  - probabilistic: {{bits: 4, threshold: 20, {how}{age}}}\n")
                text = self.good("cql", "x.yaml")
                self.assertEqual("before a row at or beyond the bucket's line (max_age) is stored" in text, age != "")
                self.assertEqual("the first row of a key, before it is put" in text, age != "")
                self.assertEqual(f"SET {columns} WHERE" in text, age != "" or "lwt" in how)

    def test_checker_refuses_statements_that_a_cluster_refuses(self):
        """Each statement of every strategy loses or changes one word; the parser must refuse nearly all of
        the changes."""
        made, refused = 0, 0
        for strategy in self.strategies(AGENTS + self.every_strategy("incremental") + LOGS):
            texts = [one["cql"] for one in strategy["statements"]]
            for i, text in enumerate(texts):
                before, _ = check_text(texts[:i])
                for match in TOKEN.finditer(text):
                    made += 1
                    try:
                        check_text([text[:match.start(1)] + text[match.end(1):], *texts[i + 1:]], before)
                    except (Bad, KeyError):
                        refused += 1
        self.assertGreater(made, 5000)
        self.assertGreater(refused / made, 0.97)

    def test_time_strategy_needs_only_its_rows(self):
        self.write("x.yaml", HEAD + "strategies: [time: {window: 1h}]\n")
        self.assertEqual(self.good("cql", "x.yaml"), """\
-- strategy 'time' (time)

-- the rows
CREATE TABLE rows_by_key (
    key text,
    bucket bigint,
    at timestamp,
    id timeuuid,
    data text,
    PRIMARY KEY ((key, bucket), at, id)
) WITH CLUSTERING ORDER BY (at DESC, id DESC);

-- each row; a retry goes to the bucket of the first try
-- at LOCAL_QUORUM
INSERT INTO rows_by_key (key, bucket, at, id, data) VALUES (?, ?, ?, ?, ?);

-- the newest rows of a bucket; the next bucket when they are not enough
-- at LOCAL_QUORUM
SELECT key, bucket, at, id, data FROM rows_by_key WHERE key = ? AND bucket = ? LIMIT ?;
""")

    def test_guarded_has_its_four_tables(self):
        found = self.strategies(AGENTS + self.every_strategy(), "--strategy", "guarded")
        self.assertEqual([strategy["strategy"] for strategy in found], ["guarded"])
        self.assertEqual([(one["cql"], one["level"], one["serial"]) for one in found[0]["statements"]][6:], [
            ("SELECT bucket, before, start, until FROM rows_by_key_state WHERE key = ?", "SERIAL", None),
            ("INSERT INTO rows_by_key_state (key, bucket, before, start, until) VALUES (?, ?, ?, ?, ?) "
             "IF NOT EXISTS", "QUORUM", "SERIAL"),
            ("UPDATE rows_by_key_state SET bucket = ?, before = ?, start = ?, until = ? WHERE key = ? "
             "IF bucket = ? AND before = ? AND start = ? AND until = ?", "QUORUM", "SERIAL"),
            ("UPDATE rows_by_key_counts SET n = n + 1 WHERE key = ? AND bucket = ?", "QUORUM", None),
            ("SELECT n FROM rows_by_key_counts WHERE key = ? AND bucket = ?", "QUORUM", None),
            ("INSERT INTO rows_by_key_starts (key, bucket, start) VALUES (?, ?, ?)", "QUORUM", None),
            ("SELECT start FROM rows_by_key_starts WHERE key = ? AND bucket = ?", "QUORUM", None)])
        self.assertEqual([one["level"] for one in found[0]["statements"]][:6],
                         [None, None, None, None, "ONE", "TWO"])

    def test_incremental_count_needs_the_newest_row(self):
        found = self.strategies(AGENTS + self.every_strategy(), "--strategy", "count incremental")
        self.assertEqual([(one["cql"], one["level"]) for one in found[0]["statements"]][5:7], [
            ("SELECT COUNT(*), at, id FROM rows_by_key WHERE key = ? AND bucket = ?", "TWO"),
            ("SELECT COUNT(*), at, id FROM rows_by_key WHERE key = ? AND bucket = ? AND (at, id) > (?, ?)", "TWO")])
        self.write("y.yaml", AGENTS + self.every_strategy() + LOGS)
        self.assertIn("begin 'clustering' with these two", self.bad(2, "cql", "y.yaml"))

    def test_each_kind_of_read_has_its_statement(self):
        reads = ("reads: {latest: {rows: 5, rate: 1/s}, range: {span: 1h, rate: 1/s}, all: {rate: 1/h}}\n"
                 "strategies: [time: {window: 1h}]\n")
        found = self.strategies(HEAD + reads)[0]["statements"]
        selects = [one["cql"] for one in found if one["cql"].startswith("SELECT")]
        start = "SELECT key, bucket, at, id, data FROM rows_by_key WHERE key = ? AND bucket = ?"
        self.assertEqual(selects, [start + " LIMIT ?", start + " AND at >= ? AND at < ?", start])
        self.write("x.yaml", HEAD + "strategies: [hash: {buckets: 4}]\n")
        self.assertIn("each bucket may hold the newest of all", self.good("cql", "x.yaml"))

    def test_rows_that_expire_or_are_deleted_have_statements(self):
        for extra, text in (("row: {ttl: 90500ms}\n", "INSERT INTO rows_by_key (key, bucket, at, id, data) "
                             "VALUES (?, ?, ?, ?, ?) USING TTL 91"),
                            ("deletes: {share: 5%, after: 1h}\n",
                             "DELETE FROM rows_by_key WHERE key = ? AND bucket = ? AND at = ? AND id = ?")):
            found = self.strategies(AGENTS + extra + "strategies: [time: {window: 1h}]\n")
            texts = [one["cql"] for one in found[0]["statements"]]
            self.assertIn(text, texts)
            check_text(texts)

    def retention(self, ttl, strategy, extra=""):
        """Of the table of the rows: its time to live, its window in seconds, and its notes."""
        head = "duration: 1d\nkeys: {count: 10}\n" + (extra or "arrivals: {rate: 1/s}\n")
        self.write("x.yaml", head + f"row: {{ttl: {ttl}}}\nstrategies: [{strategy}]\n")
        one = self.good_json("cql", "x.yaml", "--json")[0]["statements"][0]
        check_text([one["cql"]])
        found = re.search(r"default_time_to_live = (\d+)\n AND .*'(MINUTES|HOURS|DAYS)', .*: '(\d+)'}", one["cql"])
        self.assertIn("\n-- windows of ", self.good("cql", "x.yaml"))
        return int(found[1]), int(found[3]) * {"M": 60, "H": 3600, "D": 86400}[found[2][0]], one["note"]

    def test_rows_that_expire_are_compacted_in_windows(self):
        for ttl, seconds in (("20m", 1200), ("1h", 3600), ("90h", 324000), ("30d", 2592000), ("20y", 630720000)):
            for strategy in ("time: {window: 1h}", "hash: {buckets: 4}"):
                live, window, note = self.retention(ttl, strategy)
                self.assertEqual(live, seconds)
                self.assertTrue(20 <= live // window <= 30, (ttl, window))
                self.assertIn("use the time of writing", note)
                self.assertIn("gc_grace_seconds", note)
        self.assertIn("1 per time to live, where 20 to 30 are meant; none is shorter", self.retention(
            "90500ms", "time: {window: 1m}")[2])

    def test_buckets_and_windows_that_conflict_are_reported(self):
        dice = "probabilistic: {bits: 4, threshold: 40"
        for strategy, window, problem in (
                ("time: {window: 1d}", 86400, None), ("time: {window: 30h}", 108000, None),
                ("time: {calendar: month}", 86400, None), (dice + ", max_age: 7d}", 86400, None),
                ("time: {window: 1d, epoch: 2026-01-01T05:00:00Z}", 86400, "buckets end by a calendar or an epoch"),
                ("time: {window: 700m}", None, "buckets of 700m and windows of 1d end at different times; set window"),
                (dice + "}", 86400, "in the middle of a window; set max_age: 1d"),
                ("hash: {buckets: 4}", 86400, "a partition takes rows in every window")):
            live, found, note = self.retention("30d", strategy)
            if window is not None:
                self.assertEqual(found, window, strategy)
            if problem is None:
                self.assertNotIn("conflict", note, strategy)
            elif window is not None:
                self.assertIn(problem, note)
        note = self.retention("30d", "time: {window: 1d}", "arrivals: {rate: 1/s, late: {share: 1%, by: 2d}}\n")[2]
        self.assertIn("rows come late by 2d on average, later than a window lasts, and expire with the window", note)
        self.assertNotIn("conflict", note)

    def test_counters_are_added_to(self):
        found = self.strategies(HEAD + "row: {columns: {a: counter, b: {type: counter, present: 10%}}}\n"
                                "strategies: [time: {window: 1h}]\n")
        texts = [one["cql"] for one in found[0]["statements"]]
        self.assertIn("UPDATE rows_by_key SET a = a + ?, b = b + ? WHERE key = ? AND bucket = ? AND at = ? AND id = ?",
                      texts)
        self.assertFalse([text for text in texts if text.startswith("INSERT")])

    def test_a_weight_is_added(self):
        found = self.strategies(AGENTS + self.every_strategy(), "--strategy", "weighted")
        self.assertIn("UPDATE rows_by_key_counter SET n = n + ? WHERE key = ?",
                      [one["cql"] for one in found[0]["statements"]])

    def test_the_lock_is_taken_taken_over_and_released(self):
        found = self.strategies(AGENTS + self.every_strategy(), "--strategy", "locked rmw 20")
        texts = [one["cql"] for one in found[0]["statements"]]
        self.assertIn("INSERT INTO rows_by_key_lock (key, owner, until) VALUES (?, ?, ?) IF NOT EXISTS", texts)
        self.assertIn("UPDATE rows_by_key_lock SET owner = ?, until = ? WHERE key = ? IF owner = ? AND until = ?",
                      texts)
        self.assertIn("UPDATE rows_by_key_state SET bucket = ?, counted = ?, last_change = ? WHERE key = ?", texts)

    def test_names_that_need_quotes_have_them(self):
        found = self.strategies(AGENTS + "strategies: [probabilistic: {bits: 1, threshold: 2}]\n" + ODD)
        texts = [one["cql"] for one in found[0]["statements"]]
        self.assertEqual(texts[2],
                         'INSERT INTO "Token" (bucket, "order", "a ""b""", "ID", "größe") VALUES (?, ?, ?, ?, ?)')
        self.assertTrue(texts[3].endswith(' ORDER BY "a ""b""" DESC LIMIT ?'), texts[3])
        self.assertIn('CREATE TABLE "Token_state" (\n    key text,', texts[1])

    def test_usage(self):
        self.write("x.yaml", HEAD + "strategies: [unbucketed: {}, time: {window: 1h}]\n")
        both = self.good("cql", "x.yaml")
        self.assertEqual(both, self.good("cql", "x.yaml", "--strategy", "unbucketed") + "\n" +
                         self.good("cql", "x.yaml", "--strategy", "time"))
        self.assertIn("CREATE TABLE t (", self.good(
            "cql", "x.yaml", "--set", "table={name: t, columns: {k: key, b: bucket}, partition_key: [k, b]}"))
        self.assertEqual(self.files(), ["x.yaml"])


if __name__ == "__main__":
    unittest.main()
