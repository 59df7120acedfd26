/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "collect/collect.h"
#include "collect/other_traces.h"
#include "support/assert_more.h"
#include "support/live_child.h"
#include "support/stream_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

/* The fake runtime sends this to the first session; all later ones get a whole snapshot. */
enum first {
	FIRST_WHOLE,
	FIRST_LOSSY,  /* a gap of 100 events in the walk */
	FIRST_CUT,    /* hangs up after the first objects */
	FIRST_UNSURE, /* only another thread has lost events */
	FIRST_LATE,   /* the gap of the walk shows after its end */
	TRICKLE,      /* a few bytes now and then of a block without end */
	STANDSTILL,   /* stops itself after the first objects */
	ALWAYS_LOSSY,
};

static char directory[40], path[64], socket_path[108];

/* Events of the walk up to its first objects, and what is no more than skipped. */
static void make_trickle(struct stream_maker *maker)
{
	static const char head[] = "\5\5\1\2\0\0\0\2\0\0\0\12\0\0\0StackBlock\6";
	stream_maker_begin(maker);
	stream_maker_event(maker, MADE_NODES, 1, 0, 2, 74);
	text_append(&maker->bytes, head, sizeof(head) - 1);
	text_append(&maker->bytes, "\0\0\0\4", 4);
}

static void make_stream(struct stream_maker *maker, enum first kind)
{
	bool is_lossy = kind == FIRST_LOSSY || kind == ALWAYS_LOSSY;
	stream_maker_begin(maker);
	stream_maker_event(maker, MADE_GC_START, 1, 3, 2, 26);
	stream_maker_event(maker, MADE_NODES, 2, 0, 2, 74);
	if (kind == FIRST_CUT) {
		stream_maker_point(maker, 7, 2);
		return;
	}
	if (kind == FIRST_UNSURE) {
		maker->thread = 8;
		stream_maker_event(maker, MADE_OTHER, 9, 0, 0, 10);
		maker->thread = 7;
	}
	stream_maker_event(maker, MADE_EDGES, is_lossy ? 103 : 3, 0, 5, 70);
	stream_maker_event(maker, MADE_GC_END, is_lossy ? 104 : 4, 3, 2, 10);
	if (kind == FIRST_LATE)
		stream_maker_event(maker, MADE_OTHER, 105, 0, 0, 10);
	stream_maker_end(maker);
}

static void send_bytes(int fd, const struct text *bytes)
{
	(void)!send(fd, bytes->bytes, bytes->size, MSG_NOSIGNAL);
}

static void trickle(int fd, enum first kind)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	struct stream_maker maker;
	make_trickle(&maker);
	send_bytes(fd, &maker.bytes);
	text_deinit(&maker.bytes);
	if (kind == STANDSTILL)
		(void)raise(SIGSTOP);
	while (send(fd, "\0\0\0\0", 4, MSG_NOSIGNAL) == 4)
		(void)nanosleep(&pause, NULL);
}

static void answer(int fd, struct child_board *board, enum first kind)
{
	uint8_t head[IPC_HEADER_SIZE], payload[512] = { 0 };
	if (recv(fd, head, sizeof(head), MSG_WAITALL) != (ssize_t)sizeof(head))
		return;
	size_t size = head[14] | (size_t)head[15] << 8;
	if (size > sizeof(head))
		(void)!recv(fd, payload, size - sizeof(head), MSG_WAITALL);
	/* A reply is framed as a command is. */
	struct text reply = { 0 };
	static const uint8_t info[24] = { 0 };
	const uint64_t session = 9, walk = 0x1980001;
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
	/* One without a walk only makes the runtime forget which types it has told. */
	if (command != IPC_COLLECT_TRACING_5 ||
	    !memmem(payload, sizeof(payload), &walk, sizeof(walk)))
		return;
	uint32_t buffer;
	memcpy(&buffer, payload + 4, sizeof(buffer));
	int sessions = ++board->other;
	(void)snprintf(board->message + strlen(board->message),
		       sizeof(board->message) - strlen(board->message), "%u ", buffer);
	if (kind == TRICKLE || kind == STANDSTILL) {
		trickle(fd, kind);
		return;
	}
	struct stream_maker maker;
	make_stream(&maker, sessions == 1 || kind == ALWAYS_LOSSY ? kind : FIRST_WHOLE);
	send_bytes(fd, &maker.bytes);
	text_deinit(&maker.bytes);
}

/* Outside the folder, whose files are counted. */
static void name_socket(int pid)
{
	(void)snprintf(socket_path, sizeof(socket_path), "/tmp/dotnet-diagnostic-%d-1-socket", pid);
}

static void serve(struct child_board *board, void *arg)
{
	const enum first *kind = arg;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	name_socket(getpid());
	(void)unlink(socket_path);
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
static const struct collect_options plain = { .buffer = 3 << 20, .path = path };
static struct collected collected;

static void set_up(void)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/heapdump-collect-XXXXXX");
	REQUIRE(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/x", directory);
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

/* Begin to be a runtime that sends @p kind. */
static void start(enum first kind)
{
	(void)unlink(socket_path);
	child = child_fork(serve, &kind);
	name_socket(child.pid);
	process =
		(struct dotnet_process){ .pid = child.pid, .uid = getuid(), .socket = socket_path };
}

static enum hd_status collect(const struct collect_options *options, struct hd_error *err)
{
	struct endpoint endpoint = endpoint_of(&process);
	struct job job = { 0 };
	collected = (struct collected){ .file = { .fd = -1 } };
	return collect_snapshot(&endpoint, options, &job, &collected, err);
}

/* Collect a file, which may be less than the whole heap. */
static void collect_some(const struct collect_options *options, bool is_complete)
{
	ASSERT_UINT_FATAL(collect(options, NULL), HD_OK);
	CU_ASSERT(collected.is_complete == is_complete);
}

static void check_finding(const char *kind)
{
	ASSERT_UINT_FATAL(collected.findings.count, 1);
	ASSERT_TEXT(finding_name(collected.findings.rows[0].kind), kind);
}

/* Check the files on disk: the file has no name yet, or one that lists do not show. */
static void check_files(void)
{
	ASSERT_UINT(files(), 0);
}

static void end(void)
{
	collected_deinit(&collected);
	child_end(&child);
}

TEST(a_snapshot_is_collected)
{
	start(FIRST_WHOLE);
	collect_some(&plain, true);
	ASSERT_UINT(collected.objects, 2);
	ASSERT_UINT(collected.references, 5);
	ASSERT_UINT(collected.tries, 1);
	ASSERT_UINT(collected.findings.count, 0);
	ASSERT_TEXT(child.board->message, "3 ");
	check_files();
	collected_deinit(&collected);
	ASSERT_UINT(files(), 0);
	child_end(&child);
}

TEST(what_was_lost_is_asked_for_again)
{
	start(FIRST_LOSSY);
	collect_some(&plain, true);
	ASSERT_UINT(collected.tries, 2);
	check_files();
	/* 100 events of 64 KiB, a quarter more, and 64 MB. */
	ASSERT_TEXT(child.board->message, "3 71 ");
	end();
}

TEST(what_stays_lost_is_told)
{
	start(ALWAYS_LOSSY);
	collect_some(&plain, false);
	CU_ASSERT(collected.tries >= 2 && collected.tries <= 3);
	check_finding("partial");
	check_files();
	end();
}

TEST(what_was_cut_is_kept)
{
	start(FIRST_CUT);
	collect_some(&plain, false);
	ASSERT_UINT(collected.objects, 2);
	ASSERT_UINT(collected.tries, 1);
	ASSERT_UINT(collected.findings.count, 1);
	end();
}

TEST(losses_of_other_threads_are_told)
{
	start(FIRST_UNSURE);
	collect_some(&plain, true);
	check_finding("lost-events");
	end();
}

TEST(what_was_lost_late_is_asked_for_again)
{
	start(FIRST_LATE);
	collect_some(&plain, true);
	ASSERT_UINT(collected.tries, 2);
	ASSERT_TEXT(child.board->message, "3 71 ");
	end();
}

/* A look at the whole finds this, in this order. */
struct looks {
	struct collected_check checks[4];
	unsigned int count;
};

static enum hd_status look(void *arg, int fd, struct collected_check *ret, struct hd_error *err)
{
	struct looks *looks = arg;
	(void)fd;
	(void)err;
	*ret = looks->checks[looks->count++];
	return HD_OK;
}

TEST(objects_without_references_are_asked_for_again)
{
	struct looks looks = { { { .objects = 1 }, { .objects = 2, .is_whole = true } }, 0 };
	const struct collect_options options = {
		.buffer = 3 << 20, .path = path, .check = look, .arg = &looks
	};
	start(FIRST_WHOLE);
	collect_some(&options, true);
	ASSERT_UINT(collected.tries, 2);
	ASSERT_UINT(collected.objects, 2);
	ASSERT_UINT(collected.findings.count, 0);
	end();
}

TEST(types_without_names_are_asked_for_again)
{
	const struct collected_check unnamed = { .objects = 2, .is_whole = true, .unnamed = 1 };
	struct looks looks = { { unnamed, { .snapshot = 2, .objects = 2, .is_whole = true } }, 0 };
	const struct collect_options options = {
		.buffer = 3 << 20, .path = path, .check = look, .arg = &looks
	};
	start(FIRST_WHOLE);
	collect_some(&options, true);
	ASSERT_UINT(collected.unnamed, 0);
	ASSERT_UINT(collected.snapshot, 2);
	ASSERT_UINT(collected.findings.count, 0);
	collected_deinit(&collected);
	/* It stays so. */
	looks = (struct looks){ { unnamed, unnamed, unnamed }, 0 };
	collect_some(&options, true);
	ASSERT_UINT(collected.unnamed, 1);
	check_finding("unresolved-type");
	end();
}

TEST(the_deadline_holds_for_bytes_that_trickle)
{
	start(TRICKLE);
	uint64_t began = collect_now_ms();
	const struct collect_options options = { .buffer = 3 << 20,
						 .path = path,
						 .deadline = began + 1000 };
	collect_some(&options, false);
	ASSERT_UINT(collected.tries, 1);
	/* Without a deadline it has no end. */
	CU_ASSERT(collect_now_ms() < began + 20000);
	ASSERT_UINT_FATAL(collected.findings.count, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(collected.findings.rows[0].detail, "took too long"));
	end();
}

TEST(a_process_that_stands_still_is_told)
{
	start(STANDSTILL);
	uint64_t began = collect_now_ms();
	collect_some(&plain, false);
	/* Silence would be told after 10 seconds. */
	CU_ASSERT(collect_now_ms() < began + 9000);
	ASSERT_UINT_FATAL(collected.findings.count, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(collected.findings.rows[0].detail, "was stopped"));
	end();
}

TEST(two_wait_for_each_other)
{
	start(FIRST_WHOLE);
	struct endpoint endpoint = endpoint_of(&process);
	const struct patience patience = { .deadline = collect_now_ms() + 1000 };
	int turn;
	ASSERT_UINT_FATAL(others_exclude(&endpoint, &patience, NULL, NULL, &turn, NULL), HD_OK);
	const struct collect_options options = { .buffer = 3 << 20,
						 .path = path,
						 .deadline = collect_now_ms() + 300 };
	struct hd_error err;
	ASSERT_UINT(collect(&options, &err), HD_ERR_OS);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "another heapdump"));
	(void)close(turn);
	collect_some(&plain, true);
	end();
}

static int always(void *arg)
{
	(void)arg;
	return 1;
}

TEST(a_cancelled_job_leaves_nothing)
{
	struct job job = { .cancelled = always };
	collected = (struct collected){ .file = { .fd = -1 } };
	start(FIRST_WHOLE);
	struct endpoint endpoint = endpoint_of(&process);
	ASSERT_UINT(collect_snapshot(&endpoint, &plain, &job, &collected, NULL), HD_ERR_CANCELLED);
	ASSERT_UINT(files(), 0);
	child_end(&child);
}

TEST(each_failed_allocation_is_reported)
{
	start(FIRST_WHOLE);
	for (uint64_t nth = 1; nth < 100; nth++) {
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = collect(&plain, &err);
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

SUITE(.name = "collect", .set_up = set_up, .tear_down = tear_down)
