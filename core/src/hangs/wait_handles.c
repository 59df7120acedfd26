/* SPDX-License-Identifier: MIT */
#include "hangs/wait_handles.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/threads/frame_variables.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_several.h"
#include "inspect/value.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"

#define SAFE_HANDLES "Microsoft.Win32.SafeHandles.SafeWaitHandle[]"
#define SPIN_LOCK    "System.Threading.SpinLock"
#define MULTIPLE     "System.Threading.WaitHandle.WaitMultiple"
#define ALL_ARGUMENT "waitAll"

/* SpinLock._owner: no owner is tracked. */
#define SPIN_NOT_TRACKED 0x80000000u
/* Structs inside structs. */
#define STRUCTS_MAX 8u

/* Is the root one of the frames of the wait? */
static bool is_of_wait(const struct thread_wait *wait, const struct stack_root *root)
{
	return wait->wait_end != WAIT_NO_FRAME && root->frame < wait->wait_end &&
	       !(root->flags & STACK_ROOT_CONSERVATIVE);
}

bool wait_find_by_event(const struct waits *waits, const struct thread_wait *wait,
			struct object *ret)
{
	const char *type = wait_kind_type(wait->kind);
	for (size_t i = 0; waits->async && i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		if (!is_of_wait(wait, root) || root->flags & STACK_ROOT_INTERIOR)
			continue;
		const struct async_link *link = async_link_find(&waits->async->links, root->value);
		struct object object;
		if (link && link->kind == LINK_EVENT &&
		    member_object(waits->members, link->to, &object) &&
		    type_derives_from(waits->heap->runtime, object.type, 0, type)) {
			*ret = object;
			return true;
		}
	}
	return false;
}

/* The array that the framework makes for one call: null from the end of the handles on. */
static void read_handles(const struct waits *waits, const struct array_info *array,
			 struct wait_handles *ret)
{
	for (uint64_t i = 0; i < array->length && i < WAIT_HANDLES_MAX; i++) {
		uint64_t handle = array_reference(waits->heap, array, i);
		const struct async_link *link =
			waits->async ? async_link_find(&waits->async->links, handle) : NULL;
		if (link && link->kind == LINK_EVENT)
			handle = link->to;
		if (!handle || !member_object(waits->members, handle, &ret->rows[i]))
			return;
		ret->rows_count++;
	}
}

/* Since 11, the framework has them; none unless all are on the heap. */
static void read_waited(const struct waits *waits, const struct thread_wait *wait,
			struct wait_handles *ret)
{
	uint32_t count = wait->info.state == WAIT_INFO_WAITS ? wait->info.count : 0;
	for (uint32_t i = 0; i < count && count <= WAIT_HANDLES_MAX; i++) {
		uint64_t waitable = wait_info_object(waits->heap->memory, &wait->info, i);
		if (!wait_info_handle(waits, waitable, &ret->rows[i])) {
			ret->rows_count = 0;
			return;
		}
		ret->rows_count++;
	}
}

void wait_handles_read(const struct waits *waits, const struct thread_wait *wait,
		       struct wait_handles *ret)
{
	bool is_several = wait->kind == WAIT_SOME_HANDLES || wait->kind == WAIT_ALL_HANDLES ||
			  wait->kind == WAIT_ANY_HANDLE;
	ret->rows_count = 0;
	if (is_several)
		read_waited(waits, wait, ret);
	if (ret->rows_count)
		return;
	for (size_t i = 0; is_several && i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		struct object object;
		struct array_info array;
		if (is_of_wait(wait, root) && !(root->flags & STACK_ROOT_INTERIOR) &&
		    member_object(waits->members, root->value, &object) &&
		    strcmp(type_name(waits->heap->runtime, object.type, NULL), SAFE_HANDLES) == 0 &&
		    array_read(waits->heap, &object, &array)) {
			read_handles(waits, &array, ret);
			return;
		}
	}
}

enum hd_status wait_add_handles(struct waits *waits, const struct thread_wait *wait,
				struct hd_error *err)
{
	struct wait_several several = { .node = (uint32_t)(wait - waits->rows),
					.is_any = wait->kind == WAIT_ANY_HANDLE,
					.begin = waits->several.parts_count };
	struct wait_handles handles;
	wait_handles_read(waits, wait, &handles);
	if (wait->kind == WAIT_SOME_HANDLES || !wait_parts_have_room(waits, handles.rows_count))
		return HD_OK;
	for (size_t i = 0; i < handles.rows_count; i++) {
		const struct thread_wait *owner =
			wait_of_thread(waits, wait_mutex_owner(waits, &handles.rows[i]));
		bool is_known = owner && owner != wait;
		struct wait_edge edge = { .to = is_known ? (uint32_t)(owner - waits->rows)
							 : WAIT_NOBODY };
		if (is_known || several.is_any)
			TRY(wait_part_add(waits, edge, err));
	}
	return wait_several_add(waits, several, err);
}

/* Is there an argument of that name whose value is known? */
static bool read_all_argument(const struct frame_variables *variables, bool *ret)
{
	for (size_t i = 0; i < variables->method.argument_count; i++) {
		const char *name = variables->method.rows[i].name;
		if (!name || strcmp(name, ALL_ARGUMENT) != 0 ||
		    variables->rows[i].state != VARIABLE_KNOWN)
			continue;
		*ret = (variables->rows[i].value.bits & 0xff) != 0;
		return true;
	}
	return false;
}

static enum hd_status ask_frames(struct heap *heap, const struct thread_stack *stack,
				 struct thread_wait *wait, struct hd_error *err)
{
	char name[WAIT_NAME_SIZE];
	for (size_t i = 0; i < stack->frames_count && i < wait->wait_end; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		struct frame_variables variables;
		bool is_all;
		if (frame->kind != STACK_MANAGED || !frame->registers || !frame->method_desc ||
		    !runtime_method_name(heap->runtime, frame->method_desc, name, sizeof(name),
					 NULL) ||
		    strncmp(name, MULTIPLE, strlen(MULTIPLE)) != 0)
			continue;
		TRY(frame_variables_read(heap, frame, &stack->registers[frame->registers - 1],
					 &variables, err));
		if (read_all_argument(&variables, &is_all))
			wait->kind = is_all ? WAIT_ALL_HANDLES : WAIT_ANY_HANDLE;
		frame_variables_deinit(&variables);
		if (wait->kind != WAIT_SOME_HANDLES)
			break;
	}
	return HD_OK;
}

enum hd_status wait_ask_whether_all(struct heap *heap, struct stack_walker *walker,
				    struct thread_wait *wait, struct job *job, struct hd_error *err)
{
	if (wait->info.state == WAIT_INFO_WAITS) {
		wait->kind = wait->info.is_all ? WAIT_ALL_HANDLES : WAIT_ANY_HANDLE;
		return HD_OK;
	}
	const struct stack_options options = { .no_roots = true, .registers = true };
	HD_CLEANUP(thread_stack) struct thread_stack stack = { 0 };
	TRY(stack_walk(walker, wait->thread, &options, job, &stack, err));
	return ask_frames(heap, &stack, wait, err);
}

/* The struct field of @p type that has the byte at *offset, which is then relative to it; or NULL. */
static const struct type *field_at(struct runtime *runtime, const struct type *type,
				   uint64_t *offset)
{
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	const struct type *found = NULL;
	uint64_t begin = 0;
	if (field_list_read(runtime, type, &list, NULL) != HD_OK)
		return NULL;
	for (size_t i = 0; i < list.count; i++) {
		const struct field *field = &list.rows[i];
		if (field->is_static || field->element_type != ELEMENT_VALUE || !field->type ||
		    field->offset > *offset || (found && field->offset < begin))
			continue;
		found = field->type;
		begin = field->offset;
	}
	*offset -= begin;
	return found;
}

/* Is there a SpinLock at that address of the object, or of an element of the array? */
static bool has_spin_lock(struct heap *heap, const struct object *object, uint64_t address)
{
	const struct type *type = object->type;
	uint64_t offset = address - object->address - OBJECT_FIELDS;
	struct array_info array;
	if (array_read(heap, object, &array)) {
		if (!array.element || !array.element_size || address < array.data)
			return false;
		type = array.element;
		offset = (address - array.data) % array.element_size;
	} else {
		type = field_at(heap->runtime, type, &offset);
	}
	for (unsigned int i = 0; type && i < STRUCTS_MAX; i++) {
		if (offset == 0 && strcmp(type_name(heap->runtime, type, NULL), SPIN_LOCK) == 0)
			return true;
		type = field_at(heap->runtime, type, &offset);
	}
	return false;
}

/* The object around an address, of those to which the frames of the thread refer. */
static bool find_holder(const struct waits *waits, const struct thread_wait *wait, uint64_t address,
			struct object *ret)
{
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		if (root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE) ||
		    root->value >= address || !member_object(waits->members, root->value, ret))
			continue;
		if (address - ret->address < ret->size && has_spin_lock(waits->heap, ret, address))
			return true;
	}
	return false;
}

bool wait_find_spin_lock(const struct waits *waits, const struct thread_wait *wait,
			 struct wait_spin_lock *ret)
{
	uint32_t owner;
	if (wait->kind != WAIT_SPIN_LOCK)
		return false;
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		if (!is_of_wait(wait, root) || !(root->flags & STACK_ROOT_INTERIOR) ||
		    !find_holder(waits, wait, root->value, &ret->holder) ||
		    !memory_u32(waits->heap->memory, root->value, &owner))
			continue;
		ret->address = root->value;
		ret->has_owner_id = !(owner & SPIN_NOT_TRACKED);
		ret->owner = ret->has_owner_id && owner
				     ? runtime_thread_by_id(waits->heap->runtime, owner)
				     : NULL;
		return true;
	}
	return false;
}
