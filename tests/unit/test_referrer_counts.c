/* SPDX-License-Identifier: MIT */
#include "analysis/graph/referrer_counts.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/text.h"

#define NODES 128u

static struct hd_graph *make_graph(struct random *random)
{
	struct hd_graph *graph = graph_make_random(
		&(struct random_spec){ .seed = random_next(random) >> 30,
				       .object_count = 1 + (uint32_t)random_below(random, 100),
				       .missing_count = (uint32_t)random_below(random, 10),
				       .degree_percent = (uint32_t)random_below(random, 400),
				       .root_count = (uint32_t)random_below(random, 12),
				       .weak_percent = 40 });
	REQUIRE(graph);
	return graph;
}

/* Names by the node that is referred to: three of them, one is not known. */
static void name_link(const void *arg, uint32_t from, uint32_t to, struct text *text)
{
	(void)arg;
	(void)from;
	if (to % 3)
		text_printf(text, ".field%u", to % 3);
}

/* The row of a type and name, as counted one by one from the references forward. */
static struct referrer_count expected_row(const struct hd_graph *graph, const bool *is_asked,
					  uint32_t type, uint32_t name)
{
	struct referrer_count row = { .type = type, .name = name };
	for (uint32_t from = 0; from < graph->object_count; from++) {
		uint64_t end = csr_begin(&graph->forward, from + 1), found = 0;
		if (graph->node_types[from] != type)
			continue;
		for (uint64_t i = csr_begin(&graph->forward, from); i < end; i++) {
			uint32_t to = graph->forward.targets[i];
			found += is_asked[to] && to % 3 == name;
		}
		row.references += found;
		row.objects += found > 0;
		row.size += found ? graph_size(graph, from) : 0;
	}
	return row;
}

static void check_counts(struct hd_graph *graph, const bool *is_asked,
			 const struct referrer_counts *counts)
{
	uint64_t references = 0, roots = 0, rows = 0;
	for (uint32_t type = 0; type < graph->type_count; type++) {
		for (uint32_t name = 0; name < 3; name++)
			rows += expected_row(graph, is_asked, type, name).references > 0;
	}
	ASSERT_UINT(counts->rows_count, rows);
	for (size_t i = 0; i < counts->rows_count; i++) {
		const struct referrer_count *row = &counts->rows[i];
		const char *text = link_name(&counts->names, row->name);
		uint32_t name = *text ? (uint32_t)(text[sizeof(".field") - 1] - '0') : 0;
		struct referrer_count expected = expected_row(graph, is_asked, row->type, name);
		ASSERT_UINT(row->references, expected.references);
		ASSERT_UINT(row->objects, expected.objects);
		ASSERT_UINT(row->size, expected.size);
		CU_ASSERT(!i || row[-1].references >= row->references);
		references += row->references;
	}
	ASSERT_UINT(counts->references, references);
	for (uint32_t i = 0; i < graph->root_count; i++)
		roots += is_asked[graph->roots[i].node];
	ASSERT_UINT(counts->roots, roots);
}

TEST(references_are_counted_by_type_and_name)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct random random = { .state = seed };
		struct hd_graph *graph = make_graph(&random);
		bool is_asked[NODES] = { false };
		uint32_t nodes[NODES];
		size_t count = 0;
		uint32_t one = (uint32_t)random_below(&random, graph->object_count);
		graph->places.link = name_link;
		for (uint32_t node = 0; node < graph->object_count; node++) {
			is_asked[node] = seed % 3 ? node == one : random_below(&random, 3) == 0;
			if (is_asked[node])
				nodes[count++] = node;
		}
		struct referrer_counts counts;
		ASSERT_UINT_FATAL(referrer_counts_init(graph, nodes, count, NULL, &counts, NULL),
				  HD_OK);
		check_counts(graph, is_asked, &counts);
		referrer_counts_deinit(&counts);
		graph_destroy(graph);
	}
}

TEST(nothing_is_left_when_memory_is_short)
{
	struct random random = { .state = 3 };
	struct hd_graph *graph = make_graph(&random);
	const struct csr *reverse;
	uint32_t node = 0;
	ASSERT_UINT_FATAL(graph_reverse(graph, NULL, &reverse, NULL), HD_OK);
	enum hd_status status = HD_ERR_NOMEM;
	for (uint64_t nth = 1; status != HD_OK; nth++) {
		struct referrer_counts counts;
		uint64_t before = alloc_live();
		alloc_fail_at(nth);
		status = referrer_counts_init(graph, &node, 1, NULL, &counts, NULL);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
		if (status == HD_OK)
			referrer_counts_deinit(&counts);
		ASSERT_UINT(alloc_live(), before);
		CU_ASSERT_FATAL(nth < 1000);
	}
	graph_destroy(graph);
}

static int stop(void *arg)
{
	(void)arg;
	return 1;
}

TEST(a_user_who_stops_is_heard)
{
	struct random random = { .state = 3 };
	struct hd_graph *graph = make_graph(&random);
	const struct csr *reverse;
	ASSERT_UINT_FATAL(graph_reverse(graph, NULL, &reverse, NULL), HD_OK);
	uint32_t nodes[NODES], count = graph->object_count;
	for (uint32_t i = 0; i < count; i++)
		nodes[i] = i;
	struct job job = { .workers = 1, .cancelled = stop };
	struct referrer_counts counts;
	ASSERT_UINT(referrer_counts_init(graph, nodes, count, &job, &counts, NULL),
		    HD_ERR_CANCELLED);
	graph_destroy(graph);
}

SUITE(.name = "referrer_counts")
