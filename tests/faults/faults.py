# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command in a small form, run with faulty.c preloaded, and compared with the same command undisturbed.
The arguments of a test script are the program, one that guarantees too much, the library, and optionally
`slow` for every N instead of a sample, or `calls` for one N per call in the program, which is used with
branch coverage.
"""
import atexit
import concurrent.futures
import functools
import hashlib
import os
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from share import SHARE  # noqa: E402

PROGRAM, BOLD, LIBRARY = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
IS_SLOW, IS_BY_CALL = ("slow" in sys.argv), ("calls" in sys.argv)
IS_SHARED = SHARE > 1 and not IS_SLOW and not IS_BY_CALL
sys.argv = [word for word in sys.argv if word not in ("slow", "calls")]
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

TINY = """\
name: tiny
seed: 7
duration: 2h
keys: {count: 3}
arrivals: {rate: 0.05/s}
row: {bytes: 100, cells: 3}
reads: {latest: {rows: 10, rate: 0.005/s}}
limits: {partition_rows: 3000, tiny_rows: 24}
strategies:
  - time: {window: 1h}
  - probabilistic: {bits: 2, threshold: 4}
"""
CLUSTER = """\
name: ring
seed: 3
duration: 1m
keys: {count: 2}
arrivals: {rate: 2/s}
row: {bytes: 100}
reads: {latest: {rows: 5, rate: 0.2/s}}
cluster: {nodes: 3, replication_factor: 3}
agents: {count: 2, cache_ttl: 5s}
strategies:
  - probabilistic: {bits: 2, threshold: 4, coordination: three-state, lead: 10s}
"""
TRACE = "timestamp_ms,key,bytes\n" + "".join(f"{1000 * i},k{i % 3},100\n" for i in range(60))
TRACED = "name: traced\nseed: 1\ntrace: {file: rows.csv}\nrow: {cells: 3}\nstrategies:\n  - hash: {buckets: 3}\n"
SWEEP = TINY.replace("name: tiny", "name: swept") + "sweep: {seeds: 2, grid: {strategies.probabilistic.bits: [2, 3]}}\n"
TUNED = TINY.replace("name: tiny", "name: tuned").replace("rows: 3000", "rows: 300") + "tune: {risk: 5%, seeds: 2}\n"
HELD = TINY + "expect:\n  - time.partitions.total > 0\n"
MISSED = TINY.replace("name: tiny", "name: missed") + "expect:\n  - time.partitions.total < 0\n"
SIZES = os.path.join(SOURCE, "scenarios", "observed", "messages.csv")

# name: arguments. {made}: a folder of the test, whose {made}/bucketlab.db has two runs; a script may add to
# it.
COMMANDS = {
    "init": ["init", "chat"],
    "run": ["run", "tiny.yaml", "--no-charts"],
    "run into a new database": ["run", "tiny.yaml", "held.yaml", "--no-charts", "--json", "--db", "new.db"],
    "run of a cluster": ["run", "ring.yaml", "--no-charts", "--trace-events", "events.txt"],
    "run of a trace": ["run", "traced.yaml", "--no-charts", "--json"],
    "run that fails": ["run", "missed.yaml", "--no-charts"],
    "run with charts": ["run", "tiny.yaml", "--format", "svg,html", "--out", "made/here"],
    "run on": ["run", "--continue", "last", "--for", "1h", "--no-charts"],
    "report": ["report", "last", "--format", "svg,pdf", "--out", "charts"],
    "report of a page": ["report", "1", "--format", "html"],
    "runs": ["runs", "--all"],
    "runs json": ["runs", "--json"],
    "show": ["show", "last"],
    "show json": ["show", "1", "--json"],
    "diff": ["diff", "1", "2"],
    "diff over seeds": ["diff", "1", "2", "--seeds", "3", "--json"],
    "export": ["export", "last", "--out", "sizes.csv"],
    "export metrics": ["export", "1", "--metrics"],
    "import": ["import", "sizes.txt", "--json"],
    "watch": ["watch", "1", "sizes.txt", "--strategy", "time", "--prometheus", "look.prom"],
    "watch json": ["watch", "2", "sizes.txt", "--strategy", "probabilistic", "--json"],
    "replay": ["replay", "1"],
    "replay json": ["replay", "1", "--json"],
    "cql": ["cql", "tiny.yaml"],
    "cql json": ["cql", "tiny.yaml", "--json"],
    "cql stress": ["cql", "tiny.yaml", "--strategy", "time", "--stress", "--run", "last"],
    "sweep": ["sweep", "swept.yaml", "--csv", "figures.csv"],
    "sweep json": ["sweep", "swept.yaml", "--json", "--metric", "partitions.all.rows.max"],
    "merge": ["merge", "bucketlab.db", "other.db", "--db", "all.db"],
    "merge into the first": ["merge", "bucketlab.db", "other.db", "--json"],
    "check": ["check", "held.yaml", "--junit", "junit.xml", "--baseline", "baseline.db"],
    "check that fails": ["check", "missed.yaml", "held.yaml", "--junit", "old.xml", "--no-store", "--json"],
    "update of a baseline": ["check", "held.yaml", "--baseline", "baseline.db", "--update-baseline", "--seeds", "4"],
    "fuzz": ["fuzz", "--seeds", "1..2", "--json"],
    "fuzz that fails": ["fuzz", "--seeds", "25..25", "--out", "found"],
    "odds": ["odds", "--bits", "3", "--threshold", "4", "--json"],
    "odds of sizes": ["odds", "--weighted", "1KB", "--threshold", "4", "--row-bytes", "100B", "--below", "2KB",
                      "--json"],
    "tune": ["tune", "--rows", "100..900", "--risk", "0.01", "--bits", "3..5"],
    "tune of a scenario": ["tune", "tuned.yaml", "--no-charts", "--json"],
    "tune of a scenario with charts": ["tune", "tuned.yaml", "--format", "svg", "--out", "answer"],
    "ids": ["ids", "ids.csv"],
    "ids json": ["ids", "ids.csv", "--json"],
    "token": ["token", "--type", "text,bigint", "channel-17", "42"],
    "bucket-of": ["bucket-of", "--buckets", "256", "user1", "user2", "--json"],
}
# These commands have no --jobs.
SINGLE = {"init", "report", "runs", "show", "export", "import", "watch", "cql", "merge", "odds", "ids", "token",
          "bucket-of"}
# These commands store a run as soon as it is done.
GRADUAL = {"sweep", "diff", "tune", "check", "run"}
DATABASES = {"bucketlab.db", "other.db", "all.db", "new.db", "baseline.db"}
# Texts that depend on a clock or on the machine's speed.
TIMES = [(rb"/[^ ]*/bucketlab-faults-[^/]*", b""), (rb", \d+\.\d s\n", b"\n"),
         (rb" +\d+\.\d( +[0-9a-f]{16}\n)", rb"\1"), (rb"\d{4}-\d\d-\d\d \d\d:\d\d", b""),
         (rb", [\d,]+ seeds/s", b""), (rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b""),
         (rb"(_timestamp_seconds.*}) -?\d+\n", rb"\1\n"),
         (rb'"(seeds_per_second|elapsed_ms|seconds)":[^,}]*', b""), (rb'(time|timestamp)="[^"]*"', b"")]
PLACE = re.compile(r"/[^ ]*/bucketlab-faults-[^/]*")
# The table of unfinished commands, which a failed command may leave so that it can be resumed.
UNFINISHED = {"outcome"}
TIMED_COLUMNS = {"created_unix_s", "elapsed_ms", "updated_unix_s", "started_unix_s"}


def program_of(name):
    return BOLD if name == "fuzz that fails" else PROGRAM


def words_of(name):
    """The command line of an entry of COMMANDS, without the program."""
    arguments = COMMANDS[name]
    return [*arguments, "--quiet", *([] if arguments[0] in SINGLE or "--rows" in arguments else ["--jobs", "1"])]


@functools.lru_cache(maxsize=300)
def plain(content):
    """The content in a comparable form; most files are compared unchanged."""
    for pattern, put in TIMES:
        content = re.sub(pattern, put, content)
    return content


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Outcome:
    """The results of a command: its exit code, its output, and the contents of its folder."""
    databases = {}  # digest of a database without a log -> its contents

    def __init__(self, folder, process, out, err, report, seconds):
        self.code, self.out, self.err, self.seconds = process.returncode, out, err.decode(), seconds
        self.report = dict(line.split(" ", 1) for line in report.splitlines())
        self.tables, self.files, self.unsound, self.unfinished = {}, {}, [], 0
        for name in sorted(DATABASES & set(os.listdir(folder))):
            try:
                self.tables[name], problems, unfinished = self.read_database(os.path.join(folder, name))
                self.unsound += problems
                self.unfinished += unfinished
            except sqlite3.Error as error:
                self.unsound.append(f"{name}: {error}")
        for root, folders, files in os.walk(folder):
            for name in folders + files:
                path = os.path.join(root, name)
                key = os.path.relpath(path, folder)
                self.files[key] = None if os.path.isdir(path) or key in DATABASES else plain(read(path))

    @classmethod
    def read_database(cls, path):
        """Each table's rows without clock times, the faults of its integrity, and the number of unfinished
        runs. Opening the database completes a pending rollback or recovers a log."""
        if any(os.path.exists(path + ending) for ending in ("-wal", "-shm", "-journal")):
            return cls.read_tables(path)
        key = hashlib.sha256(read(path)).digest()
        if key not in cls.databases:
            cls.databases[key] = cls.read_tables(path)
        return cls.databases[key]

    @staticmethod
    def read_tables(path):
        unsound, unfinished = [], 0
        database = sqlite3.connect(path)
        database.row_factory = sqlite3.Row
        sound = [row[0] for row in database.execute("PRAGMA integrity_check")]
        if sound != ["ok"] or database.execute("PRAGMA foreign_key_check").fetchall():
            unsound.append(f"{os.path.basename(path)}: {sound}")
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        tables = {name: {tuple((key, PLACE.sub("", row[key]) if isinstance(row[key], str) else row[key])
                               for key in row.keys() if key not in TIMED_COLUMNS)
                         for row in database.execute(f'SELECT * FROM "{name}"')}
                  for name in names if not name.startswith("sqlite_") and name not in UNFINISHED}
        for name in UNFINISHED & set(names):
            unfinished += database.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
        database.close()
        return tables, unsound, unfinished

    def count(self, kind):
        return int(self.report[kind])


def is_between(now, before, after):
    """Whether a database has everything that it had, nothing unexpected, and all data of each of its runs."""
    if any(not before.get(name, set()) <= rows or not rows <= after.get(name, set()) for name, rows in now.items()):
        return False
    runs = {dict(row)["run"] for row in now.get("run", ())}
    wanted = {row for row in after.get("strategy", ()) if dict(row)["run"] in runs}
    strategies = {dict(row)["strategy"] for row in wanted}
    metrics = {row for row in after.get("metric", ()) if dict(row)["strategy"] in strategies}
    return now.get("strategy", set()) == wanted and now.get("metric", set()) == metrics


class FaultsTest(unittest.TestCase):
    right = None  # the outcome of each command without faults

    @classmethod
    def setUpClass(cls):
        """Runs once for all classes of a process."""
        if cls.right is None:
            FaultsTest.prepare()

    @classmethod
    def prepare(cls):
        place = tempfile.mkdtemp(prefix="bucketlab-faults-")
        atexit.register(shutil.rmtree, place)
        cls.template = os.path.join(place, "folder")
        os.mkdir(cls.template)
        for name, text in {"tiny.yaml": TINY, "ring.yaml": CLUSTER, "rows.csv": TRACE, "traced.yaml": TRACED,
                           "swept.yaml": SWEEP, "tuned.yaml": TUNED, "held.yaml": HELD, "missed.yaml": MISSED,
                           "old.xml": "an old report\n"}.items():
            with open(os.path.join(cls.template, name), "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copy(os.path.join(SOURCE, "tests", "ids", "python-ulid.txt"), os.path.join(cls.template, "ids.csv"))
        with open(os.path.join(cls.template, "sizes.txt"), "wb") as file:
            file.writelines(read(SIZES).splitlines(True)[:20])
        for words in [["run", "tiny.yaml", "--no-charts"],
                      ["run", "tiny.yaml", "--no-charts", "--set", "strategies.probabilistic.bits=3"],
                      ["run", "ring.yaml", "--no-charts", "--db", "other.db"],
                      ["check", "held.yaml", "--no-store", "--baseline", "baseline.db", "--update-baseline",
                       "--seeds", "3"]]:
            subprocess.run([PROGRAM, *words, "--quiet"], cwd=cls.template, check=True, stdout=subprocess.DEVNULL)
        cls.right = {name: cls.run_command(name, {}) for name in COMMANDS}
        cls.before = cls.look(cls.template)
        for name, outcome in cls.right.items():
            assert outcome.code == (1 if "fails" in name else 0) and not outcome.unsound, (name, outcome.err)

    @classmethod
    def look(cls, folder):
        done = subprocess.CompletedProcess([], 0)
        return Outcome(folder, done, b"", b"", "", 0)

    @classmethod
    def run_command(cls, name, environment, timeout=240, first=None, under=()):
        """Runs an entry of COMMANDS, or a command line, in a copy of the common initial folder. first: a
        command line to run before it; under: a program that runs it without the preloaded library."""
        with tempfile.TemporaryDirectory(prefix="bucketlab-faults-") as place:
            folder, report, out = (os.path.join(place, part) for part in ("folder", "report", "out"))
            shutil.copytree(cls.template, folder)
            if first is not None:
                subprocess.run([PROGRAM, *first], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            settings = {**os.environ, "NO_COLOR": "1", "FAULTY_REPORT": report, **environment}
            if not under:
                settings["LD_PRELOAD"] = LIBRARY
            begin = time.monotonic()
            with open(out, "wb") as stdout:
                words = [program_of(name), *words_of(name)] if isinstance(name, str) else [PROGRAM, *name]
                process = subprocess.Popen([*under, *words], cwd=folder, env=settings, stdout=stdout,
                                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
                try:
                    err = process.communicate(timeout=timeout)[1]
                except subprocess.TimeoutExpired:
                    process.kill()
                    err = b"hangs\n" + process.communicate()[1]
            seconds = time.monotonic() - begin
            again = None
            if process.returncode == 3 and "FAULTY_FILE" in environment and "FAULTY_LASTING" in environment:
                again = cls.run_again(name, folder, os.path.join(place, "again"))
            told = read(report).decode() if os.path.exists(report) else ""
            outcome = Outcome(folder, process, plain(read(out)), plain(err), told, seconds)
            outcome.again = again
            return outcome

    @staticmethod
    def run_again(name, folder, copy):
        """The exit code on a working disk, before any other program has opened the files."""
        shutil.copytree(folder, copy)
        return subprocess.run([program_of(name), *words_of(name)], cwd=copy, stdin=subprocess.DEVNULL, timeout=60,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode

    def judge(self, name, outcome):
        """The fault of a command during which a call has failed; None when there is none."""
        right = self.right[name]
        if not outcome.report:
            return f"ended with {outcome.code}: {outcome.err}"
        if outcome.unsound:
            return f"unsound: {outcome.unsound}"
        if outcome.code == right.code:
            return self.judge_whole(outcome, right)
        if outcome.code != 3:
            return f"exit code {outcome.code}: {outcome.err}"
        if not re.fullmatch(r"[^\n]+; [^\n]+\n", outcome.err):
            return f"not one line with a cure: {outcome.err!r}"
        if re.search(r"SQL|bucketlab-faults", outcome.err):
            return f"says what a user cannot know: {outcome.err!r}"
        # `init` and `resume` do not repeat a result that is already complete.
        is_done = name == "init" or name == "resume" and outcome.tables == right.tables
        if outcome.again not in (None, right.code) and not is_done:
            return f"stands in the way of the next run, which ends with {outcome.again}"
        return self.judge_failed(name, outcome, right)

    @staticmethod
    def judge_whole(outcome, right):
        for what in ["err", "out", "tables", "files", "unfinished"]:
            if getattr(outcome, what) != getattr(right, what):
                found, wanted = getattr(outcome, what), getattr(right, what)
                if isinstance(found, dict):
                    keys = [key for key in {**found, **wanted} if found.get(key, 0) != wanted.get(key, 0)]
                    return f"exit code {outcome.code} with other {what}: {keys}"
                return f"exit code {outcome.code} with other {what}: {found!r}, not {wanted!r}"
        return None

    def judge_failed(self, name, outcome, right):
        arguments = COMMANDS[name]
        whole = outcome.out.rpartition(b" ")[0]  # the last word may be a part of a time, which `plain` leaves
        if not (right.out.startswith(whole) or "failed" in outcome.report and outcome.out == b""):
            return f"printed something else: {outcome.out!r}"
        if "--json" in arguments and outcome.out not in (b"", right.out) and "standard output" not in outcome.err:
            return f"half an object: {outcome.out!r}"
        for key, tables in outcome.tables.items():
            before, after = self.before.tables.get(key, {}), right.tables.get(key, {})
            is_between_ok = arguments[0] in GRADUAL and is_between(tables, before, after)
            if tables not in (before, after) and not is_between_ok:
                return f"{key} is neither as it was nor as it should be"
            if key not in self.before.files and tables == {} and outcome.again is None:
                return f"{key} is empty"
        for key, content in outcome.files.items():
            olds = [files[key] for files in (self.before.files, right.files) if key in files]
            if content not in olds or not olds:
                return f"{key} is left behind, or half"
        if lost := self.before.files.keys() - outcome.files.keys():
            return f"lost: {lost}"
        return None

    def numbers(self, total, most):
        """The values of N to try: all, or about `most`."""
        if IS_SLOW or total <= most:
            return list(range(1, total + 1))
        draw = random.Random(total)
        if IS_SHARED:
            return sorted(draw.sample(range(1, total + 1), most // 6))
        return sorted({1, 2, total, *(draw.randint(1, total) for _ in range(most - 3))})

    def sites(self, name, environment, variable="FAULTY_SITES"):
        """The call site of each allocation of a command, or of each file call, with the calls that led to it.
        """
        with tempfile.NamedTemporaryFile() as file:
            self.run_command(name, {**environment, variable: file.name})
            words = [word for word, in struct.iter_unpack("=Q", file.read())]
        sites, at = [], 0
        while at < len(words):
            sites.append(tuple(words[at + 1:at + 1 + words[at]]))
            at += 1 + words[at]
        return sites

    @staticmethod
    def first_of_each_call(sites, seen):
        """Numbers from 1: one for each call in the program that leads to one of the sites and is not in
        `seen` yet."""
        chosen = []
        for number, site in sorted(enumerate(sites, 1), key=lambda pair: -len(pair[1])):
            if not seen.issuperset(site):
                seen.update(site)
                chosen.append(number)
        return sorted(chosen)

    def try_all(self, cases):
        """Runs all (name of the command, environment); reports each fault when it first occurs."""
        faults, done = {}, 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = pool.map(lambda case: self.run_command(*case), cases)
            for (name, environment), outcome in zip(cases, outcomes):
                done += 1
                what = self.judge(name, outcome)
                if what is not None:
                    key = (name, what[:200], outcome.report.get("at", ""))
                    faults[key] = faults.get(key, 0) + 1
                    if faults[key] == 1:
                        print(f"{name}: {what} at {key[2]}; as {environment}", file=sys.stderr, flush=True)
                else:
                    self.assertGreater(outcome.count("failed"), 0, (name, environment))
        if faults:
            self.fail(f"{len(faults)} faults, {sum(faults.values())} times in {done} cases")
