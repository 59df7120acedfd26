/* SPDX-License-Identifier: MIT */
#pragma once

/* The client's end of a process server: its sockets, and the messages over them. */
#include <pthread.h>

#include "targets/process/process_server.h"

/** One socket and the process at its other end. */
struct channel {
	int fd;
	uint32_t asked,
		answered;        /**< sequence numbers of the last request, and of the last reply */
	unsigned int worker;     /**< the worker that uses it, for job_step() */
	uint32_t counts[2];      /**< how many ranges of each half were requested last */
	unsigned int first_half; /**< the half that was requested first */
};

struct process_server {
	int pid;
	unsigned int owners, readers, patience_ms;
	unsigned int limit_ms; /**< for how long the process may be stopped */
	uint64_t
		until_ns; /**< when the server lets it go in any case; 0: it is not stopped, or for as long as wanted */
	uint32_t epoch; /**< see struct server_request; begins with 1 */
	int server;     /**< its process id; 0: it is another process's child */
	struct job *job;
	struct channel control, channels[SERVER_READERS_MAX];
	struct server_window *windows; /**< SERVER_READERS_MAX, shared */
	struct target_thread *threads; /**< SERVER_THREADS_MAX, shared */
	pthread_mutex_t lock; /**< protects failure and control when there are several readers */
	_Atomic bool has_failed;
	struct hd_error failure;
};

/** As await_reply()'s patience: wait for ever. */
#define NO_DEADLINE UINT64_MAX

/** The descriptors of a server: sockets and shared memory. */
enum server_end {
	END_CONTROL,
	END_WINDOWS,  /**< SERVER_READERS_MAX of struct server_window */
	END_THREADS,  /**< SERVER_THREADS_MAX of struct target_thread */
	END_CHANNELS, /**< SERVER_READERS_MAX sockets, one for each reader */
	END_COUNT = END_CHANNELS + SERVER_READERS_MAX
};

/**
 * Fork the helpers for process @p pid.
 *
 * @param[out] ret END_COUNT descriptors, which the caller closes; untouched on failure.  @return
 * The id of the server, a child that sends no signal when it ends (__WCLONE); -1 and errno.
 */
int server_fork(int pid, int *ret);

/**
 * Fork the helpers of @p server, whose pid is set; it has to be disconnected, also after a failure.
 */
HD_NODISCARD enum hd_status server_connect(struct process_server *server, struct hd_error *err);

/** Disconnect: without its client, the server lets the process go and ends.  Waits for that. */
void server_disconnect(struct process_server *server);

/**
 * End the server with @p failure; if there was one before, that one stays.
 *
 * @param[out] err the failure that stays
 * @return its status
 */
enum hd_status server_end_with(struct process_server *server, const struct hd_error *failure,
			       struct hd_error *err);

/** The same, when a helper has ended or breaks the protocol: the server also ends when the process was stopped for too long. */
enum hd_status server_broken(struct process_server *server, struct hd_error *err);

/** Send @p request, which gets its sequence number. */
HD_NODISCARD enum hd_status server_send(struct process_server *server, struct channel *channel,
					struct server_request *request, struct hd_error *err);

/**
 * Wait for the reply to the oldest request without one.
 *
 * @param[out] ret_fd the descriptor that came with it, which the caller closes, or -1; may be NULL
 * @return HD_OK, HD_ERR_CANCELLED, or how the server ended; HD_ERR_NOTFOUND without a message: no
 * reply within @p patience_ms
 */
HD_NODISCARD enum hd_status server_await(struct process_server *server, struct channel *channel,
					 uint64_t patience_ms, struct server_reply *reply,
					 int *ret_fd, struct hd_error *err);

/** Send a request to the server itself, and wait for the reply. */
HD_NODISCARD enum hd_status server_ask(struct process_server *server,
				       struct server_request *request, struct server_reply *reply,
				       struct hd_error *err);

/** End a reader that does not answer, and start another one instead; on any thread. */
HD_NODISCARD enum hd_status server_restart_reader(struct process_server *server,
						  struct channel *channel, struct hd_error *err);
