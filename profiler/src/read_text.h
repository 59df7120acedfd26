/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Read a file from where it is to its end, or until @p capacity bytes are read; how many bytes, or -1. */
ssize_t read_whole(int fd, char *bytes, size_t capacity);

/** Read the beginning of a file as text, at most @p size - 1 bytes; false: it cannot be read, or it is empty. */
bool read_text(const char *path, char *text, size_t size);
