/* SPDX-License-Identifier: MIT */
#include "format/gcdump/gcdump.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/gcdump_samples.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "support/turns.h"

/* Damaged files, large ones, and limits. */

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* A file of the plain nodes, and the place of a node's record in it. */
static uint8_t *make_plain(size_t *ret_size, uint32_t node, size_t *ret_record)
{
	const struct made_gcdump spec = plain_spec();
	uint8_t *bytes = gcdump_make(&spec, ret_size);
	struct gcdump gcdump;
	ASSERT_UINT_FATAL(gcdump_parse(bytes, *ret_size, "x", &gcdump, NULL), HD_OK);
	uint32_t offset;
	memcpy(&offset, gcdump.offsets + (size_t)node * 4, sizeof(offset));
	*ret_record = (size_t)(gcdump.blob - bytes) + offset;
	gcdump_deinit(&gcdump);
	return bytes;
}

TEST(damaged_records_are_refused_or_skipped)
{
	/* The record of node 1: type, size of two bytes is its type's, 2, +1, 0. */
	static const struct {
		size_t at;
		uint8_t value;
	} rows[] = {
		{ 0, 0x3e }, /* type 31 */
		{ 0, 0x7f }, /* type -1 */
		{ 1, 0x3f }, /* 63 children, which lead out of the nodes */
		{ 1, 0x7f }, /* -1 children */
		{ 2, 0x3f }, /* a child 63 after it */
		{ 2, 0x7e }, /* and 2 before it */
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t size, record;
		uint8_t *bytes = make_plain(&size, 1, &record);
		bytes[record + rows[i].at] = rows[i].value;
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		struct format_options options = { 0 };
		ASSERT_UINT(
			gcdump_read_bytes(
				&(struct dump_input){ .path = "x", .bytes = bytes, .size = size },
				&options, NULL, &graph, &err),
			HD_ERR_FORMAT);
		char message[128];
		(void)snprintf(
			message, sizeof(message),
			"x: offset 0x%zx: the record of node 1 is damaged (--lenient goes on)",
			record);
		ASSERT_TEXT(err.message, message);
		options.lenient = true;
		ASSERT_UINT(
			gcdump_read_bytes(
				&(struct dump_input){ .path = "x", .bytes = bytes, .size = size },
				&options, NULL, &graph, NULL),
			HD_OK);
		REQUIRE(graph);
		ASSERT_UINT(graph->object_count, 5);
		REQUIRE(dump_finding(graph, "bad-record"));
		ASSERT_UINT(dump_finding(graph, "bad-record")->count, 1);
		CU_ASSERT(graph->info.is_partial);
		graph_destroy(graph);
		free(bytes);
	}
}

/* Nodes that share one record with many children would be more than a file can hold. */
TEST(records_do_not_overlap)
{
	static const struct made_gcdump_type types[] = { { u"UNDEFINED", 0, NULL },
							 { u"A", -1, NULL } };
	struct made_gcdump_node nodes[200] = { { .type = 1 } };
	for (uint32_t i = 0; i < 200; i++) {
		nodes[i] = (struct made_gcdump_node){ .type = 1,
						      .size = 8,
						      .address = 0x1000 + 8 * (uint64_t)i,
						      .child_count = i == 100 ? 8 : 0 };
		for (uint32_t k = 0; k < 8; k++)
			nodes[i].children[k] = i + k;
	}
	const struct made_gcdump spec = {
		.types = types, .nodes = nodes, .type_count = 2, .node_count = 200, .root = 199
	};
	size_t size;
	uint8_t *bytes = gcdump_make(&spec, &size);
	struct gcdump gcdump;
	ASSERT_UINT_FATAL(gcdump_parse(bytes, size, "x", &gcdump, NULL), HD_OK);
	uint8_t *offsets = bytes + (gcdump.offsets - bytes);
	for (size_t i = 0; i < 190; i++)
		memcpy(offsets + 4 * i, offsets + 400, 4);
	gcdump_deinit(&gcdump);
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(
		gcdump_read_bytes(&(struct dump_input){ .path = "x", .bytes = bytes, .size = size },
				  NULL, NULL, &graph, &err),
		HD_ERR_FORMAT);
	REQUIRE(strstr(err.message, "nodes share records"));
	const struct format_options lenient = { .lenient = true };
	ASSERT_UINT(
		gcdump_read_bytes(&(struct dump_input){ .path = "x", .bytes = bytes, .size = size },
				  &lenient, NULL, &graph, NULL),
		HD_OK);
	graph_destroy(graph);
	free(bytes);
}

/* A file that is cut among the records of its nodes: what is whole is as in the whole file. */
static void check_part(const struct hd_graph *graph, const struct hd_graph *whole, uint64_t lost)
{
	const struct graph_finding *finding = dump_finding(graph, "cut-file");
	REQUIRE(finding);
	CU_ASSERT(graph->info.is_partial);
	CU_ASSERT(graph->object_count + lost >= whole->object_count);
	CU_ASSERT(graph->object_count <= whole->object_count);
	CU_ASSERT(graph->total_size <= whole->total_size);
	CU_ASSERT(graph->forward.edge_count <= whole->forward.edge_count);
	/* dotnet-gcdump writes the roots' records last, that of their tree before those of groups. */
	bool has_no_root = strstr(finding->detail, "no root is known") != NULL;
	CU_ASSERT(has_no_root ? !graph->root_count : graph->object_count == whole->object_count);
	char number[48];
	(void)snprintf(number, sizeof(number), "short: %" PRIu64 " of ", lost);
	CU_ASSERT(strstr(finding->detail, number) != NULL);
}

/* Nodes whose record does not end before @p size bytes of the blob. */
static uint64_t lost_nodes(const struct gcdump *file, uint32_t size)
{
	uint64_t lost = 0;
	for (uint32_t node = 0; node < file->node_count; node++) {
		struct gcdump_record record;
		uint32_t offset = load_u32(file->offsets + (size_t)node * 4);
		CU_ASSERT_FATAL(gcdump_record(file, offset, &record));
		const uint8_t *at = record.children;
		int32_t child;
		for (uint32_t i = 0; at && i < record.child_count; i++)
			at = gcdump_cint(at, record.end, &child);
		lost += !at || at > file->blob + size;
	}
	return lost;
}

TEST(a_file_cut_among_its_nodes_has_those_before)
{
	struct text file = dump_source_file("tests/data/small300.gcdump");
	const uint8_t *bytes = (const uint8_t *)file.bytes;
	struct gcdump parsed;
	struct hd_graph *whole = NULL;
	ASSERT_UINT_FATAL(gcdump_parse(bytes, file.size, "x", &parsed, NULL), HD_OK);
	ASSERT_UINT_FATAL(
		gcdump_read_bytes(
			&(struct dump_input){ .path = "x", .bytes = bytes, .size = file.size },
			NULL, NULL, &whole, NULL),
		HD_OK);
	const size_t begin = (size_t)(parsed.blob - bytes);
	uint32_t last = UINT32_MAX;
	for (uint32_t size = 0; size < parsed.blob_size; size += size < 40 ? 1 : 53) {
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		enum hd_status status = gcdump_read_bytes(
			&(struct dump_input){ .path = "x", .bytes = bytes, .size = begin + size },
			NULL, NULL, &graph, &err);
		if (status != HD_OK) {
			/* Only before the first object. */
			ASSERT_UINT(last, UINT32_MAX);
			CU_ASSERT(strstr(err.message, "x: offset 0x") != NULL);
			continue;
		}
		check_part(graph, whole, lost_nodes(&parsed, size));
		CU_ASSERT(last == UINT32_MAX || graph->object_count >= last);
		last = graph->object_count;
		graph_destroy(graph);
	}
	ASSERT_UINT(last, 1112);
	graph_destroy(whole);
	gcdump_deinit(&parsed);
	text_deinit(&file);
}

TEST(a_file_cut_anywhere_is_refused_or_has_its_nodes)
{
	struct text file = dump_source_file("tests/data/small300.gcdump");
	uint64_t whole = 0;
	const unsigned int share = share_of(1, 4);
	struct gcdump parsed;
	ASSERT_UINT_FATAL(gcdump_parse((const uint8_t *)file.bytes, file.size, "x", &parsed, NULL),
			  HD_OK);
	/* Everything after the records of the nodes may be missing. */
	const uint8_t *end = parsed.blob + parsed.blob_size + parsed.deferred_size;
	const size_t first = (size_t)(end - (const uint8_t *)file.bytes);
	const size_t blob = (size_t)(parsed.blob - (const uint8_t *)file.bytes);
	gcdump_deinit(&parsed);
	for (size_t cut = 0; cut < file.size;
	     cut += cut < 2000 || cut + 2000 > file.size ? 1 : 37) {
		if (!is_turn(cut, share))
			continue;
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		enum hd_status status = gcdump_read_bytes(
			&(struct dump_input){
				.path = "x", .bytes = (const uint8_t *)file.bytes, .size = cut },
			NULL, NULL, &graph, &err);
		if (cut <= blob || cut >= first)
			ASSERT_UINT(status, cut < first ? HD_ERR_FORMAT : HD_OK);
		CU_ASSERT(status == HD_OK || strstr(err.message, "x: offset 0x"));
		CU_ASSERT(status == HD_OK || cut < 24 || strstr(err.message, "cut short"));
		if (status == HD_OK) {
			whole += cut >= first;
			if (cut >= first)
				ASSERT_UINT(graph->object_count, 1112);
			graph_destroy(graph);
		}
	}
	CU_ASSERT(whole > 2000 / share);
	text_deinit(&file);
}

/* Bytes of nodes that are anything. */
TEST(damage_anywhere_does_no_harm)
{
	struct random random = { .state = 3 + turns_seed() };
	struct text file = dump_source_file("tests/data/small300.gcdump");
	for (unsigned int round = 0; round < 1500 / share_of(1, 4); round++) {
		char before[8];
		size_t at[8];
		for (size_t i = 0; i < 8; i++) {
			at[i] = 24 + (size_t)random_below(&random, file.size - 24);
			before[i] = file.bytes[at[i]];
			file.bytes[at[i]] = (char)random_next(&random);
		}
		const struct format_options options = { .lenient = round % 2 };
		struct hd_graph *graph = NULL;
		if (gcdump_read_bytes(&(struct dump_input){ .path = "x",
							    .bytes = (const uint8_t *)file.bytes,
							    .size = file.size },
				      &options, NULL, &graph, NULL) == HD_OK) {
			CU_ASSERT(csr_is_sound(&graph->forward));
			graph_destroy(graph);
		}
		for (size_t i = 8; i-- > 0;)
			file.bytes[at[i]] = before[i];
	}
	text_deinit(&file);
}

/* --- large files, workers, limits --- */

#define MANY ((uint32_t)300000)

/* Orders of addresses: one that ascends, those of two parts that do, and none. */
enum order {
	ASCENDING,
	PARTED,
	PARTED_AT_BATCH,
	LOWEST_LAST,
	MIXED,
	ORDERS
};

static uint64_t place_of(enum order order, uint32_t node)
{
	const uint32_t objects = MANY - 1;
	switch (order) {
	case PARTED:
		return (node + objects - 100000) % objects;
	case PARTED_AT_BATCH:
		/* The batches of the reader are 16384 objects. */
		return (node - 1 + objects - 9 * 16384) % objects;
	case LOWEST_LAST:
		return node == objects ? 0 : node;
	case MIXED:
		return (uint64_t)node * 7919 % MANY;
	default:
		return node;
	}
}

static struct made_gcdump_node *make_many(enum order order)
{
	struct random random = { .state = 9 };
	struct made_gcdump_node *nodes = calloc(MANY, sizeof(*nodes));
	REQUIRE(nodes);
	nodes[0] = (struct made_gcdump_node){ .type = 1, CHILDREN2(1, MANY - 1) };
	for (uint32_t i = 1; i < MANY; i++) {
		nodes[i] = (struct made_gcdump_node){
			.type = 2 + i % 4,
			.size = 16 + (int32_t)random_below(&random, 3) * 100,
			.address = 0x7f0000000000 + place_of(order, i) * 24,
			.child_count = (uint32_t)random_below(&random, MADE_CHILDREN + 1),
		};
		for (uint32_t k = 0; k < nodes[i].child_count; k++)
			nodes[i].children[k] = 1 + (uint32_t)random_below(&random, MANY - 1);
	}
	return nodes;
}

TEST(workers_read_the_same)
{
	for (unsigned int order = 0; order < ORDERS; order++) {
		struct made_gcdump_node *nodes = make_many((enum order)order);
		struct made_gcdump spec = plain_spec();
		spec.nodes = nodes;
		spec.node_count = MANY;
		struct hd_graph *one = NULL, *three = NULL;
		ASSERT_UINT_FATAL(read_made(&spec, false, 1, &one, NULL), HD_OK);
		ASSERT_UINT_FATAL(read_made(&spec, true, 3, &three, NULL), HD_OK);
		ASSERT_GRAPH(three, one, GRAPH_EXACT);
		ASSERT_UINT(one->object_count, MANY - 1);
		for (uint32_t i = 1; i < MANY; i++) {
			uint32_t node = hd_graph_find(one, nodes[i].address);
			CU_ASSERT_FATAL(node != HD_NONE);
			ASSERT_UINT(graph_size(one, node), (uint64_t)nodes[i].size);
			ASSERT_UINT(one->types[one->node_types[node]].id, nodes[i].type + 1);
			uint32_t targets[MADE_CHILDREN];
			ASSERT_UINT_FATAL(hd_graph_references(one, node, 0, targets, MADE_CHILDREN),
					  nodes[i].child_count);
			for (uint32_t k = 0; k < nodes[i].child_count; k++) {
				ASSERT_UINT(graph_id(one, targets[k]),
					    nodes[nodes[i].children[k]].address);
			}
		}
		graph_destroy(one);
		graph_destroy(three);
		free(nodes);
	}
}

static int countdown(void *arg)
{
	unsigned int *left = arg;
	return !*left || !--*left;
}

TEST(it_can_be_cancelled_and_is_limited_in_memory)
{
	struct made_gcdump_node *nodes = make_many(MIXED);
	struct made_gcdump spec = plain_spec();
	spec.nodes = nodes;
	spec.node_count = MANY;
	size_t size;
	uint8_t *bytes = gcdump_make(&spec, &size);
	unsigned int polls = 0;
	enum hd_status status = HD_ERR_CANCELLED;
	while (status == HD_ERR_CANCELLED && polls < 1000) {
		unsigned int left = ++polls;
		struct job job = { .cancelled = countdown, .arg = &left };
		struct hd_graph *graph = NULL;
		status = gcdump_read_bytes(
			&(struct dump_input){ .path = "x", .bytes = bytes, .size = size }, NULL,
			&job, &graph, NULL);
		graph_destroy(graph);
	}
	ASSERT_UINT(status, HD_OK);
	CU_ASSERT(polls > 20);
	struct job small = { .max_mem = 1 << 20 };
	struct hd_graph *graph = NULL;
	ASSERT_UINT(
		gcdump_read_bytes(&(struct dump_input){ .path = "x", .bytes = bytes, .size = size },
				  NULL, &small, &graph, NULL),
		HD_ERR_NOMEM);
	free(bytes);
	free(nodes);
}

/* The limit counts how many references there are, not how many a file of this size may have. */
TEST(the_limit_is_of_what_is_needed)
{
	struct made_gcdump_node *nodes = make_many(ASCENDING);
	struct made_gcdump spec = plain_spec();
	spec.nodes = nodes;
	spec.node_count = MANY;
	size_t size;
	uint64_t references = 0;
	for (uint32_t i = 1; i < MANY; i++)
		references += nodes[i].child_count;
	uint8_t *bytes = gcdump_make(&spec, &size);
	struct job job = { .max_mem = 24 * (uint64_t)(MANY - 1) + 4 * references };
	struct hd_graph *graph = NULL;
	ASSERT_UINT(
		gcdump_read_bytes(&(struct dump_input){ .path = "x", .bytes = bytes, .size = size },
				  NULL, &job, &graph, NULL),
		HD_OK);
	graph_destroy(graph);
	graph = NULL;
	job.max_mem--;
	ASSERT_UINT(
		gcdump_read_bytes(&(struct dump_input){ .path = "x", .bytes = bytes, .size = size },
				  NULL, &job, &graph, NULL),
		HD_ERR_NOMEM);
	free(bytes);
	free(nodes);
}

TEST(each_failed_allocation_is_reported)
{
	check_failed_allocations_of(plain_spec());
}

SUITE(.name = "gcdump_damage")
