#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which part of a long test is run: always that of seed 1, unless the environment asks for more.

    turns.py SHARE FILE [ARGUMENT...]     run one of SHARE of the tests (unittest) of FILE
    turns.py SHARE --lines PATTERN        of the lines on standard input that match, print one of SHARE; all others

HEAPDUMP_TEST_SEED=N chooses another part, HEAPDUMP_TEST_ALL=1 runs everything. Only scripts/campaign.sh sets them.
"""
from __future__ import annotations

import importlib.util
import os
import random
import re
import sys
import unittest
from pathlib import Path
from typing import Callable, Iterator

ALL = os.environ.get("HEAPDUMP_TEST_ALL", "0") not in ("", "0")
# Is this a campaign (scripts/campaign.sh)? Only there tests run that are left to chance.
CAMPAIGN = os.environ.get("HEAPDUMP_TEST_CAMPAIGN", "0") not in ("", "0")
# In a build with sanitizers, where all takes much longer.
SANITIZED = os.environ.get("HEAPDUMP_SANITIZED", "0") not in ("", "0")


def seed() -> int:
    """The number that the parts depend on; 1 unless the environment names another."""
    return int(os.environ.get("HEAPDUMP_TEST_SEED") or "1")


def is_turn(number: int, share: int) -> bool:
    """Is it the turn of that number, when one of SHARE has it?"""
    return ALL or share <= 1 or number % share == seed() % share


def left_to_chance(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test whose result depends on when the processor is given to whom: only a campaign runs it."""
    return unittest.skipUnless(CAMPAIGN, "it is left to chance: scripts/campaign.sh runs it")(test)


def chance(name: str) -> random.Random:
    """For what else is chosen by NAME."""
    return random.Random(f"{name} {seed()}")


def all_tests(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """The tests of suites in suites."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from all_tests(test)
        else:
            yield test


def print_lines(share: int, pattern: str) -> int:
    """Print the lines that match one of SHARE."""
    number = 0
    for line in sys.stdin:
        is_many = bool(re.search(pattern, line))
        if not is_many or is_turn(number, share):
            sys.stdout.write(line)
        number += is_many
    return 0


def main() -> int:
    """See the top of the file."""
    if sys.argv[2] == "--lines":
        return print_lines(int(sys.argv[1]), sys.argv[3])
    share, path = int(sys.argv[1]), Path(sys.argv[2]).resolve()
    sys.path.insert(0, str(path.parent))
    sys.argv = sys.argv[2:]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    tests = list(all_tests(unittest.defaultTestLoader.loadTestsFromModule(module)))
    chosen = [test for number, test in enumerate(tests) if is_turn(number, share)]
    print(f"{len(chosen)} of {len(tests)} tests", flush=True)
    done = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(chosen))
    return int(not done.wasSuccessful())


if __name__ == "__main__":
    sys.exit(main())
