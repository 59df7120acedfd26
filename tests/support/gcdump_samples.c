/* SPDX-License-Identifier: MIT */
#include "support/gcdump_samples.h"

#include "format/gcdump/gcdump.h"
#include "support/assert_more.h"
#include "util/alloc.h"

static const struct made_gcdump_type plain_types[] = {
	{ u"UNDEFINED", 0, NULL },
	{ u"[root]", -1, NULL },
	{ u"Ns.\u00e9\u6587<T>", -1, u"/x/\u00fc.dll" },
	{ u"emoji \xd83d\xde00", -1, u"" },
	{ u"", -1, NULL },
	{ NULL, -1, u"/x/\u00fc.dll" },
	{ u"never used", 99, NULL },
};

const struct made_gcdump_node plain_nodes[PLAIN_NODES] = {
	{ .type = 1, CHILDREN1(3) },
	{ .type = 2, .size = 8192, .address = 0x30, CHILDREN2(2, 1) },
	{ .type = 3, .size = INT32_MAX, .address = 0x20 },
	{ .type = 4, .size = 64, .address = 0x10, CHILDREN1(4) },
	{ .type = 5, .size = -2000000000, .address = 0x50 },
	{ .type = 2, .size = 24, .address = 0x40 },
	{ .type = 2, .size = INT32_MAX, .address = 0x60 },
};

struct made_gcdump plain_spec(void)
{
	return (struct made_gcdump){ .types = plain_types,
				     .nodes = plain_nodes,
				     .type_count = sizeof(plain_types) / sizeof(plain_types[0]),
				     .node_count = PLAIN_NODES,
				     .width = 64 };
}

enum hd_status read_made(const struct made_gcdump *spec, bool lenient, unsigned int workers,
			 struct hd_graph **ret, struct hd_error *err)
{
	size_t size;
	uint8_t *bytes = gcdump_make(spec, &size);
	const struct format_options options = { .lenient = lenient };
	struct job job = { .workers = workers };
	enum hd_status status = gcdump_read_bytes(
		&(struct dump_input){ .path = "x.gcdump", .bytes = bytes, .size = size }, &options,
		&job, ret, err);
	free(bytes);
	return status;
}

void check_failed_allocations_of(struct made_gcdump spec)
{
	static const struct made_gcdump_segment segment = { 0, 10, { 10, 0, 0, 0, 0 } };
	spec.heap.segments = &segment;
	spec.heap.segment_count = 1;
	spec.process.name = u"proc";
	spec.total_error = 1;
	spec.log = u"heapdump: true sizes\n20 100000000\n";
	size_t size;
	uint8_t *bytes = gcdump_make(&spec, &size);
	for (unsigned int lenient = 0; lenient < 2; lenient++) {
		const struct format_options options = { .lenient = lenient };
		enum hd_status status = HD_ERR_NOMEM;
		uint64_t nth = 0;
		while (status == HD_ERR_NOMEM && nth < 1000) {
			struct hd_graph *graph = NULL;
			alloc_fail_at(++nth);
			status = gcdump_read_bytes(
				&(struct dump_input){ .path = "x", .bytes = bytes, .size = size },
				&options, NULL, &graph, NULL);
			alloc_fail_at(0);
			graph_destroy(graph);
		}
		ASSERT_UINT(status, HD_OK);
		CU_ASSERT(nth > 50);
	}
	free(bytes);
}
