/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "analysis/graph/link_names.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

#define COUNT 4000u

/* Stands for link() of the graph, and counts how often it was asked. */
static const char *(*format_of)(uint32_t to);
static uint64_t calls;

static void link_of(const void *arg, uint32_t from, uint32_t to, struct text *text)
{
	(void)arg;
	(void)from;
	calls++;
	const char *format = format_of(to);
	for (; *format; format++) {
		if (*format == '#') {
			text_printf(text, "%u", to);
		} else {
			text_append(text, format, 1);
		}
	}
}

/* Object 0 refers to all others, which have types 1, 2, 1, 2, ... */
static struct hd_graph *make_graph(uint32_t count)
{
	static struct made_edge edges[COUNT];
	static uint32_t types[COUNT];
	for (uint32_t i = 1; i < count; i++) {
		edges[i - 1] = (struct made_edge){ 0, i };
		types[i] = 1 + i % 2;
	}
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = count,
								  .type_count = 3,
								  .types = types,
								  .edges = edges,
								  .edge_count = count - 1 });
	REQUIRE(graph);
	graph->places.link = link_of;
	return graph;
}

/* Name the links of object 0; the name of the one to node n must be expected(n). */
static void check(uint32_t count, const char *(*format)(uint32_t to),
		  const char *(*expected)(uint32_t to), uint64_t calls_max)
{
	static struct named_link links[COUNT];
	struct hd_graph *graph = make_graph(count);
	struct link_names names;
	format_of = format;
	calls = 0;
	for (uint32_t i = 1; i < count; i++)
		links[i - 1] = (struct named_link){ .node = i, .name = UINT32_MAX };
	ASSERT_UINT_FATAL(link_names_init(&names, graph, NULL), HD_OK);
	ASSERT_UINT_FATAL(link_names_of(&names, 0, links, count - 1, NULL), HD_OK);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count - 1; i++) {
		sum += links[i].node;
		ASSERT_TEXT(link_name(&names, links[i].name), expected(links[i].node));
	}
	ASSERT_UINT(sum, (uint64_t)count * (count - 1) / 2);
	CU_ASSERT(calls <= calls_max);
	link_names_deinit(&names);
	graph_destroy(graph);
}

static const char *key_or_value(uint32_t to)
{
	return to % 2 ? "[#].key" : "[#].value";
}

static const char *key_or_value_name(uint32_t to)
{
	return to % 2 ? "[].key" : "[].value";
}

static const char *by_quarter(uint32_t to)
{
	return to / 2 % 2 ? "[#].key" : "[#].value";
}

static const char *by_quarter_name(uint32_t to)
{
	return to / 2 % 2 ? "[].key" : "[].value";
}

static const char *element(uint32_t to)
{
	(void)to;
	return "[]";
}

static const char *field(uint32_t to)
{
	return to % 3 ? ".next" : ".first";
}

static const char *dependent(uint32_t to)
{
	(void)to;
	return " (dependent handle)";
}

static const char *dependent_name(uint32_t to)
{
	(void)to;
	return "(dependent handle)";
}

static const char *nested(uint32_t to)
{
	(void)to;
	return "[#,-#][#].items_1[#]";
}

static const char *nested_name(uint32_t to)
{
	(void)to;
	return "[][].items_1[]";
}

static const char *nothing(uint32_t to)
{
	(void)to;
	return "";
}

TEST(indices_of_elements_are_dropped)
{
	check(100, nested, nested_name, 99);
	check(100, by_quarter, by_quarter_name, 99);
	check(100, dependent, dependent_name, 99);
	check(100, nothing, nothing, 99);
}

TEST(few_links_of_a_large_array_are_looked_up)
{
	check(COUNT, key_or_value, key_or_value_name, 100);
	check(COUNT, dependent, dependent_name, 100);
}

TEST(elements_that_differ_within_a_type_are_elements_only)
{
	check(COUNT, by_quarter, element, 100);
}

TEST(fields_are_each_looked_up)
{
	check(COUNT, field, field, 2 * COUNT);
}

TEST(without_names_all_are_empty)
{
	struct hd_graph *graph = make_graph(10);
	struct link_names names;
	struct named_link link = { .node = 3, .name = 77 };
	graph->places.link = NULL;
	ASSERT_UINT_FATAL(link_names_init(&names, graph, NULL), HD_OK);
	ASSERT_UINT(link_names_of(&names, 0, &link, 1, NULL), HD_OK);
	ASSERT_UINT(link.name, LINK_NONE);
	link_names_deinit(&names);
	graph_destroy(graph);
}

TEST(equal_names_are_one)
{
	struct hd_graph *graph = make_graph(10);
	struct link_names names;
	uint32_t first[500], again;
	ASSERT_UINT_FATAL(link_names_init(&names, graph, NULL), HD_OK);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 500; i++) {
			char text[16];
			(void)snprintf(text, sizeof(text), "name %u", i);
			ASSERT_UINT(link_names_add(&names, text, &again, NULL), HD_OK);
			if (round)
				ASSERT_UINT(again, first[i]);
			first[i] = again;
			ASSERT_TEXT(link_name(&names, again), text);
		}
	}
	ASSERT_UINT(link_names_add(&names, NULL, &again, NULL), HD_OK);
	ASSERT_UINT(again, LINK_NONE);
	link_names_deinit(&names);
	graph_destroy(graph);
}

SUITE(.name = "link names")
