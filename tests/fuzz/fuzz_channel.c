/* SPDX-License-Identifier: MIT */
/* covers: core/cli/channel.c */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void make_pair(int *ends)
{
	int room = 1 << 20;
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	require(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) == 0);
}

/* The strings of a message are its bytes, one after the other, and nothing else. */
static void check(struct message *message)
{
	const char **list = message_list(message);
	size_t size = 0;
	require(list && message->size <= MESSAGE_SIZE_MAX && message->fd_count <= MESSAGE_FDS_MAX);
	for (uint32_t i = 0; i < message->count; i++)
		size += strlen(list[i]) + 1;
	require(size == message->size && !list[message->count]);
	for (uint32_t i = 0; i < message->count && i < 64; i++)
		require(message_string(message, i) == list[i]);
	require(!message_string(message, message->count));
	free(list);
	int fd = message_take_fd(message);
	if (fd >= 0)
		(void)close(fd);
}

/* Sent again it is the same. */
static void send_again(const struct message *message)
{
	int ends[2];
	struct message again;
	make_pair(ends);
	require(channel_send(ends[0], message) && channel_receive(ends[1], &again));
	require(again.kind == message->kind && again.number == message->number &&
		again.id == message->id && again.count == message->count &&
		again.size == message->size && again.fd_count == message->fd_count);
	require(!again.size || memcmp(again.bytes, message->bytes, again.size) == 0);
	message_deinit(&again);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/*
 * Any bytes from the peer, which then hangs up.  The first byte: how many descriptors come with
 * the first message, and whether one byte comes before the others.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(16 * sizeof(int))];
	} control = { .bytes = { 0 } };
	int ends[2];
	if (size < 2 || size > 65536)
		return 0;
	size_t count = data[0] % 17u;
	struct iovec part = { .iov_base = (char *)(uintptr_t)(data + 1),
			      .iov_len = data[0] & 128 ? 1 : size - 1 };
	struct msghdr with = { .msg_iov = &part, .msg_iovlen = 1 };
	if (count) {
		with.msg_control = control.bytes;
		with.msg_controllen = CMSG_SPACE(count * sizeof(int));
		struct cmsghdr *rights = CMSG_FIRSTHDR(&with);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(count * sizeof(int));
		memset(CMSG_DATA(rights), 0, count * sizeof(int)); /* standard input */
	}
	make_pair(ends);
	ssize_t sent = sendmsg(ends[0], &with, MSG_NOSIGNAL);
	require(sent > 0);
	size_t rest = size - 1 - (size_t)sent;
	require(!rest || send(ends[0], data + 1 + sent, rest, MSG_NOSIGNAL) == (ssize_t)rest);
	(void)close(ends[0]);
	struct message message;
	while (channel_receive(ends[1], &message)) {
		check(&message);
		send_again(&message);
		message_deinit(&message);
	}
	(void)close(ends[1]);
	return 0;
}
