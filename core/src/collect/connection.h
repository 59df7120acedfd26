/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COLLECT_CONNECTION_H
#define HEAPDUMP_SRC_COLLECT_CONNECTION_H

#include "collect/discover.h"
#include "collect/ipc.h"
#include "collect/watch.h"
#include "util/job.h"

/** A runtime that takes commands, each over a connection of its own. */
struct endpoint {
	int pid; /**< 0: not known */
	/* it listens: */
	const char *socket; /**< borrowed; NULL: it connects to us */
	uid_t uid;          /**< whose it must be, or root's */
	bool is_planted;    /**< somebody else was found to listen there: it is never asked */
	/* or connects to us: */
	int listener;
	char *path; /**< of the listener, owned; unlinked at the end */
	bool has_cookie;
	uint8_t cookie[16]; /**< which of the runtimes that connect it is */
	bool is_resumed;
	int waiting; /**< a connection that came already; or -1 */
};

/** How long something may take, and who may stop it. */
struct patience {
	struct job *job;   /**< or NULL */
	uint64_t deadline; /**< by collect_now_ms() */
	/** Or NULL: of the process that is to answer; there is no use in waiting when it is stopped. */
	struct watch *watch;
};

/** Milliseconds of CLOCK_MONOTONIC. */
uint64_t collect_now_ms(void);

/** The endpoint of a process that was found; nothing of it is owned. */
struct endpoint endpoint_of(const struct dotnet_process *process);

/**
 * Listen at @p path, and wait until a runtime has connected (DOTNET_DiagnosticPorts).
 *
 * @param[out] ret To be given to endpoint_deinit(); untouched on failure.
 * @retval HD_ERR_OS @p path cannot be listened at, or nothing came in time
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status endpoint_listen(const char *path, const struct patience *patience,
					    struct endpoint *ret, struct hd_error *err);
void endpoint_deinit(struct endpoint *endpoint);

/**
 * Open a connection for one command and send it, once the kernel has said that it is the process
 * that listens there.
 *
 * @param[out] ret The socket, that does not block, to be closed.
 * @retval HD_ERR_OS nobody there, not permitted, somebody else's, hung up, no descriptor left, or not in
 * time: only then its errno is 0
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status connection_send(struct endpoint *endpoint, const struct text *message,
					    const struct patience *patience, int *ret,
					    struct hd_error *err);

/**
 * Read one reply, and no byte more.
 *
 * @param[out] ret What is behind its header is appended.
 * @param[out] ret_code The HRESULT of an error, or 0.
 * @retval HD_ERR_OS hung up, or not in time
 * @retval HD_ERR_FORMAT it is no reply
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status connection_reply(const struct endpoint *endpoint, int fd,
					     const struct patience *patience, struct text *ret,
					     uint32_t *ret_code, struct hd_error *err);

/** Send a command without a payload of its own and take the reply: both of the above. */
HD_NODISCARD enum hd_status connection_call(struct endpoint *endpoint, const struct text *message,
					    const struct patience *patience, struct text *ret,
					    uint32_t *ret_code, struct hd_error *err);

/** Version of the runtime, "" when it is not the process that listens, or it does not tell within @p ms milliseconds. */
void endpoint_version(struct endpoint *endpoint, unsigned int ms, struct job *job,
		      struct text *ret);

#endif
