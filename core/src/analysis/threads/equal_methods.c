/* SPDX-License-Identifier: MIT */
#include "analysis/threads/equal_methods.h"

#include <string.h>

#include "runtime/code.h"
#include "runtime/coreclr/code/method.h"
#include "util/alloc.h"
#include "util/text.h"

struct equal_method {
	uint64_t method_desc;
	struct text name;
};

void equal_methods_deinit(struct equal_methods *methods)
{
	for (size_t i = 0; i < methods->rows_count; i++)
		text_deinit(&methods->rows[i].name);
	pages_free(methods->rows, methods->rows_capacity, sizeof(*methods->rows));
	hash_index_deinit(&methods->index);
	*methods = (struct equal_methods){ 0 };
}

/* Is the row at @p index called as the one after the last? */
static bool has_same_name(const void *arg, uint32_t index)
{
	const struct equal_methods *methods = arg;
	const struct text *a = &methods->rows[index].name;
	const struct text *b = &methods->rows[methods->rows_count].name;
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static uint64_t hash_name(const struct text *name)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < name->size; i++)
		hash = hash_mix(hash, (unsigned char)name->bytes[i]);
	return hash;
}

enum hd_status equal_method_find(struct equal_methods *methods, struct runtime *runtime,
				 uint64_t *method_desc, struct hd_error *err)
{
	struct method method;
	if (!method_read(runtime, *method_desc, &method) ||
	    (method.flags & METHOD_CLASSIFICATION_MASK) != METHOD_DYNAMIC)
		return HD_OK;
	TRY_MEMORY(methods->rows_count < UINT32_MAX && PAGES_RESERVE(methods, rows), err);
	struct equal_method *row = &methods->rows[methods->rows_count];
	*row = (struct equal_method){ .method_desc = *method_desc };
	runtime_method_signature(runtime, *method_desc, &row->name);
	uint32_t index = UINT32_MAX;
	if (!row->name.failed) {
		index = hash_index_add(&methods->index, hash_name(&row->name),
				       (uint32_t)methods->rows_count, has_same_name, methods);
	}
	if (index != methods->rows_count)
		text_deinit(&row->name);
	TRY_MEMORY(index != UINT32_MAX, err);
	methods->rows_count += index == methods->rows_count;
	*method_desc = methods->rows[index].method_desc;
	return HD_OK;
}
