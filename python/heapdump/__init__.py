# SPDX-License-Identifier: MIT
"""The library libheapdump for Python."""
