# SPDX-License-Identifier: MIT
"""python3 -m heapdump WORD...: the program heapdump that belongs to this package."""
from __future__ import annotations

import os
import sys

from heapdump.isolated import find_program
from heapdump.native import HeapdumpError


def main() -> None:
    """Become that program."""
    try:
        program = find_program()
        os.execv(program, [program, *sys.argv[1:]])
    except (HeapdumpError, OSError) as error:
        sys.exit(f"heapdump: {error}")


if __name__ == "__main__":
    main()
