/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "format/nettrace/nettrace_check.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/nettrace_graph.h"
#include "support/suite.h"
#include "util/alloc.h"

/* dotnet/diagnostics' reader found so many in it: see its .expected.json. */
#define OBJECTS 1112u

static struct text trace;

static void set_up(void)
{
	trace = dump_source_file("tests/data/small300.nettrace");
}

static void tear_down(void)
{
	text_deinit(&trace);
}

static enum hd_status check(size_t size, struct nettrace_check *ret)
{
	struct dump_file file;
	dump_file_make(&file, trace.bytes, size);
	enum hd_status status = nettrace_check(file.fd, "trace", NULL, ret, NULL);
	dump_file_close(&file);
	return status;
}

TEST(a_whole_trace_is_whole)
{
	struct nettrace_check found;
	ASSERT_UINT_FATAL(check(trace.size, &found), HD_OK);
	CU_ASSERT(found.is_whole);
	ASSERT_UINT(found.snapshot, 1);
	ASSERT_UINT(found.objects, OBJECTS);
	ASSERT_UINT(found.unnamed, 0);
}

TEST(every_cut_has_less)
{
	uint64_t before = 0;
	for (size_t size = 1; size < trace.size; size += 97) {
		struct nettrace_check found;
		enum hd_status status = check(size, &found);
		CU_ASSERT(status == HD_OK || (status == HD_ERR_FORMAT && size < 100));
		CU_ASSERT(found.objects >= before && found.objects <= OBJECTS);
		CU_ASSERT(!found.is_whole || found.objects == OBJECTS);
		before = found.objects;
	}
	ASSERT_UINT(before, OBJECTS);
}

TEST(references_of_weak_tables_are_counted_as_the_graph_has_them)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	struct nettrace_check found;
	struct dump_file file;
	nettrace_begin(&maker);
	nettrace_gc_start(&maker, 1);
	nettrace_pair(&maker, 0x1020, 0x1000);
	nettrace_pair(&maker, 0x1020, 0x1020);
	nettrace_pair(&maker, 0x5000, 0x1000); /* of no object */
	nettrace_nodes(&maker, 0, two_nodes, 2);
	nettrace_edges(&maker, 0, three_edges, 3);
	nettrace_gc_end(&maker, 1);
	nettrace_end(&maker);
	dump_file_make(&file, (const char *)maker.file.bytes, maker.file.size);
	ASSERT_UINT(nettrace_check(file.fd, "trace", NULL, &found, NULL), HD_OK);
	dump_file_close(&file);
	struct hd_graph *graph = graph_of(&maker);
	CU_ASSERT(found.is_whole);
	ASSERT_UINT(found.references, 5);
	ASSERT_UINT(graph->forward.edge_count, 5);
	graph_destroy(graph);
	nettrace_deinit(&maker);
}

/* Provider and number of an event as metadata tells them. */
static char *metadata_of(uint32_t event)
{
	static const char provider[] = "Microsoft-Windows-DotNETRuntime";
	char key[2 * sizeof(provider) + 4] = { 0 };
	for (size_t i = 0; i < sizeof(provider); i++)
		key[2 * i] = provider[i];
	memcpy(key + 2 * sizeof(provider), &event, sizeof(event));
	char *at = memmem(trace.bytes, trace.size, key, sizeof(key));
	REQUIRE(at);
	return at + 2 * sizeof(provider);
}

TEST(what_is_not_there_is_missed)
{
	struct nettrace_check found;
	const uint32_t other = 9999;
	memcpy(metadata_of(15), &other, sizeof(other)); /* BulkType */
	ASSERT_UINT_FATAL(check(trace.size, &found), HD_OK);
	CU_ASSERT(found.is_whole);
	ASSERT_UINT(found.unnamed, OBJECTS);
	memcpy(metadata_of(19), &other, sizeof(other)); /* GCBulkEdge */
	ASSERT_UINT_FATAL(check(trace.size, &found), HD_OK);
	CU_ASSERT(!found.is_whole && found.objects < OBJECTS);
	memcpy(metadata_of(18), &other, sizeof(other)); /* GCBulkNode */
	ASSERT_UINT_FATAL(check(trace.size, &found), HD_OK);
	CU_ASSERT(!found.is_whole);
	ASSERT_UINT(found.snapshot, 0);
}

/* Two objects, and what a sequence point says of their thread after the end of the collection. */
static struct nettrace_check check_later(uint32_t sequence)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	nettrace_begin(&maker);
	nettrace_gc_start(&maker, 9);
	nettrace_nodes(&maker, 0, two_nodes, 2);
	nettrace_edges(&maker, 0, three_edges, 3);
	nettrace_gc_end(&maker, 9);
	nettrace_point(&maker, sequence);
	nettrace_end(&maker);
	struct dump_file file;
	struct nettrace_check found;
	dump_file_make(&file, (const char *)maker.file.bytes, maker.file.size);
	ASSERT_UINT(nettrace_check(file.fd, "trace", NULL, &found, NULL), HD_OK);
	dump_file_close(&file);
	nettrace_deinit(&maker);
	return found;
}

TEST(a_gap_behind_the_end_is_a_loss)
{
	struct nettrace_check found = check_later(4);
	CU_ASSERT(found.is_whole);
	ASSERT_UINT(found.objects, 2);
	found = check_later(1699);
	CU_ASSERT(!found.is_whole);
	ASSERT_UINT(found.objects, 2);
}

TEST(no_bytes_do_harm)
{
	uint32_t random = 1;
	for (int round = 0; round < 3000; round++) {
		random = random * 1664525 + 1013904223;
		size_t at = (random >> 8) % trace.size;
		char old = trace.bytes[at];
		trace.bytes[at] = (char)(random >> 24);
		struct nettrace_check found;
		enum hd_status status = check(trace.size, &found);
		CU_ASSERT(status == HD_OK || status == HD_ERR_FORMAT ||
			  status == HD_ERR_UNSUPPORTED);
		trace.bytes[at] = old;
	}
}

TEST(each_failed_allocation_is_reported)
{
	for (uint64_t nth = 1; nth < 1000; nth++) {
		struct nettrace_check found;
		alloc_fail_at(nth);
		enum hd_status status = check(trace.size, &found);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		if (!failed)
			return;
	}
	CU_FAIL("it allocates without end");
}

SUITE(.name = "nettrace_check", .set_up = set_up, .tear_down = tear_down)
