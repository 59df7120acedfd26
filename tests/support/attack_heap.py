# SPDX-License-Identifier: MIT
"""A text log whose type names are attacks on what shows them, and the same heap with plain names."""
from __future__ import annotations

# Names that a type may have, and how a page shows them.
ATTACKS = (
    (b"</script><script>hacked=1</script>", "</script><script>hacked=1</script>"),
    (b'"onload="hacked=1" x="', '"onload="hacked=1" x="'),
    (b"'onmouseover='hacked=1", "'onmouseover='hacked=1"),
    (b"</style><style>body{display:none}", "</style><style>body{display:none}"),
    (b"<img src=x onerror=hacked=1>", "<img src=x onerror=hacked=1>"),
    (b"</title></bdi><!--", "</title></bdi><!--"),
    (b"]]><![CDATA[", "]]><![CDATA["),
    (b"&lt;b&gt;&#60;", "&lt;b&gt;&#60;"),
    ("Bidi\u202egnp\u2066".encode(), "Bidi\\u202egnp\\u2066"),
    ("Zero\u200bWidth\ufeff".encode(), "Zero\\u200bWidth\\ufeff"),
    ("Tag\U000e0041".encode(), "Tag\\u{e0041}"),
    (b"Control\x1b[31m\x07", "Control\\u001b[31m\\u0007"),
    (b"Broken\xff\xed\xa0\x80", "Broken\\xff\\xed\\xa0\\x80"),
    (b"javascript:hacked=1", "javascript:hacked=1"),
    (b"data:text/html,<script>x</script>", "data:text/html,<script>x</script>"),
    (b"${hacked=1}{{7*7}}`", "${hacked=1}{{7*7}}`"),
)
SHOWN = tuple(shown for _, shown in ATTACKS)
INVISIBLE = "\u202e\u2066\u200b\ufeff\U000e0041\x1b\x07"
LONG = 1 << 20
# The first ones are piles: findings.
PILES = 5
PILE_MEMBERS = 3000
MEMBERS = 300


def make_large() -> bytes:
    """A text log with many long names that grow when they are escaped, in deep trees: 3,000 chains of 20 types."""
    types, depth = 3000, 20
    lines = [b"a 2 large.exe"]
    for i in range(types):
        lines.append(b"t %d A%d.%s%d" % (i + 1, i, b"\"<'&" * 200, i))
    identity = 1
    for i in range(types):
        lines.append(b"r %x 4 0 %d" % (identity, i + 1))
        for level in range(depth):
            inner = b" %x" % (identity + 1) if level + 1 < depth else b""
            kind = (i * 7 + level * 13) % types + 1
            lines.append(b"o %x %d %d%s" % (identity, kind, 5000 if i < 900 else 24, inner))
            identity += 1
    lines.append(b"c large.exe")
    order = {
        kind: [line for line in lines if line.startswith(kind)]
        for kind in (b"a", b"t", b"o", b"r", b"c")
    }
    return b"\n".join(line for group in order.values() for line in group) + b"\n"


def make(is_attack: bool) -> bytes:
    """The text log: a list of each type, which a root holds, with members that are a pile."""
    lines = [b"a 2 attack.exe"]
    # So all of them, and the plain ones, are classes of the program in one namespace.
    names = [b"A." + name for name in [*(name for name, _ in ATTACKS), b"Long" + b"x" * LONG]]
    if not is_attack:
        names = [b"A.Plain%d" % i for i in range(len(names))]
    for i, name in enumerate(names, 1):
        lines.append(b"t %d %s" % (i, name))
    identity = 1
    roots = []
    for i in range(1, len(names) + 1):
        holder = identity
        count = PILE_MEMBERS if i <= PILES else MEMBERS
        members = range(holder + 1, holder + 1 + count)
        roots.append(holder)
        lines.append(b"o %x %d 24 " % (holder, i) + b" ".join(b"%x" % member for member in members))
        lines.extend(b"o %x %d 1000" % (member, i % len(names) + 1) for member in members)
        identity = holder + 1 + count
    lines.extend(b"r %x 4 0 %d" % (root, 1 + i) for i, root in enumerate(roots))
    lines.append(b"c attack.exe")
    return b"\n".join(lines) + b"\n"
