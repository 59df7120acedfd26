# SPDX-License-Identifier: MIT
"""GDB sources this file: it finds libheapdump.so and registers the commands of its table."""
import os
import sys


def _load() -> None:
    # In a script that sources this one, __file__ is that script's.
    here = os.path.dirname(os.path.realpath(_load.__code__.co_filename))
    package = os.path.join(os.path.dirname(here), "python")
    if not os.path.exists(os.path.join(package, "heapdump", "native.py")):
        # Raised, it would come with a traceback.
        sys.stderr.write(f"heapdump: {package}/heapdump is not there: install all of heapdump\n")
        return
    sys.path[:0] = [package, here]
    # Python keeps what it compiles in a folder next to it, from which root's GDB reads, too: whatever
    # the umask is, nobody else may write there.
    before = os.umask(0o077)
    os.umask(before | 0o022)
    try:
        # The second is for heapdump.current(): whoever calls that may have any umask.
        from heapdump_gdb import plugin, python  # noqa: F401  pylint: disable=unused-import
    finally:
        os.umask(before)
        sys.path.remove(package)
        sys.path.remove(here)
    plugin.load(here)


_load()
del _load
