#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damage the committed core of a service that hangs: tasks, locks, chains, queues and threads.

Cores of .NET 11 that make_corefiles.sh has made are damaged at random, too, or those that come after the number of rounds:
    hangs.py [ROUNDS [CORE...]]

Every command that follows these must answer, soon and without a crash, and where the format says what the damage means
(a circle of async methods, a lock that nobody has), the answer must have it.
"""
from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from core_image import CORES, PROGRAM, SOURCE, Image, Object, heapdump, turns
from heap_damage import u32, u64

CORE = SOURCE / "corefiles" / "hang.core.zst"
MADE = ("hang11-orders-heap", "hang11-mixed-heap", "awaits11-heap")
# The objects of a suspended method.
BOXES = ("AsyncStateMachineBox<", "+RuntimeAsyncTask<", "Continuation")
COMMANDS = """dumpasync
dumpasync -tasks -completed -fields
dumptasks
waits -all
hang
parallelstacks
threadpool -ti
threadpoolqueue
timerinfo
syncblk -all
dumpexceptions
report
"""
# Seconds for all of them; without damage they take a twentieth of one.
# Seconds. Only a session that hangs takes so long, on a busy machine, too.
LIMIT = 300
# Offsets in the runtime's SyncBlock (vm/syncblk.h, .NET 10): AwareLock's state, recursion, owner, and the queue of waiters.
LOCK_STATE, RECURSION, OWNER_ID, OWNER_OS_ID, WAITERS = 0, 4, 8, 16, 72
WILD = (0x00007ABCDEF01230, 0x6F20776F6C6C6548, 8, 2**64 - 8, 0x0000800000000000)


class Scene:
    """Where things lie in the core, as the commands say of the sound one."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.inner = self.outer = self.waited = 0
        blocks = heapdump(image.path, "syncblk").json()["blocks"]
        self.blocks = [int(row["block"], 16) for row in blocks]
        self.locks = [row for row in blocks if row["held"] and row["waiters"]]
        self.boxes = [o for o in image.objects if any(name in o.type for name in BOXES)]
        self.threading = [
            o for o in image.objects if o.type.startswith("System.Threading.") or o in self.boxes
        ]
        rows = heapdump(image.path, "clrthreads").json()["threads"]
        self.threads = [(row["id"], row["os_id"], int(row["address"], 16)) for row in rows]

    def find_chain(self) -> None:
        """Two methods, of which one awaits a TaskCompletionSource."""
        chains = heapdump(self.image.path, "dumpasync").json()["chains"]
        chain = next(c for c in chains if c["waits_for"] == "TaskCompletionSource")
        self.inner, self.outer = (int(row["address"], 16) for row in chain["methods"])
        self.waited = int(chain["object"], 16)

    def slots_of(self, o: Object, value: int) -> list[int]:
        """Where an object has a word."""
        places = range(o.address + 8, o.address + o.size - 8, 8)
        return [place for place in places if self.image.u64(place) == value]

    def awaiter(self, box: int, awaited: int) -> int:
        """The slot of a box that has what it awaits: the last one, for the state machine comes after the task."""
        found = self.image.at(box)
        assert found
        return self.slots_of(found, awaited)[-1]

    def continuation(self, box: int, outer: int) -> int:
        """The slot of a box that has what goes on after it."""
        found = self.image.at(box)
        assert found
        return self.slots_of(found, outer)[0]

    def await_instead(self, value: int) -> None:
        """The innermost method of a chain awaits something else."""
        self.image.patch(self.awaiter(self.inner, self.waited), u64(value))


def batch(image: Image, as_json: bool) -> tuple[list[str], list[str]]:
    """All commands in one process: what is wrong, and the lines of the answer."""
    argv = [PROGRAM, "--no-files", *(["--json"] if as_json else []), image.path]
    try:
        done = subprocess.run(
            argv, input=COMMANDS.encode(), capture_output=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return [f"no end after {LIMIT} s"], []
    wrong = []
    if done.returncode not in (0, 1, 2, 3) or b"runtime error" in done.stderr:
        wrong.append(f"ended with {done.returncode}: {done.stderr[-300:]!r}")
    text = done.stdout.decode("utf-8", "strict")
    if any(character < " " and character != "\n" for character in text):
        wrong.append("there are control characters in the answer")
    lines = text.splitlines()
    if as_json:
        for line in lines:
            json.loads(line)
    return wrong, lines


# Damage whose meaning is known: each patches, and returns what must be in the answer of "dumpasync" and "hang".


def methods_in_a_circle(scene: Scene) -> Iterator[str]:
    """The innermost method awaits the outermost one of its chain."""
    scene.await_instead(scene.outer)
    yield '"verdict": "circle"'
    yield '"waits_for": "itself"'


def method_awaits_itself(scene: Scene) -> Iterator[str]:
    """A circle of one."""
    scene.await_instead(scene.inner)
    yield '"verdict": "circle"'
    yield '"waits_for": "itself"'


def continuation_is_itself(scene: Scene) -> Iterator[str]:
    """A method is its own continuation; the thing that it awaits is still known."""
    scene.image.patch(scene.continuation(scene.inner, scene.outer), u64(scene.inner))
    yield '"waits_for": "TaskCompletionSource"'


def lock_owned_by_waiter(scene: Scene) -> Iterator[str]:
    """A lock that belongs to the one who waits for it: not a deadlock of it with itself."""
    first, second = scene.locks[:2]
    block = int(first["block"], 16)
    for number, os_id, _ in scene.threads:
        if os_id == second["os_id"]:
            scene.image.patch(block + OWNER_ID, u32(number))
            scene.image.patch(block + OWNER_OS_ID, u64(os_id))
    yield '"verdict": "pool-starved"'


def lock_owned_by_nobody(scene: Scene) -> Iterator[str]:
    """No thread has that id: there is no deadlock any more."""
    for row in scene.locks:
        scene.image.patch(int(row["block"], 16) + OWNER_ID, u32(0x7FFFFFF0))
        scene.image.patch(int(row["block"], 16) + OWNER_OS_ID, u64(0x7FFFFFF0))
    yield "!deadlock"
    yield '"verdict": "pool-starved"'


def queue_with_a_cycle(scene: Scene) -> Iterator[str]:
    """Each queue of Monitor.Wait leads back to itself."""
    for block in scene.blocks:
        if scene.image.u64(block + WAITERS):
            link = scene.image.u64(block + WAITERS)
            if scene.image.has(link):
                scene.image.patch(link, u64(link))
    yield '"verdict": "deadlock"'


MEANINGFUL = (
    methods_in_a_circle,
    method_awaits_itself,
    continuation_is_itself,
    lock_owned_by_waiter,
    lock_owned_by_nobody,
    queue_with_a_cycle,
)

# Damage that may mean anything; it is made at random.


def wild_awaited(scene: Scene, chance: random.Random) -> None:
    """Methods await something that is not an object."""
    for box in chance.sample(scene.boxes, min(20, len(scene.boxes))):
        for slot in range(box.address + 8, box.address + box.size - 8, 8):
            if chance.random() < 0.3:
                scene.image.patch(slot, u64(chance.choice(WILD)))


def boxes_among_each_other(scene: Scene, chance: random.Random) -> None:
    """Words of boxes lead to other boxes, and to lists, locks and threads."""
    for box in scene.boxes:
        slot = chance.randrange(box.address + 8, box.address + box.size - 8, 8)
        target = chance.choice(scene.boxes if chance.random() < 0.7 else scene.threading)
        scene.image.patch(slot, u64(target.address))


def half_made_boxes(scene: Scene, chance: random.Random) -> None:
    """The rest of a box is zeros, from anywhere."""
    for box in chance.sample(scene.boxes, min(30, len(scene.boxes))):
        begin = chance.randrange(box.address, box.address + box.size - 8, 8)
        scene.image.patch(begin, bytes(box.address + box.size - 8 - begin))


def other_types(scene: Scene, chance: random.Random) -> None:
    """Objects say that they are of another type of threading."""
    for one in chance.sample(scene.threading, min(30, len(scene.threading))):
        scene.image.patch(one.address, u64(chance.choice(scene.threading).mt))


def flipped_words(scene: Scene, chance: random.Random) -> None:
    """Any words of what is of threading: numbers, references to others, large counts."""
    for one in chance.sample(scene.threading, min(100, len(scene.threading))):
        slot = chance.randrange(one.address, one.address + one.size - 8, 8)
        value = chance.choice(
            (
                chance.getrandbits(64),
                chance.getrandbits(8),
                0,
                2**64 - 1,
                0x7FFFFFFF7FFFFFFF,
                chance.choice(scene.threading).address,
                scene.image.u64(slot) ^ (1 << chance.randrange(64)),
            )
        )
        scene.image.patch(slot, u64(value))


def sync_blocks(scene: Scene, chance: random.Random) -> None:
    """Words of sync blocks: states, owners, and queues that lead to each other."""
    for block in scene.blocks:
        at = block + chance.choice((LOCK_STATE, RECURSION, OWNER_ID, OWNER_OS_ID, WAITERS))
        at -= at % 8
        value = chance.choice(
            (chance.getrandbits(64), 2**64 - 1, chance.choice(scene.blocks) + 72)
        )
        scene.image.patch(at, u64(value))


def threads(scene: Scene, chance: random.Random) -> None:
    """Words of the runtime's Thread objects: ids, states, stack limits, Frames, the list itself."""
    for _, _, address in chance.sample(scene.threads, 4):
        for _ in range(3):
            slot = address + chance.randrange(0, 0x300, 8)
            if scene.image.has(slot + 7):
                value = chance.choice((chance.getrandbits(64), 0, chance.choice(scene.threads)[2]))
                scene.image.patch(slot, u64(value))


def anywhere(scene: Scene, chance: random.Random) -> None:
    """Words of all that the core has, most in small parts: stacks and the runtime's data."""
    for _ in range(300):
        start, _, size = chance.choice(scene.image.loads)
        if size >= 16:
            slot = start + chance.randrange(size // 8) * 8
            scene.image.patch(slot, u64(chance.getrandbits(chance.choice((8, 32, 64)))))


RANDOM = (
    wild_awaited,
    boxes_among_each_other,
    half_made_boxes,
    other_types,
    flipped_words,
    sync_blocks,
    threads,
    anywhere,
)


def run_meaningful(scene: Scene) -> Iterator[str]:
    """Damage with a known meaning, one after the other."""
    scene.find_chain()
    for damage in MEANINGFUL:
        wanted = list(damage(scene))
        wrong, lines = batch(scene.image, as_json=True)
        scene.image.restore()
        answer = "\n".join(lines)
        for words in wanted:
            found = words[1:] in answer_of(lines, "hang") if words[0] == "!" else words in answer
            if found == (words[0] == "!"):
                wrong.append(f"the answer should {'not ' if words[0] == '!' else ''}have {words}")
        yield from (f"{damage.__name__}: {text}" for text in wrong)


def run_verify(scene: Scene) -> Iterator[str]:
    """dumpstackobjects -verify leaves out the thread objects whose first field is damaged, and nothing else."""
    rows = heapdump(scene.image.path, "dumpstackobjects -all").json()["objects"]
    damaged = {row["object"] for row in rows if row["type"] == "System.Threading.Thread"}
    for address in damaged:
        scene.image.patch(int(address, 16) + 8, u64(0x1234))
    sound = [row for row in rows if row["object"] not in damaged]
    verified = heapdump(scene.image.path, "dumpstackobjects -all -verify").json()
    if (verified["not_shown"], verified["damage_not_kept"]) != (len(rows) - len(sound), 0):
        yield f"dumpstackobjects -verify says that it leaves out {verified['not_shown']} as JSON"
    if verified["objects"] != sound:
        yield "dumpstackobjects -verify does not leave out the damaged objects alone"
    text = heapdump(scene.image.path, "dumpstackobjects -all -verify", as_json=False).out
    if f"Not shown: {len(rows) - len(sound)} references to damaged objects\n" not in text:
        yield f"dumpstackobjects -verify does not say how many it leaves out: {text[-100:]}"
    table = heapdump(
        scene.image.path, *("--format", "csv", "dumpstackobjects", "-all", "-verify"), as_json=False
    )
    if f"Not shown: {len(rows) - len(sound)} references to damaged objects" not in table.err:
        yield f"dumpstackobjects -verify does not say it next to CSV: {table.err[-100:]}"
    scene.image.restore()


def answer_of(lines: list[str], command: str) -> str:
    """The verdicts that one command gave, as a text."""
    for line in lines:
        document = json.loads(line)
        if document.get("command") == command:
            return " ".join(row["verdict"] for row in document["verdicts"])
    return ""


def run_random(scene: Scene, seed: int, rounds: int) -> Iterator[str]:
    """Damage at random, as text and as JSON in turn."""
    for number in range(rounds):
        for index, damage in enumerate(RANDOM):
            chance = random.Random(f"{damage.__name__} {seed + number}")
            damage(scene, chance)
            try:
                wrong, _ = batch(scene.image, as_json=(number + index) % 2 == 0)
            except ValueError as error:  # not UTF-8, or not JSON
                wrong = [f"the answer cannot be read: {error}"]
            scene.image.restore()
            yield from (f"{damage.__name__} with seed {seed + number}: {text}" for text in wrong)


def run_made(core: Path, rounds: int) -> Iterator[str]:
    """Damage at random of another core."""
    with tempfile.TemporaryDirectory() as folder:
        image = Image(core, Path(folder))
        wrong, lines = batch(image, as_json=True)
        if len(lines) != len(COMMANDS.splitlines()):
            wrong.append(f"{len(lines)} answers on the sound core")
        for text in (*wrong, *run_random(Scene(image), turns.seed(), rounds)):
            yield f"{core.name}: {text}"
        image.close()


def main() -> int:
    """Damage, ask, and print what is wrong."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200 if turns.ALL else 20
    begin = time.monotonic()
    made = [CORES / f"{name}.core" for name in MADE]
    made = [Path(word) for word in sys.argv[2:]] or [core for core in made if core.exists()]
    with tempfile.TemporaryDirectory() as folder:
        core = Path(folder) / "sound.core"
        subprocess.run(["zstd", "-q", "-d", str(CORE), "-o", str(core)], check=True)
        (Path(folder) / "damaged").mkdir()
        image = Image(core, Path(folder) / "damaged")
        scene = Scene(image)
        wrong, lines = batch(image, as_json=True)
        if len(lines) != len(COMMANDS.splitlines()):
            wrong.append(f"{len(lines)} answers on the sound core: {lines}")
        wrong += [
            *run_meaningful(scene),
            *run_verify(scene),
            *run_random(scene, turns.seed(), rounds),
        ]
        image.close()
    for core in made:
        wrong += run_made(core, max(1, rounds // 5))
    for text in wrong:
        print(f"hangs: {text}")
    count = len(MEANINGFUL) + (rounds + len(made) * max(1, rounds // 5)) * len(RANDOM)
    print(f"hangs: {count} damaged cores, {len(wrong)} wrong, {time.monotonic() - begin:.0f} s")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
