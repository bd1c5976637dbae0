# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: docs/github-workflow.yml does what docs/check.md says. Method: its steps are taken from the YAML and
run one after the other in a clean clone, as the runner would: `run` by bash -e, with the workflow's `env` and
its `if`. The actions are replaced: by a clone, a cache that hits or misses, and a check of the upload. The
build is the program under test, at the place of the real one. Quick scenarios replace those that the file
names.
"""
import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from program import PROGRAM, SOURCE, ProgramTest, program_environment

try:
    import yaml
except ImportError:
    yaml = None

WORKFLOW = os.path.join(SOURCE, "docs", "github-workflow.yml")
SCENARIOS = "scenarios/small-trace.yaml scenarios/likes-readers.yaml"
ACTIONS = {"actions/checkout@v4", "actions/cache@v4", "actions/upload-artifact@v4"}

# `cmake --build` returns the existing program; all other commands are passed to the real cmake.
CMAKE = """\
#!/bin/bash
if [ "$1" = --build ]; then
    [ "$*" = "--build --preset release --target bucketlab" ] || { echo "cmake $*: not foreseen" >&2; exit 9; }
    [ -f build/release/build.ninja ] || { echo "cmake --build before anything is configured" >&2; exit 9; }
    cp "$PROGRAM" build/release/bucketlab
else
    exec "$REAL_CMAKE" "$@"
fi
"""


@unittest.skipUnless(yaml, "no Python module yaml")
@unittest.skipUnless(os.path.isdir(os.path.join(SOURCE, ".git")), "the sources are no clone")
class WorkflowTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        place = tempfile.mkdtemp(prefix="bucketlab-workflow-")
        cls.addClassCleanup(shutil.rmtree, place)
        cls.checked_out = os.path.join(place, "clone")
        subprocess.run(["git", "clone", "-q", SOURCE, cls.checked_out], check=True)

    def setUp(self):
        super().setUp()
        with open(WORKFLOW, encoding="utf-8") as file:
            self.workflow = yaml.safe_load(file)
        self.clone = os.path.join(self.folder, "clone")
        shutil.copytree(self.checked_out, self.clone, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        tools = os.path.join(self.folder, "tools")
        os.mkdir(tools)
        with open(os.path.join(tools, "cmake"), "w", encoding="utf-8") as file:
            file.write(CMAKE)
        os.chmod(file.name, stat.S_IRWXU)
        self.environment = program_environment({**self.workflow["env"], "SCENARIOS": SCENARIOS, "PROGRAM": PROGRAM,
                                                "PATH": tools + ":" + os.environ["PATH"],
                                                "REAL_CMAKE": shutil.which("cmake") or ""})

    def is_due(self, step, has_failed, is_cached):
        condition = step.get("if", "success()")
        known = {"success()": not has_failed, "failure()": has_failed, "always()": True,
                 "steps.cache.outputs.cache-hit != 'true'": not has_failed and not is_cached}
        self.assertIn(condition, known)
        return known[condition]

    def run_steps(self, is_cached):
        """The names of the steps that ran; the name of the step that failed, or None; and the output of all.
        """
        ran, failed, text, program = [], None, "", os.path.join(self.clone, "build", "release", "bucketlab")
        for step in self.workflow["jobs"]["gate"]["steps"]:
            if not self.is_due(step, failed is not None, is_cached):
                continue
            ran.append(step["name"])
            if "uses" in step:
                self.assertIn(step["uses"], ACTIONS)
                if step["uses"].startswith("actions/cache"):
                    self.assertEqual(os.path.join(self.clone, step["with"]["path"]), program)
                    if is_cached:
                        os.makedirs(os.path.dirname(program), exist_ok=True)
                        shutil.copy(PROGRAM, program)
                continue
            run = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=self.clone, env=self.environment, timeout=250,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            text += run.stdout
            if run.returncode != 0:
                failed = step["name"]
        return ran, failed, text

    def uploaded(self):
        upload = self.workflow["jobs"]["gate"]["steps"][-1]
        self.assertEqual(upload["if"], "always()")
        root = os.path.join(self.clone, upload["with"]["path"])
        return sorted(os.path.relpath(os.path.join(folder, name), root)
                      for folder, _, names in os.walk(root) for name in names)

    def make_baseline(self):
        with open(os.path.join(SOURCE, "docs", "check.md"), encoding="utf-8") as file:
            lines = re.findall(r"^\$ bucketlab (check .*--update-baseline)$", file.read(), re.M)
        env = self.workflow["env"]
        self.assertIn(f"check {env['SCENARIOS']} --baseline {env['BASELINE']} --update-baseline", lines)
        subprocess.run([PROGRAM, "check", *SCENARIOS.split(), "--baseline", env["BASELINE"], "--update-baseline",
                        "--no-store", "--quiet"], cwd=self.clone, check=True, stdout=subprocess.DEVNULL)

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_passed_check_is_green_and_keeps_its_report(self):
        for path in self.workflow["env"]["SCENARIOS"].split():
            self.assertTrue(os.path.isfile(os.path.join(self.clone, path)), path)
        self.make_baseline()
        ran, failed, text = self.run_steps(is_cached=False)
        self.assertIsNone(failed, text)
        self.assertEqual(ran, ["Check out", "Install", "Find a build of these sources", "Build", "Check",
                               "Keep the report"])
        self.assertIn(": all pass\n", text)
        self.assertEqual(self.uploaded(), ["junit.xml", "runs.db"])

    def test_failed_check_is_red_and_keeps_its_charts(self):
        self.make_baseline()
        path = os.path.join(self.clone, "scenarios", "small-trace.yaml")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("count.partitions.closed.rows.max == 200", "count.partitions.closed < 0"))
        ran, failed, text = self.run_steps(is_cached=True)
        self.assertEqual(failed, "Check", text)
        self.assertNotIn("Build", ran)
        self.assertEqual(ran[-2:], ["Draw what was found", "Keep the report"])
        self.assertIn("\nagain: bucketlab run scenarios/small-trace.yaml --seed ", text)
        kept = self.uploaded()
        self.assertTrue({"junit.xml", "runs.db"} <= set(kept))
        self.assertTrue(any(re.match(r"charts/small-trace-.*\.png", name) for name in kept), kept)
        suites = ElementTree.parse(os.path.join(self.clone, "report", "junit.xml")).getroot()
        failed = [case.get("name") for case in suites.findall("testsuite/testcase[failure]")]
        # The baseline expected something else.
        self.assertEqual(failed, ["expect: count.partitions.closed < 0", "baseline: scenario"])

    def test_check_without_a_baseline_is_red_and_says_what_to_do(self):
        ran, failed, text = self.run_steps(is_cached=True)
        self.assertEqual(failed, "Check", text)
        self.assertTrue(text.endswith("scenarios/baseline.db: no such baseline; make it by the same command with "
                                      "--update-baseline\n"), text)
        self.assertEqual(ran[-1], "Keep the report")
        self.assertEqual(self.uploaded(), [])


if __name__ == "__main__":
    unittest.main()
