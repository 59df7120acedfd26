/* SPDX-License-Identifier: MIT */
#include "analysis/modules/load_contexts.h"

#include <string.h>

#include "analysis/heap/object_pass.h"
#include "framework/member.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/text.h"

#define CONTEXT_TYPE       net_type_name(NET_LOAD_CONTEXT)
#define CONTEXT_NAME_UNITS 1024u
/* A process with more of them is damaged. */
#define CONTEXTS_MAX ((size_t)1 << 20)

/* The kind of a type, by its index. */
enum kind {
	KIND_UNKNOWN,
	KIND_OTHER,
	KIND_CONTEXT
};

struct context_search {
	struct heap *heap;
	struct members *members;
	struct load_contexts *contexts;
	uint8_t *kinds; /* enum kind */
	size_t kinds_count, kinds_capacity;
};

static bool reserve_kinds(struct context_search *search, size_t index)
{
	while (index >= search->kinds_capacity) {
		size_t before = search->kinds_capacity;
		if (!pages_grow((void **)&search->kinds, &search->kinds_capacity, 1))
			return false;
		memset(search->kinds + before, KIND_UNKNOWN, search->kinds_capacity - before);
	}
	return true;
}

/* Returns false if its binder is not known. */
static bool read_context(struct heap *heap, struct members *members, const struct object *object,
			 struct load_context *context)
{
	const struct member binder = fact_of(members, object, FACT_LOAD_CONTEXT_NATIVE),
			    name = fact_of(members, object, FACT_LOAD_CONTEXT_NAME),
			    collectible = fact_of(members, object, FACT_LOAD_CONTEXT_COLLECTIBLE),
			    state = fact_of(members, object, FACT_LOAD_CONTEXT_STATE);
	HD_CLEANUP(text) struct text text = { 0 };
	uint32_t length;
	*context = (struct load_context){ .object = object->address, .type = object->type };
	context->binder = binder.bits;
	context->is_collectible = collectible.bits;
	context->is_unloading = state.bits;
	if (name.bits && string_value(heap, name.bits, CONTEXT_NAME_UNITS, &text, &length) &&
	    !text.failed)
		context->name = mem_strndup(text.bytes ? text.bytes : "", text.size);
	return binder.state == MEMBER_READ;
}

static enum hd_status visit_object(void *arg, const struct object *object, struct hd_error *err)
{
	struct context_search *search = arg;
	size_t index = object->type->index;
	TRY_MEMORY(reserve_kinds(search, index), err);
	if (search->kinds[index] == KIND_UNKNOWN) {
		bool is_context =
			object->type->category == CATEGORY_CLASS &&
			type_derives_from(search->heap->runtime, object->type, 0, CONTEXT_TYPE);
		search->kinds[index] = is_context ? KIND_CONTEXT : KIND_OTHER;
	}
	if (search->kinds[index] != KIND_CONTEXT)
		return HD_OK;
	struct load_contexts *contexts = search->contexts;
	if (contexts->rows_count == CONTEXTS_MAX) {
		contexts->is_partial = true;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(contexts, rows), err);
	contexts->is_partial |= !read_context(search->heap, search->members, object,
					      &contexts->rows[contexts->rows_count++]);
	return HD_OK;
}

enum hd_status load_contexts_read(struct heap *heap, struct job *job, struct load_contexts *ret,
				  struct hd_error *err)
{
	struct context_search search = { .heap = heap, .contexts = ret };
	*ret = (struct load_contexts){ 0 };
	TRY(members_create(heap, &search.members, err));
	enum hd_status status = object_pass_all(heap, visit_object, &search, job, err);
	pages_free(search.kinds, search.kinds_capacity, 1);
	members_destroy(search.members);
	return status;
}

enum hd_status load_context_of_module(struct heap *heap, const struct module_facts *facts,
				      enum module_context *ret_known, struct load_context *ret,
				      struct hd_error *err)
{
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	struct load_context context = { 0 };
	struct members *members;
	struct object object;
	*ret_known = facts->knows_context && !facts->context ? MODULE_CONTEXT_NONE
							     : MODULE_CONTEXT_UNKNOWN;
	if (!facts->context || facts->context % 8 != 0 || !heap_segment_at(heap, facts->context) ||
	    !object_read(heap, &window, facts->context, &object) ||
	    !type_derives_from(heap->runtime, object.type, 0, CONTEXT_TYPE))
		return HD_OK;
	TRY(members_create(heap, &members, err));
	if (read_context(heap, members, &object, &context) && context.binder == facts->binder) {
		*ret_known = MODULE_CONTEXT_FOUND;
		*ret = context;
	} else {
		mem_free(context.name);
	}
	members_destroy(members);
	return HD_OK;
}

void load_contexts_deinit(struct load_contexts *contexts)
{
	for (size_t i = 0; i < contexts->rows_count; i++)
		mem_free(contexts->rows[i].name);
	pages_free(contexts->rows, contexts->rows_capacity, sizeof(*contexts->rows));
	*contexts = (struct load_contexts){ 0 };
}

const struct load_context *load_context_of(const struct load_contexts *contexts, uint64_t binder)
{
	const struct load_context *found = NULL;
	for (size_t i = 0; binder && i < contexts->rows_count; i++) {
		if (contexts->rows[i].binder != binder)
			continue;
		if (found)
			return NULL;
		found = &contexts->rows[i];
	}
	return found;
}
