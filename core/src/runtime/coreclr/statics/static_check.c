/* SPDX-License-Identifier: MIT */
/*
 * The object[]s that hold the statics of types that are not collectible (PinnedHeapHandleTable,
 * appdomain.hpp of 9 and 10).
 */
#include "runtime/coreclr/statics/static_check.h"

#include <inttypes.h>
#include <string.h>

#include "gc/layouts/object_layout.h"
#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/statics.h"
#include "runtime/type.h"
#include "targets/target.h"
#include "util/findings.h"

/*
 * How many bytes of an AppDomain are searched for the pointer to its table, which is at 712 in
 * 10.0.
 */
#define APP_DOMAIN_SIZE 8192u

/* PinnedHeapHandleBucket: next, size, used, handle, elements. */
#define BUCKET_SIZE        40u
#define BUCKET_LENGTH      8u
#define BUCKET_USED        12u
#define BUCKET_HANDLE      24u
#define BUCKET_ELEMENTS    32u
#define STATIC_BUCKETS_MAX 4096u
#define LENGTH_MAX         (1u << 24)

#define ARRAY_HEAD  16u
#define HANDLE_MASK (~(uint64_t)7)
#define VALUES_READ 512u

#define UNKNOWN "<unknown type"

struct bucket {
	uint64_t next, elements;
	uint32_t used;
};

static bool read_statics_bucket(struct runtime *runtime, uint64_t address, struct bucket *ret)
{
	uint8_t bytes[BUCKET_SIZE];
	uint64_t array, method_table;
	uint32_t length;
	if (!address || address % 8 || !memory_read(runtime->memory, address, bytes, sizeof(bytes)))
		return false;
	uint32_t size = load_u32(bytes + BUCKET_LENGTH);
	*ret = (struct bucket){ .next = load_u64(bytes),
				.elements = load_u64(bytes + BUCKET_ELEMENTS),
				.used = load_u32(bytes + BUCKET_USED) };
	return size && size < LENGTH_MAX && ret->used <= size &&
	       memory_u64(runtime->memory, load_u64(bytes + BUCKET_HANDLE) & HANDLE_MASK, &array) &&
	       array + ARRAY_HEAD == ret->elements &&
	       memory_u32(runtime->memory, array + OBJECT_LENGTH, &length) && length == size &&
	       memory_u64(runtime->memory, array, &method_table) &&
	       (method_table & HANDLE_MASK) == runtime->tables.object_array;
}

/* The newest bucket of the table that the AppDomain points to, or 0. */
static uint64_t find_buckets(struct runtime *runtime)
{
	for (uint64_t at = 0; at < APP_DOMAIN_SIZE; at += 8) {
		uint64_t table, head;
		struct bucket bucket;
		if (memory_u64(runtime->memory, coreclr_of(runtime)->globals.app_domain + at,
			       &table) &&
		    table && table % 8 == 0 && memory_u64(runtime->memory, table, &head) &&
		    read_statics_bucket(runtime, head, &bucket))
			return head;
	}
	return 0;
}

/*
 * Objects that the runtime itself keeps there: those of reflection, and exceptions of class
 * constructors.
 */
static const char *const runtime_types[] = {
	"System.Reflection.RuntimeAssembly",
	"System.Reflection.RuntimeModule",
	"System.RuntimeType",
	"System.TypeInitializationException",
};

struct check {
	struct runtime *runtime;
	const struct static_slots *slots;
	uint64_t sentinel; /* the plain object that all released slots hold; 0 = not found yet */
	uint64_t nameless;
};

static bool is_runtime_object(struct check *check, uint64_t object)
{
	struct runtime *runtime = check->runtime;
	uint64_t method_table;
	if (!memory_u64(runtime->memory, object, &method_table))
		return false;
	method_table &= HANDLE_MASK;
	if (method_table == runtime->tables.object) {
		if (!check->sentinel)
			check->sentinel = object;
		return object == check->sentinel;
	}
	const struct type *type = type_find(runtime, method_table);
	const char *name = type ? type_name(runtime, type, NULL) : "";
	for (size_t i = 0; i < sizeof(runtime_types) / sizeof(runtime_types[0]); i++) {
		if (strcmp(name, runtime_types[i]) == 0)
			return true;
	}
	/* Without metadata this is not known. */
	return strncmp(name, UNKNOWN, sizeof(UNKNOWN) - 1) == 0;
}

/* Count the used slots that belong to no static and do not hold an object of the runtime itself. */
static void check_bucket(struct check *check, const struct bucket *bucket)
{
	uint64_t values[VALUES_READ];
	for (uint32_t done = 0; done < bucket->used;) {
		uint32_t count =
			bucket->used - done < VALUES_READ ? bucket->used - done : VALUES_READ;
		uint64_t at = bucket->elements + 8 * (uint64_t)done;
		if (!memory_read(check->runtime->memory, at, values, 8 * (size_t)count))
			return;
		for (uint32_t i = 0; i < count; i++) {
			bool is_claimed = static_slot_at(check->slots, at + 8 * (uint64_t)i);
			check->nameless +=
				!is_claimed && (!values[i] || !is_runtime_object(check, values[i]));
		}
		done += count;
	}
}

void static_slots_check(struct runtime *runtime, const struct static_slots *slots)
{
	/* While a GC moves objects their types cannot always be told. */
	if (!coreclr_has(runtime, CORECLR_STATIC_ARRAY_TABLE) ||
	    !coreclr_of(runtime)->globals.app_domain || !runtime->tables.object_array ||
	    runtime->gc.structures_invalid)
		return;
	struct check check = { .runtime = runtime, .slots = slots };
	uint64_t at = find_buckets(runtime);
	struct bucket bucket;
	for (unsigned int i = 0;
	     i < STATIC_BUCKETS_MAX && read_statics_bucket(runtime, at, &bucket); i++) {
		check_bucket(&check, &bucket);
		at = bucket.next;
	}
	if (check.nameless) {
		findings_add(&runtime->target->findings, FINDING_STATICS, NULL,
			     "%" PRIu64
			     " static slots without a name: what they refer to is shown as held "
			     "by an array of the runtime",
			     check.nameless);
	}
}
