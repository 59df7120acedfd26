/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_SESSION_SESSION_H
#define HEAPDUMP_SRC_SESSION_SESSION_H

#include <heapdump/session.h>

#include "format/format.h"
#include "graph/dominators.h"
#include "query/reach.h"

enum color_setting {
	COLOR_AUTO,
	COLOR_ON,
	COLOR_OFF
};

/** What a front end sets, and what one command may override. */
struct settings {
	uint64_t max_mem;     /**< bytes; 0 = a quarter of the machine's memory */
	unsigned int workers; /**< 0 = the processors online */
	uint32_t width;       /**< 0 = never cut */
	enum color_setting color;
	bool lenient;
};

/** See <heapdump/session.h>. */
struct hd_session {
	struct settings settings;
	char *path;     /**< NULL: nothing is open */
	char *deferred; /**< to open when a command needs a graph; or NULL */
	const struct format *format;
	struct hd_graph *graph;
	/* caches, made by the first command that needs them */
	struct reach live;            /**< bitmap is NULL until then */
	struct dominators dominators; /**< idom is NULL until then */
};

/** Set one setting by name: see hd_session_set(). */
HD_NODISCARD enum hd_status settings_set(struct settings *settings, const char *name,
					 const char *value, struct hd_error *err);

/** Make @p job one that listens to @p sink (may be NULL) under @p settings. */
void session_job(const struct settings *settings, const struct hd_sink *sink, struct job *job);

/** Open in place of what is open; on failure that stays. */
HD_NODISCARD enum hd_status session_open(struct hd_session *session, const char *path, bool lenient,
					 struct job *job, struct hd_error *err);

/** Say that answers about the open file may be incomplete, if it has findings. */
void session_warn(const struct hd_session *session, const struct hd_sink *sink);

/** What is alive; borrowed from the session. */
HD_NODISCARD enum hd_status session_live(struct hd_session *session, struct job *job,
					 const struct reach **ret, struct hd_error *err);

/** The dominator tree; borrowed from the session. */
HD_NODISCARD enum hd_status session_dominators(struct hd_session *session, struct job *job,
					       const struct dominators **ret, struct hd_error *err);

#endif
