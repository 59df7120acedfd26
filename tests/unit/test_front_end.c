/* SPDX-License-Identifier: MIT */
/*
 * Tests what front ends need besides running commands: completion, kept answers, SIGINT, the table.
 */
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "collect/discover.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/dump_text.h"
#include "support/suite.h"

#define DUMP                                                                          \
	"a 2 x\nt 1 System.String\nt 2 System.Object[]\nt 3 Program\nt 4 a\\u000ab\n" \
	"o 10 1 8\nr 10 3 0\nc x\n"

static struct hd_session *session;

static void set_up(void)
{
	session = session_with(DUMP);
}

static void tear_down(void)
{
	hd_session_destroy(session);
}

static void add(void *arg, const char *candidate)
{
	text_puts(arg, candidate);
	text_puts(arg, " ");
}

/* Complete the last word; the candidates with a blank after each. */
static int complete(struct hd_session *with, const char *line, struct text *ret)
{
	char buf[200];
	const char *argv[12];
	int argc = command_words(line, buf, sizeof(buf), argv, 12);
	*ret = (struct text){ 0 };
	return hd_command_complete(with, argc, argv, add, ret);
}

static void check_completion(const char *line, const char *expected)
{
	struct text got;
	CU_ASSERT_EQUAL(complete(session, line, &got), 0);
	if (strcmp(got.bytes ? got.bytes : "", expected) != 0)
		(void)printf("%s:\n", line);
	ASSERT_TEXT(got.bytes ? got.bytes : "", expected);
	text_deinit(&got);
}

TEST(commands_are_completed)
{
	check_completion("gc", "gcwhere gcroot gchandles gcheapstat gcinfo ");
	check_completion("gcr", "gcroot ");
	check_completion("gcroot", "gcroot ");
	check_completion("dumph", "dumpheap dumphttp ");
	check_completion("di", "diff ");
	check_completion("x", "");
	check_completion("help gc", "gcwhere gcroot gchandles gcheapstat gcinfo ");
	check_completion("nonsense ''", "");
	struct text all;
	CU_ASSERT_EQUAL(complete(session, "''", &all), 0);
	REQUIRE(all.bytes);
	struct hd_command_info info;
	for (size_t i = 0; hd_command_at(i, &info) == 0; i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(all.bytes, info.name));
	text_deinit(&all);
	CU_ASSERT_EQUAL(hd_command_complete(session, 0, NULL, add, NULL), 0);
}

TEST(options_are_completed)
{
	check_completion("dumpheap -st", "-stat -strings ");
	check_completion("dumpheap -m", "-mt -min -max ");
	check_completion("dumpheap --m", "--mt --min --max --max-mem --max-stop ");
	check_completion("dumpheap --js", "--json ");
	check_completion("info --len", "--lenient ");
	check_completion("gcroot 10 -no", "-nostacks ");
	check_completion("gcroot -zz", "");
}

TEST(values_are_completed)
{
	check_completion("dumpheap -type Sys", "System.String System.Object[] ");
	check_completion("dumpheap -type System.S", "System.String ");
	check_completion("dumpheap -type a", "a\\u000ab ");
	check_completion("roots -kind st", "stack static ");
	check_completion("roots -flag ''", "pinned weak interior conservative ");
	check_completion("roots --color o", "on off ");
	check_completion("set w", "workers width ");
	check_completion("set width ''", "");
	check_completion("set color o", "on off ");
	check_completion("set backend ''", "auto file process debugger ");
	check_completion("set nosuch ''", "");
	check_completion("gchandles -type P", "Pinned ");
	check_completion("gchandles -TYPE Weak",
			 "WeakLong WeakShort WeakNativeCom WeakInteriorPointer ");
	check_completion("dumpgen g", "gen0 gen1 gen2 ");
	check_completion("dumpgen -stat p", "poh ");
	check_completion("gcroot ''", "System.String System.Object[] Program a\\u000ab ");
	check_completion("dumpheap -mt Pro", "Program ");
	check_completion("dumpobj ''", "");
	check_completion("dumpheap -limit ''", "");
	struct text got;
	CU_ASSERT_EQUAL(complete(NULL, "dumpheap -type Sys", &got), 0);
	CU_ASSERT_PTR_NULL(got.bytes);
}

/* This one, which has the socket of one while it is asked. */
TEST(processes_are_completed)
{
	struct process_stat own;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *folder = getenv("TMPDIR");
	int pid = getpid(), listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_FATAL(listener >= 0 && process_stat_read(pid, &own));
	(void)snprintf(address.sun_path, sizeof(address.sun_path),
		       "%s/dotnet-diagnostic-%d-%" PRIu64 "-socket",
		       folder && *folder ? folder : "/tmp", pid, own.start_time);
	char line[32], expected[32];
	(void)snprintf(line, sizeof(line), "collect %d", pid);
	(void)snprintf(expected, sizeof(expected), "%d ", pid);
	check_completion(line, "");
	CU_ASSERT_FATAL(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	check_completion(line, expected);
	struct text all;
	CU_ASSERT_EQUAL(complete(session, "collect -live ''", &all), 0);
	CU_ASSERT(all.bytes && strstr(all.bytes, expected));
	text_deinit(&all);
	check_completion("collect 1x", "");
	CU_ASSERT(unlink(address.sun_path) == 0 && close(listener) == 0);
}

TEST(files_are_left_to_the_front_end)
{
	static const char *const lines[] = { "open x",           "open ''",
					     "diff x",           "export x",
					     "diff -type Sys x", "export --format rpm x",
					     "open --lenient x" };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct text got;
		CU_ASSERT_EQUAL(complete(session, lines[i], &got), 1);
		CU_ASSERT_PTR_NULL(got.bytes);
	}
	check_completion("open x y", "");
}

TEST(questions_about_the_heap_are_at_top_level)
{
	static const char *const top[] = { "gcroot", "types", "sql", "dumpheap", "dumpobj" };
	static const char *const own[] = { "info", "export", "collect", "ps",
					   "open", "close",  "set",     "help" };
	struct hd_command_info info;
	size_t count = 0, marked = 0;
	for (; hd_command_at(count, &info) == 0; count++) {
		REQUIRE(info.name);
		REQUIRE(info.summary);
		CU_ASSERT(strlen(info.summary) > 5);
		CU_ASSERT(info.summary[strlen(info.summary) - 1] != '.');
		for (size_t i = 0; i < 5; i++)
			marked += info.is_top_level && strcmp(info.name, top[i]) == 0;
		for (size_t i = 0; i < 8; i++)
			CU_ASSERT(!info.is_top_level || strcmp(info.name, own[i]) != 0);
	}
	ASSERT_UINT(marked, 5);
	CU_ASSERT(count >= 16);
	info.name = "untouched";
	CU_ASSERT_EQUAL(hd_command_at(count, &info), -1);
	ASSERT_TEXT(info.name, "untouched");
}

static int take(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return 0;
}

static int refuse(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	return bytes && size;
}

/* Lines that go on with an indent become one. */
static void unbreak(char *text)
{
	char *to = text;
	for (const char *at = text; *at; at++) {
		if (*at == '\n' && strncmp(at + 1, "      ", 6) == 0) {
			at += strspn(at + 1, " ");
			*to++ = ' ';
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
}

TEST(help_describes_every_command)
{
	struct hd_command_info info;
	for (size_t i = 0; hd_command_at(i, &info) == 0; i++) {
		struct text text = { 0 };
		const struct hd_sink sink = { .struct_size = sizeof(sink),
					      .arg = &text,
					      .write = take };
		ASSERT_UINT(hd_command_help(info.name, &sink, NULL), HD_OK);
		REQUIRE(text.bytes);
		CU_ASSERT_PTR_NOT_NULL(strstr(text.bytes, "Usage: "));
		CU_ASSERT_PTR_NOT_NULL(strstr(text.bytes, "help options"));
		CU_ASSERT_PTR_NOT_NULL(strstr(text.bytes, "Example: "));
		text_deinit(&text);
	}
	struct text text = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = &text, .write = take };
	const struct hd_sink closed = { .struct_size = sizeof(closed), .write = refuse };
	struct hd_error err = { 0 };
	ASSERT_UINT(hd_command_help("nonsense", &sink, &err), HD_ERR_NOTFOUND);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "nonsense"));
	ASSERT_UINT(text.size, 0);
	ASSERT_UINT(hd_command_help(NULL, &closed, &err), HD_ERR_CANCELLED);
	ASSERT_UINT(hd_command_help(NULL, &sink, &err), HD_OK);
	unbreak(text.bytes);
	for (size_t i = 0; hd_command_at(i, &info) == 0; i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(text.bytes, info.summary));
	text_deinit(&text);
}

TEST(a_sink_of_another_version_is_refused)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink) - 8, .write = refuse };
	const char *argv[] = { "help" };
	struct hd_text *text = NULL;
	struct hd_error err = { 0 };
	CU_ASSERT_EQUAL(hd_command_run(session, 1, argv, &sink, &err), HD_EXIT_USAGE);
	ASSERT_UINT(err.status, HD_ERR_ARGUMENT);
	CU_ASSERT_EQUAL(hd_text_run(session, 1, argv, &sink, &text, &err), HD_EXIT_USAGE);
	CU_ASSERT_PTR_NULL(text);
}

/* Run with the answer kept, and take it out in pieces of @p piece bytes. */
static struct text kept(const char *line, size_t piece, int expected_status)
{
	char buf[200], block[65536];
	const char *argv[12];
	int argc = command_words(line, buf, sizeof(buf), argv, 12);
	const struct hd_sink sink = { .struct_size = sizeof(sink) };
	struct hd_text *text = NULL;
	struct hd_error err = { 0 };
	CU_ASSERT_EQUAL(hd_text_run(session, argc, argv, &sink, &text, &err), expected_status);
	struct text whole = { 0 };
	REQUIRE(text);
	for (size_t got; (got = hd_text_read(text, block, piece)) > 0;)
		text_append(&whole, block, got);
	ASSERT_UINT(hd_text_read(text, block, piece), 0);
	hd_text_free(text);
	return whole;
}

TEST(kept_answers_are_what_a_sink_gets)
{
	static const char *const lines[] = { "gcroot 10", "info --json", "help",
					     "gcroot 11 --json" };
	for (size_t i = 0; i < 4; i++) {
		struct answer answer = command_run(session, lines[i]);
		struct text a = kept(lines[i], 1, answer.status);
		struct text b = kept(lines[i], 65536, answer.status);
		ASSERT_TEXT(a.bytes, answer_text(&answer));
		ASSERT_TEXT(b.bytes, answer_text(&answer));
		text_deinit(&a);
		text_deinit(&b);
		answer_deinit(&answer);
	}
	hd_text_free(NULL);
}

TEST(long_answers_are_kept_too)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x\nt 1 T\n");
	for (unsigned int i = 1; i <= 750000; i++)
		text_printf(&text, "o %x 1 8\n", i);
	text_puts(&text, "c x\n");
	hd_session_destroy(session);
	session = session_with(text.bytes);
	text_deinit(&text);
	struct answer answer = command_run(session, "dumpheap");
	CU_ASSERT(answer.text.size > (size_t)33 << 20);
	struct text whole = kept("dumpheap", 65536, HD_EXIT_OK);
	ASSERT_UINT(whole.size, answer.text.size);
	CU_ASSERT(whole.size == answer.text.size &&
		  memcmp(whole.bytes, answer.text.bytes, whole.size) == 0);
	text_deinit(&whole);
	answer_deinit(&answer);
}

/* From here on no file of this process may be larger, as with ulimit -f. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;
	CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* Bytes of the file without a name that this process has open. */
static rlim_t nameless_size(void)
{
	for (int fd = 3; fd < 100; fd++) {
		struct stat file;
		if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && !file.st_nlink)
			return (rlim_t)file.st_size;
	}
	return 0;
}

/* Run with the answer kept, under a limit; bytes of the file that a part of it went to. */
static rlim_t kept_under(rlim_t limit, int expected_status)
{
	const char *argv[] = { "dumpheap" };
	const struct hd_sink sink = { .struct_size = sizeof(sink) };
	struct hd_text *text = NULL;
	struct hd_error err = { 0 };
	limit_files(limit);
	int status = hd_text_run(session, 1, argv, &sink, &text, &err);
	limit_files(RLIM_INFINITY);
	REQUIRE(text);
	rlim_t size = nameless_size();
	hd_text_free(text);
	CU_ASSERT_EQUAL(status, expected_status);
	if (status != HD_EXIT_OK) {
		CU_ASSERT(strstr(err.message, "cannot keep the answer") != NULL);
		CU_ASSERT(strstr(err.message, "File too large") != NULL);
	}
	return size;
}

/* Also when the very last bytes do not fit, which are written after the command. */
TEST(long_answers_that_do_not_fit_are_told)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x\nt 1 T\n");
	for (unsigned int i = 1; i <= 750000; i++)
		text_printf(&text, "o %x 1 8\n", i);
	text_puts(&text, "c x\n");
	hd_session_destroy(session);
	session = session_with(text.bytes);
	text_deinit(&text);
	rlim_t size = kept_under(RLIM_INFINITY, HD_EXIT_OK);
	CU_ASSERT_FATAL(size > 1);
	(void)kept_under(size, HD_EXIT_OK);
	(void)kept_under(size - 1, HD_EXIT_INPUT);
	(void)kept_under(1, HD_EXIT_INPUT);
}

/* Nor does it bind the memory that a core is unpacked into. */
TEST(a_limit_on_files_does_not_end_the_host)
{
	struct hd_error err = { 0 };
	char line[64];
	(void)snprintf(line, sizeof(line), "export /tmp/heapdump-test-%d.heap", (int)getpid());
	limit_files(4);
	struct answer answer = command_run(session, line);
	enum hd_status status =
		hd_session_open(session, HD_SOURCE_DIR "/corefiles/leak.core.zst", 0, NULL, &err);
	limit_files(RLIM_INFINITY);
	CU_ASSERT_EQUAL(answer.status, HD_EXIT_INPUT);
	CU_ASSERT(strstr(answer.err.message, "cannot write: File too large") != NULL);
	answer_deinit(&answer);
	ASSERT_UINT(status, HD_OK);
	sigset_t pending, blocked;
	CU_ASSERT(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
	CU_ASSERT(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGXFSZ));
}

static int is_interrupted(void *arg)
{
	(void)arg;
	return 1;
}

TEST(outputs_are_opened)
{
	struct hd_error err = { 0 };
	struct hd_sink sink = { .struct_size = sizeof(sink), .cancelled = is_interrupted };
	char path[] = "/tmp/heapdump-test-XXXXXX", name[64];
	REQUIRE(mkdtemp(path));
	(void)snprintf(name, sizeof(name), "%s/fifo", path);
	int fd = -1;
	CU_ASSERT_FATAL(mkfifo(name, 0600) == 0);
	ASSERT_UINT(hd_output_open(name, 0, &sink, &fd, &err), HD_ERR_CANCELLED);
	CU_ASSERT_FATAL(unlink(name) == 0);
	ASSERT_UINT(hd_output_open(name, 0, &sink, &fd, &err), HD_OK);
	CU_ASSERT(fd >= 0 && close(fd) == 0 && unlink(name) == 0 && rmdir(path) == 0);
	ASSERT_UINT(hd_output_open(name, 0, NULL, &fd, &err), HD_ERR_OS);
	ASSERT_UINT(hd_output_open(NULL, 0, NULL, &fd, &err), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_output_open(name, 0, NULL, NULL, &err), HD_ERR_ARGUMENT);
	sink.struct_size--;
	ASSERT_UINT(hd_output_open(name, 0, &sink, &fd, &err), HD_ERR_ARGUMENT);
}

TEST(warnings_are_kept)
{
	struct dump_file file;
	static const char text[] = "a 2 x\nt 1 T\n";
	dump_file_make(&file, text, sizeof(text) - 1);
	CU_ASSERT_FATAL(hd_session_defer(session, file.path, NULL) == HD_OK);
	const char *const argv[] = { "types" };
	const struct hd_sink sink = { .struct_size = sizeof(sink) };
	struct hd_text *answer = NULL;
	CU_ASSERT_EQUAL(hd_text_run(session, 1, argv, &sink, &answer, NULL), HD_EXIT_OK);
	REQUIRE(answer);
	const char *warnings = hd_text_warnings(answer);
	CU_ASSERT_PTR_NOT_NULL(strstr(warnings, "missing-end-record"));
	CU_ASSERT(strlen(warnings) > 0 && warnings[strlen(warnings) - 1] == '\n');
	hd_text_free(answer);
	dump_file_close(&file);
	CU_ASSERT_EQUAL(hd_text_run(session, 1, argv, &sink, &answer, NULL), HD_EXIT_OK);
	ASSERT_TEXT(hd_text_warnings(answer), "");
	hd_text_free(answer);
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	(void)signal;
	handled++;
}

TEST(sigint_is_taken_and_given_back)
{
	struct sigaction action = { .sa_handler = handle }, old, now;
	CU_ASSERT_FATAL(sigaction(SIGINT, &action, &old) == 0);
	handled = 0;
	hd_interrupt_begin();
	CU_ASSERT(!hd_interrupted());
	(void)raise(SIGINT);
	CU_ASSERT(hd_interrupted());
	hd_interrupt_begin();
	(void)raise(SIGINT);
	(void)hd_interrupt_end();
	(void)raise(SIGINT);
	CU_ASSERT(hd_interrupt_end() >= 2);
	CU_ASSERT_EQUAL(handled, 0);
	(void)raise(SIGINT);
	CU_ASSERT_EQUAL(handled, 1);
	CU_ASSERT(sigaction(SIGINT, &old, &now) == 0);
	CU_ASSERT(now.sa_handler == handle);
	hd_interrupt_begin();
	CU_ASSERT(!hd_interrupted());
	CU_ASSERT_EQUAL(hd_interrupt_end(), 0);
}

SUITE(.name = "front end", .set_up = set_up, .tear_down = tear_down)
