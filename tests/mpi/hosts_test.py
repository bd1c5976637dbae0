# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: ranks on several hosts work together over a network, and the loss of a rank ends the job. Method: two
network namespaces with a virtual link represent the hosts, and a script that enters a namespace represents
the remote shell. Skipped where namespaces cannot be created. `slow`: the link is cut in the middle of a
sweep.
"""
import json
import os
import re
import sqlite3
import subprocess
import time
import unittest

from mpirun import IS_SLOW, MpiTest
import program
from program import SMALL

SWEEP = SMALL.replace("duration: 2d", "duration: 8d") + "sweep: {seeds: 30}\n"
AGENT = """\
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
case $1 in 10.99.77.1) name=FIRST ;; *) name=SECOND ;; esac
shift
exec ip netns exec $name sh -c "$*"
"""


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


def without_mpirun(text):
    """Removes the message of a race in mpirun: a process on another host may end before it is given a process
    group."""
    return re.sub(r"^\[\S+:\d+\] plm:rsh: Warning: setpgid.*\n", "", text, flags=re.MULTILINE)


class HostsTest(MpiTest):
    def setUp(self):
        super().setUp()
        self.names = [f"bkl{os.getpid()}{letter}" for letter in "ab"]
        self.addCleanup(self.remove_hosts)
        for number, name in enumerate(self.names, 1):
            made = ip("netns", "add", name)
            if made.returncode != 0:
                self.skipTest(f"no network namespace can be made: {made.stderr.strip()}")
        a, b = self.names
        steps = [["link", "add", f"v{a}"[:15], "netns", a, "type", "veth", "peer", "name", f"v{b}"[:15], "netns", b]]
        for number, name in enumerate(self.names, 1):
            wire = f"v{name}"[:15]
            steps += [["-n", name, "addr", "add", f"10.99.77.{number}/24", "dev", wire],
                      ["-n", name, "link", "set", wire, "up"], ["-n", name, "link", "set", "lo", "up"]]
        for step in steps:
            done = ip(*step)
            if done.returncode != 0:
                self.skipTest(f"no wire between namespaces: {done.stderr.strip()}")
        # Called like a remote shell: options, the host, the command.
        self.agent = self.write("agent.sh", AGENT.replace("FIRST", a).replace("SECOND", b))
        os.chmod(self.agent, 0o755)

    def remove_hosts(self):
        for name in self.names:
            ip("netns", "del", name)

    def start_hosts(self, *arguments, ranks=4):
        """Starts mpirun within the first host."""
        settings = {"plm_rsh_agent": self.agent, "plm_rsh_no_tree_spawn": "1", "btl": "self,tcp",
                    "osc": "^ucx",  # it takes the namespaces for one host
                    "btl_tcp_if_include": "10.99.77.0/24", "oob_tcp_if_include": "10.99.77.0/24",
                    "oob_tcp_keepalive_time": "3", "oob_tcp_keepalive_intvl": "1", "oob_tcp_keepalive_probes": "3"}
        extra = ["--map-by", "node", "--host", "10.99.77.1:2,10.99.77.2:2"]
        for name, value in settings.items():
            extra += ["--mca", name, value]
        words = ["ip", "netns", "exec", self.names[0], "mpirun", "-q", "--allow-run-as-root", "--oversubscribe", *extra,
                 "-n", str(ranks), program.PROGRAM, *arguments]
        kept, program.PROGRAM = program.PROGRAM, words[0]
        try:
            return self.start(*words[1:])
        finally:
            program.PROGRAM = kept

    def test_hosts_do_what_one_process_does(self):
        self.write("s.yaml", SWEEP)
        alone = self.good_json("sweep", "s.yaml", "--json", "--quiet", "--db", "alone.db")
        process = self.start_hosts("sweep", "s.yaml", "--json", "--quiet")
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, without_mpirun(err.decode())), (0, ""))
        self.assertEqual(json.loads(out), alone)
        run = ["run", "s.yaml", "--json", "--quiet", "--no-charts"]
        alone = self.run_program(*run, "--db", "run.db")
        process = self.start_hosts(*run, "--db", "runs.db")
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out.decode(), without_mpirun(err.decode())), alone)

    @unittest.skipUnless(IS_SLOW, "slow")
    def test_lost_network_connection_ends_the_job(self):
        self.write("s.yaml", SWEEP.replace("8d", "400d"))
        process = self.start_hosts("sweep", "s.yaml", "--json", "--quiet")
        path = os.path.join(self.folder, "bucketlab.db-wal")
        while process.poll() is None and not os.path.exists(path):
            time.sleep(0.02)
        ip("-n", self.names[1], "link", "set", f"v{self.names[1]}"[:15], "down")
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        connection = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        connection.close()


if __name__ == "__main__":
    unittest.main()
