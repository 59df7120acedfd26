/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_counts.h"

#include <stdlib.h>

#include "analysis/graph/hash_index.h"
#include "util/alloc.h"

/* The row that is looked for. */
struct count_key {
	const struct async_node *nodes, *node;
	const struct async_counts *counts;
};

void async_counts_deinit(struct async_counts *counts)
{
	pages_free(counts->rows, counts->rows_capacity, sizeof(*counts->rows));
	*counts = (struct async_counts){ 0 };
}

/* Boxes of other types are counted by themselves; Continuations of a method have many types. */
static const struct type *key_type(const struct async_node *node)
{
	return node->is_runtime ? NULL : node->type;
}

static bool is_same_count(const void *arg, uint32_t index)
{
	const struct count_key *key = arg;
	const struct async_node *node = &key->nodes[key->counts->rows[index].first];
	return key_type(node) == key_type(key->node) && node->method == key->node->method &&
	       node->state == key->node->state;
}

static enum hd_status count_nodes(const struct async_graph *graph, struct async_counts *counts,
				  struct hash_index *index, struct hd_error *err)
{
	for (size_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *node = &graph->rows[i];
		const struct count_key key = { graph->rows, node, counts };
		uint64_t hash =
			hash_mix((uint32_t)node->state, (uint64_t)(uintptr_t)key_type(node));
		uint32_t row = hash_index_add(index, hash_mix(hash, node->method),
					      (uint32_t)counts->rows_count, is_same_count, &key);
		if (row == UINT32_MAX || !PAGES_RESERVE(counts, rows))
			return fail_nomem(err);
		if (row == counts->rows_count) {
			counts->rows[counts->rows_count++] =
				(struct async_count){ .first = (uint32_t)i };
		}
		counts->rows[row].count++;
		counts->rows[row].bytes += node->size;
	}
	return HD_OK;
}

static int compare_counts(const void *left, const void *right)
{
	const struct async_count *a = left, *b = right;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

enum hd_status async_counts_create(const struct async_graph *graph, struct async_counts *ret,
				   struct hd_error *err)
{
	struct async_counts counts = { 0 };
	struct hash_index index = { 0 };
	enum hd_status status = count_nodes(graph, &counts, &index, err);
	hash_index_deinit(&index);
	if (status != HD_OK) {
		async_counts_deinit(&counts);
		return status;
	}
	if (counts.rows_count)
		qsort(counts.rows, counts.rows_count, sizeof(*counts.rows), compare_counts);
	*ret = counts;
	return HD_OK;
}
