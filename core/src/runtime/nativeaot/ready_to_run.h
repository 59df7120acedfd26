/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct target;
struct target_module;

/** The sections that are read (ReadyToRunSectionType, src/coreclr/nativeaot/Common/src/Internal/Runtime/ModuleHeaders.cs). */
enum ready_to_run_id {
	READY_TO_RUN_GC_STATICS = 201,
	READY_TO_RUN_THREAD_STATICS = 202,
	READY_TO_RUN_TYPE_MANAGER = 204, /**< the word with the TypeManager */
	READY_TO_RUN_FROZEN = 206,
	READY_TO_RUN_TYPE_MAP = 301,
	READY_TO_RUN_ARRAY_MAP = 302,
	READY_TO_RUN_INVOKE_MAP = 306,
	READY_TO_RUN_FIXUPS = 308,
	READY_TO_RUN_METADATA = 313,
	READY_TO_RUN_STACK_TRACE_MAP = 327,
};

/** Most sections that a program has. */
#define READY_TO_RUN_SECTIONS_MAX 128u

/** A section: [begin, begin + size) in memory. */
struct ready_to_run_section {
	uint32_t id;
	uint64_t begin, size;
};

/** The table of sections that the compiler writes into a program (doc/nativeaot.md 2). */
struct ready_to_run {
	uint64_t address; /**< 0: not known */
	uint16_t major;   /**< version of the tables: 9 (.NET 8), 10 (9), 16 (10), 26 (11) */
	uint32_t count;
	struct ready_to_run_section sections[READY_TO_RUN_SECTIONS_MAX];
};

/** Read the header at @p address; false, and *ret untouched: there is none, or it cannot be read. */
bool ready_to_run_read(const struct target *target, const struct target_module *module,
		       uint64_t address, struct ready_to_run *ret);

/** The section with that number; false: there is none, or it is empty. */
bool ready_to_run_section(const struct ready_to_run *image, enum ready_to_run_id id,
			  uint64_t *ret_begin, uint64_t *ret_size);
