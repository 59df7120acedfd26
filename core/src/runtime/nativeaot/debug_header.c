/* SPDX-License-Identifier: MIT */
/* DotNetRuntimeDebugHeader (src/coreclr/nativeaot/Runtime/DebugHeader.cpp of .NET 8, 9 and 10). */
#include "runtime/nativeaot/debug_header.h"

#include <string.h>

#define HEADER_MAGIC  0x48444e44u /* "DNDH" */
#define HEADER_64_BIT 1u
#define HEADER_SIZE   32u

/* The lists end with a zero; real ones have 105 and 6 rows. */
#define ENTRIES_MAX     4096u
#define TYPE_ENTRY_SIZE 24u
#define GLOBAL_SIZE     16u
#define NAME_MAX_SIZE   64u

/* The major version of the header in .NET 8 is 3, then 4, and 5. */
#define HEADER_MAJOR_OF_8 3u

/* The types whose fields are taken: others have fields of the same names. */
static const char *const taken_types[] = { "ThreadBuffer", "RuntimeThreadLocals", "Thread",
					   "ThreadStore",  "RuntimeInstance",     "ExInfo" };

unsigned int debug_header_release(uint16_t major)
{
	unsigned int release = major + AOT_MAJOR_FIRST - HEADER_MAJOR_OF_8;
	return major >= HEADER_MAJOR_OF_8 && release < AOT_MAJOR_LAST ? release : 0;
}

uint16_t debug_header_major(unsigned int release)
{
	return (uint16_t)(release - AOT_MAJOR_FIRST + HEADER_MAJOR_OF_8);
}

bool debug_header_read(struct memory *memory, uint64_t address, struct debug_header *ret)
{
	uint8_t bytes[HEADER_SIZE];
	if (!memory_read(memory, address, bytes, sizeof(bytes)) ||
	    load_u32(bytes) != HEADER_MAGIC || !(load_u32(bytes + 8) & HEADER_64_BIT))
		return false;
	*ret = (struct debug_header){ .major = load_u16(bytes + 4),
				      .minor = load_u16(bytes + 6),
				      .types = load_u64(bytes + 16),
				      .globals = load_u64(bytes + 24) };
	return ret->types && ret->globals;
}

static bool is_taken(const char *type)
{
	for (size_t i = 0; i < sizeof(taken_types) / sizeof(*taken_types); i++) {
		if (strcmp(type, taken_types[i]) == 0)
			return true;
	}
	return false;
}

static void take_types(struct memory *memory, uint64_t at, struct aot_layout *layout)
{
	for (size_t i = 0; i < ENTRIES_MAX; i++, at += TYPE_ENTRY_SIZE) {
		uint8_t entry[TYPE_ENTRY_SIZE];
		char type[NAME_MAX_SIZE], field[NAME_MAX_SIZE];
		if (!memory_read(memory, at, entry, sizeof(entry)) || load_u64(entry) == 0)
			return;
		if (memory_string(memory, load_u64(entry), type, sizeof(type)) > 0 &&
		    memory_string(memory, load_u64(entry + 8), field, sizeof(field)) > 0 &&
		    is_taken(type))
			aot_layout_take(layout, field, load_u32(entry + 16));
	}
}

static void take_global(const char *name, uint64_t value, struct aot_globals *globals,
			uint64_t *ret_free)
{
	const struct {
		const char *name;
		uint64_t *value;
	} known[] = { { "g_gcDacGlobals", &globals->gc_vars },
		      { "g_pTheRuntimeInstance", &globals->instance },
		      { "g_CrashInfoBuffer", &globals->crash },
		      { "g_pFreeObjectEEType", ret_free } };
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(name, known[i].name) == 0)
			*known[i].value = value;
	}
}

void debug_header_take(struct memory *memory, const struct debug_header *header,
		       struct aot_layout *layout, struct aot_globals *globals, uint64_t *ret_free)
{
	take_types(memory, header->types, layout);
	uint64_t at = header->globals;
	for (size_t i = 0; i < ENTRIES_MAX; i++, at += GLOBAL_SIZE) {
		uint8_t entry[GLOBAL_SIZE];
		char name[NAME_MAX_SIZE];
		if (!memory_read(memory, at, entry, sizeof(entry)) || load_u64(entry) == 0)
			return;
		if (memory_string(memory, load_u64(entry), name, sizeof(name)) > 0)
			take_global(name, load_u64(entry + 8), globals, ret_free);
	}
}
