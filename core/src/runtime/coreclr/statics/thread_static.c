/* SPDX-License-Identifier: MIT */
/*
 * Where the thread statics of a thread lie (doc/coreclr.md 10.4; threadstatics.h, which is
 * different in 8 and since 9).
 */
#include "gc/layouts/object_layout.h"
#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/statics/static_base.h"
#include "runtime/runtime_ops.h"
#include "runtime/statics.h"

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

static bool read_storage_u32(struct runtime *runtime, uint64_t base, enum layout_field field,
			     uint32_t *ret)
{
	return layout_has(&coreclr_of(runtime)->layout, field) &&
	       memory_u32(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

bool thread_static_key_read(struct runtime *runtime, const struct type *type,
			    struct thread_static_key *ret)
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
	if (!coreclr_has(runtime, CORECLR_DOMAIN_STATICS)) {
		uint64_t info =
			type->links.auxiliary - coreclr_offset(runtime, L_THREAD_STATICS_SIZE);
		return layout_has(&coreclr_of(runtime)->layout, L_THREAD_STATICS_SIZE) &&
		       read_storage_u32(runtime, info, L_THREAD_STATICS_GC, &ret->gc) &&
		       read_storage_u32(runtime, info, L_THREAD_STATICS_NON_GC, &ret->non_gc);
	}
	ret->is_dynamic = dynamic_class_8(runtime, type, &id);
	ret->dynamic = id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
	return memory_u32(runtime->memory, type->module + MODULE_8_INDEX, &ret->module);
}

static bool storage_8(struct runtime *runtime, const struct runtime_thread *thread,
		      struct thread_storage *ret)
{
	uint64_t table, count, first;
	if (!memory_u64(runtime->memory, thread->address + THREAD_8_TABLE, &table) || !table)
		return false;
	ret->is_broken = table % 8 != 0 ||
			 !memory_u64(runtime->memory, thread->address + THREAD_8_COUNT, &count) ||
			 !count || count > STORAGE_MODULES_MAX ||
			 !memory_u64(runtime->memory, table, &first);
	if (ret->is_broken)
		return false;
	*ret = (struct thread_storage){ .address = table, .array_length = count };
	return true;
}

/*
 * The object[] of ThreadLocalData for types that are not collectible, if it has one with that
 * length.
 */
static void read_array(struct runtime *runtime, uint64_t data, struct thread_storage *ret)
{
	uint64_t array, method_table = 0;
	uint32_t count, length = 0;
	if (!coreclr_pointer(runtime, data, L_TLS_ARRAY, &array) ||
	    !read_storage_u32(runtime, data, L_TLS_COUNT, &count)) {
		ret->is_broken = true;
	} else if (array) {
		ret->is_broken = array % 8 != 0 ||
				 !memory_u64(runtime->memory, array, &method_table) ||
				 (runtime->tables.object_array && !runtime->gc.structures_invalid &&
				  (method_table & HANDLE_MASK) != runtime->tables.object_array) ||
				 !memory_u32(runtime->memory, array + OBJECT_LENGTH, &length);
	} else {
		ret->is_broken = count > INDEX_UNUSED;
	}
	ret->array = ret->is_broken ? 0 : array;
	ret->array_length = ret->array ? length : 0;
}

bool thread_storage_read(struct runtime *runtime, const struct runtime_thread *thread,
			 struct thread_storage *ret)
{
	uint64_t data, owner = 0;
	uint32_t count = 0;
	*ret = (struct thread_storage){ 0 };
	if (coreclr_has(runtime, CORECLR_DOMAIN_STATICS))
		return storage_8(runtime, thread, ret);
	if (!coreclr_pointer(runtime, thread->address, L_THREAD_LOCAL_DATA, &data) || !data)
		return false;
	ret->is_broken = !memory_u64(runtime->memory, data + STORAGE_THREAD, &owner) ||
			 owner != thread->address;
	if (ret->is_broken)
		return false;
	ret->address = data;
	read_array(runtime, data, ret);
	if (coreclr_pointer(runtime, data, L_TLS_COLLECTIBLE_ARRAY, &ret->collectible_array) &&
	    read_storage_u32(runtime, data, L_TLS_COLLECTIBLE_COUNT, &count))
		ret->collectible_count = count;
	if (!coreclr_pointer(runtime, data, L_TLS_IN_FLIGHT, &ret->in_flight))
		ret->in_flight = 0;
	return true;
}

/* Find a static that is not in the arrays (yet). */
static uint64_t in_flight(struct runtime *runtime, const struct thread_storage *storage,
			  uint32_t index)
{
	uint64_t at = storage->in_flight, handle, object;
	uint32_t found;
	for (unsigned int i = 0; at && i < IN_FLIGHT_MAX; i++) {
		if (!memory_u32(runtime->memory, at + IN_FLIGHT_INDEX, &found))
			return 0;
		if (found == index) {
			return memory_u64(runtime->memory, at + IN_FLIGHT_HANDLE, &handle) &&
					       memory_u64(runtime->memory, handle & HANDLE_MASK,
							  &object)
				       ? object
				       : 0;
		}
		if (!memory_u64(runtime->memory, at, &at))
			return 0;
	}
	return 0;
}

static uint64_t base_9(struct runtime *runtime, const struct thread_storage *storage,
		       uint32_t index)
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
		    !memory_u64(runtime->memory, storage->array + ARRAY_HEAD + 8 * (uint64_t)number,
				&base))
			base = 0;
		break;
	case INDEX_COLLECTIBLE:
		if (number < storage->collectible_count &&
		    memory_u64(runtime->memory, storage->collectible_array + 8 * (uint64_t)number,
			       &handle) &&
		    handle && !memory_u64(runtime->memory, handle & HANDLE_MASK, &base))
			base = 0;
		break;
	default:
		return 0;
	}
	return base ? base : in_flight(runtime, storage, index);
}

/* The object[] behind a handle: its first element. */
static uint64_t handle_slots(struct runtime *runtime, uint64_t handle)
{
	uint64_t array, method_table;
	if (!handle || !memory_u64(runtime->memory, handle, &array) || !array || array % 8 ||
	    !memory_u64(runtime->memory, array, &method_table))
		return 0;
	bool is_array = (method_table & HANDLE_MASK) == runtime->tables.object_array ||
			!runtime->tables.object_array || runtime->gc.structures_invalid;
	return is_array ? array + ARRAY_HEAD : 0;
}

static uint64_t base_8(struct runtime *runtime, const struct thread_storage *storage,
		       const struct thread_static_key *key, bool is_gc)
{
	uint64_t local, table, count, handle;
	struct dynamic_entry entry;
	if (key->module >= storage->array_length ||
	    !memory_u64(runtime->memory, storage->address + 8 * (uint64_t)key->module, &local) ||
	    !local)
		return 0;
	uint64_t handle_at = local + THREAD_LOCAL_GC;
	if (key->is_dynamic) {
		if (!memory_u64(runtime->memory, local + THREAD_LOCAL_COUNT, &count) ||
		    key->dynamic >= count ||
		    !memory_u64(runtime->memory, local + THREAD_LOCAL_TABLE, &table) ||
		    !dynamic_entry_8(runtime, key->type, table, key->dynamic, &entry))
			return 0;
		if (entry.is_collectible || !is_gc)
			return is_gc ? entry.gc : entry.non_gc;
		handle_at = entry.address;
	} else if (!is_gc) {
		return local;
	}
	return memory_u64(runtime->memory, handle_at, &handle) ? handle_slots(runtime, handle) : 0;
}

uint64_t thread_static_base(struct runtime *runtime, const struct thread_storage *storage,
			    const struct thread_static_key *key, bool is_gc)
{
	if (coreclr_has(runtime, CORECLR_DOMAIN_STATICS))
		return base_8(runtime, storage, key, is_gc);
	return base_9(runtime, storage, is_gc ? key->gc : key->non_gc);
}

uint64_t field_thread_static_address(struct runtime *runtime, const struct field *field,
				     const struct runtime_thread *thread)
{
	struct thread_static_key key;
	struct thread_storage storage;
	const struct static_ops *statics = runtime_ops(runtime)->statics;
	if (field->is_thread_static && statics && statics->address)
		return statics->address(runtime, field, thread);
	if (!field->is_thread_static || !thread_static_key_read(runtime, field->declaring, &key) ||
	    !thread_storage_read(runtime, thread, &storage))
		return 0;
	uint64_t base = thread_static_base(runtime, &storage, &key,
					   element_is_gc_static(field->element_type));
	return base ? base + field->offset : 0;
}

bool coreclr_thread_locals(struct runtime *runtime, const struct runtime_thread *thread,
			   unsigned int index, struct thread_local_data *ret)
{
	struct thread_storage storage;
	if (index > 0 || coreclr_has(runtime, CORECLR_DOMAIN_STATICS) ||
	    !thread_storage_read(runtime, thread, &storage))
		return false;
	*ret = (struct thread_local_data){
		.object = storage.array,
		.slot_at = storage.address + coreclr_offset(runtime, L_TLS_ARRAY),
	};
	return true;
}
