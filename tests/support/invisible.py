# SPDX-License-Identifier: MIT
"""Characters that nobody sees, or that act on a terminal or on the text around them, by Unicode's own data."""
from __future__ import annotations

import sys
import unicodedata

# These are of category Cf, but drawn: they enclose the digits that follow.
DRAWN = frozenset([*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD])
# The property Default_Ignorable_Code_Point, which unicodedata does not have (DerivedCoreProperties.txt of Unicode 15).
IGNORABLE = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
# These are of category Cf only since Unicode 15, which this Python may not know.
LATER = range(0x13439, 0x13440)


def _find() -> set[int]:
    found = set(LATER)
    for first, last in IGNORABLE:
        found.update(range(first, last + 1))
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp") and code not in DRAWN:
            found.add(code)
    return found


INVISIBLE = frozenset(_find())


def left_in(text: str, *allowed: str) -> list[str]:
    """The invisible characters of a text, without the ones that are ALLOWED."""
    return sorted(
        {hex(ord(char)) for char in text if ord(char) in INVISIBLE and char not in allowed}
    )
