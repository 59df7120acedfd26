/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/object.h"
#include "report/statistics.h"

enum {
	OPT_REFS,
	OPT_LIMIT,
	OPT_NOFIELDS
};

const struct option dumpobj_options[] = {
	[OPT_REFS] = { "refs", VALUE_NONE, NULL, "also what refers to the object", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N references (0 = all)", NULL },
	[OPT_NOFIELDS] = { "nofields", VALUE_NONE, NULL, "without the table of fields", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* One direction of references: @p key in JSON, @p heading in text. */
static enum hd_status write_edges(struct call *call, const struct csr *csr, uint32_t node,
				  const char *key, const char *heading)
{
	uint64_t begin = csr_begin(csr, node), count = csr_degree(csr, node);
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX);
	uint64_t shown = count < limit ? count : limit;
	char number[27], rest[27];
	if (call->as_json) {
		json_array(&call->json, key);
	} else {
		out_printf(&call->out, "%s%s\n", heading, format_thousands(count, number));
		if (shown)
			object_row_header(&call->out);
	}
	for (uint64_t i = begin; i < begin + shown; i++) {
		if (call->as_json) {
			json_address(&call->json, NULL, graph_id(call->graph, csr->targets[i]));
		} else {
			object_row(&call->out, call->graph, csr->targets[i], true);
		}
		TRY(call_check(call));
	}
	if (call->as_json) {
		json_end(&call->json);
	} else if (shown < count) {
		out_printf(&call->out, "(the first %s of %s; -limit 0 lists all)\n",
			   format_thousands(shown, number), format_thousands(count, rest));
	}
	if (call->as_json && shown < count)
		json_bool(&call->json, "truncated", true);
	return HD_OK;
}

static void write_head(struct call *call, uint32_t node)
{
	const struct hd_graph *graph = call->graph;
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	const struct graph_domain *domain = &graph->domains[type->domain];
	uint64_t size = graph_size(graph, node);
	if (call->as_json) {
		struct json *json = &call->json;
		json_address(json, "address", graph_id(graph, node));
		json_address(json, "mt", type->id);
		json_text(json, "type", type->name, type->name_size);
		json_number(json, "size", size);
		json_text(json, "domain", domain->name, domain->name_size);
		json_array(json, "fields");
		json_end(json);
		return;
	}
	struct out *out = &call->out;
	out_puts(out, "Name:        ");
	out_type(out, type->name, type->name_size, type->id);
	out_puts(out, "\nMethodTable: ");
	out_styled(out, STYLE_ADDRESS, "%" PRIx64, type->id);
	out_printf(out, "\nSize:        %" PRIu64 "(0x%" PRIx64 ") bytes\n", size, size);
	if (!domain->name)
		return;
	out_puts(out, "Domain:      ");
	text_escape(&out->text, domain->name, domain->name_size);
	out_puts(out, "\n");
}

enum hd_status run_dumpobj(struct call *call)
{
	if (call->heap)
		return run_dumpobj_heap(call);
	uint32_t node;
	TRY(call_object(call, 0, &node));
	const struct csr *reverse = NULL;
	if (call->options[OPT_REFS].given)
		TRY(graph_reverse(call->graph, &call->job, &reverse, call->err));
	job_end(&call->job);
	write_head(call, node);
	TRY(write_edges(call, &call->graph->forward, node, "references", "References:  "));
	if (reverse)
		TRY(write_edges(call, reverse, node, "referrers", "Referrers:   "));
	return HD_OK;
}
