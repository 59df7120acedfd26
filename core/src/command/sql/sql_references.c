/* SPDX-License-Identifier: MIT */
/* The table refs: references between objects, from one, to one, or all. */
#include "command/sql/sql_table.h"
#include "gc/references.h"
#include "snapshot/places.h"
#include "util/alloc.h"

#define REFS_LIST(X)                                                               \
	X(REFS_FROM, "from", NULL, KIND_ADDRESS, 0, 0, "the object that refers")   \
	X(REFS_TO, "to", NULL, KIND_ADDRESS, 0, 0, "the object that it refers to") \
	X(REFS_FIELD, "field", NULL, KIND_TEXT, 0, 0,                              \
	  "where: .field, [3], .items[2].key; NULL in a dump file")

COLUMNS(refs, REFS_COLUMNS, REFS_LIST);

struct refs {
	struct sql_source *source;
	struct hd_graph *graph;
	const struct csr *csr;
	uint32_t node, end;  /* rows of the csr that are left */
	uint64_t edge, last; /* edges of the row before node that are left */
	uint32_t from, to;   /* nodes of the row */
	bool is_reverse;
	struct text field;
	/* Forward, of a heap: the slots of an object are gone through once, next to its row of the csr. */
	struct object object; /* type NULL: it could not be read */
	uint32_t walked;      /* node of the object; HD_NONE: none yet */
	struct window object_window, slot_window;
	struct references slots;
};

static enum hd_status open_csr(struct refs *refs)
{
	struct call *call = refs->source->call;
	if (!refs->is_reverse) {
		TRY(session_graph(call->session, false, &call->job, &refs->graph, call->err));
		return graph_forward(refs->graph, &call->job, &refs->csr, call->err);
	}
	TRY(session_paths(call->session, false, &call->job, &refs->graph, call->err));
	return graph_reverse(refs->graph, &call->job, &refs->csr, call->err);
}

static enum hd_status begin_refs(struct refs *refs, const struct sql_key *key)
{
	refs->is_reverse = key->match == SQL_MATCH_EQUAL && key->column == REFS_TO;
	TRY(open_csr(refs));
	refs->end = refs->graph->node_count;
	if (key->match == SQL_MATCH_ALL)
		return HD_OK;
	uint32_t node = hd_graph_find(refs->graph, key->number);
	refs->node = node;
	refs->end = node == HD_NONE ? node : node + 1;
	return HD_OK;
}

static void close_refs(void *cursor)
{
	HD_FREE struct refs *refs = cursor;
	text_deinit(&refs->field);
	window_deinit(&refs->object_window);
	window_deinit(&refs->slot_window);
}

static enum hd_status open_refs(struct sql_source *source, const struct sql_table *table,
				const struct sql_request *request, void **ret)
{
	(void)table;
	struct refs *refs = mem_calloc(1, sizeof(*refs));
	TRY_MEMORY(refs, source->call->err);
	refs->source = source;
	refs->walked = HD_NONE;
	if (source->heap)
		refs->object_window.memory = refs->slot_window.memory = source->heap->memory;
	enum hd_status status = begin_refs(refs, &request->key);
	if (status != HD_OK) {
		close_refs(refs);
		return status;
	}
	*ret = refs;
	return HD_OK;
}

static enum hd_status next_reference(void *cursor, bool *ret)
{
	struct refs *refs = cursor;
	while (refs->edge == refs->last) {
		if (refs->node >= refs->end || refs->node >= refs->csr->node_count) {
			*ret = false;
			return HD_OK;
		}
		if (refs->node % JOB_STRIDE == 0)
			TRY(call_check(refs->source->call));
		refs->edge = csr_begin(refs->csr, refs->node);
		refs->last = csr_begin(refs->csr, refs->node + 1);
		refs->node++;
	}
	uint32_t target = refs->csr->targets[refs->edge++];
	refs->from = refs->is_reverse ? target : refs->node - 1;
	refs->to = refs->is_reverse ? refs->node - 1 : target;
	*ret = true;
	return HD_OK;
}

static void begin_slots(struct refs *refs)
{
	refs->walked = refs->from;
	if (object_read(refs->source->heap, &refs->object_window, graph_id(refs->graph, refs->from),
			&refs->object)) {
		references_begin(&refs->slots, &refs->slot_window, &refs->object);
	} else {
		refs->object.type = NULL;
	}
}

/* Go on to the slot of the reference; those that are left after the last slot come by dependent handles. */
static void append_next_slot(struct refs *refs)
{
	struct reference reference;
	uint64_t to = graph_id(refs->graph, refs->to);
	if (refs->walked != refs->from)
		begin_slots(refs);
	if (!refs->object.type)
		return;
	while (references_next(&refs->slots, &reference)) {
		if (reference.value == to &&
		    places_slot_link(refs->graph, &refs->object, reference.slot, to, &refs->field))
			return;
	}
	text_puts(&refs->field, " (dependent handle)");
}

static struct cell field_cell(struct refs *refs)
{
	const struct graph_places *places = &refs->graph->places;
	refs->field.size = 0;
	if (refs->source->heap && !refs->is_reverse) {
		append_next_slot(refs);
	} else if (places->link) {
		places->link(places->arg, refs->from, refs->to, &refs->field);
	}
	if (!refs->field.size || refs->field.failed)
		return (struct cell){ 0 };
	return cell_text(refs->field.bytes, refs->field.size);
}

static void reference_cell(void *cursor, size_t column, struct cell *ret)
{
	struct refs *refs = cursor;
	switch ((enum refs_column)column) {
	case REFS_FROM:
		*ret = cell_number(graph_id(refs->graph, refs->from));
		break;
	case REFS_TO:
		*ret = cell_number(graph_id(refs->graph, refs->to));
		break;
	case REFS_FIELD:
		*ret = field_cell(refs);
		break;
	case REFS_COLUMNS:
		break;
	}
}

static double estimate_references(const struct sql_source *source)
{
	const struct hd_graph *graph = source->call->session->graph;
	return graph ? (double)graph->node_count * 2 : 1e7;
}

const struct sql_table sql_references_table = {
	.name = "refs",
	.help = "references between objects; \"from\" and \"to\" are in quotes, as words of SQL",
	.columns = refs_columns,
	.count = REFS_COLUMNS,
	.equals = SQL_BIT(REFS_FROM) | SQL_BIT(REFS_TO),
	.estimate = estimate_references,
	.open = open_refs,
	.next = next_reference,
	.cell = reference_cell,
	.close = close_refs,
};
