/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/mapped_file.h"
#include "mem/memory.h"

/** A mapped file as a memory whose addresses are its offsets.  Nothing needs to be freed. */
struct file_memory {
	struct memory memory;
	const struct mapped_file *file; /**< borrowed */
};

/** Make the memory of @p file, which must stay open. */
struct file_memory file_memory_of(const struct mapped_file *file);
