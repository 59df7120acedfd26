/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/types/type_lookup.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/modules/module_image.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"

/* Most entries of all tables of all modules that are read: real services have some 100,000. */
#define ENTRIES_MAX       ((uint64_t)8 << 20)
#define LOOKUP_SLOTS_MAX  ((uint64_t)128 << 20)
#define WORDS_READ        512u
#define LOOKUP_TABLES_MAX 32u

/*
 * EETypeHashTable (dacenumerablehash.h, typehash.h), the same in 8, 9 and 10.  A bucket array
 * begins with the number of buckets, the address of the next (larger) array while the table grows,
 * and the end mark; a chain ends with a link whose bit 0 is set.
 */
#define HASH_MODULE  0u
#define HASH_BUCKETS 16u
#define HASH_COUNT   24u
#define BUCKET_FIRST 3u
#define ENTRY_VALUE  0u
#define ENTRY_NEXT   8u

/*
 * Types in the order in which they were found, each once; the table of names is made when it is
 * needed.
 */
struct type_lookup {
	const struct type **types;
	size_t count, capacity;
	uint8_t *seen; /* by index of the type */
	size_t seen_size;
	uint32_t *slots; /* 1 + index into types, by hash of the name; 0 = empty */
	size_t slot_count;
	uint64_t entries_left, slots_left;
	uint64_t broken; /* entries that are not types; parts of the tables that cannot be read */
};

static bool reserve_seen(struct type_lookup *lookup, size_t index)
{
	if (index < lookup->seen_size)
		return true;
	size_t size = (index + 1) * 2;
	uint8_t *seen = mem_realloc(lookup->seen, size, 1);
	if (!seen)
		return false;
	memset(seen + lookup->seen_size, 0, size - lookup->seen_size);
	lookup->seen = seen;
	lookup->seen_size = size;
	return true;
}

/* Remember the type of a MethodTable, unless it is not a type or is already there. */
static bool remember_type(struct runtime *runtime, struct type_lookup *lookup,
			  uint64_t method_table)
{
	const struct type *type = method_table ? type_find(runtime, method_table) : NULL;
	lookup->broken += method_table && !type;
	if (!type)
		return true;
	if (!reserve_seen(lookup, type->index))
		return false;
	if (lookup->seen[type->index])
		return true;
	if (lookup->count == lookup->capacity) {
		size_t capacity = grown_capacity(lookup->capacity, sizeof(struct type *));
		const struct type **types =
			mem_realloc(lookup->types, capacity, sizeof(struct type *));
		if (!types)
			return false;
		lookup->types = types;
		lookup->capacity = capacity;
	}
	lookup->seen[type->index] = 1;
	lookup->types[lookup->count++] = type;
	return true;
}

static uint64_t take_from_budget(uint64_t *budget, uint64_t wanted)
{
	uint64_t taken = wanted < *budget ? wanted : *budget;
	*budget -= taken;
	return taken;
}

/* Read up to WORDS_READ words at @p address; *@p count becomes smaller if not all can be read. */
static size_t read_words(struct runtime *runtime, struct type_lookup *lookup, uint64_t address,
			 uint64_t count, uint64_t *ret)
{
	size_t wanted = count < WORDS_READ ? (size_t)count : WORDS_READ;
	size_t got = memory_prefix(runtime->memory, address, ret, 8 * wanted) / 8;
	lookup->broken += got < wanted;
	return got;
}

static bool add_lookup_segment(struct runtime *runtime, struct type_lookup *lookup,
			       const struct lookup_segment *segment, uint64_t mask)
{
	uint64_t count = take_from_budget(&lookup->slots_left, segment->count), values[WORDS_READ];
	for (uint64_t done = 0; done < count;) {
		size_t step = read_words(runtime, lookup, segment->table + 8 * done, count - done,
					 values);
		if (!step)
			break;
		for (size_t k = 0; k < step; k++) {
			if (values[k] & ~mask && take_from_budget(&lookup->entries_left, 1) &&
			    !remember_type(runtime, lookup, values[k] & ~mask))
				return false;
		}
		done += step;
	}
	return true;
}

/* MethodTables of the TypeDefs of a module (doc/coreclr.md 9.3). */
static bool add_type_defs(struct runtime *runtime, struct type_lookup *lookup, uint64_t module)
{
	uint64_t at = module + coreclr_offset(runtime, L_MODULE_TYPE_DEF_MAP), mask = 0;
	for (unsigned int i = 0; at; i++) {
		struct lookup_segment segment;
		if (i == LOOKUP_SEGMENTS_MAX || !lookup_segment_read(runtime, at, &segment)) {
			lookup->broken++;
			return true;
		}
		if (!i)
			mask = segment.mask;
		if (!add_lookup_segment(runtime, lookup, &segment, mask))
			return false;
		at = segment.next;
	}
	return true;
}

/* Read one chain; *@p left counts how many more entries the table may have. */
static bool add_chain(struct runtime *runtime, struct type_lookup *lookup, uint64_t entry,
		      uint64_t *left)
{
	while (entry && !(entry & 1) && *left && take_from_budget(&lookup->entries_left, 1)) {
		uint64_t value, next;
		if (!memory_u64(runtime->memory, entry + ENTRY_VALUE, &value) ||
		    !memory_u64(runtime->memory, entry + ENTRY_NEXT, &next))
			return true;
		--*left;
		/* Bit 0 is a lock; bit 1 marks a TypeDesc. */
		if (!(value & 2) && !remember_type(runtime, lookup, value & ~(uint64_t)1))
			return false;
		entry = next;
	}
	return true;
}

static bool add_buckets(struct runtime *runtime, struct type_lookup *lookup, uint64_t buckets,
			uint64_t count, uint64_t *left)
{
	uint64_t links[WORDS_READ];
	count = take_from_budget(&lookup->slots_left, count);
	for (uint64_t done = 0; done < count && *left;) {
		size_t step = read_words(runtime, lookup, buckets + 8 * (BUCKET_FIRST + done),
					 count - done, links);
		if (!step)
			break;
		for (size_t k = 0; k < step; k++) {
			if (!add_chain(runtime, lookup, links[k], left))
				return false;
		}
		done += step;
	}
	return true;
}

/* Read the instantiations and arrays whose loader module this is (doc/coreclr.md 9.3). */
static bool add_constructed(struct runtime *runtime, struct type_lookup *lookup, uint64_t module)
{
	uint64_t table, owner, buckets, count, next;
	uint32_t entries;
	if (!coreclr_pointer(runtime, module, L_MODULE_TYPE_PARAMS, &table) || !table)
		return true;
	if (!memory_u64(runtime->memory, table + HASH_MODULE, &owner) || owner != module ||
	    !memory_u64(runtime->memory, table + HASH_BUCKETS, &buckets) ||
	    !memory_u32(runtime->memory, table + HASH_COUNT, &entries)) {
		lookup->broken++;
		return true;
	}
	/* While it grows, entries are in two arrays. */
	uint64_t most = 2 * (uint64_t)entries + 64, left = most;
	for (unsigned int i = 0; buckets && i < LOOKUP_TABLES_MAX; i++) {
		if (!memory_u64(runtime->memory, buckets, &count) ||
		    !memory_u64(runtime->memory, buckets + 8, &next))
			break;
		if (!add_buckets(runtime, lookup, buckets, count, &left))
			return false;
		buckets = next;
	}
	if (most - left < entries)
		lookup->broken += entries - (most - left);
	lookup->broken += !left; /* there may be more */
	return true;
}

static void report_broken_tables(struct runtime *runtime, const struct type_lookup *lookup)
{
	if (!lookup->broken)
		return;
	findings_add(&runtime->target->findings, FINDING_TYPE_TABLES, NULL,
		     "%" PRIu64
		     " entries or parts of the runtime's tables of types cannot be read: "
		     "types and static fields may be missing",
		     lookup->broken);
}

enum hd_status type_lookup_create(struct runtime *runtime, struct type_lookup **ret,
				  struct hd_error *err)
{
	struct module *const *modules;
	size_t count;
	TRY(module_list(runtime, &modules, &count, err));
	struct type_lookup *lookup = mem_calloc(1, sizeof(*lookup));
	TRY_MEMORY(lookup, err);
	lookup->entries_left = ENTRIES_MAX;
	lookup->slots_left = LOOKUP_SLOTS_MAX;
	bool good = true, has_map = layout_has(&coreclr_of(runtime)->layout, L_MODULE_TYPE_DEF_MAP);
	for (size_t i = 0; good && i < count; i++) {
		good = (!has_map || add_type_defs(runtime, lookup, modules[i]->address)) &&
		       add_constructed(runtime, lookup, modules[i]->address);
	}
	if (!good) {
		type_lookup_destroy(lookup);
		return fail_nomem(err);
	}
	report_broken_tables(runtime, lookup);
	*ret = lookup;
	return HD_OK;
}

void type_lookup_destroy(struct type_lookup *lookup)
{
	if (!lookup)
		return;
	mem_free(lookup->types);
	mem_free(lookup->seen);
	mem_free(lookup->slots);
	mem_free(lookup);
}

static enum hd_status require_lookup(struct runtime *runtime, struct hd_error *err)
{
	if (!coreclr_is(runtime)) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "a program with %s does not keep a list of its types; dumpheap -stat "
			    "lists those that have objects",
			    runtime->ops->name);
	}
	return coreclr_of(runtime)->lookup
		       ? HD_OK
		       : type_lookup_create(runtime, &coreclr_of(runtime)->lookup, err);
}

static uint64_t hash_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	for (const char *p = name; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

/*
 * Put each type into the first free slot at or after that of its name's hash, in the order in which
 * they were found.
 */
static bool index_type_names(struct runtime *runtime, struct type_lookup *lookup)
{
	size_t slots = 64;
	while (slots < lookup->count * 2)
		slots *= 2;
	if (lookup->count >= UINT32_MAX)
		return false;
	lookup->slots = mem_calloc(slots, sizeof(*lookup->slots));
	if (!lookup->slots)
		return false;
	lookup->slot_count = slots;
	for (size_t i = 0; i < lookup->count; i++) {
		uint64_t at = hash_name(type_name(runtime, lookup->types[i], NULL)) & (slots - 1);
		while (lookup->slots[at])
			at = (at + 1) & (slots - 1);
		lookup->slots[at] = (uint32_t)i + 1;
	}
	return true;
}

const struct type *type_by_name(struct runtime *runtime, const char *name, uint64_t module)
{
	if (require_lookup(runtime, NULL) != HD_OK)
		return NULL;
	struct type_lookup *lookup = coreclr_of(runtime)->lookup;
	if (!lookup->slots && !index_type_names(runtime, lookup))
		return NULL;
	const struct type *first = NULL;
	uint64_t mask = lookup->slot_count - 1, at = hash_name(name) & mask;
	for (; lookup->slots[at]; at = (at + 1) & mask) {
		const struct type *type = lookup->types[lookup->slots[at] - 1];
		if (strcmp(type_name(runtime, type, NULL), name) != 0)
			continue;
		if (!module || type->module == module)
			return type;
		if (!first)
			first = type;
	}
	return first;
}

enum hd_status type_for_each(struct runtime *runtime,
			     bool (*visit)(void *arg, const struct type *type), void *arg,
			     struct hd_error *err)
{
	TRY(require_lookup(runtime, err));
	for (size_t i = 0; i < coreclr_of(runtime)->lookup->count; i++) {
		if (!visit(arg, coreclr_of(runtime)->lookup->types[i]))
			break;
	}
	return HD_OK;
}
