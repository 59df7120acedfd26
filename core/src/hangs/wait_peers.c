/* SPDX-License-Identifier: MIT */
#include "hangs/wait_peers.h"

#include "analysis/async/async_graph.h"
#include "hangs/wait_reach.h"
#include "util/alloc.h"
#include "util/sort.h"

/* A stream with encryption, the one inside it, and the socket of that. */
#define SOCKET_LEVELS 3u

void wait_peers_deinit(struct wait_peers *peers)
{
	wait_rows_deinit(&peers->local);
	wait_rows_deinit(&peers->remote);
}

enum hd_status wait_peers_find(const struct waits *waits, struct wait_peers *ret,
			       struct hd_error *err)
{
	*ret = (struct wait_peers){ 0 };
	for (size_t i = 0; waits->async && i < waits->async->links.rows_count; i++) {
		const struct async_link *link = &waits->async->links.rows[i];
		if (link->kind == LINK_LOCAL)
			TRY(wait_rows_add(&ret->local, link->to, 0, err));
		if (link->kind == LINK_REMOTE)
			TRY(wait_rows_add(&ret->remote, link->to, 0, err));
	}
	wait_rows_sort(&ret->local);
	wait_rows_sort(&ret->remote);
	return HD_OK;
}

bool wait_peer_is_here(const struct waits *waits, const struct wait_peers *peers, uint64_t socket)
{
	const struct async_links *links = &waits->async->links;
	size_t row = ROWS_FROM(links->rows, links->rows_count, from, socket);
	for (; row < links->rows_count && links->rows[row].from == socket; row++) {
		const struct async_link *link = &links->rows[row];
		const struct wait_rows *others = link->kind == LINK_REMOTE  ? &peers->local
						 : link->kind == LINK_LOCAL ? &peers->remote
									    : NULL;
		if (others && wait_rows_of(others, link->to) < others->rows_count)
			return true;
	}
	return false;
}

static bool is_socket(const struct wait_reach *reach, const struct object *object)
{
	return async_graph_type(reach->waits->async, object->type) == ASYNC_SOCKET_ITSELF;
}

uint64_t wait_peer_socket(const struct waits *waits, uint64_t connection)
{
	HD_FREE struct wait_reach *reach = mem_calloc(1, sizeof(*reach));
	if (!reach)
		return 0;
	reach->waits = waits;
	reach->is_wanted = is_socket;
	return wait_reaches(reach, connection, SOCKET_LEVELS) ? reach->found : 0;
}

uint64_t wait_peer_end(const struct waits *waits, uint64_t socket)
{
	const struct async_links *links = &waits->async->links;
	size_t row = ROWS_FROM(links->rows, links->rows_count, from, socket);
	for (; row < links->rows_count && links->rows[row].from == socket; row++) {
		if (links->rows[row].kind == LINK_REMOTE)
			return links->rows[row].to;
	}
	return 0;
}

uint64_t wait_peer_count(const struct waits *waits, uint64_t end)
{
	const struct async_links *links = &waits->async->links;
	uint64_t count = 0;
	for (size_t i = 0; i < links->rows_count; i++) {
		const struct async_link *link = &links->rows[i];
		count += link->kind == LINK_LOCAL && link->to == end &&
			 wait_peer_end(waits, link->from);
	}
	return count;
}
