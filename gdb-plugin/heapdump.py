# SPDX-License-Identifier: MIT
"""What GDB sources: finds libheapdump.so and registers the commands of its table."""
import os
import sys


def _load() -> None:
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path.insert(0, here)
    try:
        from heapdump_gdb import plugin
    finally:
        sys.path.remove(here)
    plugin.load(here)


_load()
del _load
