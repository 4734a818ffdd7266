"""Drives Debian's chromium over the pipe of its DevTools protocol, without a network but for this machine."""

import base64
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time


class Browser:
    """A headless chromium with one page at a time."""

    def __init__(self, program="chromium"):
        self.profile = tempfile.mkdtemp()
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        options = [
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--disable-extensions",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={self.profile}",
            "--remote-debugging-pipe", "--js-flags=--max-old-space-size=4096", "about:blank",
        ]
        self.log = open(os.path.join(self.profile, "log"), "wb")
        self.process = subprocess.Popen(
            ["bash", "-c", f"exec {shlex.join(options)} 3<&{to_browser} 4>&{from_browser}"],
            pass_fds=(to_browser, from_browser), stdout=self.log, stderr=self.log,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        targets = self.ask("Target.getTargets")["targetInfos"]
        target = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def close(self):
        try:
            self.session = None
            self.ask("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self):
        """The next message of the browser."""
        while b"\0" not in self.buffer:
            chunk = os.read(self.input, 1 << 20)
            if not chunk:
                raise RuntimeError("chromium has ended")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        """Opens a page, and waits until its scripts have run."""
        self.events = []
        self.ask("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """The value of a script, which may be a promise."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(f"{script[:100]}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, condition, seconds=30):
        """Waits until a script is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(f"!!({condition})"):
                return
            time.sleep(0.05)
        raise RuntimeError(f"not within {seconds} s: {condition}")

    def messages(self):
        """What scripts, styles and the page's policy complained about."""
        self.run("0")
        found = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event.get("method") == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled":
                found.append(str([argument.get("value") for argument in event["params"]["args"]]))
        return found

    def requests(self):
        """The URLs that the page asked for."""
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]

    def key(self, key, modifiers=0):
        """Presses a key."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35, "PageDown": 34}
        event = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **event)

    def write(self, text):
        """Writes into the place that has the keyboard."""
        self.ask("Input.insertText", text=text)

    def size(self, width, height, dark=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, file):
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        with open(file, "wb") as output:
            output.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))
