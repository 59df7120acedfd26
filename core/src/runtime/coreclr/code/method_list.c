/* SPDX-License-Identifier: MIT */
/* The MethodDescs of a type, and where its methods begin (doc/coreclr.md 12.12; method.hpp). */
#include "runtime/coreclr/code/method_list.h"

#include "mem/memory.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/types/method_table.h"
#include "util/sort.h"

#define UNIT_SIZE  8u
#define CHUNKS_MAX 65536u

/* Flags of a MethodDesc, after its classification. */
#define HAS_NON_VTABLE_SLOT 0x0008u
#define HAS_METHOD_IMPL     0x0010u
#define HAS_NATIVE_SLOT     0x0020u
#define HAS_ASYNC_DATA      0x0040u

/* Bytes that each classification adds to the class MethodDesc, and each flag after them. */
static const uint8_t added[METHOD_CLASSIFICATION_MASK + 1] = { 0, 8, 40, 16, 16, 24, 0, 32 };
#define SLOT_BYTES        8u
#define METHOD_IMPL_BYTES 16u
#define ASYNC_DATA_BYTES  24u

/* AsyncMethodData begins with flags (AsyncMethodFlags): it only makes a Task of what the other MethodDesc does. */
#define ASYNC_IS_THUNK 0x10u

/* Where in a MethodDesc the slot for native code is, if it has one. */
static uint32_t native_slot(const struct runtime *runtime, uint16_t flags)
{
	uint64_t size = method_desc_size(runtime) + added[flags & METHOD_CLASSIFICATION_MASK];
	size += flags & HAS_NON_VTABLE_SLOT ? SLOT_BYTES : 0;
	size += flags & HAS_METHOD_IMPL ? METHOD_IMPL_BYTES : 0;
	return (uint32_t)size;
}

/* Bytes of a MethodDesc with its optional parts. */
static uint32_t desc_bytes(const struct runtime *runtime, uint16_t flags)
{
	uint32_t size = native_slot(runtime, flags);
	size += flags & HAS_NATIVE_SLOT ? SLOT_BYTES : 0;
	size += flags & HAS_ASYNC_DATA && coreclr_has(runtime, CORECLR_ASYNC_METHODS)
			? ASYNC_DATA_BYTES
			: 0;
	return size;
}

/* Begin with the chunk at @p chunk; its type must be that of the list. */
static void begin_chunk(struct method_list *list, uint64_t chunk)
{
	struct runtime *runtime = list->runtime;
	uint64_t table;
	uint8_t units, count;
	list->chunk = 0;
	if (!chunk)
		return;
	if (list->chunks++ == CHUNKS_MAX ||
	    !coreclr_pointer(runtime, chunk, L_METHOD_CHUNK_TABLE, &table) ||
	    table != list->type->method_table ||
	    !memory_u8(runtime->memory, chunk + coreclr_offset(runtime, L_METHOD_CHUNK_UNITS),
		       &units) ||
	    !memory_u8(runtime->memory, chunk + coreclr_offset(runtime, L_METHOD_CHUNK_COUNT),
		       &count)) {
		list->is_broken = true;
		return;
	}
	list->chunk = chunk;
	list->unit = 0;
	list->units = (uint32_t)units + 1; /* both are stored less one */
	list->left = (uint32_t)count + 1;
}

void method_list_begin(struct method_list *list, struct runtime *runtime, const struct type *type)
{
	uint64_t chunk;
	*list = (struct method_list){ .runtime = runtime, .type = type };
	if (type->links.canonical != type->method_table && type->links.canonical)
		list->type = type_find(runtime, type->links.canonical);
	/* Arrays share an EEClass, whose chunks are those of another array's type. */
	bool is_array = type->category == CATEGORY_SZ_ARRAY || type->category == CATEGORY_MD_ARRAY;
	if (is_array || !list->type || !list->type->links.ee_class ||
	    !layout_has(&coreclr_of(runtime)->layout, L_METHOD_CHUNK_UNITS) ||
	    !layout_has(&coreclr_of(runtime)->layout, L_METHOD_CHUNK_COUNT))
		return;
	if (coreclr_pointer(runtime, list->type->links.ee_class, L_CLASS_CHUNKS, &chunk)) {
		begin_chunk(list, chunk);
	} else {
		list->is_broken = true;
	}
}

/* Go to the next chunk, unless there is something left of this one. */
static void next_chunk(struct method_list *list)
{
	uint64_t next;
	if (list->left)
		return;
	if (coreclr_pointer(list->runtime, list->chunk, L_METHOD_CHUNK_NEXT, &next)) {
		begin_chunk(list, next);
	} else {
		list->is_broken = true;
		list->chunk = 0;
	}
}

bool method_list_next(struct method_list *list, struct method *ret)
{
	struct runtime *runtime = list->runtime;
	while (list->chunk) {
		uint64_t address = list->chunk + coreclr_offset(runtime, L_METHOD_CHUNK_SIZE) +
				   UNIT_SIZE * (uint64_t)list->unit;
		uint8_t index;
		uint16_t flags;
		if (list->unit >= list->units ||
		    !memory_u8(runtime->memory,
			       address + coreclr_offset(runtime, L_METHOD_CHUNK_INDEX), &index) ||
		    index != list->unit ||
		    !memory_u16(runtime->memory, address + METHOD_DESC_FLAGS, &flags)) {
			list->is_broken = true;
			list->chunk = 0;
			break;
		}
		list->unit += (desc_bytes(runtime, flags) + UNIT_SIZE - 1) / UNIT_SIZE;
		list->left--;
		next_chunk(list);
		if (method_read(runtime, address, ret))
			return true;
		list->is_broken = true;
	}
	return false;
}

bool method_is_async_thunk(const struct runtime *runtime, const struct method *method)
{
	uint32_t kind;
	uint64_t at = method->address + native_slot(runtime, method->flags) +
		      (method->flags & HAS_NATIVE_SLOT ? SLOT_BYTES : 0);
	return method->flags & HAS_ASYNC_DATA && coreclr_has(runtime, CORECLR_ASYNC_METHODS) &&
	       memory_u32(runtime->memory, at, &kind) && kind & ASYNC_IS_THUNK;
}

uint64_t method_of_token(struct runtime *runtime, const struct type *type, uint32_t token)
{
	struct method_list list;
	struct method method;
	uint64_t thunk = 0;
	method_list_begin(&list, runtime, type);
	while (method_list_next(&list, &method)) {
		if (method.rid != (token & 0xffffff))
			continue;
		if (!method_is_async_thunk(runtime, &method))
			return method.address;
		thunk = method.address;
	}
	return thunk;
}

uint64_t vtable_entry(struct runtime *runtime, const struct type *type, uint32_t slot)
{
	uint64_t chunk, code, table = type->method_table;
	uint16_t virtuals;
	return coreclr_field_u16(runtime, table, L_MT_NUM_VIRTUALS, &virtuals) && slot < virtuals &&
			       memory_u64(runtime->memory,
					  table + METHOD_TABLE_SIZE +
						  8 * (uint64_t)(slot / VTABLE_CHUNK_SLOTS),
					  &chunk) &&
			       memory_u64(runtime->memory,
					  chunk + 8 * (uint64_t)(slot % VTABLE_CHUNK_SLOTS), &code)
		       ? code
		       : 0;
}

uint64_t method_entry(struct runtime *runtime, const struct method *method)
{
	uint64_t code;
	uint16_t slot;
	if (method->flags & HAS_NON_VTABLE_SLOT) {
		uint64_t at = method->address + method_desc_size(runtime) +
			      added[method->flags & METHOD_CLASSIFICATION_MASK];
		return memory_u64(runtime->memory, at, &code) ? code : 0;
	}
	return method->type && coreclr_field_u16(runtime, method->address, L_METHOD_SLOT, &slot)
		       ? vtable_entry(runtime, method->type, slot)
		       : 0;
}

/* The code that the method's slot for native code names; 0: none. */
static uint64_t native_code(struct runtime *runtime, const struct method *method)
{
	uint64_t code;
	uint64_t at = method->address + native_slot(runtime, method->flags);
	return method->flags & HAS_NATIVE_SLOT && memory_u64(runtime->memory, at, &code)
		       ? code & ~1ull
		       : 0;
}

static const struct method_body *body_at(const struct method_body *bodies, size_t count,
					 uint64_t start)
{
	for (size_t i = 0; i < count; i++) {
		if (bodies[i].start == start)
			return &bodies[i];
	}
	return NULL;
}

const struct method_body *method_body_current(struct runtime *runtime,
					      const struct method_bodies *bodies,
					      const struct method *method)
{
	size_t count, first = method_bodies_of(bodies, method->address, &count);
	const struct method_body *rows = bodies->rows + first, *found = NULL;
	if (count < 2)
		return count ? rows : NULL;
	uint64_t entry = method_entry(runtime, method);
	if (entry)
		found = body_at(rows, count, method_entry_target(runtime, entry));
	return found ? found : body_at(rows, count, native_code(runtime, method));
}
