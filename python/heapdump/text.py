# SPDX-License-Identifier: MIT
"""Text out of a target that is shown to a person."""
from __future__ import annotations

import re
from typing import Any, Iterable, Iterator

# A terminal would act on these, or nobody sees them: the core's list (util/invisible.c), here for messages that come
# before the library is loaded.  And bytes that are not UTF-8, as "surrogateescape" has them.
INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\udc80-\udcff]"
)


def printable(text: str) -> str:
    """``text`` with escapes for what a terminal would act on or nobody sees, as the core writes them."""

    def written(found: re.Match[str]) -> str:
        code = ord(found[0])
        if 0xDC80 <= code <= 0xDCFF:
            return f"\\x{code - 0xDC00:02x}"
        return f"\\u{code:04x}" if code < 0x10000 else f"\\u{{{code:x}}}"

    return INVISIBLE.sub(written, text)


# Limits of a table that is shown.
ROWS_SHOWN = 50
WIDTH = 100


def _cells(row: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Names and texts of the values of a row; tables in it have their number of rows."""
    if not isinstance(row, dict):
        yield path or "value", printable("" if row is None else str(row))
        return
    for name, value in row.items():
        name = f"{path}.{name}" if path else name
        if isinstance(value, dict):
            yield from _cells(value, name)
        elif isinstance(value, list) and all(isinstance(part, str) for part in value):
            yield name, printable(" ".join(value))
        elif isinstance(value, list):
            yield name, f"({len(value)})"
        elif isinstance(value, int) and not isinstance(value, bool):
            yield name, repr(value)
        else:
            yield name, printable("" if value is None else str(value))


def as_table(rows: Iterable[Any], count: int) -> str:
    """The first rows as people read them, without columns that have nothing; ``count``: of all rows."""
    lines = [dict(_cells(row)) for row, _ in zip(rows, range(ROWS_SHOWN))]
    names: dict[str, int] = {}
    for line in lines:
        for name, text in line.items():
            if text:
                names[name] = min(max(names.get(name, len(name)), len(text)), WIDTH)
    if not names:
        return f"({max(count, len(lines))} rows without values)"
    numbers = {name for name in names if all(line.get(name, "0").isdecimal() for line in lines)}
    shown = ["  ".join(name.ljust(width) for name, width in names.items()).rstrip()]
    for line in lines:
        cells = []
        for name, width in names.items():
            text = line.get(name, "")
            text = text if len(text) <= width else text[: width - 1] + "\u2026"
            cells.append(text.rjust(width) if name in numbers else text.ljust(width))
        shown.append("  ".join(cells).rstrip())
    if count > len(lines):
        shown.append(f"({len(lines)} of {count} rows)")
    return "\n".join(shown)
