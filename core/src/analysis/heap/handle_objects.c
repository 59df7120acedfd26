/* SPDX-License-Identifier: MIT */
#include "analysis/heap/handle_objects.h"

void handle_objects_open(struct handle_objects *ret, struct heap *heap,
			 const struct handle_list *list, const enum handle_type *type)
{
	*ret = (struct handle_objects){ .heap = heap,
					.list = list,
					.has_type = type != NULL,
					.type = type ? *type : HANDLE_STRONG,
					.window = { .memory = heap->memory } };
}

enum hd_status handle_objects_next(struct handle_objects *objects, bool *ret, struct hd_error *err)
{
	while (objects->next < objects->list->rows_count) {
		const struct handle *handle = &objects->list->rows[objects->next++];
		struct object *object = &objects->object;
		if (objects->has_type && handle->type != objects->type)
			continue;
		*object = (struct object){ 0 };
		if (!object_read(objects->heap, &objects->window, handle->object, object)) {
			object->type = NULL;
		} else if (!type_counts_add(&objects->counts, object)) {
			return fail_nomem(err);
		}
		objects->by_type[handle->type]++;
		objects->handle = handle;
		*ret = true;
		return HD_OK;
	}
	*ret = false;
	return HD_OK;
}

void handle_objects_deinit(struct handle_objects *objects)
{
	window_deinit(&objects->window);
	type_counts_deinit(&objects->counts);
}
