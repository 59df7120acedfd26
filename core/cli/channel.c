/* SPDX-License-Identifier: MIT */
#include "channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A message begins with this; its strings follow. */
struct message_header {
	uint32_t kind;
	int32_t number;
	uint64_t id;
	uint32_t count;
	uint32_t size;
};

/* Room for descriptors. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(MESSAGE_FDS_MAX * sizeof(int))];
};

struct message message_of(enum message_kind kind)
{
	return (struct message){ .kind = (uint32_t)kind };
}

bool message_add(struct message *message, const char *string)
{
	size_t size = strlen(string) + 1;
	if (size > MESSAGE_SIZE_MAX - message->size)
		return false;
	char *bytes = realloc(message->bytes, message->size + size);
	if (!bytes)
		return false;
	memcpy(bytes + message->size, string, size);
	message->bytes = bytes;
	message->size += (uint32_t)size;
	message->count++;
	return true;
}

const char *message_string(const struct message *message, uint32_t index)
{
	if (index >= message->count)
		return NULL;
	const char *at = message->bytes;
	while (index--)
		at += strlen(at) + 1;
	return at;
}

const char **message_list(const struct message *message)
{
	const char **list = calloc((size_t)message->count + 1, sizeof(*list));
	const char *at = message->bytes;
	for (uint32_t i = 0; list && i < message->count; i++) {
		list[i] = at;
		at += strlen(at) + 1;
	}
	return list;
}

int message_take_fd(struct message *message)
{
	if (!message->fd_count)
		return -1;
	int fd = message->fds[0];
	message->fd_count--;
	memmove(message->fds, message->fds + 1, message->fd_count * sizeof(message->fds[0]));
	return fd;
}

void message_deinit(struct message *message)
{
	free(message->bytes);
	for (uint32_t i = 0; i < message->fd_count; i++)
		(void)close(message->fds[i]);
	*message = (struct message){ .fd_count = 0 };
}

static bool channel_send_all(int channel, const char *bytes, size_t size)
{
	while (size) {
		ssize_t sent = send(channel, bytes, size, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
}

/* Send the header with descriptors, which go with its first byte. */
static bool send_with_fds(int channel, struct message_header *header, const struct message *message)
{
	union control control = { .bytes = { 0 } };
	struct iovec part = { .iov_base = header, .iov_len = sizeof(*header) };
	size_t size = message->fd_count * sizeof(message->fds[0]);
	struct msghdr with = { .msg_iov = &part,
			       .msg_iovlen = 1,
			       .msg_control = control.bytes,
			       .msg_controllen = CMSG_SPACE(size) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&with);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(rights), message->fds, size);
	ssize_t sent;
	do {
		sent = sendmsg(channel, &with, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent > 0 && channel_send_all(channel, (const char *)header + sent,
					    sizeof(*header) - (size_t)sent);
}

bool channel_send(int channel, const struct message *message)
{
	struct message_header header = { .kind = message->kind,
					 .number = message->number,
					 .id = message->id,
					 .count = message->count,
					 .size = message->size };
	/* Without descriptors, use a call that cannot take any: a worker may use no other. */
	bool sent = message->fd_count
			    ? send_with_fds(channel, &header, message)
			    : channel_send_all(channel, (const char *)&header, sizeof(header));
	return sent && channel_send_all(channel, message->bytes, message->size);
}

static bool channel_receive_all(int channel, char *bytes, size_t size)
{
	while (size) {
		ssize_t got = recv(channel, bytes, size, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes += got;
		size -= (size_t)got;
	}
	return true;
}

/* Receive the header, and the descriptors that came with it. */
static bool receive_header(int channel, struct message_header *ret, struct message *message)
{
	union control control;
	struct iovec part = { .iov_base = ret, .iov_len = sizeof(*ret) };
	struct msghdr with = { .msg_iov = &part,
			       .msg_iovlen = 1,
			       .msg_control = control.bytes,
			       .msg_controllen = sizeof(control.bytes) };
	ssize_t got;
	do {
		got = recvmsg(channel, &with, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	const struct cmsghdr *rights = CMSG_FIRSTHDR(&with);
	if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
		size_t size = rights->cmsg_len - CMSG_LEN(0);
		message->fd_count = (uint32_t)(size / sizeof(int));
		memcpy(message->fds, CMSG_DATA(rights), message->fd_count * sizeof(int));
	}
	return channel_receive_all(channel, (char *)ret + got, sizeof(*ret) - (size_t)got);
}

/* Does @p message have as many strings as it says? */
static bool is_whole(const struct message *message)
{
	uint32_t ends = 0;
	for (uint32_t i = 0; i < message->size; i++)
		ends += message->bytes[i] == '\0';
	return ends == message->count && (!message->size || !message->bytes[message->size - 1]);
}

bool channel_receive(int channel, struct message *ret)
{
	struct message_header header;
	struct message message = { .fd_count = 0 };
	bool good = receive_header(channel, &header, &message) && header.size <= MESSAGE_SIZE_MAX;
	if (good) {
		message.kind = header.kind;
		message.number = header.number;
		message.id = header.id;
		message.count = header.count;
		message.size = header.size;
		message.bytes = malloc(header.size ? header.size : 1);
		good = message.bytes && channel_receive_all(channel, message.bytes, header.size) &&
		       is_whole(&message);
	}
	if (good) {
		*ret = message;
	} else {
		message_deinit(&message);
	}
	return good;
}
