/* SPDX-License-Identifier: MIT */
#include "hangs/wait_several.h"

#include "util/alloc.h"
#include "util/sort.h"

/* Parts of all nodes together: so many for each node, and more. */
#define PARTS_PER_NODE 4u
#define PARTS_MORE     65536u

bool wait_parts_have_room(const struct waits *waits, uint64_t more)
{
	uint64_t max = (uint64_t)PARTS_PER_NODE * wait_nodes(waits) + PARTS_MORE;
	return waits->several.parts_count + more <= max;
}

enum hd_status wait_part_add(struct waits *waits, struct wait_edge part, struct hd_error *err)
{
	struct wait_several_list *list = &waits->several;
	TRY_MEMORY(PAGES_RESERVE(list, parts), err);
	list->parts[list->parts_count++] = part;
	return HD_OK;
}

enum hd_status wait_several_add(struct waits *waits, struct wait_several several,
				struct hd_error *err)
{
	struct wait_several_list *list = &waits->several;
	several.count = list->parts_count - several.begin;
	if (!several.count)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(list, rows), err);
	list->rows[list->rows_count++] = several;
	return HD_OK;
}

const struct wait_several *wait_node_several(const struct waits *waits, uint32_t node)
{
	const struct wait_several_list *list = &waits->several;
	size_t row = ROWS_FROM(list->rows, list->rows_count, node, node);
	return row < list->rows_count && list->rows[row].node == node ? &list->rows[row] : NULL;
}
