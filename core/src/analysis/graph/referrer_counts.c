/* SPDX-License-Identifier: MIT */
#include "analysis/graph/referrer_counts.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"
#include "util/sort.h"

/* How many references are counted between two checks for cancellation. */
#define POLL_STRIDE 4096u

struct direct_link {
	uint32_t from, to;
};

/* The references to the objects that are asked for, and those of one object with their names. */
struct direct_links {
	struct direct_link *rows;
	size_t rows_count, rows_capacity;
	struct named_link *named;
	size_t named_count, named_capacity;
};

static void direct_links_deinit(struct direct_links *links)
{
	pages_free(links->rows, links->rows_capacity, sizeof(*links->rows));
	pages_free(links->named, links->named_capacity, sizeof(*links->named));
}

ORDER_BY2(compare_direct_links, struct direct_link, from, to)

static enum hd_status collect_links(struct hd_graph *graph, const uint32_t *nodes, size_t count,
				    struct job *job, struct direct_links *links,
				    struct hd_error *err)
{
	const struct csr *forward, *reverse;
	/* Names of links and sizes also need the forward references. */
	TRY(graph_forward(graph, job, &forward, err));
	TRY(graph_reverse(graph, job, &reverse, err));
	for (size_t i = 0; i < count; i++) {
		uint64_t end = csr_begin(reverse, nodes[i] + 1);
		for (uint64_t edge = csr_begin(reverse, nodes[i]); edge < end; edge++) {
			TRY_MEMORY(PAGES_RESERVE(links, rows), err);
			links->rows[links->rows_count++] =
				(struct direct_link){ reverse->targets[edge], nodes[i] };
			if (links->rows_count % POLL_STRIDE == 0 && !job_step(job, 0, POLL_STRIDE))
				return fail_cancelled(err);
		}
	}
	/* The links of one object come together. */
	if (count > 1 && links->rows_count)
		qsort(links->rows, links->rows_count, sizeof(*links->rows), compare_direct_links);
	return HD_OK;
}

struct count_key {
	const struct referrer_counts *counts;
	uint32_t type, name;
};

static bool is_count_of(const void *arg, uint32_t index)
{
	const struct count_key *key = arg;
	const struct referrer_count *row = &key->counts->rows[index];
	return row->type == key->type && row->name == key->name;
}

static enum hd_status count_link(struct referrer_counts *counts, const struct hd_graph *graph,
				 uint32_t from, uint32_t name, struct hd_error *err)
{
	const struct count_key key = { counts, graph->node_types[from], name };
	uint32_t fresh = (uint32_t)counts->rows_count;
	if (fresh == UINT32_MAX || !PAGES_RESERVE(counts, rows))
		return fail_nomem(err);
	uint32_t index = hash_index_add(&counts->index, hash_mix(hash_mix(0, key.type), name),
					fresh, is_count_of, &key);
	if (index == UINT32_MAX)
		return fail_nomem(err);
	if (index == fresh) {
		counts->rows[counts->rows_count++] =
			(struct referrer_count){ .type = key.type, .name = name, .last = HD_NONE };
	}
	struct referrer_count *row = &counts->rows[index];
	row->references++;
	counts->references++;
	if (row->last != from) {
		row->last = from;
		row->objects++;
		row->size += graph_size(graph, from);
	}
	return HD_OK;
}

/* Name and count the references of one object, rows[begin .. end). */
static enum hd_status count_object(struct referrer_counts *counts, const struct hd_graph *graph,
				   struct direct_links *links, size_t begin, size_t end,
				   struct hd_error *err)
{
	uint32_t from = links->rows[begin].from;
	links->named_count = 0;
	for (size_t i = begin; i < end; i++) {
		TRY_MEMORY(PAGES_RESERVE(links, named), err);
		links->named[links->named_count++] =
			(struct named_link){ .node = links->rows[i].to };
	}
	TRY(link_names_of(&counts->names, from, links->named, links->named_count, err));
	for (size_t i = 0; i < links->named_count; i++)
		TRY(count_link(counts, graph, from, links->named[i].name, err));
	return HD_OK;
}

static enum hd_status count_links(struct referrer_counts *counts, const struct hd_graph *graph,
				  struct direct_links *links, struct job *job, struct hd_error *err)
{
	job_begin(job, "Naming references", links->rows_count);
	for (size_t begin = 0, end; begin < links->rows_count; begin = end) {
		for (end = begin + 1; end < links->rows_count; end++) {
			if (links->rows[end].from != links->rows[begin].from)
				break;
		}
		TRY(count_object(counts, graph, links, begin, end, err));
		TRY(job_check(job, end - begin, err));
	}
	return HD_OK;
}

static enum hd_status count_referring_roots(struct referrer_counts *counts,
					    const struct hd_graph *graph, const uint32_t *nodes,
					    size_t count, struct hd_error *err)
{
	uint64_t *are_meant = bitmap_alloc(graph->node_count);
	TRY_MEMORY(are_meant, err);
	for (size_t i = 0; i < count; i++)
		(void)bitmap_add(are_meant, nodes[i]);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		counts->roots += !root->repeated && root->node != HD_NONE &&
				 bitmap_has(are_meant, root->node);
	}
	bitmap_free(are_meant, graph->node_count);
	return HD_OK;
}

/* Most references first; then most bytes, and the order of types and names in the dump. */
static int compare_referrer_counts(const void *a, const void *b)
{
	const struct referrer_count *x = a, *y = b;
	if (x->references != y->references)
		return x->references > y->references ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

enum hd_status referrer_counts_init(struct hd_graph *graph, const uint32_t *nodes, size_t count,
				    struct job *job, struct referrer_counts *ret,
				    struct hd_error *err)
{
	HD_CLEANUP(referrer_counts) struct referrer_counts counts = { 0 };
	HD_CLEANUP(direct_links) struct direct_links links = { 0 };
	TRY(link_names_init(&counts.names, graph, err));
	TRY(collect_links(graph, nodes, count, job, &links, err));
	TRY(count_links(&counts, graph, &links, job, err));
	TRY(count_referring_roots(&counts, graph, nodes, count, err));
	if (counts.rows_count) {
		qsort(counts.rows, counts.rows_count, sizeof(*counts.rows),
		      compare_referrer_counts);
	}
	*ret = counts;
	counts = (struct referrer_counts){ 0 };
	return HD_OK;
}

void referrer_counts_deinit(struct referrer_counts *counts)
{
	link_names_deinit(&counts->names);
	hash_index_deinit(&counts->index);
	pages_free(counts->rows, counts->rows_capacity, sizeof(*counts->rows));
	*counts = (struct referrer_counts){ 0 };
}
