/* SPDX-License-Identifier: MIT */
#include "hangs/wait_several.h"

#include "util/alloc.h"
#include "util/sort.h"

/* Parts of all nodes together: so many for each node, and more. */
#define PARTS_PER_NODE 4u
#define PARTS_MORE     65536u

bool wait_parts_have_room(const struct waits *waits, uint64_t more)
{
	uint64_t max = (uint64_t)PARTS_PER_NODE * wait_nodes(waits) + PARTS_MORE;
	return waits->several.parts_count + more <= max;
}

enum hd_status wait_part_add(struct waits *waits, struct wait_edge part, struct hd_error *err)
{
	struct wait_several_list *list = &waits->several;
	TRY_MEMORY(PAGES_RESERVE(list, parts), err);
	list->parts[list->parts_count++] = part;
	return HD_OK;
}

enum hd_status wait_several_add(struct waits *waits, struct wait_several several,
				struct hd_error *err)
{
	struct wait_several_list *list = &waits->several;
	several.count = list->parts_count - several.begin;
	if (!several.count)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(list, rows), err);
	list->rows[list->rows_count++] = several;
	return HD_OK;
}

const struct wait_several *wait_node_several(const struct waits *waits, uint32_t node)
{
	const struct wait_several_list *list = &waits->several;
	size_t row = ROWS_FROM(list->rows, list->rows_count, node, node);
	return row < list->rows_count && list->rows[row].node == node ? &list->rows[row] : NULL;
}

#define NO_EDGE UINT32_MAX

/*
 * Edges are numbered: first the one of each node, then the parts of those that have several.  The
 * edges that lead to a node are a list.
 */
struct choice {
	const struct waits *waits;
	uint32_t nodes;
	uint32_t *first;   /* by node: an edge that leads to it, or NO_EDGE */
	uint32_t *next;    /* by edge: the next one that leads to the same node */
	uint32_t *owners;  /* by part: whose it is */
	uint32_t *several; /* by node: its row in waits->several, or WAIT_NOBODY */
	uint32_t *left;    /* by node: edges that lead to nodes that may be stuck */
	uint32_t *queue;   /* nodes that can go on */
	uint32_t queue_end;
	bool *is_stuck; /* by node */
	bool *is_sure;  /* likewise, without edges that are only probable */
};

static void choice_deinit(struct choice *choice)
{
	mem_free(choice->first);
	mem_free(choice->next);
	mem_free(choice->owners);
	mem_free(choice->several);
	mem_free(choice->left);
	mem_free(choice->queue);
	mem_free(choice->is_stuck);
	mem_free(choice->is_sure);
	*choice = (struct choice){ 0 };
}

static bool choice_alloc(struct choice *choice)
{
	size_t nodes = choice->nodes + (size_t)1, parts = choice->waits->several.parts_count;
	choice->first = mem_alloc(nodes, sizeof(*choice->first));
	choice->next = mem_alloc(nodes + parts, sizeof(*choice->next));
	choice->owners = mem_alloc(parts + 1, sizeof(*choice->owners));
	choice->several = mem_alloc(nodes, sizeof(*choice->several));
	choice->left = mem_alloc(nodes, sizeof(*choice->left));
	choice->queue = mem_alloc(nodes, sizeof(*choice->queue));
	choice->is_stuck = mem_alloc(nodes, sizeof(*choice->is_stuck));
	choice->is_sure = mem_alloc(nodes, sizeof(*choice->is_sure));
	return choice->first && choice->next && choice->owners && choice->several && choice->left &&
	       choice->queue && choice->is_stuck && choice->is_sure;
}

static struct wait_edge numbered_edge(const struct choice *choice, uint32_t edge)
{
	const struct waits *waits = choice->waits;
	return edge < choice->nodes ? waits->edges[edge]
				    : waits->several.parts[edge - choice->nodes];
}

static void link_edge(struct choice *choice, uint32_t edge)
{
	uint32_t to = numbered_edge(choice, edge).to;
	if (to == WAIT_NOBODY)
		return;
	choice->next[edge] = choice->first[to];
	choice->first[to] = edge;
}

static void link_edges(struct choice *choice)
{
	const struct wait_several_list *list = &choice->waits->several;
	for (uint32_t i = 0; i < choice->nodes; i++) {
		choice->first[i] = NO_EDGE;
		choice->several[i] = WAIT_NOBODY;
	}
	for (size_t i = 0; i < list->rows_count; i++)
		choice->several[list->rows[i].node] = (uint32_t)i;
	/* The edge of a node with parts is one of these, or is not known yet. */
	for (uint32_t i = 0; i < choice->nodes; i++) {
		if (choice->several[i] == WAIT_NOBODY)
			link_edge(choice, i);
	}
	for (size_t i = 0; i < list->rows_count; i++) {
		const struct wait_several *row = &list->rows[i];
		for (size_t k = row->begin; k < row->begin + row->count; k++) {
			choice->owners[k] = row->node;
			link_edge(choice, choice->nodes + (uint32_t)k);
		}
	}
}

/* Does an edge count?  Only those that lead somewhere, and of the sure ones only these. */
static bool edge_counts(struct wait_edge edge, bool only_sure)
{
	return edge.to != WAIT_NOBODY && !(only_sure && edge.is_probable);
}

/* How many edges must still be resolved before this node can continue.  0: it can continue now. */
static uint32_t edges_left(const struct choice *choice, uint32_t node, bool only_sure)
{
	const struct wait_several_list *list = &choice->waits->several;
	if (choice->several[node] == WAIT_NOBODY)
		return edge_counts(choice->waits->edges[node], only_sure);
	const struct wait_several *row = &list->rows[choice->several[node]];
	uint32_t count = 0;
	for (size_t i = row->begin; i < row->begin + row->count; i++)
		count += edge_counts(list->parts[i], only_sure);
	if (!row->is_any)
		return count;
	return count == row->count && count > 0;
}

static void let_go(struct choice *choice, bool *is_stuck, uint32_t node)
{
	is_stuck[node] = false;
	choice->queue[choice->queue_end++] = node;
}

/* Take out what can go on, then whatever waits for that only, until nothing changes. */
static void find_stuck(struct choice *choice, bool *is_stuck, bool only_sure)
{
	choice->queue_end = 0;
	for (uint32_t i = 0; i < choice->nodes; i++) {
		is_stuck[i] = true;
		choice->left[i] = edges_left(choice, i, only_sure);
		if (!choice->left[i])
			let_go(choice, is_stuck, i);
	}
	for (uint32_t i = 0; i < choice->queue_end; i++) {
		uint32_t edge = choice->first[choice->queue[i]];
		for (; edge != NO_EDGE; edge = choice->next[edge]) {
			uint32_t owner =
				edge < choice->nodes ? edge : choice->owners[edge - choice->nodes];
			if (is_stuck[owner] &&
			    edge_counts(numbered_edge(choice, edge), only_sure) &&
			    !--choice->left[owner])
				let_go(choice, is_stuck, owner);
		}
	}
}

/* The first part that leads to a node of @p among (NULL: to any). */
static struct wait_edge first_part(const struct choice *choice, const struct wait_several *row,
				   const bool *among, bool only_sure)
{
	const struct wait_edge *parts = choice->waits->several.parts;
	for (size_t i = row->begin; i < row->begin + row->count; i++) {
		if (edge_counts(parts[i], only_sure) &&
		    (among ? among[parts[i].to] : !parts[i].returns_to_thread))
			return parts[i];
	}
	return (struct wait_edge){ .to = WAIT_NOBODY };
}

static struct wait_edge choose_edge(const struct choice *choice, const struct wait_several *row)
{
	if (choice->is_sure[row->node])
		return first_part(choice, row, choice->is_sure, true);
	if (choice->is_stuck[row->node]) {
		struct wait_edge edge = first_part(choice, row, choice->is_stuck, false);
		/* Nobody knows for sure that all of its parts are stuck. */
		edge.is_probable |= row->is_any;
		return edge;
	}
	if (!row->is_any)
		return first_part(choice, row, NULL, false);
	return (struct wait_edge){ .to = WAIT_NOBODY };
}

enum hd_status wait_choose_edges(struct waits *waits, struct hd_error *err)
{
	HD_CLEANUP(choice)
	struct choice choice = { .waits = waits, .nodes = (uint32_t)wait_nodes(waits) };
	const struct wait_several_list *list = &waits->several;
	if (!list->rows_count)
		return HD_OK;
	if (wait_nodes(waits) + list->parts_count >= NO_EDGE)
		return fail_nomem(err);
	TRY_MEMORY(choice_alloc(&choice), err);
	link_edges(&choice);
	find_stuck(&choice, choice.is_stuck, false);
	find_stuck(&choice, choice.is_sure, true);
	for (size_t i = 0; i < list->rows_count; i++)
		waits->edges[list->rows[i].node] = choose_edge(&choice, &list->rows[i]);
	return HD_OK;
}
