/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_SESSION_LOSSES_H
#define HEAPDUMP_SRC_SESSION_LOSSES_H

#include "session/session_state.h"
#include "util/finding_kind.h"
#include "util/text.h"

/** Roots, references or objects that the graph lacks (LOSS_ROOTS, ...), as a session met it. */
struct met_loss {
	enum finding_kind kind;
	uint64_t count; /**< 0: not known */
};

/**
 * What the graph of what is open lacks, as far as was found out until now, each kind once: an
 * object that no root reaches in it may be alive all the same.
 *
 * @return how many of @p ret were filled
 */
size_t session_losses(const struct hd_session *session, struct met_loss ret[FINDING_KINDS]);

/** Write @p count of @p met, which are merged by their words, as one line of text. */
void losses_write(struct met_loss *met, size_t count, struct text *text);

#endif
