#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the golden cases of tests/golden through one front end.

    golden.py [--update] [--front shell|gdb|lldb] [--build DIR] [--share N] [CASE...]

A case is COMMAND/NAME: NAME.cmd says what to run, NAME.out what must come out, byte for byte, in
every front end.  A .cmd file:

    file: corefiles/bubblecs.heap     words for "open": options may stand before the file
    front: shell gdb                  the front ends that run it (this line: all three)
    exit: 1                           the exit status (this line: 0)
    gcroot 1ce4bf                     the command, as typed

A .out file is the answer and, of a command that fails, the line of the error without the prefix of
the front end ("heapdump: ", "error: ").  JSON is in lines that a person can compare: unfolded().
--update writes .out files from the shell: review them.

The shell runs each case twice: in a process of its own, as an argument vector, and typed into one process for
each file, as the debuggers do. --share N (with sanitizers) does the first for one of N cases; the seed says which.
"""
from __future__ import annotations

import argparse
import difflib
import functools
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Callable, Iterator, NamedTuple

SOURCE = Path(os.environ.get("HEAPDUMP_SOURCE", Path(__file__).resolve().parent.parent))
sys.path[:0] = [str(SOURCE / "tests" / "support"), str(SOURCE / "python")]

import turns  # noqa: E402  pylint: disable=wrong-import-position
from heapdump import native  # noqa: E402  pylint: disable=wrong-import-position

CASES = SOURCE / "tests" / "golden"
FRONTS = ("shell", "gdb", "lldb")
# After these the next case needs its file opened again.
SESSION_COMMANDS = ("open", "close")
# These also tell what commands before them have found out: they need their file opened again.
FRESH_COMMANDS = ("info",)
TIMEOUT = 300
MARK = "@@@ case "
# No command has this name: the line that says so is the mark.
SHELL_MARK = "golden-mark"


class Case(NamedTuple):
    """One .cmd file."""

    name: str
    file: str
    command: str
    status: int
    fronts: tuple[str, ...]
    expected: str | None


class Answer(NamedTuple):
    """The answer of a front end to a case; status is None where it cannot be seen."""

    text: str
    status: int | None


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
LINE = 100


def folded(tokens: list[str]) -> str:
    """The tokens of a document as heapdump writes them, on one line."""
    return "".join({",": ", ", ":": ": "}.get(token, token) for token in tokens)


def closing(tokens: list[str], begin: int) -> int:
    """Index of the bracket that ends the one at BEGIN."""
    depth = 0
    for index in range(begin, len(tokens)):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(tokens[index], 0)
        if not depth:
            return index
    return len(tokens)


def unfolded(text: str) -> str:
    """
    A JSON document in lines that a person can compare: what fits in a line is on one. Only line ends and
    blanks differ, so that the document must be as heapdump writes it, else it stays as it is.
    """
    document, newline, rest = text.partition("\n")
    tokens = TOKEN.findall(document)
    if not document.startswith("{") or not newline or folded(tokens) != document:
        return text
    lines: list[str] = []
    line, depth, index = "", 0, 0
    while index < len(tokens):
        token = tokens[index]
        whole = folded(tokens[index : closing(tokens, index) + 1]) if token in "{[" else ""
        if token in "{[" and index and len(whole) < LINE - 2 * depth - len(line):
            line += whole
            index = closing(tokens, index)
        elif token in "{[":
            lines.append("  " * depth + line + token)
            depth, line = depth + 1, ""
        elif token in "}]":
            if line:
                lines.append("  " * depth + line)
            depth, line = depth - 1, token
        elif token == ",":
            lines.append("  " * depth + line + token)
            line = ""
        else:
            line += ": " if token == ":" else token
        index += 1
    return "\n".join([*lines, line]) + newline + rest


def read_case(path: Path) -> Case:
    """Parse PATH, a .cmd file, and read its .out file if there is one."""
    values = {"file": "", "exit": "0", "front": " ".join(FRONTS)}
    command = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        key, colon, value = line.partition(": ")
        if colon and key in values and not command:
            values[key] = value.strip()
        elif line and not line.startswith("#"):
            command = line
    out = path.with_suffix(".out")
    return Case(
        name=str(path.relative_to(CASES).with_suffix("")),
        file=values["file"],
        command=command,
        status=int(values["exit"]),
        fronts=tuple(values["front"].split()),
        expected=out.read_bytes().decode("utf-8", "surrogateescape") if out.exists() else None,
    )


def find_cases(names: list[str]) -> list[Case]:
    """All cases, or those named; a name may be a folder."""
    paths = sorted(CASES.glob("*/*.cmd"))
    cases = [read_case(path) for path in paths]
    if not names:
        return cases
    wanted = [name.rstrip("/") for name in names]
    chosen = [case for case in cases if case.name in wanted or case.name.split("/")[0] in wanted]
    for name in wanted:
        if not any(name in (case.name, case.name.split("/")[0]) for case in cases):
            sys.exit(f"golden.py: no case {name}")
    return chosen


def environment(build: Path) -> dict[str, str]:
    """Nothing of the user's: settings, locale, terminal, history."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(build),
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        "HEAPDUMP_LIBRARY": str(build / "libheapdump.so"),
        **{name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS")},
    }


def run(argv: list[str], build: Path, text: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run ARGV in the source folder with TEXT on standard input."""
    return subprocess.run(
        argv,
        input=text.encode(),
        cwd=SOURCE,
        env=environment(build),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )


def shell_answer(out: str, err: str, status: int | None) -> Answer:
    """
    Standard output, then the error without its prefix; warnings are no part of an answer, nor is what
    info says of the sandbox, which only the shell program has.
    """
    lines = err.splitlines(keepends=True)
    errors = [line for line in lines if not line.startswith("heapdump: warning: ")]
    out = re.sub(r"^Sandbox: .*\n", "", out, flags=re.M)
    out = re.sub(r', "sandbox": "[^"]*"', "", out)
    return Answer(out + "".join(errors).removeprefix("heapdump: "), status)


def decoded(data: bytes) -> str:
    """Bytes that are not UTF-8 stay what they are."""
    return data.decode("utf-8", "surrogateescape")


def alone_answer(case: Case, build: Path) -> Answer:
    """The case in a process of its own."""
    argv = [str(build / "heapdump"), *shlex.split(case.file), *shlex.split(case.command)]
    done = run(argv, build)
    return shell_answer(decoded(done.stdout), decoded(done.stderr), done.returncode)


def typed_answers(cases: list[Case], build: Path) -> list[Answer]:
    """The cases of one file on the standard input of one process."""
    mark = f"{SHELL_MARK} --json\n{SHELL_MARK}\n"
    text = "".join(
        f"{mark}{line}\n{mark}" if is_case else line + "\n"
        for line, is_case in session_lines(cases, lambda case: case.command, "open ", True)
    )
    done = run([str(build / "heapdump"), *shlex.split(cases[0].file)], build, text)
    # Before the first mark; then, in turns, an answer, and what is between it and the next.
    outs = re.split(rf'{{"schema": 1, "command": "{SHELL_MARK}".*\n', decoded(done.stdout))
    errs = re.split(rf'heapdump: no command "{SHELL_MARK}".*\n', decoded(done.stderr))
    answers = [shell_answer(out, err, None) for out, err in zip(outs[1::2], errs[1::2])]
    if len(outs) != 2 * len(cases) + 1 or len(errs) != len(outs):
        ended = f"[heapdump ended: {done.returncode}]\n" + decoded(done.stderr)[-4000:]
        answers = answers[: len(cases) - 1] + [Answer(ended, None)]
    return answers


def run_shell(cases: list[Case], build: Path, share: int) -> Iterator[Answer]:
    """One of SHARE cases in a process of its own, all in one for each file; CASES are sorted by file."""
    # Where the file itself is bad no line would be read.
    typed = [case for case in cases if not is_of_bad_file(case)]
    groups = by_file(typed, lambda group: typed_answers(group, build))
    for index, case in enumerate(cases):
        both = [] if is_of_bad_file(case) else [next(groups)]
        if not both or turns.is_turn(index, share):
            both.append(alone_answer(case, build))
        answer = both[-1]
        if both[0].text != answer.text:
            lines = (f"[as an argument vector: exit {answer.status}]\n", answer.text)
            more = ("[typed after others]\n", both[0].text)
            answer = Answer("".join(lines + more), answer.status)
        yield answer


def is_of_bad_file(case: Case) -> bool:
    """Is it the shell alone that can have this file, as words before a command?"""
    return case.status == 3 and case.fronts == ("shell",)


def by_file(cases: list[Case], ask: Callable[[list[Case]], list[Answer]]) -> Iterator[Answer]:
    """Ask for the cases of each file together; CASES are sorted by file."""
    for _, group in itertools.groupby(cases, lambda case: case.file):
        some = list(group)
        answers = ask(some)
        yield from answers + [Answer("[not run]\n", None)] * (len(some) - len(answers))


@functools.cache
def top_level(build: Path) -> list[str]:
    """Commands that debuggers have without a prefix, by the table: text cases use them so."""
    infos = native.commands(native.load(str(build / "libheapdump.so")))
    return [native.decode(info.name) for info in infos if info.is_top_level]


def debugger_line(case: Case, build: Path) -> str:
    """The command as a debugger's user types it."""
    top = case.command.split()[0] in top_level(build) and "--json" not in case.command
    return case.command if top else "heapdump " + case.command


def session_lines(
    cases: list[Case], typed: Callable[[Case], str], opening: str, opened: bool
) -> Iterator[tuple[str, bool]]:
    """Lines for one session, which has the file already or not, and whether each is a case."""
    for case in cases:
        if not opened or case.command.split()[0] in FRESH_COMMANDS:
            yield opening + case.file, False
        yield typed(case), True
        opened = case.command.split()[0] not in SESSION_COMMANDS


def debugger_lines(cases: list[Case], build: Path) -> Iterator[tuple[str, bool]]:
    """Lines for a debugger."""
    return session_lines(cases, lambda case: debugger_line(case, build), "heapdump open ", False)


def debugger_answer(text: str, status: int | None) -> Answer:
    """The output of a debugger, without warnings, which are no part of an answer."""
    return Answer(re.sub(r"^warning: .*\n", "", text, flags=re.M), status)


def gdb_answers(cases: list[Case], build: Path) -> list[Answer]:
    """The cases of one file in one GDB; the status is $_heapdump_status."""
    argv = ["gdb", "-nx", "-q", "-batch", "-iex", "set style enabled off"]
    argv += ["-ex", f"source {SOURCE}/gdb-plugin/heapdump.py"]
    for line, is_case in debugger_lines(cases, build):
        argv += ["-ex", f"echo {MARK}\\n"] if is_case else []
        argv += ["-ex", line]
        argv += ["-ex", f'printf "{MARK}%d\\n", $_heapdump_status'] if is_case else []
    # One stream: GDB flushes the one before it writes to the other.
    done = subprocess.run(
        argv,
        cwd=SOURCE,
        env=environment(build),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
        check=False,
    )
    parts = done.stdout.decode("utf-8", "surrogateescape").split(MARK)
    # Before the first mark; then, in turns, an answer and its status (with what follows it).
    answers = []
    for text, status in zip(parts[1::2], parts[2::2]):
        answers.append(debugger_answer(text.removeprefix("\n"), int(status.split("\n")[0])))
    if len(answers) < len(cases):
        answers.append(Answer(f"[GDB ended: {done.returncode}]\n" + parts[-1], None))
    return answers


def lldb_answers(cases: list[Case], build: Path) -> list[Answer]:
    """The cases of one file in one LLDB, which echoes each line behind its prompt."""
    program = os.environ.get("LLDB", "lldb-14")
    lines = list(debugger_lines(cases, build))
    text = "".join(line + "\n" for line, _ in lines) + "version\n"
    argv = [program, "--no-lldbinit", "--no-use-colors"]
    argv += ["-O", f"plugin load {build}/libheapdump_lldb.so"]
    done = subprocess.run(
        argv,
        input=text.encode(),
        cwd=SOURCE,
        env=environment(build),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
        check=False,
    )
    rest = done.stdout.decode("utf-8", "surrogateescape")
    answers: list[Answer] = []
    prompts = [f"(lldb) {line}\n" for line, _ in lines] + ["(lldb) version\n"]
    _, _, rest = rest.partition(prompts[0])
    for (_, is_case), prompt in zip(lines, prompts[1:]):
        answer, found, rest = rest.partition(prompt)
        if not found:
            answers.append(Answer(f"[LLDB ended: {done.returncode}]\n" + answer, None))
            break
        if is_case:
            answers.append(debugger_answer(answer, None))
    return answers


def without_prefix(case: Case, text: str) -> str:
    """LLDB's "error: " before the last line of a command that fails."""
    if case.status < 2:
        return text
    lines = text.splitlines(keepends=True)
    if lines:
        lines[-1] = lines[-1].removeprefix("error: ")
    return "".join(lines)


def run_debugger(front: str, cases: list[Case], build: Path) -> Iterator[Answer]:
    """One process for all cases of one file; CASES are sorted by file."""
    ask = gdb_answers if front == "gdb" else lldb_answers
    for case, answer in zip(cases, by_file(cases, lambda group: ask(group, build))):
        yield Answer(without_prefix(case, answer.text), answer.status)


def expected_text(case: Case, front: str) -> str:
    """The .out file; a debugger adds the error's line to a JSON error, which a command must have."""
    text = case.expected or ""
    if front == "shell" or case.status < 2 or not text.startswith("{"):
        return text
    try:
        return text + json.loads(text)["error"]["message"] + "\n"
    except (ValueError, KeyError):
        return text


def check(case: Case, answer: Answer, front: str) -> bool:
    """Compare, and print what differs."""
    expected = expected_text(case, front)
    status_differs = answer.status is not None and answer.status != case.status
    if case.expected is not None and answer.text == expected and not status_differs:
        return True
    print(f"--- {case.name} ({front}): {case.file}: {case.command}")
    if case.expected is None:
        print("    there is no .out file: --update makes it")
    if status_differs:
        print(f"    exit status {answer.status}, expected {case.status}")
    for line in difflib.unified_diff(
        expected.splitlines(),
        answer.text.splitlines(),
        "expected",
        front,
        lineterm="",
        n=2,
    ):
        print("    " + line.encode("utf-8", "backslashreplace").decode())
    return False


def update(case: Case, answer: Answer) -> bool:
    """Write the .out file; the status is not taken over: it stands in the .cmd file."""
    (CASES / f"{case.name}.out").write_bytes(answer.text.encode("utf-8", "surrogateescape"))
    if answer.status == case.status:
        return True
    print(f"--- {case.name}: exit status {answer.status}, the .cmd file says {case.status}")
    return False


def main() -> int:
    """Run the cases; the closing line counts them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--update", action="store_true", help="write the .out files (shell)")
    parser.add_argument("--front", choices=FRONTS, default="shell")
    parser.add_argument(
        "--build",
        type=Path,
        default=Path(os.environ.get("HEAPDUMP_BUILD", SOURCE / "build")),
    )
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    if options.update and options.front != "shell":
        parser.error("--update is for the shell")
    build = options.build.resolve()
    cases = [case for case in find_cases(options.cases) if options.front in case.fronts]
    cases.sort(key=lambda case: case.file)
    if options.front == "shell":
        answers = run_shell(cases, build, options.share)
    else:
        answers = run_debugger(options.front, cases, build)
    passed = 0
    for case, raw in zip(cases, answers):
        answer = raw._replace(text=unfolded(raw.text))
        passed += update(case, answer) if options.update else check(case, answer, options.front)
    print(f"{passed} passed, {len(cases) - passed} failed")
    return 0 if cases and passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
