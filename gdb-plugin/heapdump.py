# SPDX-License-Identifier: MIT
"""GDB sources this file: it finds libheapdump.so and registers the commands of its table."""
import os
import sys


def _load() -> None:
    # In a script that sources this one, __file__ is that script's.
    here = os.path.dirname(os.path.realpath(_load.__code__.co_filename))
    sys.path.insert(0, here)
    try:
        from heapdump_gdb import plugin
    finally:
        sys.path.remove(here)
    plugin.load(here)


_load()
del _load
