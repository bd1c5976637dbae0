# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a long command shows a progress bar on a terminal, and removes it at the end; elsewhere it is silent
for 10 s. Method: the program on a pseudo-terminal of a given width, with hasty.c preloaded: its clock runs
1,000 times as fast, so that some milliseconds are a long time on any machine.
"""
import os
import re
import sys
import unittest

BOLD, HASTY = (os.path.abspath(sys.argv.pop(2)) for _ in range(2))

from program import PROGRAM, SMALL, ProgramTest, program_environment  # noqa: E402
from terminal import Terminal  # noqa: E402

FACTOR = 1000
# Frames come every 0.2 ms, the first after 0.4 ms. All that is shown here takes ten times as long or more.
LONG = SMALL.replace("name: small", "name: long\nengine: exact").replace("duration: 2d", "duration: 60d")
PART = ", mostly hashed ids of hash"
ADVICE = "bucketlab: more than a minute is left, mostly for "
FRAME = re.compile(r"\r([^\r\x1b\n]*)\x1b\[K")


def frames(text):
    """Every line that was drawn over the one before; the empty line that erases the bar is the last."""
    return [line for line in FRAME.findall(text) if not line.startswith(ADVICE)]


def left_on_screen(text):
    """The lines that remain on the screen, without warnings and without lines that were overwritten."""
    screen = []
    for line in text.split("\n"):
        shown = ""
        for part in re.split(r"(\r|\x1b\[K)", line):
            if part == "\r":
                shown, behind = "", shown
            elif part == "\x1b[K":
                behind = ""
            else:
                shown += part
        screen.append(shown)
    # A warning is wrapped, and its further lines are indented.
    return re.sub(rf"(?m)^(warning: .*(\n  .*)*|{ADVICE}.*)\n?", "", "\n".join(screen)).strip()


class BarTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("long.yaml", LONG)

    @staticmethod
    def hasty():
        return program_environment({"LD_PRELOAD": HASTY, "HASTY_FACTOR": str(FACTOR)})

    def on_terminal(self, *words, columns=80, program=PROGRAM):
        """The exit code, stdout, and everything sent to the terminal."""
        with open(os.path.join(self.folder, "stdout"), "w+b") as file:
            terminal = Terminal([program, *words], columns, 24, self.folder,
                                self.hasty(), file.fileno())
            code = terminal.read_all()
            file.seek(0)
            return code, file.read().decode(), terminal.text.replace("\r\n", "\n")

    def test_run_shows_a_bar_and_takes_it_away(self):
        code, out, text = self.on_terminal("run", "long.yaml", "--no-charts")
        drawn = frames(text)
        self.assertEqual((code, drawn[-1]), (0, ""))
        for line in drawn[:-1]:
            self.assertRegex(line, rf"\Along \[#*\.*\] +\d+ %(, [0-9:]+ left)?, [0-9.kM]+ rows/s{PART}\Z")
            self.assertNotIn(" 0:00 left", line)
        self.assertEqual(left_on_screen(text), "")
        self.assertNotIn("\r", out)
        self.assertTrue(out.startswith("long\n") or "rows of 20 keys" in out)
        self.assertNotIn("rows/s", out)

    def test_json_stays_json(self):
        code, out, text = self.on_terminal("run", "long.yaml", "--no-charts", "--json")
        self.assertEqual((code, out.count("\n"), out[:7]), (0, 1, '{"run":'))
        self.assertGreater(len(frames(text)), 1)

    def test_quiet_or_redirected_output_has_no_progress(self):
        _, _, text = self.on_terminal("run", "long.yaml", "--no-charts", "--quiet")
        self.assertEqual(text.strip(), "")
        self.good("run", "long.yaml", "--no-charts")

    def test_error_is_alone_on_its_line(self):
        code, _, text = self.on_terminal("run", "long.yaml", "--no-charts", "--set",
                                         "expect=[unbucketed.partitions.total < 0]")
        self.assertEqual(code, 1)
        self.assertGreater(len(frames(text)), 1)
        self.assertRegex(left_on_screen(text), r"\Along: 1 of 1 expectation failed\Z")

    def test_line_never_wraps(self):
        for columns in [12, 40, 120]:
            _, _, text = self.on_terminal("run", "long.yaml", "--no-charts", columns=columns)
            drawn = frames(text)
            self.assertGreater(len(drawn), 1)
            self.assertLess(max(map(len, drawn)), columns)

    def test_line_follows_the_terminal_as_it_gets_narrow(self):
        with open(os.path.join(self.folder, "stdout"), "wb") as file:
            terminal = Terminal([PROGRAM, "run", "long.yaml", "--no-charts", "--set", "duration=6000d"], 80, 24,
                                self.folder, self.hasty(), file.fileno())
            self.addCleanup(terminal.close)
            self.assertGreater(max(map(len, frames(terminal.read_until(lambda text: len(frames(text)) > 1)))), 40)
            terminal.resize(40)
            # Some frames may have been drawn already.
            terminal.read_until(lambda text: any(0 < len(line) < 40 for line in frames(text)))
            later = terminal.read_until(lambda text: len(frames(text)) > 3)
        self.assertLess(max(map(len, frames(later))), 40)

    def test_each_long_command_shows_what_it_does(self):
        self.write("sweep.yaml", SMALL + "sweep: {seeds: 25}\n")
        self.write("tune.yaml", "name: sensors\nseed: 4\nduration: 1d\n"
                                "keys: {count: 40, popularity: uniform}\n"
                                "arrivals: {rate: 2/s}\nrow: {bytes: 100}\nlimits: {partition_rows: 3000}\n"
                                "strategies: [unbucketed: {}, probabilistic: {bits: 4, threshold: 40}]\n")
        one = r"(\[[#.]+\] +\d+ %)?(, [0-9:]+ left)?, <?[0-9.kM]+ "
        for words, first, unit in [
                (["run", "long.yaml", "--no-charts"], "long", f"rows/s{PART}"),
                (["replay", "1"], "long", f"rows/s{PART}"),
                (["sweep", "sweep.yaml"], "small", "runs/s"),
                (["check", "long.yaml", "--no-store", "--baseline", "b.db", "--update-baseline"], "(check|seeds)",
                 f"rows/s({PART})?"),
                (["tune", "tune.yaml", "--no-charts"], "sensors", r"(runs|rows)/s(, best so far \S+)?"),
                (["fuzz", "--seeds", "1..100"], "fuzz", "seeds/s")]:
            code, _, text = self.on_terminal(*words)
            drawn = frames(text)
            self.assertEqual(code, 0, text)
            self.assertGreater(len(drawn), 1, words)
            self.assertEqual(drawn[-1], "")
            for line in drawn:
                if line != "":
                    self.assertRegex(line, rf"\A{first} ?{one}{unit}\Z")

    def test_check_shows_how_much_of_a_single_run_is_done(self):
        self.write("agents.yaml", LONG.replace("engine: exact\n", "").replace("60d", "2d") +
                   "agents: {count: 2}\ncluster: {nodes: 1, replication_factor: 1}\n")
        for path in ("long.yaml", "agents.yaml"):
            code, _, text = self.on_terminal("check", path, "--no-store")
            self.assertEqual(code, 0, text)
            shares = [int(share) for share in re.findall(r"\] +(\d+) %", text)]
            self.assertEqual(shares, sorted(shares))
            self.assertTrue(any(0 < share < 100 for share in shares), text)
            self.assertRegex(text, r"check \[#+\.*\] +\d+ %, [0-9:]+ left, [0-9.kM]+ rows/s")

    def test_shrinking_shows_its_tries(self):
        drawn = []
        # The first at which it takes long enough to be seen, on a fast or a busy machine.
        for minutes in [30, 120, 480, 1920, 7680]:
            self.write("single.yaml", f"duration: {minutes}m\n"
                       "strategies: [{probabilistic: {bits: 2, threshold: 5}}]\n")
            code, out, text = self.on_terminal("fuzz", "single.yaml", "--seeds", "1..50", program=BOLD)
            self.assertEqual(code, 1, text)
            self.assertIn("shrunk in", out)
            # The event trace of a finding is a separate run.
            drawn += [line for line in frames(text) if line != "" and not line.startswith("fuzz [")]
            if any(line.startswith("shrinking") for line in drawn):
                break
        for line in drawn:
            self.assertRegex(line, r"\A(shrinking, <?[0-9.]+k? tries|.*rows)/s\Z")
        self.assertTrue(any(line.startswith("shrinking") for line in drawn), drawn)

    def test_without_a_terminal_a_line_comes_every_ten_seconds(self):
        process = self.start("run", "long.yaml", "--no-charts", "--set", "duration=6000d", environment=self.hasty())
        lines = (line.decode() for line in process.stderr if not line.startswith(b"warning: "))
        first = next(lines)
        while not first.startswith(ADVICE):  # on a busy machine the run may not have begun yet
            self.assertRegex(first, rf"\Along +\d+ %.* rows/s{PART}\n\Z")
            first = next(lines)
        self.assertEqual(first, ADVICE + "hashed ids of hash: a shorter duration has fewer, and smaller partitions of "
                         "this strategy\n")
        first = next(lines)
        second = next(lines)
        process.terminate()
        process.communicate()
        for line in (first, second):
            self.assertRegex(line, rf"\Along +\d+ %, \d+:\d\d(:\d\d)? left, [0-9.kM]+ rows/s{PART}\n\Z")


if __name__ == "__main__":
    unittest.main()
