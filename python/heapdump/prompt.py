# SPDX-License-Identifier: MIT
"""heapdump python TARGET: a prompt, or a script, with the heap as h."""
from __future__ import annotations

import code
import os
import select
import signal
import sys
import traceback
import types
from typing import Any, NoReturn

import heapdump
from heapdump.heap import Heap
from heapdump.isolated import Isolated

SANDBOX = {True: "read in a sandbox", False: "read in this process, without a sandbox"}
PACKAGE = os.path.dirname(os.path.realpath(heapdump.__file__)) + os.sep


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


def told(error: BaseException, names: dict[str, Any]) -> str:
    """An error as Python tells it, from the first frame on whose globals are ``names``: not what runs the script.

    Where a HeapdumpError comes from is not shown: only who asked for it.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is not names:
        trace = trace.tb_next
    shown = traceback.TracebackException(type(error), error, trace)
    if isinstance(error, heapdump.HeapdumpError):
        frames = [frame for frame in shown.stack if not frame.filename.startswith(PACKAGE)]
        shown.stack = traceback.StackSummary.from_list(frames)
    return "".join(shown.format())


class Console(code.InteractiveConsole):
    """Reads lines and runs them."""

    def showtraceback(self) -> None:
        """Tell what was raised."""
        error = sys.exc_info()[1]
        if isinstance(error, heapdump.HeapdumpError):
            self.write(told(error, self.locals))  # type: ignore[arg-type]
        else:
            super().showtraceback()


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
    Console(names).interact(banner=banner, exitmsg="")


def read_script(words: list[str]) -> tuple[bytes, str, list[str]]:
    """The text of a script, its name, and what is sys.argv there."""
    first, *rest = words
    if first == "-c":
        if not rest:
            fail(ValueError("-c needs the code"), 2)
        return os.fsencode(rest[0]), "<command line>", ["-c", *rest[1:]]
    if first == "-":
        return sys.stdin.buffer.read(), "<stdin>", words
    try:
        with open(first, "rb") as file:
            return file.read(), first, words
    except OSError as error:
        fail(ValueError(f"{first}: {error.strerror}"), 2)


def run_script(names: dict[str, Any], words: list[str]) -> int:
    """Run a script; the exit status."""
    text, name, sys.argv = read_script(words)
    module = types.ModuleType("__main__")
    module.__dict__.update(names, __file__=name)
    sys.modules["__main__"] = module
    try:
        exec(compile(text, name, "exec"), module.__dict__)  # pylint: disable=exec-used
        sys.stdout.flush()
    except BrokenPipeError as error:
        if not nobody_reads():
            sys.stderr.write(told(error, module.__dict__))
            return 1
        end_by(signal.SIGPIPE)
    except KeyboardInterrupt:
        sys.stdout.flush()
        end_by(signal.SIGINT)
    except Exception as error:  # pylint: disable=broad-except
        sys.stdout.flush()
        sys.stderr.write(told(error, module.__dict__))
        return 1
    return 0


def nobody_reads() -> bool:
    """Is standard output a pipe that nobody reads any more?"""
    poll = select.poll()
    poll.register(1, 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def end_by(number: int) -> NoReturn:
    """End as a program that a signal ends."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)


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
    except KeyboardInterrupt:
        end_by(signal.SIGINT)
    names = {"h": heap, "heapdump": heapdump}
    with heap:
        if script:
            status = run_script(names, script)
            heap.close()
            sys.exit(status)
        version = f"heapdump {heapdump.library_version()}, Python {sys.version.split()[0]}"
        shown = heapdump.printable(target)
        prompt(names, f"{version}: h is {shown}, {SANDBOX[isolated]}; help(h), dir(h)")


if __name__ == "__main__":
    main(sys.argv[1:])
