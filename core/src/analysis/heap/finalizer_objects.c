/* SPDX-License-Identifier: MIT */
#include "analysis/heap/finalizer_objects.h"

#include "runtime/type.h"

bool finalizer_is_ready(const struct finalizer_entry *entry)
{
	return entry->part >= FINALIZER_CRITICAL;
}

void finalizer_objects_open(struct finalizer_objects *ret, struct heap *heap,
			    const struct finalizer_list *list,
			    const struct finalizer_filter *filter)
{
	*ret = (struct finalizer_objects){
		.heap = heap, .list = list, .filter = *filter, .window = { .memory = heap->memory }
	};
}

/* Read the object of an entry; is it asked for? */
static bool finalizer_objects_read(struct finalizer_objects *objects,
				   const struct finalizer_entry *entry)
{
	const struct finalizer_filter *filter = &objects->filter;
	struct object *object = &objects->object;
	if (filter->dead->graph && !finalizer_is_ready(entry) &&
	    !life_has(filter->dead, entry->object))
		return false;
	*object = (struct object){ 0 };
	if (!object_read(objects->heap, &objects->window, entry->object, object))
		object->type = NULL;
	return !filter->has_method_table ||
	       (object->type && object->type->method_table == filter->method_table);
}

enum hd_status finalizer_objects_next(struct finalizer_objects *objects, bool *ret,
				      struct hd_error *err)
{
	while (objects->next < objects->list->rows_count) {
		const struct finalizer_entry *entry = &objects->list->rows[objects->next++];
		if (!finalizer_objects_read(objects, entry))
			continue;
		if (objects->object.type && !type_counts_add(&objects->counts, &objects->object))
			return fail_nomem(err);
		objects->entry = entry;
		*ret = true;
		return HD_OK;
	}
	*ret = false;
	return HD_OK;
}

void finalizer_objects_deinit(struct finalizer_objects *objects)
{
	window_deinit(&objects->window);
	type_counts_deinit(&objects->counts);
}
