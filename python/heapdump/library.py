# SPDX-License-Identifier: MIT
"""May a library be loaded?  Whoever can change it, or name it, runs code as the user of this process."""
from __future__ import annotations

import grp
import os
import pwd
import stat

# Set by the programs that let another user start this one.
RAISED_BY = ("SUDO_UID", "PKEXEC_UID", "DOAS_USER")


def is_raised() -> bool:
    """Does this process have more rights than the user whose environment it has?"""
    if os.geteuid() != os.getuid() or os.getegid() != os.getgid():
        return True
    return any(name in os.environ for name in RAISED_BY)


def _is_private(group: int, owner: int) -> bool:
    """Is GROUP the one that only OWNER is in, as most systems make for each user?"""
    try:
        user = pwd.getpwuid(owner)
        members = set(grp.getgrgid(group).gr_mem) - {user.pw_name}
    except KeyError:
        return False
    return group in (user.pw_gid, 0) and not members


def _others_may_write(info: os.stat_result) -> bool:
    if info.st_mode & stat.S_IWOTH:
        return True
    return bool(info.st_mode & stat.S_IWGRP) and not _is_private(info.st_gid, info.st_uid)


def refusal(path: str, owners: set[int]) -> str | None:
    """Why the library at PATH, without links, is not to be loaded; None: it may be.

    It and all folders on the way to it must belong to OWNERS, and nobody else may write to them; to a folder
    such as /tmp anybody may, if each can remove only what is his own.
    """
    name, is_first = path, True
    while True:
        try:
            info = os.lstat(name)
        except OSError as error:
            return f"{name}: {error.strerror}"
        if is_first and not stat.S_ISREG(info.st_mode):
            return f"{name} is not a file"
        if info.st_uid not in owners:
            return f"{name} belongs to another user"
        shared = stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX
        is_folder_of_it = name == os.path.dirname(path)
        if _others_may_write(info) and (is_folder_of_it or not shared):
            return f"other users may write to {name}"
        if name == os.path.dirname(name):
            return None
        name, is_first = os.path.dirname(name), False
