/* SPDX-License-Identifier: MIT */
/* Channels all of whose readers wait in one method for what may be behind their own items. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

struct job;

struct busy_channel {
	uint64_t channel;
	uint64_t readers; /**< so many async methods read it, and all wait */
	uint64_t items;   /**< that are in it */
	uint32_t first;   /**< a row of waits->async: one of them */
	uint32_t own;     /**< a row of waits->async: the method in which the first of them waits */
	uint32_t end;     /**< a row: the innermost method of its call */
	bool is_seen;     /**< each reader waits for a source of its own, to which an item leads */
};

/** Most of them that are kept. */
#define BUSY_CHANNELS_MAX 8u

struct busy_channels {
	struct busy_channel rows[BUSY_CHANNELS_MAX];
	size_t rows_count;
	struct wait_rows
		ends; /**< by the channel's address: the rows of the innermost methods of their readers */
};

void busy_channels_deinit(struct busy_channels *channels);

/**
 * Find channels with items, of which two async methods or more read, as their code says; of these none waits for an item, but
 * all wait in one method for TaskCompletionSources, without a limit of time.  So do slow ones, too: therefore either each has a
 * source of its own, to which an item in the channel leads; or a library reads the channel and also awaits the sources, no other
 * call that it makes or waits for is at work, and no library waits for a socket, over which the answer might come.
 *
 * @param[out] ret To be given to busy_channels_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in async methods, in the code of their methods, and in the items of such channels.
 */
HD_NODISCARD enum hd_status busy_channels_find(const struct waits *waits, struct job *job,
					       struct busy_channels *ret, struct hd_error *err);
