/* SPDX-License-Identifier: MIT */
#include "faults/fault_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/turns.h"
#include "util/alloc.h"

/* Seconds that one run may take, on the slowest machine. */
#define RUN_SECONDS 300u

/* The effect that a fault may have on a command. */
enum promise {
	SAME, /* nothing: the answer is the same */
	TOLD, /* the same answer, an error, or an answer that says what is missing */
};

/* Each way in which a kind of calls goes wrong. */
static const struct way {
	enum io_call call;
	enum io_how how;
	int code;
	enum promise promise;
} ways[] = {
	{ IO_OPEN, IO_FAILS, EINTR, TOLD },
	{ IO_OPEN, IO_FAILS, EMFILE, TOLD },
	{ IO_OPEN, IO_FAILS, EACCES, TOLD },
	{ IO_OPEN, IO_FAILS, EIO, TOLD },
	{ IO_READ, IO_FAILS, EINTR, SAME },
	{ IO_READ, IO_HALF, 0, SAME },
	{ IO_READ, IO_ONE, 0, SAME },
	{ IO_READ, IO_FAILS, EIO, TOLD },
	{ IO_READ, IO_ENDS, 0, TOLD },
	{ IO_WRITE, IO_FAILS, EINTR, SAME },
	{ IO_WRITE, IO_HALF, 0, SAME },
	{ IO_WRITE, IO_ONE, 0, SAME },
	{ IO_WRITE, IO_FAILS, ENOSPC, TOLD },
	{ IO_WRITE, IO_FAILS, EIO, TOLD },
	{ IO_WRITE, IO_FAILS, EPIPE, TOLD },
	{ IO_STAT, IO_FAILS, EIO, TOLD },
	{ IO_STAT, IO_FAILS, EACCES, TOLD },
	{ IO_ACCESS, IO_FAILS, EIO, TOLD },
	{ IO_LINK_READ, IO_FAILS, EIO, TOLD },
	{ IO_MAP, IO_FAILS, ENOMEM, TOLD },
	{ IO_MAP, IO_FAILS, ENODEV, TOLD },
	{ IO_PAGES, IO_FAILS, ENOMEM, TOLD },
	{ IO_TRUNCATE, IO_FAILS, EINTR, SAME },
	{ IO_TRUNCATE, IO_FAILS, EIO, TOLD },
	{ IO_SYNC, IO_FAILS, EINTR, SAME },
	{ IO_SYNC, IO_FAILS, EIO, TOLD },
	{ IO_SYNC, IO_FAILS, ENOSPC, TOLD },
	{ IO_LINK, IO_FAILS, ENOSPC, TOLD },
	{ IO_LINK, IO_FAILS, EEXIST, TOLD },
	{ IO_RENAME, IO_FAILS, EIO, TOLD },
	{ IO_RENAME, IO_FAILS, ENOSPC, TOLD },
	{ IO_CHMOD, IO_FAILS, EPERM, TOLD },
	{ IO_CLOSE, IO_FAILS, EINTR, SAME },
	{ IO_CLOSE, IO_FAILS, EIO, TOLD },
	{ IO_DUP, IO_FAILS, EMFILE, TOLD },
	{ IO_MEMFD, IO_FAILS, EMFILE, TOLD },
	{ IO_OPENDIR, IO_FAILS, EMFILE, TOLD },
	{ IO_OPENDIR, IO_FAILS, EACCES, TOLD },
	{ IO_READDIR, IO_FAILS, EIO, TOLD },
	{ IO_SOCKET, IO_FAILS, EMFILE, TOLD },
	{ IO_CONNECT, IO_FAILS, EINTR, SAME },
	{ IO_CONNECT, IO_FAILS, EAGAIN, SAME },
	{ IO_CONNECT, IO_FAILS, ECONNREFUSED, TOLD },
	{ IO_BIND, IO_FAILS, EACCES, TOLD },
	{ IO_LISTEN, IO_FAILS, EADDRINUSE, TOLD },
	{ IO_ACCEPT, IO_FAILS, EINTR, SAME },
	{ IO_ACCEPT, IO_FAILS, ECONNABORTED, SAME },
	{ IO_ACCEPT, IO_FAILS, EMFILE, TOLD },
	{ IO_PEER, IO_FAILS, EIO, TOLD },
	{ IO_POLL, IO_FAILS, EINTR, SAME },
	{ IO_POLL, IO_FAILS, ENOMEM, TOLD },
	{ IO_SEND, IO_FAILS, EINTR, SAME },
	{ IO_SEND, IO_HALF, 0, SAME },
	{ IO_SEND, IO_ONE, 0, SAME },
	{ IO_SEND, IO_FAILS, EPIPE, TOLD },
	{ IO_RECEIVE, IO_FAILS, EINTR, SAME },
	{ IO_RECEIVE, IO_HALF, 0, SAME },
	{ IO_RECEIVE, IO_ONE, 0, SAME },
	{ IO_RECEIVE, IO_FAILS, ECONNRESET, TOLD },
	{ IO_RECEIVE, IO_ENDS, 0, TOLD },
	{ IO_PTRACE, IO_FAILS, EPERM, TOLD },
	{ IO_PTRACE, IO_FAILS, ESRCH, TOLD },
	{ IO_WAIT, IO_FAILS, EINTR, SAME },
	{ IO_VM_READ, IO_FAILS, EINTR, SAME },
	{ IO_VM_READ, IO_HALF, 0, SAME },
	{ IO_VM_READ, IO_ONE, 0, SAME },
	{ IO_VM_READ, IO_FAILS, EPERM, TOLD },
	{ IO_VM_READ, IO_FAILS, EFAULT, TOLD },
	{ IO_IOCTL, IO_FAILS, EINTR, SAME },
	{ IO_IOCTL, IO_FAILS, ENOTTY, SAME },
	{ IO_THREAD, IO_FAILS, EAGAIN, TOLD },
	{ IO_RANDOM, IO_FAILS, EAGAIN, SAME },
};

#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))

static char folder[40], file[64];
static char run_name[512]; /* for what a signal handler says */
static uint64_t injected[IO_CALL_COUNT];

/* The traces of one run. */
struct outcome {
	struct answer answer;
	struct text written; /* bytes of the file */
	bool has_file;
	struct text info; /* what info says afterwards, where that matters */
};

static void outcome_deinit(struct outcome *outcome)
{
	answer_deinit(&outcome->answer);
	text_deinit(&outcome->written);
	text_deinit(&outcome->info);
}

static void on_signal(int number)
{
	static const char why[] = ": hangs or crashes\n";
	ssize_t unused = write(STDOUT_FILENO, run_name, strlen(run_name));
	unused += write(STDOUT_FILENO, why, sizeof(why) - 1);
	(void)unused;
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

void fault_set_up(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/heapdump-test-XXXXXX");
	REQUIRE(mkdtemp(folder));
	(void)snprintf(file, sizeof(file), "%s/out", folder);
	(void)signal(SIGALRM, on_signal);
	(void)signal(SIGPIPE, SIG_IGN);
#ifndef __SANITIZE_ADDRESS__
	(void)signal(SIGSEGV, on_signal);
	(void)signal(SIGABRT, on_signal);
#endif
}

void fault_tear_down(void)
{
	(void)rmdir(folder);
}

/* Entries of a folder but . and .. */
static unsigned int count_entries(const char *path)
{
	unsigned int count = 0;
	DIR *entries = opendir(path);
	REQUIRE(entries);
	const struct dirent *entry;
	while ((entry = readdir(entries)) != NULL)
		count += entry->d_name[0] != '.';
	(void)closedir(entries);
	return count;
}

/* Remove the files of a folder. */
static void clear_folder(void)
{
	DIR *entries = opendir(folder);
	REQUIRE(entries);
	const struct dirent *entry;
	while ((entry = readdir(entries)) != NULL) {
		char path[sizeof(folder) + sizeof(entry->d_name) + 1];
		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			(void)unlink(path);
	}
	(void)closedir(entries);
}

/* Mappings of files that are not of the program itself. */
static unsigned int count_mappings(void)
{
	char line[4500];
	unsigned int count = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	REQUIRE(maps);
	while (fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');
		count += path && !strstr(path, ".so") && !strstr(path, "test_io_faults") &&
			 !strstr(path, "/locale/") && !strstr(path, "gconv");
	}
	(void)fclose(maps);
	return count;
}

/* "export OUT" with the file's name in place of OUT. */
static void full_line(const char *line, char *buf, size_t size)
{
	const char *at = strstr(line, "OUT");
	(void)snprintf(buf, size, "%.*s%s%s", at ? (int)(at - line) : (int)strlen(line), line,
		       at ? file : "", at ? at + 3 : "");
}

static void take_file(const char *line, struct outcome *outcome)
{
	char name[sizeof(file) + 40];
	const char *at = strstr(line, file);
	if (!at)
		return;
	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " "), at);
	FILE *written = fopen(name, "re");
	outcome->has_file = written;
	char bytes[65536];
	for (size_t got; written && (got = fread(bytes, 1, sizeof(bytes), written)) > 0;)
		text_append(&outcome->written, bytes, got);
	if (written)
		(void)fclose(written);
	/* The header of a .hprof ends with the time at which it was written. */
	static const char hprof[] = "JAVA PROFILE 1.0.2";
	const size_t head = sizeof(hprof) + 4;
	if (outcome->written.size >= head + 8 &&
	    memcmp(outcome->written.bytes, hprof, sizeof(hprof)) == 0)
		memset(outcome->written.bytes + head, 0, 8);
}

static bool same_text(const struct text *a, const struct text *b)
{
	return a->size == b->size && (!a->size || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* The next line of *@p at that is to be compared, and how much of it: -1 after the last. */
static int next_line(const struct fault_case *one, const char **at, const char **ret)
{
	while (**at) {
		int size = (int)strcspn(*at, "\n");
		int same = one->stable ? one->stable(*at, size) : size;
		*ret = *at;
		*at += size + ((*at)[size] != '\0');
		if (same >= 0)
			return same;
	}
	return -1;
}

static bool same_lines(const struct fault_case *one, const char *a, const char *b)
{
	for (;;) {
		const char *left = NULL, *right = NULL;
		int size = next_line(one, &a, &left);
		if (next_line(one, &b, &right) != size)
			return false;
		if (size < 0)
			return true;
		if (memcmp(left, right, (size_t)size) != 0)
			return false;
	}
}

static bool same_shown(const struct fault_case *one, const struct text *a, const struct text *b)
{
	return one->stable ? same_lines(one, a->bytes ? a->bytes : "", b->bytes ? b->bytes : "")
			   : same_text(a, b);
}

static bool same_outcome(const struct fault_case *one, const struct outcome *got,
			 const struct outcome *expected)
{
	return got->answer.status == expected->answer.status &&
	       strcmp(got->answer.err.message, expected->answer.err.message) == 0 &&
	       same_shown(one, &got->answer.text, &expected->answer.text) &&
	       same_shown(one, &got->answer.warnings, &expected->answer.warnings) &&
	       got->has_file == expected->has_file && same_text(&got->written, &expected->written);
}

/* The answer of info about a session: its findings are what is missing. */
static struct text info_of(struct hd_session *session)
{
	struct answer answer = command_run(session, "info --json");
	const char *findings = strstr(answer_text(&answer), "\"findings\"");
	struct text text = { 0 };
	text_puts(&text, findings ? findings : "");
	answer_deinit(&answer);
	return text;
}

/* Run with @p fault, or without (NULL); info is asked when the answer is not @p expected. */
static struct outcome run(const struct fault_case *one, const struct io_fault *fault,
			  const struct outcome *expected)
{
	char line[600];
	full_line(one->line, line, sizeof(line));
	struct outcome outcome = { 0 };
	struct hd_session *session = NULL;
	(void)alarm(RUN_SECONDS);
	io_faults_begin(fault);
	struct hd_error *err = &outcome.answer.err;
	enum hd_status status = hd_session_create(&session, err);
	for (unsigned int i = 0; status == HD_OK && i < 4 && one->settings[i][0]; i++)
		status = hd_session_set(session, one->settings[i][0], one->settings[i][1], err);
	if (status == HD_OK && one->target)
		status = hd_session_defer(session, one->target, err);
	if (status == HD_OK) {
		outcome.answer = command_run(session, line);
	} else {
		outcome.answer.status = HD_EXIT_INPUT;
	}
	take_file(line, &outcome);
	if (outcome.answer.status <= HD_EXIT_FINDINGS &&
	    (!expected || !same_outcome(one, &outcome, expected)))
		outcome.info = info_of(session);
	hd_session_destroy(session);
	io_faults_end();
	(void)alarm(0);
	return outcome;
}

/* Does the answer, or info after it, say more about what is missing than without the fault? */
static bool is_told(const struct fault_case *one, const struct outcome *got,
		    const struct outcome *expected)
{
	return (one->unknown && strstr(answer_text(&got->answer), one->unknown)) ||
	       got->answer.warnings.size > expected->answer.warnings.size ||
	       got->info.size > expected->info.size;
}

/* The mistake in an outcome, or NULL. */
static const char *breach(const struct fault_case *one, const struct outcome *got,
			  const struct outcome *expected, enum promise promise)
{
	const struct answer *answer = &got->answer;
	if (same_outcome(one, got, expected))
		return NULL;
	if (promise == SAME)
		return "the answer changes";
	if (answer->status > HD_EXIT_FINDINGS) {
		if (answer->status != HD_EXIT_INPUT)
			return "the status is not that of an error of the input";
		if (!*answer->err.message || strchr(answer->err.message, '\n'))
			return "the error is not one line";
		return got->has_file ? "a file is left" : NULL;
	}
	if (got->has_file != expected->has_file)
		return "there is no file";
	return is_told(one, got, expected) ? NULL : "the answer changes without a word";
}

/* The first line of @p a that @p b has not there; its length in *@p ret. */
static const char *first_difference(const char *a, const char *b, int *ret)
{
	while (*a && *b && strcspn(a, "\n") == strcspn(b, "\n") &&
	       memcmp(a, b, strcspn(a, "\n")) == 0) {
		a += strcspn(a, "\n") + (a[strcspn(a, "\n")] != '\0');
		b += strcspn(b, "\n") + (b[strcspn(b, "\n")] != '\0');
	}
	*ret = (int)strcspn(a, "\n");
	return a;
}

static const char *how_name(const struct way *way)
{
	static const char *const names[] = {
		[IO_HALF] = "half", [IO_ONE] = "one byte", [IO_ENDS] = "end"
	};
	return way->how == IO_FAILS ? strerrorname_np(way->code) : names[way->how];
}

/* For reading by a person: what each fault leads to. */
static void write_log(const struct outcome *got, const struct outcome *expected)
{
	const char *path = getenv("HEAPDUMP_FAULT_LOG");
	FILE *log = path ? fopen(path, "ae") : NULL;
	if (!log)
		return;
	(void)fprintf(log, "%s\t%d\t%s\t%s\n", run_name, got->answer.status,
		      got->answer.err.message,
		      got->answer.warnings.size > expected->answer.warnings.size
			      ? got->answer.warnings.bytes
		      : got->info.size > expected->info.size ? got->info.bytes
							     : "");
	(void)fclose(log);
}

/* Run with one fault; false when no call went wrong. */
static bool check_one(const struct fault_case *one, const struct way *way, uint64_t first,
		      uint64_t last, const struct outcome *expected)
{
	const struct io_fault fault = { way->call, way->how, way->code, first, last };
	(void)snprintf(run_name, sizeof(run_name), "%.160s: %s: %s %s at call %llu%s",
		       one->target ? one->target : "(nothing)", one->line, io_call_name(way->call),
		       how_name(way), (unsigned long long)first, first == last ? "" : " and after");
	if (one->is_ignored && one->is_ignored(&fault))
		return false;
	unsigned int files = count_entries("/proc/self/fd"), mappings = count_mappings();
	struct outcome got = run(one, &fault, expected);
	bool was_hit = io_hits() > 0;
	injected[way->call] += was_hit;
	const char *problem = was_hit ? breach(one, &got, expected, way->promise) : NULL;
	if (!problem && count_entries("/proc/self/fd") != files)
		problem = "a file stays open";
	if (!problem && count_mappings() != mappings)
		problem = "a file stays mapped";
	if (!problem && waitpid(-1, NULL, WNOHANG | __WALL) > 0)
		problem = "a child is left";
	if (!problem && count_entries(folder) > got.has_file)
		problem = "a file of its own is left";
	if (problem) {
		char text[2400];
		int length;
		const char *line = first_difference(answer_text(&got.answer),
						    answer_text(&expected->answer), &length);
		(void)snprintf(text, sizeof(text),
			       "%s: %s (status %d for %d, \"%.300s\", answer \"%.*s\", warned "
			       "\"%.200s\")",
			       run_name, problem, got.answer.status, expected->answer.status,
			       got.answer.err.message, length < 200 ? length : 200, line,
			       got.answer.warnings.bytes ? got.answer.warnings.bytes : "");
		(void)CU_assertImplementation(CU_FALSE, __LINE__, text, __FILE__, "", CU_FALSE);
	}
	write_log(&got, expected);
	outcome_deinit(&got);
	clear_folder();
	return was_hit;
}

static void check_way(const struct fault_case *one, const struct way *way, uint64_t count,
		      const struct outcome *expected)
{
	unsigned int most = turns_all() ? 2000 : one->most;
	uint64_t tries = count < most ? count : most;
	for (uint64_t i = 0; i < tries; i++) {
		/* The last one too. */
		uint64_t nth = tries == 1 ? 1 : 1 + i * (count - 1) / (tries - 1);
		(void)check_one(one, way, nth, nth, expected);
		/* A call that is interrupted for ever never ends. */
		if (way->how == IO_FAILS && way->promise == SAME)
			(void)check_one(one, way, nth, nth + 2, expected);
		/* A poll() that always fails is waited for as long as one without an answer. */
		if (way->how == IO_FAILS && way->promise == TOLD && way->call != IO_POLL)
			(void)check_one(one, way, nth, UINT64_MAX, expected);
	}
	/* Megabytes of a process byte by byte take minutes. */
	if (way->how == IO_HALF || (way->how == IO_ONE && way->call != IO_VM_READ))
		(void)check_one(one, way, 1, UINT64_MAX, expected);
}

void fault_check(const struct fault_case *one)
{
	(void)snprintf(run_name, sizeof(run_name), "%.160s: %s",
		       one->target ? one->target : "(nothing)", one->line);
	struct outcome expected = run(one, NULL, NULL);
	uint64_t counts[IO_CALL_COUNT];
	for (unsigned int i = 0; i < IO_CALL_COUNT; i++)
		counts[i] = io_calls((enum io_call)i);
	clear_folder();
	struct outcome again = run(one, NULL, NULL);
	clear_folder();
	bool is_same = same_outcome(one, &again, &expected);
	if (!is_same || expected.answer.status > HD_EXIT_USAGE) {
		char text[2400];
		(void)snprintf(text, sizeof(text),
			       "%s: %s: status %d, %s; \"%.600s\" and then \"%.600s\"", run_name,
			       is_same ? "cannot be run" : "differs each time",
			       expected.answer.status, expected.answer.err.message,
			       answer_text(&expected.answer), answer_text(&again.answer));
		(void)CU_assertImplementation(CU_FALSE, __LINE__, text, __FILE__, "", CU_FALSE);
	}
	outcome_deinit(&again);
	const unsigned int share = (one->share ? one->share : 1) * share_of(2, 4);
	for (size_t i = 0; is_same && i < WAY_COUNT; i++) {
		if (!is_turn(i + one->turn, share))
			continue;
		if (counts[ways[i].call])
			check_way(one, &ways[i], counts[ways[i].call], &expected);
	}
	outcome_deinit(&expected);
}

void fault_report(const char *what)
{
	uint64_t all = 0;
	for (unsigned int i = 0; i < IO_CALL_COUNT; i++)
		all += injected[i];
	(void)printf("\n    %s: %llu faults:", what, (unsigned long long)all);
	for (unsigned int i = 0; i < IO_CALL_COUNT; i++) {
		if (injected[i]) {
			(void)printf(" %s %llu", io_call_name((enum io_call)i),
				     (unsigned long long)injected[i]);
		}
		injected[i] = 0;
	}
	(void)printf("\n");
}
