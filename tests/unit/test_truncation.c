/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/suite.h"
#include "support/turns.h"

static const char *const samples[] = { "tests/data/seed000.heap", "tests/data/seed001.heap",
				       "corefiles/bubblecs.heap" };
#define SAMPLES 3u

/*
 * From here on the file's last record stands there whole, its time aside: what is missing after
 * it (a digit of the time, a newline) nobody can see.
 */
static size_t end_record_end(const struct text *sample)
{
	static const char end[] = "\nc bubblecs.exe";
	const char *found = strstr(sample->bytes, end);
	REQUIRE(found);
	CU_ASSERT_PTR_NULL(strstr(found + 1, end));
	return (size_t)(found - sample->bytes) + sizeof(end) - 1;
}

static bool tells_of_the_end(const struct hd_graph *graph)
{
	return dump_finding(graph, "missing-end-record") ||
	       dump_finding(graph, "section-name-mismatch");
}

/* Read the first @p size bytes; they end before the end record does. */
static void check_prefix(const struct text *sample, size_t size, bool lenient)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	enum hd_status status = dump_open(
		sample->bytes, size, &(struct dump_reading){ .lenient = lenient }, &graph, &err);
	ASSERT_UINT(status == HD_OK, graph != NULL);
	ASSERT_UINT(err.status, status);
	if (status == HD_OK && graph) {
		/* Without a whole "a" record there is no section that could lack its end. */
		CU_ASSERT(graph->domains.count ? tells_of_the_end(graph)
					       : graph->findings.count > 0);
	} else if (size < strlen("a ")) {
		ASSERT_UINT(status, HD_ERR_UNSUPPORTED);
	} else {
		CU_ASSERT(status == HD_ERR_FORMAT && err.address > 0 && !lenient);
	}
	graph_destroy(graph);
}

/* With sanitizers one of four; the seed says which. */
static void check_prefixes(bool lenient)
{
	const unsigned int share = share_of(1, 4);
	for (size_t i = 0; i < SAMPLES; i++) {
		struct text sample = dump_source_file(samples[i]);
		size_t end = end_record_end(&sample);
		for (size_t size = first_turn(share); size < end; size += turn_step(share))
			check_prefix(&sample, size, lenient);
		text_deinit(&sample);
	}
}

TEST(no_cut_goes_unnoticed)
{
	check_prefixes(false);
}

TEST(a_lenient_reader_reads_up_to_the_cut)
{
	check_prefixes(true);
}

TEST(the_whole_file_is_complete)
{
	for (size_t i = 0; i < SAMPLES; i++) {
		struct text sample = dump_source_file(samples[i]);
		struct hd_graph *whole = dump_graph(sample.bytes);
		CU_ASSERT(!tells_of_the_end(whole));
		for (size_t size = end_record_end(&sample); size < sample.size; size++) {
			struct hd_graph *graph = NULL;
			ASSERT_UINT(dump_open(sample.bytes, size, &(struct dump_reading){ 0 },
					      &graph, NULL),
				    HD_OK);
			REQUIRE(graph);
			ASSERT_UINT(graph->object_count, whole->object_count);
			ASSERT_UINT(graph->root_count, whole->root_count);
			CU_ASSERT(!tells_of_the_end(graph));
			graph_destroy(graph);
		}
		graph_destroy(whole);
		text_deinit(&sample);
	}
}

TEST(a_cut_between_lines_keeps_what_stands_before)
{
	struct text sample = dump_source_file("corefiles/bubblecs.heap");
	uint32_t objects = 0, roots = 0;
	for (size_t at = 0; at < end_record_end(&sample);) {
		size_t next = (size_t)(strchr(sample.bytes + at, '\n') - sample.bytes) + 1;
		objects += sample.bytes[at] == 'o';
		roots += sample.bytes[at] == 'r';
		at = next;
		struct hd_graph *graph = NULL;
		ASSERT_UINT(dump_open(sample.bytes, at, &(struct dump_reading){ 0 }, &graph, NULL),
			    HD_OK);
		REQUIRE(graph);
		ASSERT_UINT(graph->object_count, objects);
		ASSERT_UINT(graph->root_count, roots);
		graph_destroy(graph);
	}
	CU_ASSERT(objects > 100 && roots > 50);
	text_deinit(&sample);
}

SUITE(.name = "truncation")
