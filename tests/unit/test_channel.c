/* SPDX-License-Identifier: MIT */
/* Messages between the two processes of the shell program: what arrives is what was sent, or nothing. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channel.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* A message begins with this, as channel.c has it. */
struct raw_header {
	uint32_t kind;
	int32_t number;
	uint64_t id;
	uint32_t count, size;
};

static void make_pair(int *pair)
{
	CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
}

static void close_pair(const int *pair)
{
	(void)close(pair[0]);
	(void)close(pair[1]);
}

TEST(strings_numbers_and_a_descriptor_arrive)
{
	int pair[2];
	struct message sent = message_of(MESSAGE_OPEN), got;
	make_pair(pair);
	sent.number = -7;
	sent.id = UINT64_MAX;
	CU_ASSERT(message_add(&sent, "a path"));
	CU_ASSERT(message_add(&sent, ""));
	CU_ASSERT(message_add(&sent, "\xff\n'"));
	sent.fds[0] = pair[0];
	sent.fds[1] = pair[1];
	sent.fd_count = 2;
	CU_ASSERT_FATAL(channel_send(pair[0], &sent));
	CU_ASSERT_FATAL(channel_receive(pair[1], &got));
	ASSERT_UINT(got.kind, MESSAGE_OPEN);
	CU_ASSERT_EQUAL(got.number, -7);
	ASSERT_UINT(got.id, UINT64_MAX);
	ASSERT_UINT(got.count, 3);
	ASSERT_TEXT(message_string(&got, 0), "a path");
	ASSERT_TEXT(message_string(&got, 1), "");
	ASSERT_TEXT(message_string(&got, 2), "\xff\n'");
	CU_ASSERT_PTR_NULL(message_string(&got, 3));
	struct stat here, there;
	ASSERT_UINT_FATAL(got.fd_count, 2);
	CU_ASSERT(fstat(pair[0], &here) == 0 && fstat(got.fds[0], &there) == 0);
	ASSERT_UINT(here.st_ino, there.st_ino);
	CU_ASSERT(fcntl(got.fds[0], F_GETFD) & FD_CLOEXEC);
	int taken = message_take_fd(&got), next = got.fds[0];
	CU_ASSERT(fcntl(taken, F_GETFD) >= 0);
	message_deinit(&got);
	CU_ASSERT(fcntl(taken, F_GETFD) >= 0 && fcntl(next, F_GETFD) < 0);
	(void)close(taken);
	CU_ASSERT_EQUAL(message_take_fd(&got), -1);
	sent.fd_count = 0;
	message_deinit(&sent);
	close_pair(pair);
}

TEST(a_list_has_all_strings_and_an_end)
{
	struct message message = message_of(MESSAGE_RUN);
	CU_ASSERT(message_add(&message, "gcroot"));
	CU_ASSERT(message_add(&message, "1ce056"));
	const char **list = message_list(&message);
	REQUIRE(list);
	ASSERT_TEXT(list[0], "gcroot");
	ASSERT_TEXT(list[1], "1ce056");
	CU_ASSERT_PTR_NULL(list[2]);
	free(list);
	message_deinit(&message);
}

/* Is what @p bytes are refused? */
static void check_refused(const struct raw_header *header, const char *bytes, size_t size)
{
	int pair[2];
	struct message got = { .number = -5 };
	make_pair(pair);
	CU_ASSERT(send(pair[0], header, sizeof(*header), 0) == (ssize_t)sizeof(*header));
	CU_ASSERT(!size || send(pair[0], bytes, size, 0) == (ssize_t)size);
	(void)shutdown(pair[0], SHUT_WR);
	CU_ASSERT(!channel_receive(pair[1], &got));
	CU_ASSERT_EQUAL(got.number, -5);
	close_pair(pair);
}

TEST(what_is_not_a_message_is_refused)
{
	static const struct raw_header headers[] = {
		{ MESSAGE_OPEN, 0, 0, 1, 4 }, /* cut */
		{ MESSAGE_OPEN, 0, 0, 2, 3 }, /* fewer strings than it says */
		{ MESSAGE_OPEN, 0, 0, 0, 3 }, /* more */
		{ MESSAGE_OPEN, 0, 0, UINT32_MAX, 3 },
		{ MESSAGE_OPEN, 0, 0, 1, UINT32_MAX }, /* too large, before memory is taken */
		{ MESSAGE_OPEN, 0, 0, 1, MESSAGE_SIZE_MAX + 1 },
	};
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		check_refused(&headers[i], "ab", 3);
	const struct raw_header open_end = { MESSAGE_OPEN, 0, 0, 1, 3 };
	check_refused(&open_end, "a\0b", 3);
	check_refused(&open_end, "abc", 3);
	const struct raw_header none = { MESSAGE_OPEN, 0, 0, 1, 0 };
	check_refused(&none, "", 0);
}

TEST(an_end_is_no_message)
{
	int pair[2];
	struct message got;
	make_pair(pair);
	CU_ASSERT(send(pair[0], "abc", 3, 0) == 3);
	(void)close(pair[0]);
	CU_ASSERT(!channel_receive(pair[1], &got));
	CU_ASSERT(!channel_receive(pair[1], &got));
	struct message sent = message_of(MESSAGE_DONE);
	CU_ASSERT(!channel_send(pair[1], &sent)); /* and no SIGPIPE */
	(void)close(pair[1]);
}

TEST(a_message_that_is_too_large_is_not_made)
{
	char *large = calloc(1, MESSAGE_SIZE_MAX);
	struct message message = message_of(MESSAGE_RUN);
	REQUIRE(large);
	memset(large, 'x', MESSAGE_SIZE_MAX - 1);
	CU_ASSERT(message_add(&message, large));
	CU_ASSERT(!message_add(&message, ""));
	ASSERT_UINT(message.count, 1);
	message_deinit(&message);
	free(large);
}

SUITE(.name = "channel")
