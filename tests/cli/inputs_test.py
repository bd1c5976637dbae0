# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: hostile inputs end with one line of error, or do no harm: FIFOs without a writer, gzip files with
trailing data, truncated files, labels that are spreadsheet formulas or change the direction of text, a stack
that is too small. Method: each of them is made, with a time limit on the program.
"""
import bz2
import csv
import gzip
import io
import json
import lzma
import os
import resource
import subprocess
import unittest
import zipfile

from program import PROGRAM, ProgramTest, program_environment, without_progress

HEADER = b"timestamp_ms,key,bytes\n"
ROWS = b"".join(b"%d,key-%d,%d\n" % (1767225600000 + 1000 * i, i % 3, 100 + i) for i in range(60))
SCENARIO = """\
name: t
trace: {file: NAME}
row: {cells: 3}
strategies:
  - time: {window: 1h}
"""
SYNTHETIC = """\
name: small
duration: 2h
keys: {count: 3}
arrivals: {rate: 0.05/s}
row: {bytes: 100, cells: 3}
limits: {partition_rows: 3000}
strategies:
"""
# Unicode's Bidi_Control, and some deprecated format characters. A scenario must not contain control
# characters.
STEERING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a\u206f"


class InputsTest(ProgramTest):
    def write_bytes(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)

    def trace(self, name, data):
        """A scenario whose trace has these bytes."""
        self.write_bytes(name, data)
        self.write("t.yaml", SCENARIO.replace("NAME", name))

    def err_of(self, *arguments, **options):
        code, _, err = self.run_program(*arguments, **options)
        return code, without_progress(err)

    # --- FIFOs as each kind of input

    def test_fifo_is_refused_at_once(self):
        os.mkfifo(os.path.join(self.folder, "fifo"))
        self.trace("t.csv", HEADER + ROWS)
        self.write("pipe.yaml", SCENARIO.replace("NAME", "fifo"))
        self.write("observed.yaml", "strategies:\n  - observed: {file: fifo}\n")
        self.write("swept.yaml", SCENARIO.replace("NAME", "fifo") + "sweep: {seeds: 2}\n")
        self.write("piped.yaml", SCENARIO.replace("NAME", "fifo") + "agents: {count: 2}\n"
                   "limits: {partition_rows: 3000}\n")
        for arguments in [["run", "fifo"], ["check", "fifo"], ["sweep", "fifo"], ["tune", "fifo"], ["fuzz", "fifo"],
                          ["cql", "fifo"], ["import", "fifo"], ["run", "pipe.yaml"], ["run", "observed.yaml"],
                          ["sweep", "swept.yaml"], ["run", "piped.yaml"], ["check", "piped.yaml"],
                          ["tune", "piped.yaml"],
                          ["run", "/dev/zero"], ["import", "/dev/zero"]]:
            with self.subTest(arguments=arguments):
                code, out, err = self.run_program(*arguments, timed=True)
                self.assertEqual((code, out), (2, ""), err)
                self.assertRegex(err, r"\A[^\n]*(not a regular file|pipe or a device)[^\n]*; [^\n]*\n\Z")
        for arguments in [["show", "1", "--db", "fifo"], ["check", "t.yaml", "--baseline", "fifo"]]:
            with self.subTest(arguments=arguments):
                self.assertIn("fifo: not a regular file; ", self.bad(3, *arguments))

    def run_program(self, *arguments, timed=False, **options):
        if not timed:
            return super().run_program(*arguments, **options)
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=program_environment({}), timeout=30,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_descriptor_of_any_kind_is_read(self):
        """A descriptor may be named explicitly: "-", /dev/stdin and /dev/fd/N."""
        text = SYNTHETIC + "  - time: {window: 1h}\n"
        self.write("s.yaml", text)
        for name in ("-", "/dev/stdin"):
            with self.subTest(name=name):
                done = subprocess.run([PROGRAM, "run", name, "--quiet", "--no-charts"], cwd=self.folder, input=text,
                                      env=program_environment({}), timeout=30, capture_output=True, check=False,
                                      text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                with open(os.path.join(self.folder, "s.yaml"), "rb") as file:
                    self.good("run", name, "--quiet", "--no-charts", stdin=file)
        reader, writer = os.pipe()
        os.write(writer, text.encode())
        os.close(writer)
        self.good("run", f"/dev/fd/{reader}", "--quiet", "--no-charts", pass_fds=[reader])
        os.close(reader)

    def test_import_reads_standard_input(self):
        text = "Percentile  Read Latency     Write Latency          SSTables    Partition Size        Cell Count\n"
        for name in ("-", "/dev/stdin"):
            done = subprocess.run([PROGRAM, "import", name, "--quiet"], cwd=self.folder, input=text, timeout=30,
                                  env=program_environment({}), capture_output=True, check=False, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertTrue(done.stderr.startswith("/dev/stdin:"), done.stderr)

    # --- gzip

    def test_gzip_members_are_one_file_and_anything_else_behind_them_is_refused(self):
        first, second = gzip.compress(HEADER + ROWS[:900]), gzip.compress(ROWS[900:])
        self.trace("t.csv", HEADER + ROWS)
        plain = self.good("run", "t.yaml", "--json", "--quiet", "--no-charts")
        for good in (first + second, gzip.compress(b"") + first + second + gzip.compress(b"")):
            self.trace("t.csv", good)
            self.assertEqual([s["placement_digest"] for s in self.strategies("t.yaml")],
                             [s["placement_digest"] for s in self.parsed(plain)])
        for garbage in (b"\n", b"\0", b"\0" * 512, b"\x1f", b"\x1f\x8c", ROWS, b"x" * 200000):
            with self.subTest(garbage=garbage[:8]):
                self.trace("t.csv", first + second + garbage)
                line = self.bad(2, "run", "t.yaml", "--quiet", "--no-charts")
                self.assertRegex(line, rf"\At\.csv:\d+: the gzip data end at byte {len(first + second)}, and what "
                                       r"follows is not gzip; copy or make the file again\Z")
        for cut in (first + second[:-1], first + second[:9], first + b"\x1f\x8b", first[:-4]):
            self.trace("t.csv", cut)
            self.assertIn(": gzip file is truncated; ", self.bad(2, "run", "t.yaml", "--quiet", "--no-charts"))
        broken = bytearray(first)
        broken[-6] ^= 1
        self.trace("t.csv", bytes(broken))
        self.assertIn(": gzip file is damaged; ", self.bad(2, "run", "t.yaml", "--quiet", "--no-charts"))

    def test_each_compression_is_read_and_refused_when_cut_or_damaged(self):
        def zipped(method, *names):
            with io.BytesIO() as out:
                with zipfile.ZipFile(out, "w", method) as archive:
                    for name in names:
                        archive.writestr(name, b"" if name.endswith("/") else HEADER + ROWS)
                return out.getvalue()

        deflated = zipped(zipfile.ZIP_DEFLATED, "folder/", "folder/t.csv", "__MACOSX/._t.csv")
        self.trace("t.csv", HEADER + ROWS)
        plain = [s["placement_digest"] for s in self.strategies("t.yaml")]
        for kind, good in (
            ("bzip2", bz2.compress(HEADER + ROWS[:900]) + bz2.compress(ROWS[900:])),
            ("xz", lzma.compress(HEADER + ROWS[:900]) + lzma.compress(ROWS[900:])),
            ("zip", zipped(zipfile.ZIP_STORED, "t.csv")),
            ("zip", deflated),
        ):
            with self.subTest(kind=kind):
                self.trace("t.csv", good)
                self.assertEqual([s["placement_digest"] for s in self.strategies("t.yaml")], plain)
                self.trace("t.csv", good[:300])
                self.assertIn(f": {kind} file is truncated; ", self.bad(2, "run", "t.yaml", "--quiet", "--no-charts"))
        broken = bytearray(zipped(zipfile.ZIP_STORED, "t.csv"))
        broken[-200] ^= 1
        for kind, bad, cure in (
            ("zip", bytes(broken), "is damaged"),
            ("xz", bytes.fromhex("fd377a585a000004e6d6b446020021011f000000fe60edde"),
             "with a dictionary above 128 MiB"),
            ("zip", zipped(zipfile.ZIP_DEFLATED, "a.csv", "b.csv"), "holds several files"),
            ("zip", zipped(zipfile.ZIP_DEFLATED, "[Content_Types].xml", "xl/a.xml"), "is a spreadsheet"),
        ):
            self.trace("t.csv", bad)
            self.assertIn(f": {kind} file {cure}; ", self.bad(2, "run", "t.yaml", "--quiet", "--no-charts"))

    def strategies(self, name):
        return self.parsed(self.good("run", name, "--json", "--quiet", "--no-charts"))

    @staticmethod
    def parsed(text):
        return json.loads(text)["strategies"]

    # --- a last line without its line break

    def test_last_line_without_line_break_is_used_and_reported(self):
        cases = [(HEADER + ROWS, False), (HEADER + ROWS[:-1], True), (HEADER + ROWS[:-2], True),
                 (gzip.compress(HEADER + ROWS[:-1]), False)]
        for data, is_told in cases:
            self.trace("t.csv", data)
            self.write("w.yaml", SCENARIO.replace("name: t", "name: w").replace("NAME", "t.csv")
                       + "sweep: {seeds: 1}\n")
            for arguments in [["run", "t.yaml", "--no-charts"],
                              ["check", "t.yaml", "--no-store", "--set", "expect=[time.partitions.total > 0]"],
                              ["sweep", "w.yaml", "--db", f"{len(data)}.db"]]:
                with self.subTest(arguments=arguments, size=len(data)):
                    code, err = self.err_of(*arguments)
                    warning = "warning: t.csv: the last line has no line break; it is used as it is, check that it " \
                              "was not cut off\n"
                    self.assertEqual((code, err), (0, warning if is_told else ""))
            self.assertEqual(self.err_of("run", "t.yaml", "--no-charts", "--quiet"), (0, ""))
        self.trace("t.csv", HEADER + ROWS[:-3])  # "...,1", where 159 stood
        self.assertEqual(self.err_of("run", "t.yaml", "--no-charts")[0], 0)
        self.trace("t.csv", HEADER + ROWS[:-4])
        self.assertIn("t.csv:61: bytes is empty", self.bad(2, "run", "t.yaml", "--no-charts"))

    # --- spreadsheets

    def test_labels_that_are_formulas_are_text_in_csv(self):
        formulas = ["=1+1", "@SUM(1)", "+cmd|' /C calc'!A0", "-2+3", "=HYPERLINK(\"http://x\",\"y\")", "--5", "+"]
        plain = ["-5", "+1.5e3", "1=1", "a@b", "5", " =1"]
        text = SYNTHETIC + "".join(f"  - time: {{window: {i + 1}h, label: '{label.replace(chr(39), chr(39) * 2)}'}}\n"
                                   for i, label in enumerate(formulas + plain))
        self.write("s.yaml", text)
        self.good("run", "s.yaml", "--no-charts", "--quiet")
        wanted = {"'" + label for label in formulas} | set(plain)
        for arguments in [["export", "last"], ["export", "last", "--metrics"]]:
            rows = list(csv.reader(io.StringIO(self.good(*arguments), newline="")))
            self.assertEqual({row[0] for row in rows[1:]}, wanted)
            for row in rows[1:]:
                float(row[-1] or 0)  # figures are unchanged
        self.write("w.yaml", text + "sweep: {seeds: 3}\n")
        self.good("sweep", "w.yaml", "--quiet", "--csv", "o.csv")
        with open(os.path.join(self.folder, "o.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        self.assertEqual({row[2] for row in rows[1:]}, wanted)
        self.assertTrue(all(float(cell or 0) is not None for row in rows[1:] for cell in row[4:]))

    # --- control characters in the output

    def test_control_characters_are_removed_from_output(self):
        label = "ok" + STEERING + "end"
        text = SYNTHETIC + f"  - time: {{window: 1h, label: \"{label}\"}}\nabout: \"x{STEERING}y\"\n"
        text = text.replace("name: small", f"name: \"n{STEERING}\"").replace("strategies", f"# {STEERING}\nstrategies")
        self.write("s.yaml", text)
        told = self.good("run", "s.yaml", "--quiet", "--out", "p", "--format", "svg,html")
        self.assertIn("ok" + "?" * len(STEERING) + "end", told)
        self.good("check", "s.yaml", "--quiet", "--junit", "o.xml", "--no-store")
        parts = [told, self.good("show", "last"), self.good("runs"), self.good("cql", "s.yaml")]
        for name in self.files():
            if name.endswith((".svg", ".html", ".xml")):
                with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                    parts.append(file.read())
        self.assertGreater(len(parts), 8)
        for part in parts:
            self.assertEqual([hex(ord(c)) for c in part if c in STEERING], [])
        # The label itself is data: JSON contains it unchanged.
        self.assertEqual(self.good_json("show", "last", "--json")["strategies"][0]["label"], label)

    def test_control_characters_are_removed_from_errors(self):
        for arguments in [["run", f"no{STEERING}.yaml"], ["run", "--set", f"x{STEERING}=1", "s.yaml"],
                          [f"x{STEERING}"], ["export", "1", "--db", f"x{STEERING}\x1b[2J"],
                          ["run", "a\nb\x7f\u009b2J.yaml"]]:
            code, out, err = self.run_program(*arguments)
            self.assertIn(code, (2, 3))
            self.assertRegex(err, r"\A[^\n]+\n\Z")
            self.assertEqual([hex(ord(c)) for c in out + err if c in STEERING + "\x1b\x7f\u009b"], [])

    def test_small_stack_is_enough(self):
        self.write("s.yaml", SYNTHETIC + "  - time: {window: 1h}\n")
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_STACK, (512 * 1024, 512 * 1024))}
        self.good("run", "s.yaml", "--quiet", "--format", "png,svg,html", "--jobs", "4", **limit)
        self.good("fuzz", "--seeds", "1..3", "--quiet", **limit)


if __name__ == "__main__":
    unittest.main()
