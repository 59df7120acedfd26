# SPDX-License-Identifier: MIT
"""A small client of ChromeDriver (W3C WebDriver): what the tests of pages need, with Python's own library."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import urllib.request
from typing import Any

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
# Without these, Chromium asks its maker for updates at each start.
ARGUMENTS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --hide-scrollbars --force-prefers-reduced-motion""".split()
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
TIMEOUT = 300


class Browser:
    """One Chromium, with a new profile."""

    def __init__(self) -> None:
        assert DRIVER and CHROMIUM
        # pylint: disable=consider-using-with
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._driver = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._driver.stdout
        port = ""
        for line in self._driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                port = found.group(1)
                break
        self._base = f"http://127.0.0.1:{port}/session"
        options = {
            "binary": CHROMIUM,
            "args": ARGUMENTS + [f"--user-data-dir={self._folder.name}"],
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": 1000 * TIMEOUT},
        }
        answer = self._ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self._base += "/" + answer["sessionId"]

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._base + path, data, {"Content-Type": "application/json"}, method=method
        )
        # A proxy has nothing to do with this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=TIMEOUT) as reply:
            return json.load(reply)["value"]

    def close(self) -> None:
        """End the browser and its driver."""
        try:
            self._ask("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(TIMEOUT)
            if self._driver.stdout:
                self._driver.stdout.close()
            self._folder.cleanup()

    def open(self, url: str) -> None:
        """Show a page."""
        self._ask("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page; its policy does not apply to it."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script: str, *arguments: Any) -> Any:
        """The same, of one that calls its last argument when it is done."""
        return self._ask("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def find(self, selector: str) -> list[dict[str, str]]:
        """All elements of a CSS selector."""
        found: list[dict[str, str]] = self._ask(
            "POST", "/elements", {"using": "css selector", "value": selector}
        )
        return found

    def click(self, element: dict[str, str]) -> None:
        """Click as a person does."""
        self._ask("POST", f"/element/{element[ELEMENT]}/click", {})

    def type(self, element: dict[str, str], text: str) -> None:
        """Type into an element; WebDriver has characters for keys."""
        self._ask("POST", f"/element/{element[ELEMENT]}/value", {"text": text})

    def press(self, key: str) -> None:
        """Press a key, wherever the focus is."""
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": keys}]})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width: int, height: int) -> None:
        """The size of the page, also one that is narrower than windows can be."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def log(self) -> list[dict[str, Any]]:
        """Lines that the page has written to the console since the last time."""
        entries: list[dict[str, Any]] = self._ask("POST", "/se/log", {"type": "browser"})
        return entries
