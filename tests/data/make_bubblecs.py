#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write corefiles/bubblecs.heap: the heap of a small game, in the RPM text format.

    make_bubblecs.py > corefiles/bubblecs.heap
    make_bubblecs.py --check corefiles/bubblecs.heap

An id is an address divided by 8, as in dumps of the .NET Compact Framework; objects lie one after
the other and never overlap.  Nothing here depends on time, place or chance.
"""
from __future__ import annotations

import sys
from typing import NamedTuple

INTERNAL, STACK, FINALIZER, HANDLE, STATIC, GC = range(6)
PINNED, WEAK, INTERIOR = 1, 2, 4

FIXED_TYPES = {
    "System.NullReferenceException": 0x1,
    "System.RuntimeType": 0x2,
    "System.OutOfMemoryException": 0x3,
    "System.String": 0x1B,
    "BubbleCS.GameBoard": 0x1D,
}
# Written after the first object that uses them: a reader may not count on the other order.
LATE_TYPES = ("BubbleCS.GameBoard", "System.String")
LIST = "System.Collections.Generic.List`1[[{0}]]"
DICTIONARY = "System.Collections.Generic.Dictionary`2[[{0}],[{1}]]"
SOUND_DICTIONARY = DICTIONARY.format(
    "System.String, mscorlib, Version=2.0.0.0",
    "BubbleCS.Sound, bubblecs, Version=1.0.0.0",
)
SCORE_LIST = LIST.format("BubbleCS.HighScore, bubblecs, Version=1.0.0.0")


class Object(NamedTuple):
    """One object; references are labels."""

    id: int
    type: str
    size: int
    references: list[str]


class Root(NamedTuple):
    """One root record."""

    kind: int
    flags: int
    container: str | None


class Heap:
    """Objects by label, in the order in which they are made."""

    def __init__(self) -> None:
        self.cursor = 0
        self.objects: dict[str, Object] = {}
        self.roots: dict[str, list[Root]] = {}
        self.types: dict[str, int] = dict(FIXED_TYPES)

    def at(self, address: int) -> None:
        """Go on at an id, which must not lie after what is there."""
        assert address >= self.cursor, f"{address:x} is taken up to {self.cursor:x}"
        self.cursor = address

    def new(self, label: str, type_name: str, size: int, *references: str) -> str:
        """Add an object at the cursor."""
        assert label not in self.objects, label
        self.objects[label] = Object(self.cursor, type_name, size, list(references))
        self.cursor += (size + 7) // 8
        self.type_id(type_name)
        return label

    def text(self, value: str) -> str:
        """Add a string; its label is its value."""
        return self.new(value, "System.String", 16 + 2 * len(value))

    def root(self, label: str, kind: int, flags: int = 0, container: str | None = None) -> None:
        """Add a root record, written after its object."""
        self.roots.setdefault(label, []).append(Root(kind, flags, container))
        if container:
            self.type_id(container)

    def type_id(self, name: str) -> int:
        """Id of a type, given out in order of first use."""
        if name not in self.types:
            taken = set(self.types.values())
            self.types[name] = next(i for i in range(1, 0x1000) if i not in taken)
        return self.types[name]

    def lines(self) -> list[str]:
        """The records between a and c."""
        result: list[str] = []
        written: set[str] = set()

        def write_type(name: str) -> None:
            if name not in written:
                written.add(name)
                result.append(f"t {self.types[name]:x} {name}")

        end = 0
        for label, item in sorted(self.objects.items(), key=lambda pair: pair[1].id):
            assert item.id >= end, f"{label} overlaps what lies before it"
            end = item.id + (item.size + 7) // 8
            if item.type not in LATE_TYPES:
                write_type(item.type)
            fields = [item.id, self.types[item.type], item.size]
            fields += [self.objects[other].id for other in item.references]
            result.append("o " + " ".join(f"{field:x}" for field in fields))
            write_type(item.type)
            for root in self.roots.get(label, ()):
                fields = [item.id, root.kind, root.flags]
                if root.container:
                    write_type(root.container)
                    fields.append(self.types[root.container])
                result.append("r " + " ".join(f"{field:x}" for field in fields))
        return result


def runtime(heap: Heap) -> None:
    """The runtime's own objects: domain, assemblies, threads, class descriptions."""
    heap.at(0x7C6F0)
    heap.new("domain", "System.AppDomain", 0x48, "assemblies", "domain name")
    heap.root("domain", INTERNAL)
    heap.new("assemblies", "System.Reflection.Assembly[]", 0x18, "mscorlib", "bubblecs")
    heap.new("mscorlib", "System.Reflection.Assembly", 0x20)
    heap.root("mscorlib", INTERNAL)
    heap.new("bubblecs", "System.Reflection.Assembly", 0x20)
    heap.root("bubblecs", INTERNAL)
    heap.new("main thread", "System.Threading.Thread", 0x40, "domain")
    heap.root("main thread", INTERNAL)
    heap.new("sound thread", "System.Threading.Thread", 0x40, "domain", "sound start")
    heap.root("sound thread", INTERNAL)
    for index in range(11):
        if index in (0, 6):
            heap.at((0x7C79F, 0x7CB42)[index > 0])
        heap.new(f"type {index}", "System.RuntimeType", 0x64)
        if index not in (4, 8):
            heap.root(f"type {index}", GC)


def exceptions(heap: Heap) -> None:
    """Exceptions made before they are needed, and one that was caught."""
    heap.at(0x1CE004)
    for name in ("NullReference", "OutOfMemory", "StackOverflow", "ThreadAbort"):
        heap.new(name, f"System.{name}Exception", 0x18)
        heap.root(name, INTERNAL)
    heap.new("save failed", "BubbleCS.SaveGameException", 0x38, "save.dat", "disk full")
    heap.root("save failed", STACK)
    heap.new("disk full", "System.IO.IOException", 0x30, "No space left on the storage card")


def holders(heap: Heap) -> None:
    """The objects that keep the game board alive."""
    heap.new("sounds", "BubbleCS.SoundManager", 0x28, "sound table", "level loaded")
    heap.root("sounds", STATIC, 0, "BubbleCS.SoundManager")
    heap.new("level loaded", "System.EventHandler", 0x18, "level loaded list")
    heap.new(
        "level loaded list",
        "System.Object[]",
        0x18,
        "on form loaded",
        "on board loaded",
    )
    heap.new("on form loaded", "System.EventHandler", 0x18, "title form")
    heap.new("on board loaded", "System.EventHandler", 0x18, "board")
    heap.new("tick", "BubbleCS.NativeTimer+TickCallback", 0x18, "timer")
    heap.root("tick", HANDLE, PINNED)
    heap.new("timer", "BubbleCS.NativeTimer", 0x20, "loop", "tick")
    heap.new("loop", "BubbleCS.GameLoop", 0x28, "board", "input", "particles")
    heap.new("form", "BubbleCS.GameForm", 0x60, "loop", "canvas", "window title")
    heap.root("form", STACK)
    heap.new("input", "BubbleCS.InputState", 0x18)
    heap.new("score view", "BubbleCS.ScoreView", 0x20, "board", "score font")
    heap.root("score view", HANDLE, WEAK)


def board(heap: Heap) -> None:
    """The game board, which everything above leads to, and what it owns."""
    heap.at(0x1CE056)
    heap.new(
        "board",
        "BubbleCS.GameBoard",
        0x118,
        *(
            "grid",
            "falling",
            "cannon",
            "score",
            "random",
            "popped",
            "cleared",
            "game over",
        ),
    )
    heap.root("board", HANDLE, WEAK)
    heap.new("cannon", "BubbleCS.Cannon", 0x30, "bubble 0", "bubble 1", "arrow sprite")
    sprites = [f"{color} sprite" for color in ("red", "green", "blue", "gold")]
    for index in range(24):
        heap.new(f"bubble {index}", "BubbleCS.Bubble", 0x28, sprites[index % 4])
    heap.at(0x1CE113)
    heap.new("score", "BubbleCS.Score", 0x18)
    heap.new("random", "System.Random", 0x18, "random seeds")
    heap.new("score font", "System.Drawing.Font", 0x28)
    heap.at(0x1CE11F)
    heap.new("grid", "BubbleCS.Bubble[,]", 0x15C, *(f"bubble {i}" for i in range(2, 60)))
    heap.at(0x1CE14C)
    heap.new("falling", "System.Collections.ArrayList", 0x18, "falling items")
    heap.new(
        "falling items",
        "System.Object[]",
        0x50,
        *(f"bubble {i}" for i in range(60, 64)),
    )
    heap.new("random seeds", "System.Int32[]", 0xF0)
    for index in range(24, 64):
        heap.new(f"bubble {index}", "BubbleCS.Bubble", 0x28, sprites[index % 4])
    heap.at(0x1CE267)
    heap.new("popped", "System.EventHandler", 0x18, "particles")
    heap.new("cleared", "System.EventHandler", 0x18, "form")
    heap.new("game over", "System.EventHandler", 0x18, "form")


def forms(heap: Heap) -> None:
    """Forms, controls and their handlers."""
    heap.new("canvas", "System.Windows.Forms.PictureBox", 0x48, "form", "back buffer")
    heap.new("back buffer", "System.Drawing.Bitmap", 0x20, "pixels")
    heap.root("back buffer", STACK, PINNED | INTERIOR)
    heap.new(
        "title form",
        "BubbleCS.TitleForm",
        0x60,
        "title controls",
        "title handler",
        "title",
    )
    heap.new(
        "title controls",
        "System.Windows.Forms.Control+ControlCollection",
        0x18,
        "controls",
    )
    heap.new("controls", "System.Windows.Forms.Control[]", 0x24, "start", "scores", "quit")
    for name, caption in (
        ("start", "Start"),
        ("scores", "High scores"),
        ("quit", "Quit"),
    ):
        heap.new(
            name,
            "System.Windows.Forms.Button",
            0x44,
            "title form",
            f"{name} click",
            caption,
        )
        heap.new(f"{name} click", "System.EventHandler", 0x18, "title form")
    heap.new("title handler", "System.Windows.Forms.KeyEventHandler", 0x18, "title form")


def particles(heap: Heap) -> None:
    """A singly linked list: 24 nodes of one type, a particle at each."""
    heap.new("particles", "BubbleCS.ParticleSystem", 0x20, "node 0", "spark sprite")
    for index in range(24):
        follower = [f"node {index + 1}"] if index < 23 else []
        heap.new(
            f"node {index}",
            "BubbleCS.ParticleNode",
            0x10,
            *follower,
            f"particle {index}",
        )
        heap.new(f"particle {index}", "BubbleCS.Particle", 0x20)


def sprites_and_sounds(heap: Heap) -> None:
    """Two caches: a Hashtable of sprites in a static, a generic dictionary of sounds."""
    names = ["red", "green", "blue", "gold", "arrow", "spark"]
    heap.new("sprites", "System.Collections.Hashtable", 0x34, "buckets")
    heap.root("sprites", STATIC, 0, "BubbleCS.SpriteCache")
    cells = [label for name in names for label in (f"{name}.png", f"{name} sprite")]
    heap.new("buckets", "System.Collections.Hashtable+bucket[]", 0x90, *cells)
    for name in names:
        heap.new(f"{name} sprite", "BubbleCS.Sprite", 0x20, f"{name} image", f"{name}.png")
        heap.new(f"{name} image", "System.Drawing.Bitmap", 0x20, f"{name} pixels")
    heap.root("gold image", STACK, INTERIOR)
    sounds = ["pop", "shoot", "bounce", "win", "lose"]
    cells = [label for name in sounds for label in (f"{name}.wav", f"{name} sound")]
    heap.new("sound table", SOUND_DICTIONARY, 0x30, "sound entries")
    heap.new("sound entries", f"{SOUND_DICTIONARY}+Entry[]", 0x70, *cells)
    for name in sounds:
        heap.new(f"{name} sound", "BubbleCS.Sound", 0x18, f"{name} samples", f"{name}.wav")
    heap.new("sound start", "System.Threading.ThreadStart", 0x18, "mixer")
    heap.new("mixer", "BubbleCS.SoundMixer", 0x20, "mix buffer")
    heap.new("mix buffer", "System.Byte[]", 0x410)
    heap.root("mix buffer", HANDLE, PINNED)


def scores(heap: Heap) -> None:
    """High scores in a static, the file they were read from on the finalizer queue."""
    players = ["Ada", "Grace", "Linus", "Barbara", "Edsger"]
    heap.new("high scores", SCORE_LIST, 0x18, "score items")
    heap.root("high scores", STATIC, 0, "BubbleCS.HighScores")
    heap.new("score items", "BubbleCS.HighScore[]", 0x2C, *(f"score of {p}" for p in players))
    for player in players:
        heap.new(f"score of {player}", "BubbleCS.HighScore", 0x18, player)
    heap.new("score file", "System.IO.FileStream", 0x38, "score buffer", "scores.dat")
    heap.root("score file", FINALIZER)
    heap.new("score buffer", "System.Byte[]", 0x210)
    heap.new("closing", "System.Drawing.Graphics", 0x20, "old back buffer")
    heap.root("closing", FINALIZER)
    heap.new("old back buffer", "System.Drawing.Bitmap", 0x20)
    heap.new("weak sounds", "System.WeakReference", 0x10)
    heap.root("weak sounds", HANDLE)
    for player in players:
        heap.text(player)


def garbage(heap: Heap) -> None:
    """Objects that nothing keeps alive: the board of the level before, a ring, a few strings."""
    heap.new("old board", "BubbleCS.GameBoard", 0x118, "old grid", "old falling", "old score")
    heap.new("old grid", "BubbleCS.Bubble[,]", 0x15C, *(f"old bubble {i}" for i in range(12)))
    heap.new("old falling", "System.Collections.ArrayList", 0x18, "old items")
    heap.new("old items", "System.Object[]", 0x50)
    heap.new("old score", "BubbleCS.Score", 0x18)
    for index in range(12):
        heap.new(f"old bubble {index}", "BubbleCS.Bubble", 0x28, "red sprite")
    heap.new("ring 0", "BubbleCS.ParticleNode", 0x10, "ring 1")
    heap.new("ring 1", "BubbleCS.ParticleNode", 0x10, "ring 2")
    heap.new("ring 2", "BubbleCS.ParticleNode", 0x10, "ring 0")
    for level in range(1, 7):
        heap.text(f"Level {level}")


def texts(heap: Heap) -> None:
    """Interned strings, which the runtime keeps alive, then others."""
    heap.at(0x22C7C0)
    interned = [
        "save.dat",
        "scores.dat",
        "Start",
        "High scores",
        "Quit",
        "bounce.wav",
        "arrow.png",
    ]
    for value in interned:
        heap.root(heap.text(value), GC)
    heap.at(0x22C81B)
    for value in (
        "Game",
        "bubblecs: ",
        "level {0:d2}",
        "red.png",
        "green.png",
        "blue.png",
    ):
        heap.root(heap.text(value), GC)
    for value in (
        "gold.png",
        "spark.png",
        "pop.wav",
        "shoot.wav",
        "win.wav",
        "lose.wav",
    ):
        heap.root(heap.text(value), GC)
    for label, value in (
        ("domain name", "bubblecs.exe"),
        ("window title", "bubblecs: level 07"),
    ):
        heap.new(label, "System.String", 16 + 2 * len(value))
    heap.new("title", "System.String", 16 + 2 * len("bubblecs"))
    heap.text("No space left on the storage card")


def buffers(heap: Heap) -> None:
    """Pixels and samples."""
    heap.at(0x2F0000)
    heap.new("pixels", "System.Byte[]", 0x25810)
    heap.root("pixels", HANDLE, PINNED)
    for name in ("red", "green", "blue", "gold", "arrow", "spark"):
        heap.new(f"{name} pixels", "System.Byte[]", 0x810)
    for index, name in enumerate(("pop", "shoot", "bounce", "win", "lose")):
        heap.new(f"{name} samples", "System.Byte[]", 0x1010 + 0x800 * index)


def main(arguments: list[str]) -> int:
    """Print the dump, or compare it with a file."""
    heap = Heap()
    runtime(heap)
    exceptions(heap)
    holders(heap)
    board(heap)
    forms(heap)
    particles(heap)
    sprites_and_sounds(heap)
    scores(heap)
    garbage(heap)
    texts(heap)
    buffers(heap)
    lines = ["a 2 bubblecs.exe 763f9d2", *heap.lines(), "c bubblecs.exe 763fbef"]
    text = "\n".join(lines) + "\n"
    if arguments[:1] == ["--check"]:
        with open(arguments[1], encoding="utf-8", newline="") as file:
            if file.read() != text:
                print(f"{arguments[1]} is not what its recipe writes", file=sys.stderr)
                return 1
        print(f"{arguments[1]} is what its recipe writes: {len(heap.objects)} objects")
        return 0
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
