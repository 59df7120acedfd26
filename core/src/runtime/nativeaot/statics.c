/* SPDX-License-Identifier: MIT */
/*
 * The objects that hold static fields, and the references in them (doc/nativeaot.md 6; GCStaticsNode.cs,
 * ThreadStaticsNode.cs).  Which class declares a field only symbols tell.
 */
#include "runtime/nativeaot/statics.h"

#include <inttypes.h>

#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/symbols/symbol_statics.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/job.h"
#include "util/text.h"

/* A program with more than these is damaged: a large one has some 20,000 cells. */
#define CELLS_MAX ((uint64_t)4 << 20)
#define SLOTS_MAX ((size_t)4 << 20)
/* Most objects with statics of one thread: one for each module. */
#define THREAD_OBJECTS_MAX 64u

#define STRIDE 1024u

/* A token that is the index of a symbol_static, and which word of it the slot is: the last one, or one behind it. */
#define TOKEN_NAMED  0x80000000u
#define TOKEN_THREAD 0x40000000u
#define TOKEN_SHIFT  6u
#define TOKEN_INDEX  0xffffffu
#define TOKEN_PART   0x3fu

struct statics_reading {
	struct runtime *runtime;
	struct static_slots slots;
	bool is_cut;
	bool is_named; /* symbols may know the fields of the object that is read */
};

const struct type *aot_type_of_object(struct runtime *runtime, uint64_t address)
{
	uint64_t word = 0;
	if (!address || address % 8 || !memory_u64(runtime->memory, address, &word))
		return NULL;
	return type_find(runtime, word & ~(uint64_t)7);
}

/*
 * Tell by symbols what the slot at @p offset of an object is.  Names are kept by type and token: so each slot has a token
 * of its own, which says which of the symbols it is.
 */
static void name_slot(struct statics_reading *reading, uint64_t offset, struct static_slot *slot)
{
	const struct symbol_statics *statics = symbol_statics(reading->runtime);
	bool is_thread = slot->thread != UINT32_MAX;
	uint32_t index = 0, part = 0;
	slot->token = (uint32_t)slot->address & ~TOKEN_NAMED;
	const struct symbol_static *field =
		statics && reading->is_named
			? symbol_static_at(statics, is_thread, is_thread ? offset : slot->address,
					   &index, &part)
			: NULL;
	if (!field || index > TOKEN_INDEX)
		return;
	part = part / 8 < TOKEN_PART ? part / 8 : TOKEN_PART;
	slot->token = TOKEN_NAMED | (is_thread ? TOKEN_THREAD : 0) | index << TOKEN_SHIFT | part;
	const struct aot_symbols *symbols = aot_symbols(reading->runtime);
	uint64_t table = aot_symbols_table(symbols, &symbols->types.rows[field->type]);
	const struct type *type = table ? type_find(reading->runtime, table) : NULL;
	slot->type = type ? type : slot->type;
}

/* Add the references in the object at @p address. */
static bool add_slots(struct statics_reading *reading, uint64_t address, const struct type *type,
		      uint32_t thread)
{
	const struct gc_desc *desc = &type->desc;
	for (uint32_t i = 0; i < desc->series_count; i++) {
		uint64_t begin = desc->series[i].offset;
		uint64_t end = begin + (uint64_t)desc->series[i].size + type->base_size;
		for (uint64_t at = begin; at + 8 <= end; at += 8) {
			if (reading->slots.rows_count == SLOTS_MAX) {
				reading->is_cut = true;
				return true;
			}
			if (!PAGES_RESERVE(&reading->slots, rows))
				return false;
			struct static_slot *slot =
				&reading->slots.rows[reading->slots.rows_count++];
			*slot = (struct static_slot){
				.address = address + at,
				.type = type,
				.thread = thread,
				.is_initialised = true,
			};
			name_slot(reading, at, slot);
		}
	}
	return true;
}

/*
 * A cell has the address of the object, or of a word with it.  Until a class is initialised, bit 0 is
 * set.
 */
const struct type *aot_holder_at(struct runtime *runtime, uint64_t cell, uint64_t *ret)
{
	uint64_t value = 0;
	if (!memory_u64(runtime->memory, cell, &value))
		return NULL;
	value &= ~(uint64_t)7;
	const struct type *type = aot_type_of_object(runtime, value);
	if (!type && value && memory_u64(runtime->memory, value, &value))
		type = aot_type_of_object(runtime, value);
	*ret = value;
	return type;
}

static enum hd_status read_cells(struct statics_reading *reading, struct job *job,
				 struct hd_error *err)
{
	struct runtime *runtime = reading->runtime;
	uint64_t begin = 0, size = 0;
	reading->is_named = true;
	if (!ready_to_run_section(&aot_of(runtime)->image, READY_TO_RUN_GC_STATICS, &begin, &size))
		return HD_OK;
	for (uint64_t i = 0; i < size / 4 && i < CELLS_MAX; i++) {
		uint64_t at = begin + 4 * i, holder = 0;
		int32_t distance = 0;
		if (i % STRIDE == 0 && !job_step(job, 0, STRIDE))
			return fail_cancelled(err);
		const struct type *type =
			memory_i32(runtime->memory, at, &distance)
				? aot_holder_at(runtime, at + (uint64_t)(int64_t)distance, &holder)
				: NULL;
		reading->slots.types++;
		reading->slots.broken += !type;
		if (type && !add_slots(reading, holder, type, UINT32_MAX))
			return fail_nomem(err);
	}
	return HD_OK;
}

/* {object, next, TypeManager}, and an object[] of objects for the statics that are not inlined. */
bool aot_thread_locals(struct runtime *runtime, const struct runtime_thread *thread,
		       unsigned int index, struct thread_local_data *ret)
{
	const struct aot_layout *layout = &aot_of(runtime)->layout;
	uint64_t at = 0, object = 0;
	if (index == 0) {
		at = thread->address + layout->offsets[AOT_THREAD_STATICS];
	} else if (index <= THREAD_OBJECTS_MAX &&
		   aot_pointer(runtime, thread->address, AOT_THREAD_INLINED_STATICS, &at)) {
		for (unsigned int i = 1; i < index && at; i++) {
			if (!memory_u64(runtime->memory, at + 8, &at))
				at = 0;
		}
	}
	if (!at || !memory_u64(runtime->memory, at, &object))
		return false;
	*ret = (struct thread_local_data){ .object = object, .slot_at = at };
	return true;
}

static bool read_thread_objects(struct statics_reading *reading, uint32_t thread)
{
	struct runtime *runtime = reading->runtime;
	struct thread_local_data data;
	const struct runtime_thread *of = runtime_thread_at(runtime, thread);
	for (unsigned int i = 1; aot_thread_locals(runtime, of, i, &data); i++) {
		/* If there are several modules, the first is the program. */
		reading->is_named = i == 1;
		const struct type *type = aot_type_of_object(runtime, data.object);
		if (type && !add_slots(reading, data.object, type, thread))
			return false;
	}
	return true;
}

static void report(const struct statics_reading *reading)
{
	struct findings *findings = &reading->runtime->target->findings;
	const struct static_slots *slots = &reading->slots;
	if (reading->is_cut) {
		findings_add(
			findings, FINDING_STATICS, NULL,
			"there are more static fields than %zu slots: the others are not known",
			SLOTS_MAX);
	}
	if (!slots->types) {
		findings_add(
			findings, FINDING_STATICS, NULL,
			"the program's list of static fields cannot be read: what they refer to "
			"is shown as held by arrays of the runtime");
	} else if (slots->broken) {
		findings_add(
			findings, FINDING_STATICS, NULL,
			"%" PRIu64 " of %" PRIu64
			" classes with static fields could not be read: some static fields are "
			"not known",
			slots->broken, slots->types);
	}
}

static enum hd_status read_all(struct statics_reading *reading, struct job *job,
			       struct hd_error *err)
{
	TRY(read_cells(reading, job, err));
	for (size_t i = 0; i < runtime_thread_count(reading->runtime); i++) {
		if (!read_thread_objects(reading, (uint32_t)i))
			return fail_nomem(err);
	}
	return static_slots_sort(&reading->slots, err);
}

static enum hd_status read_slots(struct runtime *runtime, struct job *job, bool is_told,
				 struct static_slots *ret, struct hd_error *err)
{
	struct statics_reading reading = { .runtime = runtime };
	job_begin(job, "Reading static fields", 0);
	enum hd_status status = read_all(&reading, job, err);
	job_end(job);
	if (status != HD_OK) {
		static_slots_deinit(&reading.slots);
		return status;
	}
	if (is_told)
		report(&reading);
	*ret = reading.slots;
	return HD_OK;
}

enum hd_status aot_statics(struct runtime *runtime, struct job *job, struct static_slots *ret,
			   struct hd_error *err)
{
	return read_slots(runtime, job, true, ret, err);
}

enum hd_status aot_statics_quietly(struct runtime *runtime, struct static_slots *ret,
				   struct hd_error *err)
{
	return read_slots(runtime, NULL, false, ret, err);
}

void aot_static_name(struct runtime *runtime, const struct static_slot *slot, struct text *text)
{
	const struct symbol_statics *statics =
		slot->token & TOKEN_NAMED ? symbol_statics(runtime) : NULL;
	uint32_t index = slot->token >> TOKEN_SHIFT & TOKEN_INDEX;
	if (statics) {
		const struct symbol_static *rows =
			slot->token & TOKEN_THREAD ? statics->thread_fields : statics->fields;
		symbol_static_name(runtime, &rows[index], 8 * (slot->token & TOKEN_PART), text);
		return;
	}
	text_printf(text, "<static field at %" PRIx64 ">", slot->address);
}
