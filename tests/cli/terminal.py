# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a process on a pseudo-terminal, as a user would."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

PATIENCE_S = 60


class Terminal:
    """stdin and stderr of the process are the terminal; stdout too, unless a file replaces it."""

    def __init__(self, words, columns=80, rows=24, folder=None, environment=None, stdout=None):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                if folder is not None:
                    os.chdir(folder)
                if stdout is not None:
                    os.dup2(stdout, 1)
                # The parent sets the size, and signals when it is set.
                os.read(0, 1)
                os.execvpe(words[0], words, {**os.environ, "TERM": "xterm", **(environment or {})})
            finally:
                os._exit(127)
        self.resize(columns, rows)
        settings = termios.tcgetattr(self.fd)
        os.write(self.fd, b"\n")
        time.sleep(0.05)
        settings[1] &= ~termios.ONLCR
        termios.tcsetattr(self.fd, termios.TCSANOW, settings)

    def resize(self, columns, rows=24):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def read(self, seconds):
        """The output within that time, at most; "" at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return None
        try:
            new = os.read(self.fd, 65536).decode(errors="replace")
        except OSError:  # EIO: the process has ended
            return ""
        self.text += new
        return new

    def read_until(self, is_there, patience_s=PATIENCE_S):
        """All output since the last call, as soon as is_there(output); fails after PATIENCE_S."""
        begin, end = len(self.text), time.monotonic() + patience_s
        while not is_there(self.text[begin:]):
            if time.monotonic() > end or self.read(0.2) == "":
                raise AssertionError(f"not seen on the terminal: {self.text[begin:]!r}")
        return self.text[begin:]

    def read_all(self):
        """Reads until the process ends; returns its exit code."""
        end = time.monotonic() + PATIENCE_S
        while self.read(0.2) != "":
            if time.monotonic() > end:
                raise AssertionError(f"still runs: {self.text!r}")
        return self.close()

    def close(self):
        if self.pid == 0:
            return None
        os.close(self.fd)
        for _ in range(100):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.pid = 0
        return None
