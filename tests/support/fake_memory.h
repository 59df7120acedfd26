/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/** An address space in pieces, made by a test.  Memory that runs out ends the program. */
struct fake_memory {
	struct memory memory;      /**< parallel; hands out runs unless no_runs */
	struct fake_piece *pieces; /**< ascending */
	size_t count, capacity;
	uint64_t next; /**< where fake_alloc() goes on */
	bool no_runs;
};

void fake_memory_init(struct fake_memory *fake);
/** Also what memory_destroy() does. */
void fake_memory_deinit(struct fake_memory *fake);

/** Zeros at [address, address + size), which must be free. */
void fake_map(struct fake_memory *fake, uint64_t address, uint64_t size);
/** Zeros somewhere, 16-aligned, with nothing readable before and after. */
uint64_t fake_alloc(struct fake_memory *fake, uint64_t size);
/** Take the piece that holds @p address out again: it cannot be read any more. */
void fake_unmap(struct fake_memory *fake, uint64_t address);

/** Write; all of it must be mapped. */
void fake_poke(struct fake_memory *fake, uint64_t address, const void *bytes, size_t size);
void fake_poke_u64(struct fake_memory *fake, uint64_t address, uint64_t value);
void fake_poke_u32(struct fake_memory *fake, uint64_t address, uint32_t value);
/** Read back; must be mapped. */
uint64_t fake_peek_u64(struct fake_memory *fake, uint64_t address);
/** fake_alloc() of a text and its NUL. */
uint64_t fake_text(struct fake_memory *fake, const char *text);

/** All of a fake_memory but [begin, end): what a core lacks. */
struct fake_hidden {
	struct memory memory;
	struct fake_memory *all;
	uint64_t begin, end;
};

void fake_hide(struct fake_hidden *hidden, struct fake_memory *all, uint64_t begin, uint64_t end);
