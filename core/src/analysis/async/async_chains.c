/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_chains.h"

#include <stdlib.h>

#include "util/alloc.h"

/* A different thing that chains wait for. */
struct waited {
	uint32_t chain;
	uint64_t object;
};

struct chain_making {
	struct async_chains *chains;
	const struct async_wanted *wanted;
	struct hash_index index, waited_index;
	struct waited *waited;
	size_t waited_count, waited_capacity;
	uint32_t *stack;         /* boxes from the outermost to the one that has a chain */
	bool *has;               /* by box: is it, or one that it awaits, wanted? */
	struct async_chain next; /* that is looked for */
};

void async_chains_deinit(struct async_chains *chains)
{
	pages_free(chains->rows, chains->rows_capacity, sizeof(*chains->rows));
	mem_free(chains->of_node);
	mem_free(chains->sorted);
	*chains = (struct async_chains){ 0 };
}

static bool is_same_chain(const void *arg, uint32_t index)
{
	const struct chain_making *making = arg;
	const struct async_chain *a = &making->chains->rows[index], *b = &making->next;
	const struct async_node *nodes = making->chains->graph->rows;
	const struct async_node *x = &nodes[a->first], *y = &nodes[b->first];
	return a->inner == b->inner && x->method == y->method && x->state == y->state &&
	       x->wait == y->wait && x->root == y->root;
}

/* The chain of box @p row, whose inner part is known. */
static enum hd_status find_chain(struct chain_making *making, uint32_t row, struct hd_error *err)
{
	struct async_chains *chains = making->chains;
	const struct async_node *node = &chains->graph->rows[row];
	uint32_t inner = node->next == ASYNC_NO_NODE ? ASYNC_NO_NODE : chains->of_node[node->next];
	making->next = (struct async_chain){ .inner = inner, .first = row, .depth = node->depth };
	uint64_t hash = hash_mix(inner, node->method);
	hash = hash_mix(hash, (uint64_t)(uint32_t)node->state << 16 | (uint64_t)node->wait << 8 |
				      node->root);
	uint32_t chain = hash_index_add(&making->index, hash, (uint32_t)chains->rows_count,
					is_same_chain, making);
	if (chain == UINT32_MAX)
		return fail_nomem(err);
	if (chain == chains->rows_count) {
		TRY_MEMORY(PAGES_RESERVE(chains, rows), err);
		chains->rows[chains->rows_count++] = making->next;
	}
	chains->of_node[row] = chain;
	return HD_OK;
}

/* Give a box and all that it awaits their chains: the innermost first. */
static enum hd_status find_chains_of(struct chain_making *making, uint32_t row,
				     struct hd_error *err)
{
	struct async_chains *chains = making->chains;
	const struct async_node *nodes = chains->graph->rows;
	size_t depth = 0;
	while (row != ASYNC_NO_NODE && chains->of_node[row] == ASYNC_NO_NODE) {
		making->stack[depth++] = row;
		row = nodes[row].next;
	}
	while (depth > 0) {
		row = making->stack[--depth];
		uint32_t next = nodes[row].next;
		TRY(find_chain(making, row, err));
		making->has[row] = (next != ASYNC_NO_NODE && making->has[next]) ||
				   !making->wanted->is_wanted ||
				   making->wanted->is_wanted(making->wanted->arg, &nodes[row]);
	}
	return HD_OK;
}

static bool is_same_waited(const void *arg, uint32_t index)
{
	const struct chain_making *making = arg;
	const struct waited *last = &making->waited[making->waited_count];
	return making->waited[index].chain == last->chain &&
	       making->waited[index].object == last->object;
}

/* Count a chain that ends at @p row, and what it waits for. */
static enum hd_status count_chain(struct chain_making *making, uint32_t row, struct hd_error *err)
{
	struct async_chains *chains = making->chains;
	struct async_chain *chain = &chains->rows[chains->of_node[row]];
	const struct async_node *nodes = chains->graph->rows;
	uint64_t object = nodes[nodes[row].end].object;
	if (!chain->count)
		chain->first = row;
	chain->count++;
	chains->roots++;
	if (!object)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(making, waited), err);
	making->waited[making->waited_count] = (struct waited){ chains->of_node[row], object };
	uint32_t found =
		hash_index_add(&making->waited_index, hash_mix(object, chains->of_node[row]),
			       (uint32_t)making->waited_count, is_same_waited, making);
	if (found == UINT32_MAX)
		return fail_nomem(err);
	if (found == making->waited_count) {
		making->waited_count++;
		chain->objects++;
	}
	return HD_OK;
}

static int compare_chains(const void *left, const void *right, void *arg)
{
	const struct async_chain *rows = arg;
	const struct async_chain *a = &rows[*(const uint32_t *)left];
	const struct async_chain *b = &rows[*(const uint32_t *)right];
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static enum hd_status make_chains(struct chain_making *making, struct hd_error *err)
{
	struct async_chains *chains = making->chains;
	const struct async_graph *graph = chains->graph;
	for (size_t i = 0; i < graph->rows_count; i++)
		chains->of_node[i] = ASYNC_NO_NODE;
	for (size_t i = 0; i < graph->rows_count; i++)
		TRY(find_chains_of(making, (uint32_t)i, err));
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (!making->has[i]) {
			chains->of_node[i] = ASYNC_NO_NODE;
		} else if (!async_node_is_awaited(&graph->rows[i])) {
			TRY(count_chain(making, (uint32_t)i, err));
		}
	}
	chains->sorted = mem_alloc(chains->rows_count + 1, sizeof(*chains->sorted));
	TRY_MEMORY(chains->sorted, err);
	for (size_t i = 0; i < chains->rows_count; i++) {
		if (chains->rows[i].count)
			chains->sorted[chains->sorted_count++] = (uint32_t)i;
	}
	qsort_r(chains->sorted, chains->sorted_count, sizeof(*chains->sorted), compare_chains,
		chains->rows);
	return HD_OK;
}

enum hd_status async_chains_create(const struct async_graph *graph,
				   const struct async_wanted *wanted, struct async_chains *ret,
				   struct hd_error *err)
{
	size_t count = graph->rows_count + 1;
	struct async_chains chains = { .graph = graph,
				       .of_node = mem_alloc(count, sizeof(*chains.of_node)) };
	struct chain_making making = { .chains = &chains,
				       .wanted = wanted,
				       .stack = mem_alloc(count, sizeof(*making.stack)),
				       .has = mem_calloc(count, sizeof(*making.has)) };
	bool is_made = chains.of_node && making.stack && making.has;
	enum hd_status status = is_made ? make_chains(&making, err) : fail_nomem(err);
	hash_index_deinit(&making.index);
	hash_index_deinit(&making.waited_index);
	pages_free(making.waited, making.waited_capacity, sizeof(*making.waited));
	mem_free(making.stack);
	mem_free(making.has);
	if (status != HD_OK) {
		async_chains_deinit(&chains);
		return status;
	}
	*ret = chains;
	return HD_OK;
}
