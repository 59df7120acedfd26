/* SPDX-License-Identifier: MIT */
#include "command/objects/object.h"
#include "command/table.h"
#include "graph/heap_graph.h"
#include "util/job.h"

#define DUMPOBJ_OPTIONS(X)                                                                    \
	X(OPT_REFS, "refs", VALUE_NONE, NULL, "also what refers to the object", NULL)         \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N references (0 = all)", NULL) \
	X(OPT_NOFIELDS, "nofields", VALUE_NONE, NULL, "without the table of fields", NULL)

OPTIONS(dumpobj, DUMPOBJ_OPTIONS);

#define EDGE_LIST(X)                                                                              \
	X(EDGE_ADDRESS, "address", "Address", KIND_ADDRESS, 16, LOOK_ADDRESS, "id of the object") \
	X(EDGE_MT, NULL, "MT", KIND_ADDRESS, 16, 0, NULL)                                         \
	X(EDGE_SIZE, NULL, "Size", KIND_BYTES, 14, LOOK_THOUSANDS, NULL)                          \
	X(EDGE_CLASS, NULL, "", KIND_TYPE, 0, 0, NULL)

COLUMNS(edge, EDGE_COLUMNS, EDGE_LIST);

/* One direction of references. */
static const struct direction {
	struct schema schema;
	const char *heading; /* in text */
} directions[] = {
	{ { .name = "references", SCHEMA_COLUMNS(edge_columns), .is_list = true },
	  "References:  " },
	{ { .name = "referrers", SCHEMA_COLUMNS(edge_columns), .is_list = true }, "Referrers:   " },
};

static void write_graph_edge(struct call *call, uint32_t node)
{
	const struct hd_graph *graph = call->graph;
	struct cell cells[EDGE_COLUMNS] = { [EDGE_ADDRESS] = cell_number(graph_id(graph, node)),
					    [EDGE_CLASS] = { .shown = "<not in this dump>" } };
	if (!graph_is_missing(graph, node)) {
		const struct graph_type *type = &graph->types[graph->node_types[node]];
		cells[EDGE_MT] = cell_number(type->id);
		cells[EDGE_SIZE] = cell_number(graph_size(graph, node));
		cells[EDGE_CLASS] = cell_type(type->name, type->name_size, type->id);
	}
	answer_row(&call->answer, cells);
}

static enum hd_status write_edges(struct call *call, const struct direction *direction,
				  const struct csr *csr, uint32_t node)
{
	struct answer *answer = &call->answer;
	uint64_t begin = csr_begin(csr, node), count = csr_degree(csr, node);
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX);
	uint64_t shown = count < limit ? count : limit;
	char number[NUMBER_SIZE], rest[NUMBER_SIZE];
	answer_remark(answer, "%s%s\n", direction->heading, format_thousands(count, number));
	answer_table(answer, &direction->schema,
		     &(const struct table_options){ .no_heading = !shown });
	for (uint64_t i = begin; i < begin + shown; i++) {
		write_graph_edge(call, csr->targets[i]);
		TRY(call_check(call));
	}
	(void)answer_table_end(answer);
	if (shown == count)
		return HD_OK;
	answer_remark(answer, "(the first %s of %s; -limit 0 lists all)\n",
		      format_thousands(shown, number), format_thousands(count, rest));
	answer_truncated(answer);
	return HD_OK;
}

#define HEAD_LIST(X)                                                             \
	X(HEAD_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "id of the object") \
	X(HEAD_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "id of its type")             \
	X(HEAD_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")          \
	X(HEAD_SIZE, "size", NULL, KIND_BYTES, 0, 0, "its own bytes")            \
	X(HEAD_DOMAIN, "domain", NULL, KIND_TEXT, 0, 0, "section of the dump file")

COLUMNS(head, HEAD_COLUMNS, HEAD_LIST);

SCHEMA(head, .lines = "Name:        {type}\nMethodTable: {mt:a}\n"
		      "Size:        {size}(0x{size:x}) bytes\n[Domain:      {domain}\n]");

/* A dump file has no fields: the table is there, and empty. */
static const struct schema field_schema = { .name = "fields", .columns = head_columns };

static void write_graph_head(struct call *call, uint32_t node)
{
	const struct hd_graph *graph = call->graph;
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	const struct graph_domain *domain = &graph->domains.rows[type->domain];
	const struct cell cells[HEAD_COLUMNS] = {
		[HEAD_ADDRESS] = cell_number(graph_id(graph, node)),
		[HEAD_MT] = cell_number(type->id),
		[HEAD_TYPE] = cell_type(type->name, type->name_size, type->id),
		[HEAD_SIZE] = cell_number(graph_size(graph, node)),
		[HEAD_DOMAIN] = cell_text(domain->name, domain->name_size),
	};
	answer_record(&call->answer, &head_schema, cells);
	answer_table(&call->answer, &field_schema,
		     &(const struct table_options){ .no_heading = true });
	(void)answer_table_end(&call->answer);
}

static enum hd_status run_dumpobj(struct call *call)
{
	if (call->heap)
		return run_dumpobj_heap(call);
	uint32_t node;
	TRY(call_object(call, 0, &node));
	const struct csr *reverse = NULL;
	if (call->options[OPT_REFS].given)
		TRY(graph_reverse(call->graph, &call->job, &reverse, call->err));
	job_end(&call->job);
	write_graph_head(call, node);
	TRY(write_edges(call, &directions[0], &call->graph->forward, node));
	if (reverse)
		TRY(write_edges(call, &directions[1], reverse, node));
	return HD_OK;
}

COMMAND(dumpobj, .alias = "do", .summary = "show one object: type, size, fields, references",
	.description =
		"For a core or process: SOS's table of fields with their values, statics too. What a\n"
		"value means follows the name (the name of an enum's value, the start of a string, a\n"
		"date). For a dump file: type, size and references. dumpvc shows a struct inside an\n"
		"object.\n",
	.example = "dumpobj 7f0fd5c0b2f8 -refs", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_EITHER, .options = dumpobj_options,
	.words = { { "ADDR", VALUE_ADDRESS, false } });
