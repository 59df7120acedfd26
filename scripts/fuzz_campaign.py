#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The longer work with the fuzz targets, for fuzz.sh, which has built them before.

    fuzz_campaign.py run HOURS FILE TARGET...     HOURS of fuzzing in all, then a table in FILE
    fuzz_campaign.py minimize TARGET...           new inputs that reach more go to tests/fuzz/corpus

A target says what it is for in a comment at its head: "covers: FILE-OR-FOLDER...".  What came of each
is kept in build-fuzz/outcomes: the table has a row for every target that was ever run there.
FUZZ_JOBS says how many run at a time, FUZZ_SEED what is given to all of them (1).
"""
from __future__ import annotations

import concurrent.futures
import dataclasses
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTCOMES = ROOT / "build-fuzz" / "outcomes"
FUZZ, GROWN, COVERAGE = ROOT / "build-fuzz", ROOT / "build-fuzz" / "corpus", ROOT / "build-coverage"
SOURCES, SEEDS = ROOT / "tests" / "fuzz", ROOT / "tests" / "fuzz" / "corpus"
# Folders whose files read what others wrote.
PARSERS = "clr collect format heap inspect mem metadata roots snapshot stack targets unwind verify"
RESTARTS_MAX = 50  # of a target that finds something
SEED_BYTES, SEEDS_BYTES = 4096, 200_000  # of an input, of a target's inputs
NAMED_MAX = 2  # of the inputs that were found, in the table
ADDED_MAX = 40  # inputs that one run adds to a target's
GDB_WORDS = "gdb_words"  # the one target that is not a program of libFuzzer
BEGIN, END = "<!-- fuzz table -->", "<!-- end of the table -->"


def words_of(target: str, key: str) -> list[str]:
    """The words after "KEY:" in the comment at the head of a target."""
    head = source_of(target).read_text().split("#include")[0]
    found = re.search(rf"{key}:(.*?)\*/", head, re.DOTALL)
    return re.sub(r"\n \*", " ", found[1]).split() if found else []


@dataclasses.dataclass
class Outcome:
    """The outcome for one target."""

    target: str
    runs: int = 0
    seconds: float = 0
    new_inputs: int = 0
    found: list[str] = dataclasses.field(default_factory=list)
    problem: str = ""
    seed: int = 0
    made: str = ""  # day and commit


def remember(outcome: Outcome) -> Outcome:
    """Write down what came of a target, and when."""
    outcome.made = f"{datetime.date.today()}, {commit_now()}"
    OUTCOMES.mkdir(parents=True, exist_ok=True)
    file = OUTCOMES / f"{outcome.target}.json"
    file.write_text(json.dumps(dataclasses.asdict(outcome), indent=1) + "\n")
    print(f"fuzz: {outcome.target}: {outcome.runs} runs, {len(outcome.found)} found", flush=True)
    return outcome


def remembered() -> list[Outcome]:
    """All that was written down of targets that there still are, by name."""
    known = [Outcome(**json.loads(path.read_text())) for path in sorted(OUTCOMES.glob("*.json"))]
    return [one for one in known if one.target == GDB_WORDS or source_of(one.target).exists()]


def commit_now() -> str:
    """The commit that is checked out, shortened."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode().strip()


def seed_now() -> int:
    """The seed of the random numbers of every target."""
    return int(os.environ.get("FUZZ_SEED", "1"))


def source_of(target: str) -> pathlib.Path:
    """The source file of a target."""
    return SOURCES / f"fuzz_{target}.c"


def program_of(target: str) -> pathlib.Path:
    """The program that libFuzzer drives."""
    return FUZZ / "tests" / "fuzz" / f"fuzz_{target}"


def options_of(target: str) -> list[str]:
    """The options that fuzz.sh gives to each target."""
    given = os.environ["FUZZ_OPTIONS"].split()
    return given + [f"-artifact_prefix={FUZZ}/fuzz_{target}-"]


def inputs_in(folder: pathlib.Path) -> int:
    """How many there are."""
    return sum(1 for path in folder.iterdir() if path.is_file())


def fuzz(target: str, seconds: float) -> Outcome:
    """Run a target; after it found something, again, until the time is over."""
    outcome = Outcome(target, seed=seed_now())
    grown = GROWN / target
    grown.mkdir(parents=True, exist_ok=True)
    before, begin = inputs_in(grown), time.time()
    kept = {path.name for path in FUZZ.glob(f"fuzz_{target}-*")}
    for restart in range(RESTARTS_MAX):
        left = int(begin + seconds - time.time())
        if left < 1:
            break
        with open(FUZZ / f"{target}.log", "ab") as log:
            at = log.seek(0, os.SEEK_END)
            command = ["nice", "-n", "19", str(program_of(target)), f"-max_total_time={left}"]
            command.append(f"-seed={outcome.seed + restart}")
            command += options_of(target) + [str(grown), str(SEEDS / target)]
            status = subprocess.run(command, stdout=log, stderr=log, check=False).returncode
        text = (FUZZ / f"{target}.log").read_bytes()[at:].decode(errors="replace")
        executed = re.search(r"number_of_executed_units: (\d+)", text)
        outcome.runs += int(executed[1]) if executed else 0
        if status == 0:
            break
        if not executed:
            outcome.problem = f"ended with status {status}: see build-fuzz/{target}.log"
            break
    outcome.seconds = time.time() - begin
    outcome.new_inputs = inputs_in(grown) - before
    outcome.found = sorted(
        path.name for path in FUZZ.glob(f"fuzz_{target}-*") if path.name not in kept
    )
    return remember(outcome)


def fuzz_gdb_words(seconds: float) -> Outcome:
    """The words of the GDB plug-in: random lines in Python."""
    outcome = Outcome(GDB_WORDS, seconds=seconds, seed=seed_now())
    command = ["nice", "-n", "19", sys.executable, str(SOURCES / "fuzz_gdb_words.py")]
    command += ["--seed", str(outcome.seed), "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, check=False)
    executed = re.search(rb"number_of_executed_units: (\d+)", done.stdout)
    outcome.runs = int(executed[1]) if executed else 0
    if done.returncode != 0:
        outcome.problem = done.stderr.decode(errors="replace").strip().split("\n")[-1]
    return remember(outcome)


Lines = dict[str, tuple[int, int, int, int]]


def coverage_of(target: str) -> Lines:
    """By source file: lines and regions that its inputs reach, and how many there are."""
    program = COVERAGE / "tests" / "fuzz" / f"replay_{target}"
    raw, merged = COVERAGE / f"{target}.profraw", COVERAGE / f"{target}.profdata"
    folders = [str(path) for path in (SEEDS / target, GROWN / target) if path.is_dir()]
    subprocess.run(
        [str(program), *folders],
        env=dict(os.environ, LLVM_PROFILE_FILE=str(raw)),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    subprocess.run(["llvm-profdata-14", "merge", "-o", str(merged), str(raw)], check=True)
    told = subprocess.run(
        ["llvm-cov-14", "export", "-summary-only", f"-instr-profile={merged}", str(program)],
        capture_output=True,
        check=True,
    )
    rows: Lines = {}
    for file in json.loads(told.stdout)["data"][0]["files"]:
        lines, regions = file["summary"]["lines"], file["summary"]["regions"]
        name = os.path.relpath(file["filename"], ROOT)
        rows[name] = (lines["covered"], lines["count"], regions["covered"], regions["count"])
    return rows


def is_below(name: str, place: str) -> bool:
    """Is the file, or one of the folder, what a target is for?"""
    return name == place or name.startswith(place + "/")


def share(rows: Lines, places: list[str]) -> str:
    """Lines and regions reached of all these files, in percent."""
    mine = [row for name, row in rows.items() if any(is_below(name, at) for at in places)]
    lines, line_count, regions, region_count = (sum(row[i] for row in mine) for i in range(4))
    if not line_count or not region_count:
        return "- | -"
    return f"{100 * lines // line_count} % | {100 * regions // region_count} %"


def uncovered(covered: dict[str, Lines]) -> list[str]:
    """Files of the parsers' folders of which no target reaches half of the lines."""
    best: dict[str, tuple[int, str]] = {}
    for folder in PARSERS.split():
        for path in (ROOT / "core" / "src" / folder).rglob("*.c"):
            best[str(path.relative_to(ROOT))] = (0, "")
    for target, rows in covered.items():
        for name, (lines, count, _, _) in rows.items():
            percent = 100 * lines // count if count else 100
            if name in best and percent > best[name][0]:
                best[name] = (percent, target)
    return [
        f"| {name} | {f'{percent} % ({target})' if target else 'none'} |"
        for name, (percent, target) in sorted(best.items())
        if percent < 50
    ]


def unnamed(targets: list[str]) -> list[str]:
    """Files that a target says that it covers, and that are not there."""
    return [
        f"{target}: {place}"
        for target in targets
        for place in words_of(target, "covers") or ["(nothing)"]
        if not (ROOT / place).exists()
    ]


def table(outcomes: list[Outcome], covered: dict[str, Lines], hours: str) -> str:
    """All of it, as Markdown."""
    text = [
        f"Made by `scripts/fuzz.sh -campaign {hours}` with {os.cpu_count()} processors.  Lines and "
        "regions: of the files that the target is for, reached by its whole corpus.  Made: the day, "
        "and the commit that was checked out.",
        "",
        "| target | runs | runs/s | seed | new inputs | lines | regions | found | made |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for outcome in outcomes:
        rate = outcome.runs / outcome.seconds if outcome.seconds else 0
        found = ", ".join(outcome.found[:NAMED_MAX]) or "0"
        if len(outcome.found) > NAMED_MAX:
            found = f"{len(outcome.found)}: {found}, ..."
        places = words_of(outcome.target, "covers") if outcome.target in covered else []
        part = share(covered.get(outcome.target, {}), places)
        text.append(
            f"| {outcome.target} | {outcome.runs:,} | {rate:,.0f} | {outcome.seed} |"
            f" {outcome.new_inputs} | {part} | {outcome.problem or found} | {outcome.made} |"
        )
    text += ["", "Files of which no target reaches half of the lines:", ""]
    text += ["| file | the most |", "| --- | --- |", *uncovered(covered)]
    return "\n".join(text)


def write_table(file: pathlib.Path, text: str) -> None:
    """Put the table in its place; what is around it stays."""
    old = file.read_text() if file.exists() else f"# Fuzzing\n\n{BEGIN}\n{END}\n"
    if BEGIN not in old or END not in old:
        sys.exit(f"{file}: has no line {BEGIN} and {END} for the table")
    before, after = old.split(BEGIN)[0], old.split(END)[1]
    file.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def run(hours: str, file: str, targets: list[str]) -> int:
    """Fuzz, measure, write.  0: nothing was found."""
    wrong = unnamed(targets)
    if wrong:
        sys.exit("these say that they cover what is not there: " + ", ".join(wrong))
    jobs = int(os.environ.get("FUZZ_JOBS", str(os.cpu_count() or 1)))
    seconds = float(hours) * 3600 / (len(targets) + 1)
    print(f"fuzz: seed {seed_now()}, {seconds:.0f} s for each of {len(targets) + 1}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(lambda target: fuzz(target, seconds), targets))
        outcomes.append(fuzz_gdb_words(seconds))
        all_made = remembered()
        measured = [one.target for one in all_made if one.target != GDB_WORDS]
        covered = dict(zip(measured, pool.map(coverage_of, measured)))
    write_table(pathlib.Path(file), table(all_made, covered, hours))
    bad = [outcome.target for outcome in outcomes if outcome.found or outcome.problem]
    print(f"fuzz: {file}: " + (f"look at {', '.join(bad)}" if bad else "nothing found"))
    return 1 if bad else 0


def minimize(target: str) -> None:
    """Add those grown inputs that reach branches which no committed one does."""
    seeds, merged = SEEDS / target, FUZZ / "merged" / target
    shutil.rmtree(merged, ignore_errors=True)
    shutil.copytree(seeds, merged)
    folders = [str(merged), str(GROWN / target)]
    with open(FUZZ / f"{target}.log", "ab") as log:
        # Branches only, not how often one is taken: few inputs.
        command = [str(program_of(target)), "-merge=1", "-use_counters=0", "-use_cmp=0"]
        subprocess.run(command + options_of(target) + folders, stdout=log, stderr=log, check=True)
    room = SEEDS_BYTES - sum(path.stat().st_size for path in seeds.iterdir())
    fresh = [path for path in merged.iterdir() if not (seeds / path.name).exists()]
    added = 0
    for path in sorted(fresh, key=lambda path: path.stat().st_size):
        size = path.stat().st_size
        if size <= SEED_BYTES and size <= room and added < ADDED_MAX:
            shutil.copy(path, seeds)
            room -= size
            added += 1
    print(f"fuzz: {target}: {added} of {len(fresh)} new inputs added, {room} bytes of room left")


def main(words: list[str]) -> int:
    """See above."""
    if len(words) > 3 and words[0] == "run":
        return run(words[1], words[2], words[3:])
    if len(words) > 1 and words[0] == "minimize":
        for target in words[1:]:
            minimize(target)
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
