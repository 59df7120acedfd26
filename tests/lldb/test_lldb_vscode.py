# SPDX-License-Identifier: MIT
"""The plug-in inside lldb-vscode: an editor that speaks the Debug Adapter Protocol sees managed frames.

HEAPDUMP_LLDB_VSCODE names another adapter than lldb-vscode-14 to run the same tests in.
"""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gdb"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.dont_write_bytecode = True

import support  # noqa: E402
import targets  # noqa: E402

ADAPTER = os.environ.get("HEAPDUMP_LLDB_VSCODE", "lldb-vscode-14")
PLUGIN = str(support.BUILD / "libheapdump_lldb.so")
# lldb-plugin/README.md says so: the first command about code gives LLDB the managed code.
COMMANDS = ["thread info"]


class Adapter:
    """The adapter, and an editor's side of the protocol."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [ADAPTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=support.ENVIRONMENT,
        )
        self._number = 0

    def ask(self, command: str, **arguments: Any) -> Any:
        """The body of the response to a request; events in front of it are left out."""
        self._number += 1
        request = {"type": "request", "seq": self._number, "command": command}
        data = json.dumps({**request, "arguments": arguments}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()
        while True:
            message = self._read()
            if message["type"] == "response" and message["request_seq"] == self._number:
                assert message["success"], message
                return message.get("body")

    def _read(self) -> Any:
        size = 0
        assert self._process.stdout is not None
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        assert size, "the adapter has ended"
        return json.loads(self._process.stdout.read(size))

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


class DotnetCoreTest(unittest.TestCase):
    """Cores of .NET programs, where they have been made."""

    def open(self, path: str) -> Adapter:
        adapter = Adapter()
        self.addCleanup(adapter.end)
        adapter.ask("initialize", adapterID="lldb")
        commands = {"initCommands": ["plugin load " + PLUGIN], "postRunCommands": COMMANDS}
        adapter.ask("attach", coreFile=path, **commands)
        adapter.ask("configurationDone")
        return adapter

    def test_frames_have_names_and_lines(self) -> None:
        path = targets.core("hang10-mixed-heap")
        if path is None:
            return
        stack = targets.document(targets.shell(path, "clrstack", "-all", "-full", "--json"))
        adapter = self.open(path)
        numbers = {thread["id"] for thread in adapter.ask("threads")["threads"]}
        lines = 0
        for thread in stack["threads"]:
            self.assertIn(thread["os_id"], numbers)
            found = adapter.ask("stackTrace", threadId=thread["os_id"])["stackFrames"]
            rows = [
                (row["name"], row.get("source", {}).get("path"), row["line"])
                for row in found
                if not (row["name"] or "___").startswith("___")
            ]
            for frame in thread["frames"]:
                if frame["kind"] != "managed":
                    continue
                name = frame["method"].partition("(")[0]
                if frame.get("line"):
                    lines += 1
                    self.assertIn((name, frame["file"], frame["line"]), rows)
                else:
                    self.assertIn(name, [row[0] for row in rows])
        self.assertGreater(lines, 10)

    def test_variables_have_values(self) -> None:
        path = targets.core("vars10-heap")
        if path is None:
            return
        adapter = self.open(path)
        frames = [
            frame
            for thread in adapter.ask("threads")["threads"]
            for frame in adapter.ask("stackTrace", threadId=thread["id"])["stackFrames"]
        ]
        frame = next(f for f in frames if f["name"] == "Plain.Holder.Objects")
        scopes = adapter.ask("scopes", frameId=frame["id"])["scopes"]
        number = next(s for s in scopes if s["name"] == "Locals")["variablesReference"]
        rows = adapter.ask("variables", variablesReference=number)["variables"]
        values = {row["name"]: row["value"] for row in rows}
        self.assertIn('"text"', values["text"])
        self.assertIn("77", values["maybe"])
        self.assertIn("Count = 1", values["list"])


if __name__ == "__main__":
    if shutil.which(ADAPTER) is None:
        print(f"skipped: no {ADAPTER}")
        sys.exit(77)
    unittest.main()
