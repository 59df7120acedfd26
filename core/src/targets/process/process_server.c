/* SPDX-License-Identifier: MIT */
/* Sends requests to the helpers that read a process. */
#include "targets/process/process_server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "targets/process/host_page.h"
#include "targets/process/proc.h"
#include "targets/process/server_channel.h"
#include "targets/process/stopper.h"
#include "util/alloc.h"

/*
 * How long an answer may take; and how long for one page, when the page that does not answer is
 * searched for.
 */
#define PATIENCE_MS 10000u
#define PAGE_MS     300u

enum hd_status process_server_create(int pid, struct process_server **ret, struct hd_error *err)
{
	struct process_server *server = mem_calloc(1, sizeof(*server));
	TRY_MEMORY(server, err);
	server->pid = pid;
	server->owners = server->readers = server->epoch = 1;
	server->patience_ms = PATIENCE_MS;
	server->limit_ms = PROCESS_STOP_SECONDS * 1000;
	(void)pthread_mutex_init(&server->lock, NULL);
	enum hd_status status = server_connect(server, err);
	if (status != HD_OK) {
		process_server_release(server);
		return status;
	}
	*ret = server;
	return HD_OK;
}

struct process_server *process_server_share(struct process_server *server)
{
	server->owners++;
	return server;
}

void process_server_release(struct process_server *server)
{
	if (!server || --server->owners)
		return;
	server_disconnect(server);
	(void)pthread_mutex_destroy(&server->lock);
	mem_free(server);
}

int process_server_pid(const struct process_server *server)
{
	return server->pid;
}

void process_server_set_job(struct process_server *server, struct job *job)
{
	server->job = job;
}

void process_server_set_patience(struct process_server *server, unsigned int ms)
{
	server->patience_ms = ms;
}

void process_server_set_limit(struct process_server *server, unsigned int seconds)
{
	if (seconds)
		server->limit_ms = seconds * 1000;
}

/*
 * How long to wait for an answer: at most half of the time for which the process may be stopped, so
 * that the other half is left to find the page that does not answer.
 */
static unsigned int patience(const struct process_server *server)
{
	bool is_short = server->until_ns && server->limit_ms / 2 < server->patience_ms;
	return is_short ? server->limit_ms / 2 : server->patience_ms;
}

enum hd_status process_server_check(const struct process_server *server, struct hd_error *err)
{
	if (!atomic_load(&server->has_failed))
		return HD_OK;
	if (server->job && atomic_load(&server->job->stop))
		return fail_cancelled(err);
	if (err)
		*err = server->failure;
	return (enum hd_status)server->failure.status;
}

/* Which page does not answer, among those requested for half @p half? */
static uint64_t find_silent(struct process_server *server, struct channel *channel,
			    unsigned int half)
{
	struct server_window *window = &server->windows[channel - server->channels];
	struct server_range ranges[SERVER_RANGES];
	uint32_t count = channel->counts[half];
	memcpy(ranges, window->halves[half].ranges, count * sizeof(*ranges));
	if (server_restart_reader(server, channel, NULL) != HD_OK)
		return ranges[0].address;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t end = ranges[i].address + ranges[i].size;
		for (uint64_t at = ranges[i].address; at < end;
		     at = page_of(host_page(), at) + host_page()) {
			struct server_request request = { .kind = REQUEST_READ,
							  .number = 1,
							  .half = half };
			struct server_reply reply = { 0 };
			window->halves[half].ranges[0] = (struct server_range){ at, 1 };
			if (server_send(server, channel, &request, NULL) != HD_OK ||
			    server_await(server, channel, PAGE_MS, &reply, NULL, NULL) != HD_OK)
				return at;
		}
	}
	return ranges[0].address;
}

/* An answer has not come in time, or has been given up: the process is let go in any case. */
static enum hd_status give_up_process(struct process_server *server, enum hd_status status,
				      const char *what, uint64_t address, struct hd_error *err)
{
	struct hd_error failure;
	if (status != HD_ERR_NOTFOUND && status != HD_ERR_CANCELLED)
		return status;
	errno = ETIMEDOUT;
	if (status == HD_ERR_CANCELLED) {
		(void)fail(&failure, HD_ERR_OS, address,
			   "process %d was let go when a look at it was interrupted: open it again",
			   server->pid);
		(void)server_end_with(server, &failure, NULL);
		return fail_cancelled(err);
	}
	(void)fail(&failure, HD_ERR_OS, address,
		   "%s of process %d did not answer within %g s: it waits for another program or "
		   "machine (userfaultfd, FUSE, a network mount); the process was let go",
		   what, server->pid, patience(server) / 1e3);
	return server_end_with(server, &failure, err);
}

static enum hd_status give_up_memory(struct process_server *server, struct channel *channel,
				     unsigned int half, enum hd_status status, struct hd_error *err)
{
	char what[48];
	uint64_t address = 0;
	if (status == HD_ERR_NOTFOUND)
		address = find_silent(server, channel, half);
	(void)snprintf(what, sizeof(what), "the memory at 0x%llx", (unsigned long long)address);
	return give_up_process(server, status, what, address, err);
}

void process_server_forget_maps(struct process_server *server)
{
	server->epoch++;
}

enum hd_status process_server_stop(struct process_server *server,
				   const struct target_thread **ret_threads, size_t *ret_count,
				   struct hd_error *err)
{
	struct server_reply reply;
	struct hd_error failure = { 0 };
	server->until_ns = 0;
	struct server_request request = { .kind = REQUEST_STOP, .size = server->limit_ms };
	enum hd_status status = server_ask(server, &request, &reply, err);
	if (status == HD_ERR_CANCELLED)
		return give_up_process(server, status, "", 0, err);
	TRY(status);
	process_server_forget_maps(server);
	errno = reply.error;
	switch (reply.stop_failure) {
	case STOP_DONE:
		if (reply.error || reply.size > SERVER_THREADS_MAX)
			return server_broken(server, err);
		server->until_ns = reply.end;
		*ret_threads = server->threads;
		*ret_count = (size_t)reply.size;
		return HD_OK;
	case STOP_REFUSED:
		(void)proc_refused(server->pid, reply.error, &failure);
		break;
	case STOP_SLEEPS:
		(void)fail(&failure, HD_ERR_OS, 0,
			   "thread %d of process %d does not stop: it waits in the kernel (a disk "
			   "or a mount that does not answer?); try again later",
			   reply.tid, server->pid);
		break;
	case STOP_TOO_SLOW:
		(void)fail(
			&failure, HD_ERR_OS, 0,
			"the threads of process %d did not all stop in time (%llu were asked): the "
			"machine is busy, or some wait in the kernel; the process was let go, try "
			"again later",
			server->pid, (unsigned long long)reply.size);
		break;
	case STOP_TOO_FAST:
		(void)fail(&failure, HD_ERR_OS, 0,
			   "process %d starts threads faster than they can be stopped",
			   server->pid);
		break;
	case STOP_TOO_MANY:
		(void)fail(&failure, HD_ERR_OS, 0, "process %d has more than %zu threads",
			   server->pid, SERVER_THREADS_MAX);
		break;
	case STOP_32_BITS:
		(void)fail(&failure, HD_ERR_UNSUPPORTED, 0,
			   "process %d is a 32-bit program: only %s is read", server->pid,
			   arch_of_host()->name);
		break;
	default:
		(void)fail(&failure, HD_ERR_OS, 0, "process %d ended while it was stopped",
			   server->pid);
	}
	return server_end_with(server, &failure, err);
}

enum hd_status process_server_hold(struct process_server *server, struct hd_error *err)
{
	struct server_reply reply;
	struct server_request request = { .kind = REQUEST_HOLD };
	TRY(server_ask(server, &request, &reply, err));
	server->until_ns = 0;
	return HD_OK;
}

enum hd_status process_server_resume(struct process_server *server, double *ret,
				     struct hd_error *err)
{
	struct server_reply reply;
	struct server_request request = { .kind = REQUEST_RESUME };
	TRY(server_ask(server, &request, &reply, err));
	server->until_ns = 0;
	if (ret)
		*ret = (double)reply.size / 1e9;
	return HD_OK;
}

/* Ask reader 0, and wait. */
static enum hd_status ask_reader(struct process_server *server, struct server_request *request,
				 struct server_reply *reply, int *fd, struct hd_error *err)
{
	struct channel *channel = &server->channels[0];
	TRY(server_send(server, channel, request, err));
	return server_await(server, channel, patience(server), reply, fd, err);
}

enum hd_status process_server_file(struct process_server *server, enum server_file file,
				   struct text *ret, struct hd_error *err)
{
	struct server_reply reply;
	struct server_request request = { .kind = REQUEST_FILE, .number = file };
	do {
		enum hd_status status = ask_reader(server, &request, &reply, NULL, err);
		if (status != HD_OK) {
			return give_up_process(server, status, "a file of the kernel's in /proc", 0,
					       err);
		}
		if (!reply.error && !request.address && !reply.size)
			reply.error = ESRCH;
		if (reply.error) {
			return proc_refused(server->pid,
					    reply.error == ENOENT ? ESRCH : reply.error, err);
		}
		if (reply.size > SERVER_BYTES)
			return server_broken(server, err);
		const uint8_t *bytes = server->windows[0].halves[0].bytes;
		text_append(ret, (const char *)bytes, (size_t)reply.size);
		request.address += reply.size;
	} while (reply.size == SERVER_BYTES && !ret->failed);
	return ret->failed ? fail_nomem(err) : HD_OK;
}

size_t process_server_read(struct process_server *server, uint64_t address, void *buf, size_t size)
{
	size_t done = 0;
	struct server_window *window = &server->windows[0];
	errno = EFAULT;
	while (done < size) {
		struct server_request request = { .kind = REQUEST_READ, .number = 1 };
		struct server_reply reply;
		uint64_t piece = size - done < SERVER_BYTES ? size - done : SERVER_BYTES;
		window->halves[0].ranges[0] = (struct server_range){ address + done, piece };
		server->channels[0].counts[0] = 1;
		enum hd_status status = ask_reader(server, &request, &reply, NULL, NULL);
		if (status != HD_OK) {
			(void)give_up_memory(server, &server->channels[0], 0, status, NULL);
			errno = ETIMEDOUT;
			break;
		}
		uint64_t got = reply.size < piece ? reply.size : piece;
		memcpy((uint8_t *)buf + done, window->halves[0].bytes, (size_t)got);
		done += (size_t)got;
		errno = reply.error;
		if (got < piece)
			break;
	}
	return done;
}

void process_server_add_readers(struct process_server *server, unsigned int count)
{
	struct server_reply reply = { 0 };
	while (server->readers < count && server->readers < SERVER_READERS_MAX && !reply.error) {
		struct server_request request = { .kind = REQUEST_READER,
						  .number = server->readers };
		if (server_ask(server, &request, &reply, NULL) != HD_OK)
			return;
		server->readers += !reply.error;
	}
}

unsigned int process_server_readers(const struct process_server *server)
{
	return server->readers;
}

enum hd_status process_server_ask_ranges(struct process_server *server, unsigned int reader,
					 unsigned int half, const struct server_range *ranges,
					 uint32_t count, struct hd_error *err)
{
	struct channel *channel = &server->channels[reader];
	struct server_request request = {
		.kind = REQUEST_READ, .number = count, .half = half, .size = SERVER_READ_KNOWN
	};
	memcpy(server->windows[reader].halves[half].ranges, ranges, count * sizeof(*ranges));
	channel->counts[half] = count;
	if (channel->answered == channel->asked)
		channel->first_half = half;
	return server_send(server, channel, &request, err);
}

enum hd_status process_server_await_ranges(struct process_server *server, unsigned int reader,
					   struct server_answer *ret, struct hd_error *err)
{
	struct channel *channel = &server->channels[reader];
	unsigned int half = channel->first_half;
	struct server_reply reply;
	enum hd_status status = server_await(server, channel, patience(server), &reply, NULL, err);
	if (status != HD_OK)
		return give_up_memory(server, channel, half, status, err);
	channel->first_half = !half;
	*ret = (struct server_answer){
		.ranges = server->windows[reader].halves[half].ranges,
		.bytes = server->windows[reader].halves[half].bytes,
		.is_dead = reply.error == ESRCH,
	};
	return HD_OK;
}

enum hd_status process_server_pages(struct process_server *server, enum server_pages_kind kind,
				    uint64_t start, uint64_t end, struct server_pages_found *ret,
				    struct hd_error *err)
{
	struct server_reply reply;
	struct server_request request = {
		.kind = REQUEST_PAGES, .number = kind, .address = start, .size = end - start
	};
	enum hd_status status = ask_reader(server, &request, &reply, NULL, err);
	if (status != HD_OK)
		return give_up_process(server, status, "the list of pages", 0, err);
	if (reply.error || reply.size > SERVER_PAGES_MAX || reply.end <= start || reply.end > end)
		return HD_ERR_NOTFOUND;
	const void *bytes = server->windows[0].halves[0].bytes;
	*ret = (struct server_pages_found){ bytes, (size_t)reply.size, reply.end };
	return HD_OK;
}

enum hd_status process_server_open(struct process_server *server, uint64_t start, int *ret,
				   struct hd_error *err)
{
	struct server_reply reply;
	struct server_request request = { .kind = REQUEST_OPEN, .address = start };
	enum hd_status status = ask_reader(server, &request, &reply, ret, err);
	if (status == HD_ERR_CANCELLED)
		return give_up_process(server, status, "", 0, err);
	if (status == HD_ERR_NOTFOUND)
		TRY(server_restart_reader(server, &server->channels[0], err));
	return status;
}
