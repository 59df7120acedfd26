/* SPDX-License-Identifier: MIT */
/*
 * Where the thread statics of a thread lie (doc/coreclr.md 10.4; threadstatics.h, which is
 * different in 8 and since 9).
 */
#include "clr/features.h"
#include "clr/internal.h"
#include "clr/statics/static_base.h"
#include "gc/layouts/object_layout.h"
#include "mem/memory.h"

/* TLSIndex: kind and number. */
#define TLS_KIND_SHIFT 24
#define TLS_INDEX_MASK 0x00ffffffu
#define INDEX_NONE     UINT32_MAX
enum {
	INDEX_NON_COLLECTIBLE, /* an element of an object[] */
	INDEX_COLLECTIBLE,     /* a handle of a native array */
	INDEX_DIRECT,          /* inside the ThreadLocalData */
};
/* NumberOfTlsOffsetsNotUsedInNoncollectibleArray */
#define INDEX_UNUSED 2u

/* InFlightTLSData: next, TLSIndex, handle. */
#define IN_FLIGHT_INDEX  8u
#define IN_FLIGHT_HANDLE 16u
#define IN_FLIGHT_MAX    1000u

/* ThreadLocalData: its Thread. */
#define STORAGE_THREAD 24u

#define HANDLE_MASK (~(uint64_t)7)

/*
 * 8: Thread's ThreadLocalBlock: table of ThreadLocalModules, and its length; Module's ModuleIndex,
 * a row of that table; ThreadLocalModule: table of dynamic classes, its length, handle of the
 * object[] of GC statics.
 */
#define THREAD_8_TABLE      1080u
#define THREAD_8_COUNT      1088u
#define MODULE_8_INDEX      1232u
#define STORAGE_MODULES_MAX 65536u
#define THREAD_LOCAL_TABLE  0u
#define THREAD_LOCAL_COUNT  8u
#define THREAD_LOCAL_GC     16u

static bool read_storage_u32(struct clr *clr, uint64_t base, enum layout_field field, uint32_t *ret)
{
	return layout_has(&clr->layout, field) &&
	       memory_u32(clr->memory, base + clr_offset(clr, field), ret);
}

bool thread_static_key_read(struct clr *clr, const struct type *type, struct thread_static_key *ret)
{
	uint64_t id = UINT64_MAX;
	*ret = (struct thread_static_key){
		.gc = INDEX_NONE,
		.non_gc = INDEX_NONE,
		.module = UINT32_MAX,
		.dynamic = UINT32_MAX,
		.type = type,
	};
	if (!type_has_slots(type))
		return false;
	if (!clr_has(clr, CLR_DOMAIN_STATICS)) {
		uint64_t info = type->auxiliary - clr_offset(clr, L_THREAD_STATICS_SIZE);
		return layout_has(&clr->layout, L_THREAD_STATICS_SIZE) &&
		       read_storage_u32(clr, info, L_THREAD_STATICS_GC, &ret->gc) &&
		       read_storage_u32(clr, info, L_THREAD_STATICS_NON_GC, &ret->non_gc);
	}
	ret->is_dynamic = dynamic_class_8(clr, type, &id);
	ret->dynamic = id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
	return memory_u32(clr->memory, type->module + MODULE_8_INDEX, &ret->module);
}

static bool storage_8(struct clr *clr, const struct clr_thread *thread, struct thread_storage *ret)
{
	uint64_t table, count, first;
	if (!memory_u64(clr->memory, thread->address + THREAD_8_TABLE, &table) || !table)
		return false;
	ret->is_broken = table % 8 != 0 ||
			 !memory_u64(clr->memory, thread->address + THREAD_8_COUNT, &count) ||
			 !count || count > STORAGE_MODULES_MAX ||
			 !memory_u64(clr->memory, table, &first);
	if (ret->is_broken)
		return false;
	*ret = (struct thread_storage){ .address = table, .array_length = count };
	return true;
}

/*
 * The object[] of ThreadLocalData for types that are not collectible, if it has one with that
 * length.
 */
static void read_array(struct clr *clr, uint64_t data, struct thread_storage *ret)
{
	uint64_t array, method_table = 0;
	uint32_t count, length = 0;
	if (!clr_pointer(clr, data, L_TLS_ARRAY, &array) ||
	    !read_storage_u32(clr, data, L_TLS_COUNT, &count)) {
		ret->is_broken = true;
	} else if (array) {
		ret->is_broken =
			array % 8 != 0 || !memory_u64(clr->memory, array, &method_table) ||
			(clr->globals.object_array_method_table && !clr->gc.structures_invalid &&
			 (method_table & HANDLE_MASK) != clr->globals.object_array_method_table) ||
			!memory_u32(clr->memory, array + OBJECT_LENGTH, &length);
	} else {
		ret->is_broken = count > INDEX_UNUSED;
	}
	ret->array = ret->is_broken ? 0 : array;
	ret->array_length = ret->array ? length : 0;
}

bool thread_storage_read(struct clr *clr, const struct clr_thread *thread,
			 struct thread_storage *ret)
{
	uint64_t data, owner = 0;
	uint32_t count = 0;
	*ret = (struct thread_storage){ 0 };
	if (clr_has(clr, CLR_DOMAIN_STATICS))
		return storage_8(clr, thread, ret);
	if (!clr_pointer(clr, thread->address, L_THREAD_LOCAL_DATA, &data) || !data)
		return false;
	ret->is_broken =
		!memory_u64(clr->memory, data + STORAGE_THREAD, &owner) || owner != thread->address;
	if (ret->is_broken)
		return false;
	ret->address = data;
	read_array(clr, data, ret);
	if (clr_pointer(clr, data, L_TLS_COLLECTIBLE_ARRAY, &ret->collectible_array) &&
	    read_storage_u32(clr, data, L_TLS_COLLECTIBLE_COUNT, &count))
		ret->collectible_count = count;
	if (!clr_pointer(clr, data, L_TLS_IN_FLIGHT, &ret->in_flight))
		ret->in_flight = 0;
	return true;
}

/* Find a static that is not in the arrays (yet). */
static uint64_t in_flight(struct clr *clr, const struct thread_storage *storage, uint32_t index)
{
	uint64_t at = storage->in_flight, handle, object;
	uint32_t found;
	for (unsigned int i = 0; at && i < IN_FLIGHT_MAX; i++) {
		if (!memory_u32(clr->memory, at + IN_FLIGHT_INDEX, &found))
			return 0;
		if (found == index) {
			return memory_u64(clr->memory, at + IN_FLIGHT_HANDLE, &handle) &&
					       memory_u64(clr->memory, handle & HANDLE_MASK,
							  &object)
				       ? object
				       : 0;
		}
		if (!memory_u64(clr->memory, at, &at))
			return 0;
	}
	return 0;
}

static uint64_t base_9(struct clr *clr, const struct thread_storage *storage, uint32_t index)
{
	uint32_t number = index & TLS_INDEX_MASK;
	uint64_t base = 0, handle;
	if (index == INDEX_NONE)
		return 0;
	switch (index >> TLS_KIND_SHIFT) {
	case INDEX_DIRECT:
		return storage->address + number;
	case INDEX_NON_COLLECTIBLE:
		number -= INDEX_UNUSED;
		if (number < storage->array_length &&
		    !memory_u64(clr->memory, storage->array + ARRAY_HEAD + 8 * (uint64_t)number,
				&base))
			base = 0;
		break;
	case INDEX_COLLECTIBLE:
		if (number < storage->collectible_count &&
		    memory_u64(clr->memory, storage->collectible_array + 8 * (uint64_t)number,
			       &handle) &&
		    handle && !memory_u64(clr->memory, handle & HANDLE_MASK, &base))
			base = 0;
		break;
	default:
		return 0;
	}
	return base ? base : in_flight(clr, storage, index);
}

/* The object[] behind a handle: its first element. */
static uint64_t handle_slots(struct clr *clr, uint64_t handle)
{
	uint64_t array, method_table;
	if (!handle || !memory_u64(clr->memory, handle, &array) || !array || array % 8 ||
	    !memory_u64(clr->memory, array, &method_table))
		return 0;
	bool is_array = (method_table & HANDLE_MASK) == clr->globals.object_array_method_table ||
			!clr->globals.object_array_method_table || clr->gc.structures_invalid;
	return is_array ? array + ARRAY_HEAD : 0;
}

static uint64_t base_8(struct clr *clr, const struct thread_storage *storage,
		       const struct thread_static_key *key, bool is_gc)
{
	uint64_t local, table, count, handle;
	struct dynamic_entry entry;
	if (key->module >= storage->array_length ||
	    !memory_u64(clr->memory, storage->address + 8 * (uint64_t)key->module, &local) ||
	    !local)
		return 0;
	uint64_t handle_at = local + THREAD_LOCAL_GC;
	if (key->is_dynamic) {
		if (!memory_u64(clr->memory, local + THREAD_LOCAL_COUNT, &count) ||
		    key->dynamic >= count ||
		    !memory_u64(clr->memory, local + THREAD_LOCAL_TABLE, &table) ||
		    !dynamic_entry_8(clr, key->type, table, key->dynamic, &entry))
			return 0;
		if (entry.is_collectible || !is_gc)
			return is_gc ? entry.gc : entry.non_gc;
		handle_at = entry.address;
	} else if (!is_gc) {
		return local;
	}
	return memory_u64(clr->memory, handle_at, &handle) ? handle_slots(clr, handle) : 0;
}

uint64_t thread_static_base(struct clr *clr, const struct thread_storage *storage,
			    const struct thread_static_key *key, bool is_gc)
{
	if (clr_has(clr, CLR_DOMAIN_STATICS))
		return base_8(clr, storage, key, is_gc);
	return base_9(clr, storage, is_gc ? key->gc : key->non_gc);
}

uint64_t field_thread_static_address(struct clr *clr, const struct field *field,
				     const struct clr_thread *thread)
{
	struct thread_static_key key;
	struct thread_storage storage;
	if (!field->is_thread_static || !thread_static_key_read(clr, field->declaring, &key) ||
	    !thread_storage_read(clr, thread, &storage))
		return 0;
	uint64_t base =
		thread_static_base(clr, &storage, &key, element_is_gc_static(field->element_type));
	return base ? base + field->offset : 0;
}

bool thread_local_data_read(struct clr *clr, const struct clr_thread *thread,
			    struct thread_local_data *ret)
{
	struct thread_storage storage;
	if (clr_has(clr, CLR_DOMAIN_STATICS) || !thread_storage_read(clr, thread, &storage))
		return false;
	*ret = (struct thread_local_data){
		.address = storage.address,
		.array_slot = storage.address + clr_offset(clr, L_TLS_ARRAY),
		.array = storage.array,
	};
	return true;
}
