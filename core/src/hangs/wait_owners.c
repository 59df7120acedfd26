/* SPDX-License-Identifier: MIT */
#include "hangs/wait_owners.h"

#include <string.h>

#include "analysis/heap/object_pass.h"
#include "analysis/heap/type_kinds.h"
#include "framework/owns.h"
#include "gc/references.h"
#include "runtime/field.h"
#include "runtime/statics.h"
#include "util/field_label.h"
#include "util/text.h"

/* Facts that are remembered of a type. */
enum owner_kind {
	OWNER_NOT_ASKED,
	OWNER_OF_PROGRAM,
	OWNER_NOT_WANTED,
};

struct owner_search {
	struct heap *heap;
	struct wait_owners *owners;
	size_t left; /* objects whose field is not known yet */
	struct type_kinds kinds;
	struct window window;
};

static struct wait_owner *find_object(struct wait_owners *owners, uint64_t object)
{
	for (size_t i = 0; i < owners->count; i++) {
		if (owners->rows[i].object == object)
			return &owners->rows[i];
	}
	return NULL;
}

const char *wait_owner_field(const struct wait_owners *owners, uint64_t object)
{
	for (size_t i = 0; i < owners->count; i++) {
		if (owners->rows[i].object == object && owners->rows[i].field[0])
			return owners->rows[i].field;
	}
	return NULL;
}

static void keep_name(struct owner_search *search, struct wait_owner *owner,
		      const struct text *text)
{
	if (owner->field[0] || text->failed || !text->size || text->size >= WAIT_OWNER_SIZE)
		return;
	memcpy(owner->field, text->bytes, text->size);
	owner->field[text->size] = '\0';
	search->left--;
}

static bool is_wanted(struct owner_search *search, const struct type *type, struct hd_error *err,
		      enum hd_status *status)
{
	struct runtime *runtime = search->heap->runtime;
	uint8_t *kind = type_kinds_at(&search->kinds, type);
	if (!kind) {
		*status = fail_nomem(err);
		return false;
	}
	if (*kind == OWNER_NOT_ASKED) {
		bool is_own = type->has_pointers && !type->component_size &&
			      !framework_owns_type(runtime, type) &&
			      !strchr(type_name(runtime, type, NULL), '<');
		*kind = is_own ? OWNER_OF_PROGRAM : OWNER_NOT_WANTED;
	}
	return *kind == OWNER_OF_PROGRAM;
}

/* The field of @p object at @p slot has the thing. */
static void name_field(struct owner_search *search, const struct object *object, uint64_t slot,
		       struct wait_owner *owner)
{
	struct runtime *runtime = search->heap->runtime;
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	HD_CLEANUP(text) struct text text = { 0 };
	if (field_list_read(runtime, object->type, &list, NULL) != HD_OK)
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct field *field = &list.rows[i];
		if (field->is_static || object->address + 8 + (uint64_t)field->offset != slot ||
		    !field_is_named(field))
			continue;
		const struct type *type = field->declaring ? field->declaring : object->type;
		text_puts(&text, type_name(runtime, type, NULL));
		text_puts(&text, ".");
		size_t size;
		const char *label = field_label(field->name, strlen(field->name), &size);
		text_append(&text, label, size);
		keep_name(search, owner, &text);
		return;
	}
}

static enum hd_status meet_object(void *arg, const struct object *object, struct hd_error *err)
{
	struct owner_search *search = arg;
	struct references references;
	struct reference reference;
	enum hd_status status = HD_OK;
	if (!search->left || !is_wanted(search, object->type, err, &status))
		return status;
	references_begin(&references, &search->window, object);
	while (references_next(&references, &reference)) {
		struct wait_owner *owner = find_object(search->owners, reference.value);
		if (owner && !owner->field[0] && reference.slot)
			name_field(search, object, reference.slot, owner);
	}
	return HD_OK;
}

static enum hd_status look_at_statics(struct owner_search *search, struct job *job,
				      struct hd_error *err)
{
	struct runtime *runtime = search->heap->runtime;
	HD_CLEANUP(static_slots) struct static_slots slots = { 0 };
	TRY(static_slots_read(runtime, job, &slots, err));
	for (size_t i = 0; i < slots.rows_count && search->left; i++) {
		const struct static_slot *slot = &slots.rows[i];
		uint64_t value = 0;
		HD_CLEANUP(text) struct text text = { 0 };
		if (!memory_u64(search->heap->memory, slot->address, &value) || !value)
			continue;
		struct wait_owner *owner = find_object(search->owners, value);
		if (!owner || framework_owns_type(runtime, slot->type))
			continue;
		static_slot_name(runtime, slot, &text);
		keep_name(search, owner, &text);
	}
	return HD_OK;
}

enum hd_status wait_owners_find(struct heap *heap, struct wait_owners *owners, struct job *job,
				struct hd_error *err)
{
	struct owner_search search = {
		.heap = heap, .owners = owners, .left = owners->count, .window.memory = heap->memory
	};
	if (!owners->count)
		return HD_OK;
	enum hd_status status = look_at_statics(&search, job, err);
	if (status == HD_OK && search.left)
		status = object_pass_all(heap, meet_object, &search, job, err);
	type_kinds_deinit(&search.kinds);
	window_deinit(&search.window);
	return status;
}
