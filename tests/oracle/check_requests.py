#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare dumphttp and dumprequests with what corefiles/apps/web said of its own requests.

    check_requests.py [--program HEAPDUMP] [CORE...]

NAME.truth.json next to each core has the requests that its clients sent and its server got. All of them must be there
with method, URI, version, status and state, and no others. Without CORE: web*.core of corefiles/build, or of
$COREFILES. Exit status 1 when anything differs, 77 without cores.
"""
from __future__ import annotations

import pathlib
import sys
from typing import Iterable, Iterator

from session import Json, ask, check_cores, truth_of

# The program waits half a second before it says READY.
AGE_MIN = 400


def differences(what: str, said: Iterable[object], found: Iterable[object]) -> Iterator[str]:
    """Rows that one side has and the other has not; each as often as it comes."""
    ours, theirs = sorted(map(str, found)), sorted(map(str, said))
    for row in theirs:
        if row in ours:
            ours.remove(row)
        else:
            yield f"{what}: {row} is missing"
    for row in ours:
        yield f"{what}: {row} is too many"


def status_of(asked: Json) -> int | None:
    """The server answers 202 at once to those that ask for a slow body, and nothing to the others."""
    return 202 if "slow=body" in asked["uri"] else None


def wrong_age(row: Json, is_11: bool) -> Iterator[str]:
    """
    How long a request has lasted at least.  The heap of .NET 11 may hold no later time than that of its begin, and when
    the headers have come, HttpClient has ended what knew the begin.
    """
    age = row["age_at_least"]
    if is_11 and age is None and row["status"]:
        return
    if age is None or not (0 if is_11 else AGE_MIN) <= age < 600_000:
        yield f"client: {row['uri']} is {age} ms old"


def wrong_client(truth: Json, answer: Json) -> Iterator[str]:
    """The requests of both clients, and their pools."""
    rows = [row for row in answer["requests"] if row["state"]]
    yield from differences(
        "client",
        (
            (
                asked["method"],
                asked["uri"],
                asked["version"],
                "queued" if asked["queued"] else "in flight",
                status_of(asked),
            )
            for asked in truth["asked"]
        ),
        ((row["method"], row["uri"], row["version"], row["state"], row["status"]) for row in rows),
    )
    for row in rows:
        if (row["connection"] is None) != (row["state"] == "queued") or not row["pool"]:
            yield f"client: {row['uri']} has connection {row['connection']}, pool {row['pool']}"
        yield from wrong_age(row, truth["version"].startswith("11."))
    by_port: dict[str, list[int]] = {}
    for asked in truth["asked"]:
        counts = by_port.setdefault(asked["uri"].split(":")[2].split("/")[0], [0, 0])
        counts[asked["queued"]] += 1
    yield from differences(
        "pool",
        ((port, *counts) for port, counts in by_port.items()),
        ((str(pool["port"]), pool["in_flight"], pool["queued"]) for pool in answer["pools"]),
    )
    limits = [pool["max"] for pool in answer["pools"] if pool["queued"]]
    if limits != [4]:
        yield f"pool: limits {limits}"
    if answer["absent_fields"]:
        yield f"absent: {answer['absent_fields']}"


def wrong_server(truth: Json, answer: Json) -> Iterator[str]:
    """The requests that the server works on."""
    yield from differences(
        "server",
        (
            tuple(row[name] for name in "method path query protocol status connection".split())
            + ("responding" if row["status"] == 202 else "running",)
            for row in truth["served"]
        ),
        (
            tuple(
                row[name] for name in "method path query protocol status connection state".split()
            )
            for row in answer["requests"]
        ),
    )
    if answer["total"]["not_known"]:
        yield f"server: {answer['total']['not_known']} are not known"


def compare(program: str, core: pathlib.Path) -> tuple[str, list[str]]:
    """How many requests were compared, and what differs."""
    truth = truth_of(core)
    commands = ["dumphttp", "dumprequests", "dumphttp -pending", "dumphttp -completed"]
    commands += ["dumphttp -uri SLOW=body", "dumphttp -statuscode 202"]
    client, server, pending, completed, slow, accepted = ask(program, core, commands)
    wrong = [*wrong_client(truth, client), *wrong_server(truth, server)]
    answered = sum(status_of(asked) is not None for asked in truth["asked"])
    counts = (len(pending["requests"]), len(completed["requests"]))
    if counts != (client["total"]["count"] - answered, answered):
        wrong.append(f"pending, completed: {counts}")
    rows = client["requests"]
    if slow["requests"] != [row for row in rows if "slow=body" in (row["uri"] or "")]:
        wrong.append("-uri has other requests than those whose URI has the text")
    if accepted["requests"] != [row for row in rows if row["status"] == 202]:
        wrong.append("-statuscode 202 has other requests than those with that status")
    if not slow["requests"] or not accepted["requests"]:
        wrong.append("no request for -uri or -statuscode")
    return f"{len(truth['asked'])} requests of clients, {len(truth['served'])} of the server", wrong


if __name__ == "__main__":
    sys.exit(check_cores(__doc__ or "", ["web*.core"], compare))
