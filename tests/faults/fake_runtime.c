/* SPDX-License-Identifier: MIT */
#include "faults/fake_runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "collect/discover.h"
#include "collect/ipc.h"
#include "support/dump_text.h"

#define REPLY_OK ((enum ipc_command)0xff00)

static void socket_name(int pid, char *buf, size_t size)
{
	struct process_stat stat = { 0 };
	const char *folder = getenv("TMPDIR");
	if (!process_stat_read(pid, &stat))
		abort();
	(void)snprintf(buf, size, "%s/dotnet-diagnostic-%d-%" PRIu64 "-socket",
		       folder && *folder ? folder : "/tmp", pid, stat.start_time);
}

static void send_bytes(int fd, const struct text *bytes)
{
	for (size_t at = 0; at < bytes->size;) {
		ssize_t sent = send(fd, bytes->bytes + at, bytes->size - at, MSG_NOSIGNAL);
		if (sent <= 0)
			return;
		at += (size_t)sent;
	}
}

static void answer(int fd, const struct text *trace)
{
	uint8_t head[IPC_HEADER_SIZE], payload[512];
	/* The version "10" as the fifth string after 40 bytes. */
	static const uint8_t version[50] = { [40] = 3, [44] = '1', [46] = '0' };
	const uint64_t session = 9;
	if (recv(fd, head, sizeof(head), MSG_WAITALL) != (ssize_t)sizeof(head))
		return;
	size_t size = head[14] | (size_t)head[15] << 8;
	if (size > sizeof(head) && size <= sizeof(head) + sizeof(payload))
		(void)!recv(fd, payload, size - sizeof(head), MSG_WAITALL);
	struct text reply = { 0 };
	enum ipc_command command = (enum ipc_command)(head[16] << 8 | head[17]);
	if (command == IPC_PROCESS_INFO_2) {
		ipc_message(&reply, REPLY_OK, version, sizeof(version));
	} else {
		ipc_message(&reply, REPLY_OK, &session, sizeof(session));
	}
	send_bytes(fd, &reply);
	text_deinit(&reply);
	if (command == IPC_COLLECT_TRACING_5)
		send_bytes(fd, trace);
}

static void serve(struct child_board *board, void *arg)
{
	const struct text *trace = arg;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socket_name(getpid(), address.sun_path, sizeof(address.sun_path));
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 8) != 0)
		return;
	board->is_ready = true;
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			return;
		answer(fd, trace);
		(void)close(fd);
	}
}

struct live_child fake_runtime_start(const char *trace)
{
	struct text bytes = dump_source_file(trace);
	struct live_child child = child_fork(serve, &bytes);
	text_deinit(&bytes);
	return child;
}

void fake_runtime_end(struct live_child *child)
{
	char path[200];
	socket_name(child->pid, path, sizeof(path));
	child_end(child);
	(void)unlink(path);
}
