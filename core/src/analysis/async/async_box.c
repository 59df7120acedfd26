/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_box.h"

#include <string.h>

#include "analysis/async/task_state.h"
#include "inspect/async_name.h"
#include "mem/memory.h"

/* Names of fields that the compiler of C# gives (Roslyn, GeneratedNames.cs). */
#define STATE_FIELD    "<>1__state"
#define AWAITER_PREFIX "<>u__"
/*
 * The same in a task { } of F# (FSharp.Core, resumable.fs and tasks.fs): its state is the number of the await from 1
 * on, or 0, and its awaiters are locals of the library's code.
 */
#define FSHARP_STATE_FIELD    "ResumptionPoint"
#define FSHARP_AWAITER_PREFIX "awaiter"

bool async_is_box(struct runtime *runtime, const struct type *type)
{
	size_t size, machine_size;
	const char *name = type_name(runtime, type, &size);
	return async_box_machine(name, size, &machine_size) != NULL;
}

/*
 * The object in an awaiter: TaskAwaiter.m_task and its kin, ValueTaskAwaiter._value._obj; 0: none.
 * YieldAwaiter has no fields: its method is in a queue.
 */
static uint64_t awaiter_object(struct members *members, const struct type *type, uint64_t address)
{
	static const enum fact paths[] = { FACT_AWAITER_TASK, FACT_VALUE_AWAITER_OBJECT };
	for (size_t i = 0; type && i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct member object = fact_of_struct(members, type, address, paths[i]);
		if (object.state == MEMBER_READ)
			return object.bits;
	}
	return 0;
}

/* One field for each type of awaiter; the one that is not null belongs to the current await. */
static uint64_t find_awaited(struct heap *heap, struct members *members,
			     const struct async_box *box, const char *prefix)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	uint64_t found = 0;
	if (field_list_read(heap->runtime, box->machine, &list, NULL) != HD_OK)
		return 0;
	for (size_t i = 0; i < list.count && !found; i++) {
		const struct field *field = &list.rows[i];
		uint64_t address = box->fields + field->offset;
		if (field->is_static || strncmp(field->name, prefix, strlen(prefix)) != 0)
			continue;
		if (element_is_reference(field->element_type)) {
			(void)memory_u64(heap->memory, address, &found);
		} else {
			found = awaiter_object(members, field->type, address);
		}
	}
	return found;
}

/* Read the state of the machine; returns whether it is one of F#. */
static bool read_state(struct members *members, struct async_box *box)
{
	struct member state = member_of_struct(members, box->machine, box->fields, STATE_FIELD);
	if (state.state == MEMBER_READ) {
		box->state = (int32_t)member_signed(&state);
		return false;
	}
	state = member_of_struct(members, box->machine, box->fields, FSHARP_STATE_FIELD);
	if (state.state != MEMBER_READ) {
		box->state = ASYNC_UNKNOWN;
	} else if ((int32_t)member_signed(&state) > 0) {
		box->state = (int32_t)member_signed(&state) - 1;
	}
	return state.state == MEMBER_READ;
}

bool async_box_read(struct heap *heap, struct members *members, const struct object *object,
		    struct async_box *ret)
{
	struct async_box box = { .object = *object, .state = ASYNC_RUNS };
	if (!async_is_box(heap->runtime, object->type))
		return false;
	struct member machine = fact_of(members, object, FACT_BOX_MACHINE);
	if (machine.state != MEMBER_READ)
		return false;
	box.machine = machine.type;
	box.fields = machine.address;
	/* Debug builds have a class in place of a struct. */
	if (element_is_reference(machine.element_type)) {
		struct object held;
		if (!member_object(members, machine.bits, &held))
			return false;
		box.machine = held.type;
		box.fields = held.address + OBJECT_FIELDS;
	}
	if (!box.machine)
		return false;
	bool is_fsharp = read_state(members, &box);
	/* The runtime clears a state machine with references when its task ends: it is at await 0 then. */
	if (task_is_complete(members, object))
		box.state = ASYNC_DONE;
	const char *prefix = is_fsharp ? FSHARP_AWAITER_PREFIX : AWAITER_PREFIX;
	if (box.state != ASYNC_DONE && box.state != ASYNC_UNKNOWN)
		box.awaited = find_awaited(heap, members, &box, prefix);
	*ret = box;
	return true;
}
