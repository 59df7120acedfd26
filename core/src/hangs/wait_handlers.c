/* SPDX-License-Identifier: MIT */
#include "hangs/wait_handlers.h"

#include "framework/owns.h"
#include "gc/references.h"
#include "inspect/value.h"
#include "mem/memory.h"
#include "runtime/statics.h"

/* Handlers of one event that are looked at, and bytes of an object with events. */
#define HANDLERS_MAX 4096u
#define OBJECT_MAX   1024u

struct handler_visit {
	const struct waits *waits;
	void (*visit)(void *arg, uint64_t delegate, uint64_t method_desc);
	void *arg;
};

/* The delegate at @p address; false: there is none, or it is a list. */
static bool visit_one(const struct handler_visit *handlers, uint64_t address,
		      struct delegate_info *ret)
{
	struct heap *heap = handlers->waits->heap;
	struct object object;
	if (!member_object(handlers->waits->members, address, &object) ||
	    !type_is_delegate(heap->runtime, object.type) || !delegate_read(heap, &object, ret))
		return false;
	if (!ret->invocation_list && ret->method_desc &&
	    code_owner_of_method(heap->runtime, ret->method_desc) != CODE_OF_FRAMEWORK)
		handlers->visit(handlers->arg, address, ret->method_desc);
	return true;
}

static void visit_all(const struct handler_visit *handlers, uint64_t address)
{
	struct heap *heap = handlers->waits->heap;
	struct delegate_info all, one;
	struct array_info list;
	if (!visit_one(handlers, address, &all) || !all.invocation_list ||
	    !array_at(heap, handlers->waits->members, all.invocation_list, &list))
		return;
	for (uint32_t i = 0; i < list.length && i < all.invocation_count && i < HANDLERS_MAX; i++)
		(void)visit_one(handlers, array_reference(heap, &list, i), &one);
}

/* A delegate, or an object with delegates in its fields, such as the AppDomain. */
static void visit_value(const struct handler_visit *handlers, uint64_t address)
{
	const struct waits *waits = handlers->waits;
	HD_CLEANUP(window) struct window window = { .memory = waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!member_object(waits->members, address, &object) || object.type->component_size ||
	    object.size > OBJECT_MAX)
		return;
	if (type_is_delegate(waits->heap->runtime, object.type)) {
		visit_all(handlers, address);
		return;
	}
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference))
		visit_all(handlers, reference.value);
}

void wait_handlers_visit(const struct waits *waits, const struct static_slots *slots,
			 void (*visit)(void *arg, uint64_t delegate, uint64_t method_desc),
			 void *arg)
{
	const struct handler_visit handlers = { waits, visit, arg };
	struct heap *heap = waits->heap;
	for (size_t i = 0; i < slots->rows_count; i++) {
		uint64_t value = 0;
		if (memory_u64(heap->memory, slots->rows[i].address, &value) && value &&
		    framework_owns_type(heap->runtime, slots->rows[i].type))
			visit_value(&handlers, value);
	}
}
