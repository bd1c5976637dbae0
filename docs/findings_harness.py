# SPDX-License-Identifier: GPL-3.0-or-later
"""The harness of the studies in findings.py: runs the program over a grid of settings and seeds, computes
figures with confidence intervals, and writes tables as CSV and Markdown, and charts."""
import concurrent.futures
import csv
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

from curves import draw

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom.
STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
           2.120, 2.110, 2.101, 2.093, 2.086)


class Failure(Exception):
    """An error; its text is one line for the user."""


class Figure:
    """An estimate from `runs` runs, with its 95 % confidence interval."""

    def __init__(self, value, low, high, runs):
        self.value, self.low, self.high, self.runs = value, low, high, runs

    def times(self, factor):
        return Figure(self.value * factor, self.low * factor, self.high * factor, self.runs)


def estimate(pairs, is_signed=False):
    """Estimates the sum of numerators divided by the sum of denominators, with a pair per run. The interval
    is that of a ratio estimator, by Student's t over runs. Returns None if the denominators are 0. If all
    numerators are 0, the interval is empty, because a bound would depend on how violations cluster, which is
    not known."""
    count = len(pairs)
    above, below = math.fsum(pair[0] for pair in pairs), math.fsum(pair[1] for pair in pairs)
    if below == 0:
        return None
    ratio = above / below
    half = 0.0
    if count > 1:
        squares = math.fsum((pair[0] - ratio * pair[1]) ** 2 for pair in pairs)
        half = STUDENT[min(count - 1, len(STUDENT)) - 1] * math.sqrt(squares * count / (count - 1)) / below
    low = ratio - half if is_signed else max(0.0, ratio - half)
    return Figure(ratio, low, ratio + half, count)


# A measure is a function of the metrics of one strategy and of those of all strategies of the run. It returns
# a numerator and a denominator, or None if the run does not have the metric.


def per_million(*names):
    """The sum of some metrics, per million rows."""
    def measure(metrics, _):
        if any(name in metrics for name in names):
            return 1e6 * sum(metrics.get(name, 0) for name in names), metrics["writes.rows"]
        return None
    return measure


def per_row(name):
    """The sum of some metrics, per row (a share)."""
    return lambda metrics, _: (metrics[name], metrics["writes.rows"]) if name in metrics else None


def plain(name):
    """The mean over the runs."""
    return lambda metrics, _: (metrics[name], 1) if name in metrics else None


def oracle(name):
    return f"oracle.{name}.violations"


def closed_mean(metrics, _):
    """The mean number of rows of the closed partitions of all runs."""
    count = metrics["partitions.closed"]
    return metrics.get("partitions.closed.rows.mean", 0) * count, count


class Study:
    """A study: one scenario over a grid. A subclass defines `name`, `scenario`, `seeds` (their number),
    `points()`, which returns a list of (coordinates, settings), `quick` (settings for a short test), and
    `report(data, out)`."""

    name = scenario = ""
    seeds = 4
    quick = {}

    def points(self):
        raise NotImplementedError

    def report(self, data, out):
        raise NotImplementedError

    def plan(self, is_quick):
        points = self.points()
        if is_quick:
            points = [(at, {**settings, **self.quick}) for at, settings in (points[0], points[-1])]
        return points, range(1, 2 if is_quick else self.seeds + 1)


class Data:
    """The runs of a study: for each point and strategy, a list of metrics, one element per seed."""

    def __init__(self, points, runs):
        self.points = [dict(at) for at, _ in points]
        self.runs = runs

    def at(self, **wanted):
        """Returns the points with these coordinates."""
        return [at for at in self.points if all(at.get(name) == value for name, value in wanted.items())]

    def figure(self, at, strategy, measure, is_signed=False):
        runs = self.runs[self.points.index(at)]
        pairs = [measure(run[strategy], run) for run in runs if strategy in run]
        return estimate([pair for pair in pairs if pair is not None], is_signed)

    def strategies(self):
        return list(self.runs[0][0])

    def curve(self, axis, strategy, measure, is_signed=False, **wanted):
        """Returns [(x, Figure)] for the points with these coordinates."""
        found = [(at[axis], self.figure(at, strategy, measure, is_signed)) for at in self.at(**wanted)]
        return [(x, figure) for x, figure in found if figure is not None]


class Output:
    """The outputs of a study: NAME.csv and NAME.png in the folders, and tables for findings.md."""

    def __init__(self, tables_folder, images_folder, is_quick):
        self.tables_folder, self.images_folder, self.is_quick = tables_folder, images_folder, is_quick
        self.tables = {}

    def csv(self, name, data, measures, is_signed=()):
        """Writes all measures at all points for all strategies."""
        axes = list(data.points[0])
        with open(os.path.join(self.tables_folder, f"{name}.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*axes, "strategy", "measure", "value", "low", "high", "runs"])
            for at in data.points:
                for strategy in data.strategies():
                    for measure, how in measures.items():
                        figure = data.figure(at, strategy, how, measure in is_signed)
                        if figure is not None:
                            numbers = [f"{number:.6g}" for number in (figure.value, figure.low, figure.high)]
                            writer.writerow([*at.values(), strategy, measure, *numbers, figure.runs])

    def chart(self, name, head, series, rules=()):
        """Draws a chart (curves.py). series: (label, curve)."""
        if self.is_quick and not any(curve for _, curve in series):
            return  # the run is too short for this chart
        lines = [(label, [(x, figure.value, figure.low, figure.high) for x, figure in curve])
                 for label, curve in series]
        draw(os.path.join(self.images_folder, f"findings-{name}.png"), head, lines, rules)

    def table(self, name, head, rows):
        """Formats a table as Markdown; the first column is text, the others are numbers."""
        lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.tables[name] = "\n".join(lines)


def number(figure, digits=3):
    """Formats a number with three digits; None becomes a dash."""
    value = figure.value if isinstance(figure, Figure) else figure
    if value is None:
        return "–"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value)) + 1e-9))
    rounded = round(value, digits - 1 - math.floor(math.log10(abs(value)) + 1e-9))
    return f"{rounded:,.{places}f}"


class Runner:
    """Runs the program, two processes at a time, each with a separate database."""

    def __init__(self, program, processes=2, cache=None):
        self.program, self.processes, self.cache = program, processes, cache

    def run_all(self, studies, is_quick, say):
        """Study -> Data."""
        plans = [study.plan(is_quick) for study in studies]
        jobs = [(s, p, seed) for s, (points, seeds) in enumerate(plans) for p in range(len(points)) for seed in seeds]
        began = time.monotonic()
        runs = [[[] for _ in points] for points, _ in plans]
        with tempfile.TemporaryDirectory(prefix="findings-") as folder:
            with concurrent.futures.ThreadPoolExecutor(self.processes) as pool:
                def work(job):
                    study, point, seed = job
                    return self.run_one(studies[study].scenario, plans[study][0][point][1], seed, folder)
                try:
                    for done, ((study, point, _), run) in enumerate(zip(jobs, pool.map(work, jobs)), 1):
                        runs[study][point].append(run)
                        say(done, len(jobs), time.monotonic() - began)
                except BaseException:
                    pool.shutdown(cancel_futures=True)
                    raise
        return [Data(points, found) for (points, _), found in zip(plans, runs)]

    def run_one(self, scenario, settings, seed, folder):
        command = [self.program, "run", os.path.join(ROOT, "scenarios", "findings", f"{scenario}.yaml"), "--json",
                   "--quiet", "--no-charts", "--jobs", "1", "--seed", str(seed), "--set", "expect=null"]
        for path, value in settings.items():
            command += ["--set", f"{path}={value}"]
        kept = self.kept_at(command)
        if kept is not None and os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                return json.load(file)
        with tempfile.TemporaryDirectory(dir=folder) as own:
            run = subprocess.run([*command, "--db", os.path.join(own, "run.db")], capture_output=True, text=True,
                                 encoding="utf-8", check=False)
        if run.returncode != 0:
            raise Failure(f"{' '.join(command)}: {run.stderr.strip()}")
        metrics = {strategy["label"]: strategy["metrics"] for strategy in json.loads(run.stdout)["strategies"]}
        if kept is not None:
            with open(kept + ".partial", "w", encoding="utf-8") as file:
                json.dump(metrics, file)
            os.replace(kept + ".partial", kept)
        return metrics

    def fuzz(self, scenario, last, settings, held, goes_on=True):
        """Runs a campaign with seeds 1 to last, with a scenario or with drawn scenarios, and returns its JSON
        output."""
        named = [] if scenario is None else [os.path.join(ROOT, "scenarios", "findings", f"{scenario}.yaml")]
        command = [self.program, "fuzz", *named, "--json", "--quiet", "--jobs", str(self.processes),
                   "--seeds", f"1..{last}", *(["--keep-going"] if goes_on else ["--out", tempfile.mkdtemp()])]
        for assignment in settings:
            command += ["--set", assignment]
        for condition in held:
            command += ["--hold", condition]
        run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        if run.returncode > 1:
            raise Failure(f"{' '.join(command)}: {run.stderr.strip()}")
        return json.loads(run.stdout)

    def kept_at(self, command):
        """Returns the file for the cached metrics of a run; its name is a digest of the program, the scenario
        and the settings."""
        if self.cache is None:
            return None
        key = hashlib.sha256()
        for path in (command[0], command[2]):
            with open(path, "rb") as file:
                key.update(hashlib.sha256(file.read()).digest())
        key.update("\0".join(command[3:]).encode())
        return os.path.join(self.cache, key.hexdigest() + ".json")


def filled(page, name, text):
    """Returns the page with the text between `<!-- NAME -->` and `<!-- /NAME -->`."""
    marked = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)", re.S)
    page, count = marked.subn(lambda found: f"{found[1]}{text}\n{found[2]}", page)
    if count != 1:
        raise Failure(f"<!-- {name} --> occurs {count} times in the page, not once")
    return page


def write_tables(path, target, tables):
    """Copies the page from path to target, with each table between `<!-- table NAME -->` and `<!-- /table
    -->` replaced."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, table in tables.items():
        pattern = re.compile(rf"(<!-- table {re.escape(name)} -->\n).*?(<!-- /table -->)", re.S)
        text, count = pattern.subn(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)
        if count != 1:
            raise Failure(f"{path}: {count} places for the table '{name}'; it needs one")
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


def say_progress(done, count, seconds):
    """Prints progress: a line for each tenth of the work, or on a terminal a line that is updated."""
    is_live = sys.stderr.isatty()
    if is_live or done == count or done * 10 // count != (done - 1) * 10 // count:
        print(f"{done} of {count} runs, {seconds:.0f} s", file=sys.stderr, end="\r" if is_live else "\n")
