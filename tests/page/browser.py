# SPDX-License-Identifier: GPL-3.0-or-later
"""One headless Chromium, driven through chromedriver's W3C interface over HTTP, with only the standard
library.
"""
import base64
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

MISSING = "no chromium: apt-get install chromium chromium-driver"
SWITCHES = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
            "--remote-debugging-pipe", "--hide-scrollbars", "--force-color-profile=srgb"]
# Named keys, with the key codes that Chromium also needs.
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
        "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
TAB, SHIFT_KEY = "\ue004", "\ue008"  # as WebDriver names them
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
STARTED = re.compile(rb"started successfully on port (\d+)")


def programs():
    """Chromium and chromedriver, or None."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    return (chromium, driver) if chromium and driver else None


class Browser:
    """Opens a page, queries it by JavaScript, and uses it by keyboard and mouse. close() ends the processes.
    """

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="bucketlab-chromium-")
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.session = self.chromium = self.is_read = None
        chromium, driver = programs()
        # If this process is killed, chromedriver is killed too, and Chromium ends when its pipe closes.
        self.driver = subprocess.Popen([driver, "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        try:
            self.address = f"http://127.0.0.1:{self.read_port()}"
            self.begin(chromium)
        except BaseException:
            self.close()
            raise

    def read_port(self):
        said = b""
        for line in self.driver.stdout:
            said += line
            found = STARTED.search(line)
            if found:
                return int(found.group(1))
        raise RuntimeError(f"chromedriver did not start: {said.decode(errors='replace')}")

    def begin(self, chromium):
        options = {"binary": chromium, "args": [*SWITCHES, f"--user-data-dir={self.profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        answer = self.send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{answer['sessionId']}"
        self.chromium = answer["capabilities"].get("goog:processID")
        self.devtools("Emulation.setFocusEmulationEnabled", enabled=True)

    def close(self):
        try:
            if self.session is not None:
                self.send("DELETE", self.session)
        except (OSError, RuntimeError):
            if self.chromium is not None:
                os.kill(self.chromium, signal.SIGKILL)
        self.driver.terminate()
        self.driver.wait(timeout=10)
        self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, path, body=None):
        data = None if method == "DELETE" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with self.opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            told = json.load(error)["value"]
            raise RuntimeError(f"{told['error']}: {told['message'].splitlines()[0]}") from None

    def devtools(self, command, **parameters):
        """Sends a command of the DevTools protocol."""
        return self.send("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path, is_read=False):
        """Opens a file, without the logs of the former page; a file that is only read once for all its readers
        in a row."""
        if is_read and self.is_read == path:
            return
        self.is_read = path if is_read else None
        self.logs("browser")
        self.logs("performance")
        self.send("POST", f"{self.session}/url", {"url": pathlib.Path(path).as_uri()})

    def run(self, script, *arguments):
        """Runs a function body and returns its result as JSON."""
        return self.send("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def evaluate(self, expression):
        """The value of an expression, which also works on a page whose own scripts are off."""
        answer = self.devtools("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"]["value"]

    def logs(self, kind):
        return self.send("POST", f"{self.session}/se/log", {"type": kind})

    def complaints(self):
        """The console's warnings and errors, including violations of the content security policy."""
        return [entry["message"] for entry in self.logs("browser") if entry["level"] in ("WARNING", "SEVERE")]

    def requests(self):
        """The addresses that were requested since open()."""
        messages = [json.loads(entry["message"])["message"] for entry in self.logs("performance")]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def press(self, key):
        press = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"Enter": "\r", " ": " "}.get(key)
        self.devtools("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown",
                      **press, **({"text": text} if text else {}))
        self.devtools("Input.dispatchKeyEvent", type="keyUp", **press)

    def tab(self, times, shift=False):
        """Presses Tab this many times, in one request."""
        keys = [{"type": kind, "value": TAB} for _ in range(times) for kind in ("keyDown", "keyUp")]
        if shift:
            keys = [{"type": "keyDown", "value": SHIFT_KEY}, *keys, {"type": "keyUp", "value": SHIFT_KEY}]
        self.send("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]})

    def point(self, x, y):
        """Moves the mouse to a point in the window."""
        self.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        self.point(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.devtools("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def size(self, width, height, mobile=False):
        """Sets the page's size, which may be less than the least width of a real window."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=mobile)

    def prefer(self, scheme="light", media=""):
        """Emulates the reader's preferences: "light" or "dark"; "print" too."""
        self.devtools("Emulation.setEmulatedMedia", media=media,
                      features=[{"name": "prefers-color-scheme", "value": scheme}])

    def scripts(self, are_on):
        """Switches scripts on or off from the next page on."""
        self.devtools("Emulation.setScriptExecutionDisabled", value=not are_on)

    def pdf(self, path, **settings):
        answer = self.devtools("Page.printToPDF", printBackground=True, preferCSSPageSize=True, **settings)
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))

    def shot(self, whole=True):
        """A screenshot of the page, or of its window, as PNG in base 64."""
        return self.devtools("Page.captureScreenshot", captureBeyondViewport=whole,
                             optimizeForSpeed=True)["data"]

    def wait(self, script, *arguments, seconds=5):
        """Repeats the query until the answer is true."""
        end = time.monotonic() + seconds
        while True:
            answer = self.run(script, *arguments)
            if answer or time.monotonic() > end:
                return answer
            time.sleep(0.02)


def die_with_parent():
    ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
