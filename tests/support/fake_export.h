/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_clr.h"

/*
 * The rest of a fake runtime: a module that exports it, so that runtime_open() finds it as in a core.
 * Everything of fake_clr is exported as it is at the call: add threads and segments before it.
 */

/**
 * Index of a global in the g_dacTable that is made: where .NET 10 has them.  From 11 on there are two
 * more, and the sync table is FAKE_SYNC_TABLE_MOVED after where it was.
 */
enum fake_global {
	FAKE_THREAD_STORE = 15,
	FAKE_FINALIZER = 16,
	FAKE_GC_THREAD = 17,
	FAKE_HEAP_TYPE = 18,
	FAKE_GC_VARS = 19,
	FAKE_APP_DOMAIN = 20,
	FAKE_CARD_TABLE = 36,
	FAKE_LOWEST = 37,
	FAKE_HIGHEST = 38,
	FAKE_ALLOC_CONTEXT = 39,
	FAKE_OBJECT = 42,
	FAKE_STRING = 45,
	FAKE_OBJECT_ARRAY = 47, /**< no entry of its own: the variable lies between others */
	FAKE_EXCEPTION = 49,
	FAKE_THREAD_ABORT = 50, /**< and two more of its siblings */
	FAKE_FREE = 56,
	FAKE_SYNC_TABLE = 78,
	FAKE_GLOBALS = 129
};
#define FAKE_SYNC_TABLE_MOVED 2u

#define FAKE_MODULE_BASE ((uint64_t)0x7e00 << 32)

/** Where in the module what is; each on a page of its own. */
enum fake_place {
	FAKE_PLACE_HEADER = 0,
	FAKE_PLACE_DYNAMIC = 0x1000,
	FAKE_PLACE_SYMBOLS = 0x2000,
	FAKE_PLACE_DESCRIPTOR = 0x4000, /**< struct; pointer data at + 0x200 */
	FAKE_PLACE_RELOCATIONS = 0x5000,
	FAKE_PLACE_DAC_TABLE = 0x6000,
	FAKE_PLACE_DATA = 0x8000, /**< globals, 16 bytes apart; version text at + 0x1000 */
};

struct fake_export {
	const char *
		path; /**< NULL: .../Microsoft.NETCore.App/10.0.3/libcoreclr.so, or of its release */
	const char *json;         /**< of the contract descriptor; NULL: none is exported */
	size_t json_size;         /**< 0: up to its NUL */
	const uint64_t *pointers; /**< pointer data */
	uint32_t pointer_count;
	bool unrelocated;     /**< the descriptor's page is not in the core: only file bytes */
	bool no_table;        /**< g_dacTable is not exported */
	const char *symbol;   /**< one more that is exported, or NULL */
	const char *version;  /**< text among the data, or NULL */
	const char *build_id; /**< hex, 40 digits; NULL: none */
};

/** Make the module and what the globals name; fake->target is then ready for runtime_open(). */
void fake_export(struct fake_clr *fake, const struct fake_export *options);

/** Address of the variable of a global, in the module. */
uint64_t fake_global(enum fake_global global);
/** Set it. */
void fake_set_global(struct fake_clr *fake, enum fake_global global, uint64_t value);
