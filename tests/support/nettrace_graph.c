/* SPDX-License-Identifier: MIT */
#include "support/nettrace_graph.h"

#include "format/nettrace/nettrace.h"
#include "support/assert_more.h"
#include "support/dump_text.h"

const struct nt_node two_nodes[2] = { { 0x1000, 24, 0x100, 2 }, { 0x1020, 40, 0x200, 1 } };
const uint64_t three_edges[3] = { 0x1020, 0x1000, 0x1000 };

void put_snapshot(struct nettrace_maker *maker, uint32_t gc)
{
	nettrace_gc_start(maker, gc);
	nettrace_nodes(maker, 0, two_nodes, 2);
	nettrace_edges(maker, 0, three_edges, 3);
	nettrace_root(maker, 0x1000, NT_ROOT_STACK, 0);
	nettrace_gc_end(maker, gc);
}

enum hd_status read_trace(const char *bytes, size_t size, const struct format_options *options,
			  struct hd_graph **ret, struct hd_error *err)
{
	struct dump_file file;
	dump_file_make(&file, bytes, size);
	enum hd_status status =
		nettrace_read(&(struct dump_input){ .path = "trace", .fd = file.fd, .size = size },
			      options, NULL, ret, err);
	dump_file_close(&file);
	return status;
}

enum hd_status read_maker(const struct nettrace_maker *maker, const struct format_options *options,
			  struct hd_graph **ret, struct hd_error *err)
{
	return read_trace((const char *)maker->file.bytes, maker->file.size, options, ret, err);
}

struct hd_graph *graph_with(const struct nettrace_maker *maker,
			    const struct format_options *options)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	(void)read_maker(maker, options, &graph, &err);
	ASSERT_TEXT(err.message, "");
	REQUIRE(graph);
	return graph;
}

struct hd_graph *graph_of(const struct nettrace_maker *maker)
{
	return graph_with(maker, NULL);
}
