/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_SESSION_LOSSES_H
#define HEAPDUMP_SRC_SESSION_LOSSES_H

#include "session/session.h"
#include "util/text.h"

/** What a kind of finding says is not in the graph: roots, references or objects. */
struct loss {
	const char *kind;
	const char *one;  /**< about one of them, or however many there are */
	const char *many; /**< what stands behind their number; NULL: they are not counted */
	bool is_of_roots; /**< roots alone are missing: what objects refer to is not touched */
};

/** The loss that findings of @p kind are about, or NULL: the graph lacks nothing for them. */
const struct loss *loss_of(const char *kind);

/** Loss @p index, the gravest first; NULL past the last. */
const struct loss *loss_at(size_t index);

/** A loss that a session met. */
struct met_loss {
	const struct loss *loss;
	uint64_t count; /**< 0: not known */
};

/** There are fewer kinds. */
#define LOSSES_MAX 32u

/**
 * What the graph of what is open lacks, as far as was found out until now, each kind once: an
 * object that no root reaches in it may be alive all the same.
 *
 * @return how many of @p ret were filled
 */
size_t session_losses(const struct hd_session *session, struct met_loss ret[LOSSES_MAX]);

/** Write @p count of @p met, which are merged by their words, as one line of text. */
void losses_write(struct met_loss *met, size_t count, struct text *text);

#endif
