# SPDX-License-Identifier: MIT
"""The cells that a spreadsheet takes for a formula, and how a cell of CSV is kept from being one."""
from __future__ import annotations

import csv
import io
import re

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z")
SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
PLACES = re.compile(rf'(\A|[;\n])([ "\n;]*)(?=[{SIGNS}])')
FORMULA = re.compile(rf"\s*[{SIGNS}]")


def guarded(text: str) -> str:
    """A text as a cell of CSV has it: with an apostrophe where a formula could begin."""
    return text if NUMBER.match(text) else PLACES.sub(r"\1\2'", text)


def formulas(text: str, delimiter: str) -> list[str]:
    """The cells of a CSV file, as a reader with this delimiter cuts it, that a spreadsheet runs."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    cells = [cell for row in rows for cell in row]
    return [cell for cell in cells if FORMULA.match(cell) and not NUMBER.match(cell.strip())]
