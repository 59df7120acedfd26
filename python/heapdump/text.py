# SPDX-License-Identifier: MIT
"""Text out of a target that is shown to a person."""
from __future__ import annotations

import re

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
