# SPDX-License-Identifier: MIT
"""Fields by their names."""
from __future__ import annotations

import re
from typing import Any, Sequence

_BACKING = re.compile(r"<(\w+)>k__BackingField")


def field_row(rows: Sequence[dict[str, Any]], path: str) -> tuple[dict[str, Any] | None, str]:
    """The field that ``path`` begins with, and the rest of the path; names of fields may have points."""
    name, rest = path, ""
    while name:
        for wanted in (name, f"<{name}>k__BackingField"):
            # A derived class may have a field of the same name: it comes last.
            for row in reversed(rows):
                if row["name"] == wanted:
                    return row, rest
        name, _, after = name.rpartition(".")
        rest = f"{after}.{rest}" if rest else after
    return None, path


def short_name(name: str) -> str:
    """The name of the property that a field was made for, or of the field."""
    found = _BACKING.fullmatch(name)
    return found[1] if found else name
