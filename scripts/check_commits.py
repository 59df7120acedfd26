#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the messages of the commits since this file came: "area: summary" of at most 72 columns, and a body that says
why, unless little is changed. Merges are left out. Where there is no history, nothing is checked."""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SUBJECT = re.compile(r"[^\s:][^:]*: \S.*")
SUBJECT_MAX = 72
# Lines that may be changed without a body.
TRIVIAL = 20


def git(*words: str) -> str:
    """The output of git, nothing where there is no repository."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def changed_lines(commit: str) -> int:
    """Lines added and removed."""
    rows = git("show", "--numstat", "--format=", "-M", commit).splitlines()
    return sum(int(word) for row in rows for word in row.split()[:2] if word.isdigit())


def problems(commit: str) -> list[str]:
    """The mistakes in a message."""
    subject, _, body = git("show", "-s", "--format=%B", commit).strip().partition("\n")
    bad = []
    if len(subject) > SUBJECT_MAX:
        bad.append(f"the subject has {len(subject)} columns, more than {SUBJECT_MAX}")
    if not SUBJECT.fullmatch(subject):
        bad.append('the subject is not "area: summary"')
    if body and not body.startswith("\n"):
        bad.append("an empty line is missing after the subject")
    if not body.strip() and changed_lines(commit) > TRIVIAL:
        bad.append("there is no body that says why")
    return [f"{commit[:9]} {subject[:50]}: {text}" for text in bad]


def main() -> int:
    """See the top of the file."""
    name = Path(__file__).resolve().relative_to(Path.cwd().resolve()).as_posix()
    added = git("log", "--diff-filter=A", "--format=%H", "--", name).split()
    commits = (
        git("log", "--no-merges", "--format=%H", f"{added[-1]}^..HEAD").split() if added else []
    )
    bad = [text for commit in commits for text in problems(commit)]
    for text in bad:
        print(text)
    print(f"commits: {len(commits)} messages, {len(bad)} errors")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
