/* SPDX-License-Identifier: MIT */
/*
 * A reader: the only process that touches what may never answer, the memory and the files of the
 * target process.  It is ended and started again when it does not answer.
 */
#include "targets/process/server_reader.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void read_file(struct process_reader *reader, const struct server_request *request,
		      uint8_t *bytes, struct server_reply *reply)
{
	static const char *const names[SERVER_FILE_COUNT] = {
		[SERVER_FILE_MAPS] = "maps",        [SERVER_FILE_AUXV] = "auxv",
		[SERVER_FILE_MOUNTS] = "mountinfo", [SERVER_FILE_EXE] = "exe",
		[SERVER_FILE_SMAPS] = "smaps",
	};
	if (request->number >= SERVER_FILE_COUNT || request->address > INT64_MAX) {
		reply->error = EINVAL;
		return;
	}
	/* The kernel would make the long list from its start again for each part. */
	bool is_long = request->number == SERVER_FILE_SMAPS;
	int fd = -1;
	if (is_long && request->address && reader->smaps_at == request->address) {
		fd = reader->smaps_fd;
		reader->smaps_fd = -1;
	}
	bool goes_on = fd >= 0;
	if (!goes_on)
		fd = reader_open(reader, names[request->number]);
	if (fd < 0 || (!goes_on && lseek(fd, (off_t)request->address, SEEK_SET) < 0)) {
		reply->error = errno;
		close_reader_fd(&fd);
		return;
	}
	size_t most = request->number == SERVER_FILE_EXE ? 64 : SERVER_BYTES;
	ssize_t got = 1;
	while (reply->size < most && got > 0) {
		got = read(fd, bytes + reply->size, most - reply->size);
		if (got > 0)
			reply->size += (uint64_t)got;
	}
	if (got < 0)
		reply->error = errno;
	if (is_long && reply->size == most) {
		close_reader_fd(&reader->smaps_fd);
		reader->smaps_fd = fd;
		reader->smaps_at = request->address + reply->size;
		return;
	}
	close_reader_fd(&fd);
}

static void send_reply(const struct process_reader *reader, const struct server_reply *reply,
		       int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct server_reply copy = *reply;
	struct iovec vector = { &copy, sizeof(copy) };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(int));
	}
	ssize_t sent;
	do {
		sent = sendmsg(reader->channel, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		server_exit();
}

static void answer_once(struct process_reader *reader, const struct server_request *request,
			struct server_reply *reply)
{
	uint8_t *bytes = reader->window->halves[request->half].bytes;
	reply->error = 0;
	reply->size = reply->end = 0;
	switch (request->kind) {
	case REQUEST_FILE:
		read_file(reader, request, bytes, reply);
		break;
	case REQUEST_READ:
		reader_read_memory(reader, request, reply);
		break;
	case REQUEST_PAGES:
		reader_find_pages(reader, request, bytes, reply);
		break;
	default:
		reply->error = EINVAL;
	}
}

static void answer_read_request(struct process_reader *reader, const struct server_request *request)
{
	struct server_reply reply = { .sequence = request->sequence };
	int fd = -1;
	if (request->half > 1) {
		reply.error = EINVAL;
	} else if (request->kind == REQUEST_OPEN) {
		fd = reader_open_mapped(reader, request->address);
		reply.error = fd < 0 ? ENOENT : 0;
	} else {
		answer_once(reader, request, &reply);
		/* A thread that has ended has no memory, and an empty list of mappings. */
		bool is_gone = request->kind == REQUEST_FILE
				       ? !reply.size && !request->address
				       : request->kind == REQUEST_PAGES && reply.error;
		if (is_gone && reader_choose_thread(reader))
			answer_once(reader, request, &reply);
	}
	send_reply(reader, &reply, fd);
	close_reader_fd(&fd);
}

_Noreturn void server_reader(const struct server_setup *setup, unsigned int index)
{
	static struct process_reader reader;
	reader.setup = setup;
	reader.window = setup->windows[index];
	reader.channel = setup->channels[index];
	reader.pagemap_fd = reader.maps_fd = reader.smaps_fd = -1;
	reader.tid = setup->pid;
	(void)reader_choose_thread(&reader);
	struct server_request request;
	for (;;) {
		ssize_t got = recv(reader.channel, &request, sizeof(request), 0);
		if (got == (ssize_t)sizeof(request)) {
			answer_read_request(&reader, &request);
		} else if (got >= 0 || errno != EINTR) {
			server_exit();
		}
	}
}
