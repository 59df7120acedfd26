/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collect/discover.h"
#include "collect/ipc.h"
#include "util/job.h"

/**
 * Watches a process while we wait for it: it can walk its heap for a long time without sending a
 * byte.
 */
struct watch {
	int pid;         /**< 0: not known; then it counts as working all the time */
	bool is_stopped; /**< it is stopped, and has been for a while */
	uint64_t began;  /**< when we began to watch it, by collect_now_ms() */
	/* the other members are private; times are those of collect_now_ms() */
	uint64_t next_look, last_work, stopped_since, cpu_time;
};

struct watch watch_of(int pid, uint64_t now);

/** Look at the process, at most a few times a second. */
void watch_look(struct watch *watch, uint64_t now);

/** For how many milliseconds it has neither run nor waited for a processor. */
uint64_t watch_idle(const struct watch *watch, uint64_t now);

/** A runtime that takes commands, each over a separate connection. */
struct endpoint {
	int pid; /**< 0: not known */
	/* it listens: */
	const char *socket; /**< borrowed; NULL: it connects to us */
	uid_t uid;          /**< the socket must belong to this user or to root */
	bool is_planted;    /**< another process listens at the socket, so it is never asked */
	/* or connects to us: */
	int listener;
	char *path; /**< path of the listener, owned; unlinked at the end */
	bool has_cookie;
	uint8_t cookie[16]; /**< identifies the runtime among those that connect */
	bool is_resumed;
	int waiting; /**< a connection that has already come; or -1 */
};

/** How long something may take, and what may stop it. */
struct patience {
	struct job *job;   /**< or NULL */
	uint64_t deadline; /**< by collect_now_ms() */
	/**
	 * Watches the process that has to answer, or NULL; when it is stopped, waiting is useless.
	 */
	struct watch *watch;
};

/** Milliseconds of CLOCK_MONOTONIC. */
uint64_t collect_now_ms(void);

/** The endpoint of a process that was found; it owns nothing. */
struct endpoint endpoint_of(const struct dotnet_process *process);

/**
 * Listen at @p path, and wait until a runtime has connected (DOTNET_DiagnosticPorts).
 *
 * @param[out] ret To be given to endpoint_deinit(); untouched on failure.
 * @retval HD_ERR_OS listening at @p path failed, or nothing came in time
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status endpoint_listen(const char *path, const struct patience *patience,
					    struct endpoint *ret, struct hd_error *err);
void endpoint_deinit(struct endpoint *endpoint);

/**
 * Open a connection for one command and send it, after checking with the kernel that the right
 * process listens there.
 *
 * @param[out] ret The socket, which is non-blocking, to be closed.
 * @retval HD_ERR_OS nobody listens, it is not permitted, another process listens, the connection
 * was closed, no descriptor is left, or the time is over: only in this last case its errno is 0
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status connection_send(struct endpoint *endpoint, const struct text *message,
					    const struct patience *patience, int *ret,
					    struct hd_error *err);

/**
 * Read exactly one reply.
 *
 * @param[out] ret What follows its header is appended.
 * @param[out] ret_code The HRESULT of an error, or 0.
 * @retval HD_ERR_OS the connection was closed, or the time is over
 * @retval HD_ERR_FORMAT it is not a reply
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status connection_reply(const struct endpoint *endpoint, int fd,
					     const struct patience *patience, struct text *ret,
					     uint32_t *ret_code, struct hd_error *err);

/** Send a command without payload and read the reply, as the two functions above do. */
HD_NODISCARD enum hd_status connection_call(struct endpoint *endpoint, const struct text *message,
					    const struct patience *patience, struct text *ret,
					    uint32_t *ret_code, struct hd_error *err);

/**
 * Version of the runtime; "" when another process listens, or no answer comes within @p ms
 * milliseconds.
 */
void endpoint_version(struct endpoint *endpoint, unsigned int ms, struct job *job,
		      struct text *ret);
