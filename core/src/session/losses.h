/* SPDX-License-Identifier: MIT */
#pragma once

#include "session/session_state.h"
#include "util/finding_kind.h"
#include "util/text.h"

/** Roots, references or objects (LOSS_ROOTS, ...) that a session found missing from the graph. */
struct met_loss {
	enum finding_kind kind;
	uint64_t count; /**< 0: not known */
};

/**
 * List the losses of the graph of the open target, as far as they are known until now, each kind
 * once: an object that no root reaches in the graph may be alive in spite of that.
 *
 * @return how many of @p ret were filled
 */
size_t session_losses(const struct hd_session *session, struct met_loss ret[FINDING_KINDS]);

/**
 * The same for an answer about what is dead: a dump file that has no roots for frozen objects lacks those,
 * too.
 */
size_t session_dead_losses(const struct hd_session *session, struct met_loss ret[FINDING_KINDS]);

/** Write the first @p count of @p met as one line of text; those with the same words are merged. */
void losses_write(struct met_loss *met, size_t count, struct text *text);
