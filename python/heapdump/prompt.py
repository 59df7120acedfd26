# SPDX-License-Identifier: MIT
"""heapdump python TARGET: a prompt, or a script, with the heap as h."""
from __future__ import annotations

import code
import runpy
import sys
from typing import Any, NoReturn

import heapdump
from heapdump.heap import Heap
from heapdump.isolated import Isolated

SANDBOX = {True: "read in a sandbox", False: "read in this process, without a sandbox"}


def fail(error: Exception, status: int) -> NoReturn:
    """End as the shell program does."""
    print(f"heapdump: {heapdump.printable(str(error))}", file=sys.stderr)
    sys.exit(status)


def open_target(program: str, isolated: bool, lenient: bool, words: list[str]) -> Heap:
    """Open the target; ``words``: settings as NAME=VALUE, and the target."""
    *settings, target = words
    values: dict[str, Any] = dict(setting.split("=", 1) for setting in settings)
    if isolated:
        return Heap(Isolated(target, lenient, values, None, program))
    return heapdump.open(target, lenient=lenient, **values)


def prompt(names: dict[str, Any], banner: str) -> None:
    """Read lines and run them."""
    try:
        # pylint: disable=import-outside-toplevel
        import readline
        import rlcompleter

        readline.set_completer(rlcompleter.Completer(names).complete)
        readline.parse_and_bind("tab: complete")
    except ImportError:
        pass
    code.interact(banner=banner, local=names, exitmsg="")


def main(argv: list[str]) -> None:
    """``argv``: the program, how it reads, whether it is lenient, settings, --, the target, and a script's words."""
    program, how, strictness, *rest = argv
    end = rest.index("--")
    target, *script = rest[end + 1 :]
    isolated = how == "isolated"
    try:
        heap = open_target(program, isolated, strictness == "lenient", [*rest[:end], target])
    except heapdump.HeapdumpError as error:
        fail(error, error.exit)
    names = {"h": heap, "heapdump": heapdump}
    with heap:
        if script:
            sys.argv = script
            try:
                with open(script[0], "rb"):
                    pass
            except OSError as error:
                fail(error, 2)
            runpy.run_path(script[0], init_globals=names, run_name="__main__")
            return
        version = f"heapdump {heapdump.library_version()}, Python {sys.version.split()[0]}"
        shown = heapdump.printable(target)
        prompt(names, f"{version}: h is {shown}, {SANDBOX[isolated]}; help(h), dir(h)")


if __name__ == "__main__":
    main(sys.argv[1:])
