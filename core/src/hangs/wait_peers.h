/* SPDX-License-Identifier: MIT */
/* Sockets whose other end is in this same process. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

/** Empty when zero-initialised. */
struct wait_peers {
	struct wait_rows local,
		remote; /**< object: the number of an address and port (LINK_LOCAL) */
};

/**
 * Collect the ends of all sockets.
 *
 * @param[out] ret To be given to wait_peers_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in links, but for sorting.
 */
HD_NODISCARD enum hd_status wait_peers_find(const struct waits *waits, struct wait_peers *ret,
					    struct hd_error *err);
void wait_peers_deinit(struct wait_peers *peers);

/** Has another socket of this process the address and port of the other end of the socket at @p socket, or its own as its other end? */
bool wait_peer_is_here(const struct waits *waits, const struct wait_peers *peers, uint64_t socket);

/** The socket to which a connection of HttpClient leads over its streams; 0: none was found. */
uint64_t wait_peer_socket(const struct waits *waits, uint64_t connection);

/** The number of the address and port of its other end; 0: not known. */
uint64_t wait_peer_end(const struct waits *waits, uint64_t socket);

/** So many connected sockets of this process have that number for their own address and port.  Cost: linear in links. */
uint64_t wait_peer_count(const struct waits *waits, uint64_t end);
