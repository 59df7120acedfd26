# SPDX-License-Identifier: MIT
"""heapdump's commands, settings and functions for GDB."""
