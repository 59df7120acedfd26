# SPDX-License-Identifier: MIT
"""One thread at a time, in the process that made it."""
from __future__ import annotations

import contextlib
import os
import threading
from typing import Iterator

from heapdump.native import HeapdumpError, Status


class Turns:
    """Gives what may only be used by one thread at a time to one after the other."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._user: int | None = None  # the thread whose turn it is
        self._is_read = False  # by a stream, which the caller has to end first

    @property
    def is_ours(self) -> bool:
        """Was it made in this process, not before fork()?"""
        return os.getpid() == self._process

    @contextlib.contextmanager
    def use(self, is_stream: bool = False) -> Iterator[None]:
        """Have it to oneself."""
        if not self.is_ours:
            raise HeapdumpError(
                "this heap was opened before fork(): open it in the new process", Status.ARGUMENT
            )
        if self._user == threading.get_ident() or self._is_read:
            raise HeapdumpError(
                "this heap is busy: read a stream to its end, or open the heap twice",
                Status.ARGUMENT,
            )
        with self._lock:
            self._user, self._is_read = threading.get_ident(), is_stream
            try:
                yield
            finally:
                self._user, self._is_read = None, False

    @contextlib.contextmanager
    def wait(self) -> Iterator[None]:
        """Wait for what runs, to end it."""
        with self._lock:
            yield
