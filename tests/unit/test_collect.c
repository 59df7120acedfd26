/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "collect/collect.h"
#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/stream_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

/* What the fake runtime sends to the first session; all later ones get a whole snapshot. */
enum first {
	FIRST_WHOLE,
	FIRST_LOSSY,  /* a gap of 100 events in the walk */
	FIRST_CUT,    /* hangs up behind the first objects */
	FIRST_UNSURE, /* only another thread has lost events */
	ALWAYS_LOSSY,
};

static char directory[40], path[64], socket_path[108];

static void make_stream(struct stream_maker *maker, enum first kind)
{
	bool is_lossy = kind == FIRST_LOSSY || kind == ALWAYS_LOSSY;
	stream_maker_begin(maker);
	stream_maker_event(maker, MADE_GC_START, 1, 7, 3, 2, 26);
	stream_maker_event(maker, MADE_NODES, 2, 7, 0, 2, 74);
	if (kind == FIRST_CUT) {
		stream_maker_point(maker, 7, 2);
		return;
	}
	if (kind == FIRST_UNSURE)
		stream_maker_event(maker, MADE_OTHER, 9, 8, 0, 0, 10);
	stream_maker_event(maker, MADE_EDGES, is_lossy ? 103 : 3, 7, 0, 5, 70);
	stream_maker_event(maker, MADE_GC_END, is_lossy ? 104 : 4, 7, 3, 2, 10);
	stream_maker_end(maker);
}

static void send_bytes(int fd, const struct text *bytes)
{
	(void)!send(fd, bytes->bytes, bytes->size, MSG_NOSIGNAL);
}

static void answer(int fd, struct child_board *board, enum first kind)
{
	uint8_t head[IPC_HEADER_SIZE], payload[512];
	if (recv(fd, head, sizeof(head), MSG_WAITALL) != (ssize_t)sizeof(head))
		return;
	size_t size = head[14] | (size_t)head[15] << 8;
	if (size > sizeof(head))
		(void)!recv(fd, payload, size - sizeof(head), MSG_WAITALL);
	/* A reply is framed as a command is. */
	struct text reply = { 0 };
	static const uint8_t info[24] = { 0 };
	const uint64_t session = 9;
	enum ipc_command command = (enum ipc_command)(head[16] << 8 | head[17]);
	if (command == IPC_PROCESS_INFO_2) {
		/* A version that needs no other session: "10" as the fifth string. */
		uint8_t bytes[24 + 16 + 4 + 6] = { 0 };
		memcpy(bytes, info, sizeof(info));
		memcpy(bytes + 40, "\3\0\0\0\x31\0\x30\0\0\0", 10);
		ipc_message(&reply, (enum ipc_command)0xff00, bytes, sizeof(bytes));
		send_bytes(fd, &reply);
	} else {
		ipc_message(&reply, (enum ipc_command)0xff00, &session, sizeof(session));
		send_bytes(fd, &reply);
	}
	text_deinit(&reply);
	if (command != IPC_COLLECT_TRACING_5)
		return;
	uint32_t buffer;
	memcpy(&buffer, payload + 4, sizeof(buffer));
	int sessions = ++board->other;
	(void)snprintf(board->message + strlen(board->message),
		       sizeof(board->message) - strlen(board->message), "%u ", buffer);
	struct stream_maker maker;
	make_stream(&maker, sessions == 1 || kind == ALWAYS_LOSSY ? kind : FIRST_WHOLE);
	send_bytes(fd, &maker.bytes);
	text_deinit(&maker.bytes);
}

static void serve(struct child_board *board, void *arg)
{
	const enum first *kind = arg;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 8) != 0)
		return;
	board->is_ready = true;
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			return;
		answer(fd, board, *kind);
		(void)close(fd);
	}
}

static struct live_child child;
static struct dotnet_process process;

static void set_up(void)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/heapdump-collect-XXXXXX");
	REQUIRE(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/x", directory);
	(void)snprintf(socket_path, sizeof(socket_path), "%s-socket", directory);
}

static unsigned int files(void)
{
	unsigned int count = 0;
	DIR *folder = opendir(directory);
	REQUIRE(folder);
	const struct dirent *entry;
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	(void)closedir(folder);
	return count;
}

static void tear_down(void)
{
	(void)unlink(path);
	(void)unlink(socket_path);
	(void)rmdir(directory);
}

static void start(enum first *kind)
{
	(void)unlink(socket_path);
	child = child_fork(serve, kind);
	process =
		(struct dotnet_process){ .pid = child.pid, .uid = getuid(), .socket = socket_path };
}

static enum hd_status collect(const struct collect_options *options, struct collected *ret,
			      struct hd_error *err)
{
	struct endpoint endpoint = endpoint_of(&process);
	struct job job = { 0 };
	*ret = (struct collected){ .file = { .fd = -1 } };
	return collect_snapshot(&endpoint, path, options, &job, ret, err);
}

static void a_snapshot_is_collected(void)
{
	enum first kind = FIRST_WHOLE;
	const struct collect_options options = { .buffer = 3 << 20 };
	struct collected collected;
	start(&kind);
	ASSERT_UINT_FATAL(collect(&options, &collected, NULL), HD_OK);
	CU_ASSERT(collected.is_complete);
	ASSERT_UINT(collected.objects, 2);
	ASSERT_UINT(collected.references, 5);
	ASSERT_UINT(collected.tries, 1);
	ASSERT_UINT(collected.findings.count, 0);
	ASSERT_TEXT(child.board->message, "3 ");
	/* It may have no name yet. */
	ASSERT_UINT(files(), collected.file.is_unnamed ? 0 : 1);
	collected_deinit(&collected);
	ASSERT_UINT(files(), 0);
	child_end(&child);
}

static void what_was_lost_is_asked_for_again(void)
{
	enum first kind = FIRST_LOSSY;
	const struct collect_options options = { .buffer = 3 << 20 };
	struct collected collected;
	start(&kind);
	ASSERT_UINT_FATAL(collect(&options, &collected, NULL), HD_OK);
	CU_ASSERT(collected.is_complete);
	ASSERT_UINT(collected.tries, 2);
	/* It may have no name yet. */
	ASSERT_UINT(files(), collected.file.is_unnamed ? 0 : 1);
	/* 100 events of 64 KiB, a quarter more, and 64 MB. */
	ASSERT_TEXT(child.board->message, "3 71 ");
	collected_deinit(&collected);
	child_end(&child);
}

static void what_stays_lost_is_told(void)
{
	enum first kind = ALWAYS_LOSSY;
	const struct collect_options options = { .buffer = 3 << 20 };
	struct collected collected;
	start(&kind);
	ASSERT_UINT_FATAL(collect(&options, &collected, NULL), HD_OK);
	CU_ASSERT(!collected.is_complete);
	CU_ASSERT(collected.tries >= 2 && collected.tries <= 3);
	ASSERT_UINT_FATAL(collected.findings.count, 1);
	ASSERT_TEXT(collected.findings.rows[0].kind, "partial");
	/* It may have no name yet. */
	ASSERT_UINT(files(), collected.file.is_unnamed ? 0 : 1);
	collected_deinit(&collected);
	child_end(&child);
}

static void what_was_cut_is_kept(void)
{
	enum first kind = FIRST_CUT;
	const struct collect_options options = { .buffer = 3 << 20 };
	struct collected collected;
	start(&kind);
	ASSERT_UINT_FATAL(collect(&options, &collected, NULL), HD_OK);
	CU_ASSERT(!collected.is_complete);
	ASSERT_UINT(collected.objects, 2);
	ASSERT_UINT(collected.tries, 1);
	ASSERT_UINT(collected.findings.count, 1);
	collected_deinit(&collected);
	child_end(&child);
}

static void losses_of_other_threads_are_told(void)
{
	enum first kind = FIRST_UNSURE;
	const struct collect_options options = { .buffer = 3 << 20 };
	struct collected collected;
	start(&kind);
	ASSERT_UINT_FATAL(collect(&options, &collected, NULL), HD_OK);
	CU_ASSERT(collected.is_complete);
	ASSERT_UINT_FATAL(collected.findings.count, 1);
	ASSERT_TEXT(collected.findings.rows[0].kind, "lost-events");
	collected_deinit(&collected);
	child_end(&child);
}

static int always(void *arg)
{
	(void)arg;
	return 1;
}

static void a_cancelled_job_leaves_nothing(void)
{
	enum first kind = FIRST_WHOLE;
	const struct collect_options options = { .buffer = 3 << 20 };
	struct collected collected = { .file = { .fd = -1 } };
	struct job job = { .cancelled = always };
	start(&kind);
	struct endpoint endpoint = endpoint_of(&process);
	ASSERT_UINT(collect_snapshot(&endpoint, path, &options, &job, &collected, NULL),
		    HD_ERR_CANCELLED);
	ASSERT_UINT(files(), 0);
	child_end(&child);
}

static void each_failed_allocation_is_reported(void)
{
	enum first kind = FIRST_WHOLE;
	const struct collect_options options = { .buffer = 3 << 20 };
	start(&kind);
	for (uint64_t nth = 1; nth < 100; nth++) {
		struct collected collected;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = collect(&options, &collected, &err);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
		if (status == HD_OK)
			collected_deinit(&collected);
		ASSERT_UINT(files(), 0);
		if (!failed)
			break;
		CU_ASSERT_FATAL(nth < 99);
	}
	child_end(&child);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "a_snapshot_is_collected", a_snapshot_is_collected },
		{ "what_was_lost_is_asked_for_again", what_was_lost_is_asked_for_again },
		{ "what_stays_lost_is_told", what_stays_lost_is_told },
		{ "what_was_cut_is_kept", what_was_cut_is_kept },
		{ "losses_of_other_threads_are_told", losses_of_other_threads_are_told },
		{ "a_cancelled_job_leaves_nothing", a_cancelled_job_leaves_nothing },
		{ "each_failed_allocation_is_reported", each_failed_allocation_is_reported },
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{ "collect", NULL, NULL, set_up, tear_down, tests },
		CU_SUITE_INFO_NULL,
	};
	return suite_main(suites);
}
