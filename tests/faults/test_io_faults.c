/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults/fake_runtime.h"
#include "faults/fault_run.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "targets/unpack.h"

/*
 * Every system call of every command goes wrong once, in every way it can.  What is interrupted or
 * short changes nothing; what fails is told, in an error or beside the answer, and leaves nothing.
 */

#define DATA HD_SOURCE_DIR "/tests/data/"
#define LOG  HD_SOURCE_DIR "/corefiles/bubblecs.heap"

#define PACKED HD_SOURCE_DIR "/corefiles/leak.core.zst"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void check_lines(const char *target, const char *const *lines, size_t count,
			unsigned int most, unsigned int share)
{
	for (size_t i = 0; i < count; i++) {
		const struct fault_case one = { .target = target,
						.line = lines[i],
						.settings = { { "workers", "1" } },
						.most = most,
						.share = share,
						.turn = (unsigned int)i };
		fault_check(&one);
	}
	fault_report(target);
}

/* Commands about a graph, of a text log. */
static const char *const log_lines[] = {
	"triage",
	"gcroot 1ce056",
	"gcroot -type BubbleCS.Bubble --json",
	"pathto 1ce03a 1ce056",
	"objsize 1ce056 -stat",
	"referrers BubbleCS.Bubble",
	"retained 1ce056",
	"assert -max BubbleCS.Bubble=1 -max-bytes *=9",
	"assert -max-heap 1K -max-growth 5% -against " LOG,
	"retained -type Bubble",
	"dominators -top 5",
	"dumpheap -stat",
	"dumpheap --json",
	"dumpobj 1ce056 -refs",
	"roots -stat",
	"types",
	"info",
	"info --json",
	"sql SELECT type, count(*) FROM objects GROUP BY type",
	"diff " DATA "before.heap",
	"diff " DATA "small300.gcdump --json",
	"report -against " DATA "small300.gcdump",
	"export OUT.heap",
	"export OUT.gcdump",
	"export OUT.heapsnapshot",
	"export OUT.hprof",
	"export OUT.arrows",
	"sql -o OUT.parquet SELECT type, size, address FROM objects",
	"sql -o OUT.csv SELECT * FROM refs",
	"export -",
	"help",
	"help gcroot",
	"set",
	"set max-mem 2G",
	"open " DATA "before.heap",
	"close",
	"notreachableinrange 1ce000 1ce100",
};

/* A name of 900 bytes, 40,000 times: the answer does not fit into the memory for it. */
static struct hd_session *session_with_long_answer(void)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x 1\nt 1 ");
	for (unsigned int i = 0; i < 100; i++)
		text_puts(&text, "Namespace");
	text_puts(&text, "\n");
	for (unsigned int i = 0; i < 40000; i++)
		text_printf(&text, "o %x 1 8\n", 0x1000 + i * 16);
	text_puts(&text, "c x\n");
	struct hd_session *session = session_with(text.bytes);
	text_deinit(&text);
	return session;
}

/* Keep an answer and take it out again: its size, and what was told, "" if nothing. */
static size_t keep_answer(struct hd_session *session, const struct io_fault *fault, char *told,
			  size_t told_size)
{
	static char buf[65536];
	const char *const argv[] = { "dumpheap", "--json" };
	const struct hd_sink sink = { .struct_size = sizeof(sink) };
	struct hd_text *text = NULL;
	struct hd_error err = { 0 };
	size_t size = 0;
	io_faults_begin(fault);
	int status = hd_text_run(session, 2, argv, &sink, &text, &err);
	for (size_t got; text && (got = hd_text_read(text, buf, sizeof(buf))) > 0;)
		size += got;
	if (status == HD_EXIT_OK)
		status = hd_text_check(text, &err) == HD_OK ? HD_EXIT_OK : HD_EXIT_INPUT;
	io_faults_end();
	hd_text_free(text);
	(void)snprintf(told, told_size, "%.250s", status == HD_EXIT_OK ? "" : err.message);
	return size;
}

TEST_OF(files, a_kept_answer)
{
	static const struct io_fault faults[] = {
		{ IO_OPEN, IO_FAILS, EMFILE, 1, UINT64_MAX },
		{ IO_WRITE, IO_FAILS, ENOSPC, 1, 1 },
		{ IO_WRITE, IO_FAILS, ENOSPC, 20, UINT64_MAX },
		{ IO_WRITE, IO_FAILS, EINTR, 3, 5 },
		{ IO_WRITE, IO_HALF, 0, 1, UINT64_MAX },
		{ IO_READ, IO_FAILS, EINTR, 2, 4 },
		{ IO_READ, IO_HALF, 0, 1, UINT64_MAX },
		{ IO_READ, IO_FAILS, EIO, 3, 3 },
		{ IO_READ, IO_ENDS, 0, 3, UINT64_MAX },
	};
	struct hd_session *session = session_with_long_answer();
	char told[300];
	size_t whole = keep_answer(session, NULL, told, sizeof(told));
	ASSERT_TEXT(told, "");
	CU_ASSERT(whole > (size_t)33 << 20);
	for (size_t i = 0; i < COUNT(faults); i++) {
		size_t size = keep_answer(session, &faults[i], told, sizeof(told));
		CU_ASSERT(io_hits() > 0);
		bool is_same = faults[i].how == IO_HALF || faults[i].code == EINTR;
		CU_ASSERT(is_same ? size == whole && !*told : *told != '\0');
		if (!is_same) {
			CU_ASSERT(strncmp(told, "cannot keep the answer", 22) == 0);
		}
	}
	hd_session_destroy(session);
}

TEST_OF(files, a_text_log)
{
	check_lines(LOG, log_lines, COUNT(log_lines), 6, 0);
}

static const char *const dump_lines[] = {
	"info",
	"dumpheap -stat",
	"gcroot -type String",
	"diff " DATA "small1000.gcdump",
	"export OUT.heap",
	"export OUT.gcdump",
	"export OUT.heapsnapshot --json",
	"export OUT.sqlite",
	"open --exact " DATA "small300_v6.nettrace",
};

TEST_OF(files, gcdumps)
{
	check_lines(DATA "small300.gcdump", dump_lines, COUNT(dump_lines), 8, 0);
}

TEST_OF(files, nettraces)
{
	check_lines(DATA "small300.nettrace", dump_lines, COUNT(dump_lines), 4, 0);
	check_lines(DATA "small300_v6.nettrace", dump_lines, COUNT(dump_lines), 4, 0);
}

static const char *const hprof_lines[] = {
	"info",
	"dumpheap -stat",
	"roots",
	"dominators -top 5",
	"report",
	"export OUT.heap",
	"export OUT.gcdump",
	"export OUT.hprof",
	"diff " DATA "small300.gcdump",
};

TEST_OF(files, hprofs)
{
	check_lines(DATA "made.hprof", hprof_lines, COUNT(hprof_lines), 8, 0);
}

/* Commands about a heap, of a core. */
static const char *const core_lines[] = {
	"triage",
	"info",
	"info -layout --json",
	"dumpheap -stat -type WebShop",
	"dumpobj 7f039fe5a158 -refs",
	"dumparray 7f039fe68318 -length 20 -details",
	"dumpcollection 7f039fc0f268 -limit 20",
	"dumpconcurrentdictionary 7f039d0000d0",
	"dumpconcurrentqueue 7f039d0000d0",
	"dumpvc 7f0f79550a08 7f039fe5a188",
	"dumpmt 7f0f79550c38",
	"dumpclass 7f0f79550c38",
	"printexception",
	"dumpdelegate 7f039d0bc268",
	"strings -limit 5",
	"sql SELECT count(*) FROM fields WHERE object = 0x7f039fe5a158",
	"syncblk",
	"eeheap",
	"eeheap -loader",
	"verifyheap",
	"verifyobj 7f039fe5a158",
	"gcwhere 7f039fe5a158",
	"db 7f039fe5a158",
	"dw 7f039fe5a158",
	"dd 7f039fe5a158",
	"dc 7f039fe5a158",
	"dp 7f039fe5a158 -count 2",
	"dq 7f039fe5a158 -count 4",
	"du 7f039d8009bc",
	"registers",
	"symbolize " DATA "perf_script.txt",
	"listnearobj 7f039fe5a158",
	"clrthreads",
	"clrstack -all -roots",
	"clrstack -all -n",
	"parallelstacks -a",
	"waits -all",
	"hang",
	"threadpool -wi",
	"threadpoolqueue",
	"timerinfo",
	"dumpasync",
	"dumpasync -tasks",
	"dumptasks",
	"taskstate -v 0",
	"name2ee * WebShop.Session",
	"ip2md 7f0f794a1bb0",
	"dumpmd 7f0f7953e830",
	"dumpmt 7f0f79550c38 -md",
	"name2ee WebShop!WebShop.Program.Main",
	"token2ee * 06000001",
	"gchandles -stat",
	"finalizequeue",
	"dumpgen gen2 -type WebShop",
	"gcheapstat",
	"notreachableinrange 7f039fe5a000 7f039fe5b000",
	"ephrefs -stat",
	"ephtoloh -stat",
	"balance",
	"gcroot 7f039fe5a158",
	"roots -stat",
	"referrers WebShop.Session",
	"retained 7f039fe5a158",
	"assert -max WebShop.Session=100 -markdown",
	"retained WebShop.Session",
	"export OUT.gcdump",
	"export OUT.hprof",
	"export OUT.arrows -table strings",
	"diff " LOG,
	"dumpexceptions",
	"dumphttp",
	"dumprequests",
	"dumpil 7f0f7953e830",
	"clru 7f0f7953e830",
	"gcinfo 7f0f7953e830",
	"ehinfo 7f0f7953e850",
	"dumpsig 7f0ff80220ea 7f0f79538438",
	"dumpsigelem 7f0ff80220ee 7f0f79538438",
	"clrmodules",
	"modules",
	"dumpmodule 7f0f78464000",
	"dumpassembly 562f8f690dc0",
	"dumpdomain",
	"dumpalc",
	"eeversion",
	"crashinfo",
	"analyzeoom",
	"sizestats",
	"threads",
	"threadstate 21220",
	"setthread 1",
	"dumpstackobjects -all -verify",
	"dumpstackobjects 7ffd79764000 7ffd79768000",
	"report",
	"report -o OUT.html",
	"report -o OUT.json",
	"report -minutes 5 -against " PACKED,
	"memory",
	"memory -detail",
	"memory -live",
	"memory -detail -against " PACKED,
	"maddress -images -reserve",
	"maddress -reserve -reserveHeuristic -list Stack,gc",
};

static char core_folder[40], core_path[60];

/* Unpack the core, holes as holes. */
static int core_set_up(void)
{
	struct mapped_file file;
	struct job job = { 0 };
	struct findings findings = { 0 };
	(void)snprintf(core_folder, sizeof(core_folder), "/tmp/heapdump-core-XXXXXX");
	if (!mkdtemp(core_folder))
		return 1;
	(void)snprintf(core_path, sizeof(core_path), "%s/leak.core", core_folder);
	int fd = open(core_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bool good = fd >= 0 && mapped_file_open(PACKED, &file, NULL) == HD_OK &&
		    unpack_file(&file, PACKED, 0, &job, &findings, NULL) == HD_OK;
	static const uint8_t zeros[4096];
	for (uint64_t at = 0; good && at < file.size; at += sizeof(zeros)) {
		size_t size =
			file.size - at < sizeof(zeros) ? (size_t)(file.size - at) : sizeof(zeros);
		if (memcmp(file.bytes + at, zeros, size) != 0)
			good = pwrite(fd, file.bytes + at, size, (off_t)at) == (ssize_t)size;
	}
	good = good && ftruncate(fd, (off_t)file.size) == 0;
	if (good)
		mapped_file_close(&file);
	if (fd >= 0)
		(void)close(fd);
	findings_deinit(&findings);
	fault_set_up();
	return good ? 0 : 1;
}

static int core_tear_down(void)
{
	fault_tear_down();
	(void)unlink(core_path);
	(void)rmdir(core_folder);
	return 0;
}

/* They are opened alike: the first with many faults, the others with few. */
TEST_OF(cores, a_core)
{
	static const char *const whole[] = { "info", "export OUT.gcdump" };
	check_lines(core_path, whole, COUNT(whole), 16, 0);
	check_lines(core_path, core_lines, COUNT(core_lines), 1, 4);
}

static const char *const packed_lines[] = { "dumpmt 7f0f79550c38" };

TEST_OF(cores, a_packed_core)
{
	check_lines(PACKED, packed_lines, COUNT(packed_lines), 2, 0);
}

/* Up to how long something took, or what depends on how much memory the process has at the moment. */
static int without_measures(const char *line, int size)
{
	static const char *const measures[] = { "Stopped:", ", in ", "\"stopped_", "\"seconds\"",
						"a buffer of up to " };
	int same = size;
	for (size_t i = 0; i < COUNT(measures); i++) {
		const char *at = strstr(line, measures[i]);
		if (at && at - line < same)
			same = (int)(at - line);
	}
	return same;
}

/*
 * The same, without the two lines of what is in memory: that is something else each time, and left out
 * if the kernel does not tell.
 */
static int without_memory(const char *line, int size)
{
	static const char blanks[] = "             images ";
	if (strncmp(line, "Memory:", strlen("Memory:")) == 0 ||
	    strncmp(line, blanks, strlen(blanks)) == 0)
		return -1;
	return without_measures(line, size);
}

/*
 * A thread that cannot be listed, or read once it stands still, counts as one that has ended; and a
 * file of /proc ends where the kernel says.  A message to a helper is sent as a whole or not at all, and
 * when the last one fails, the helper has gone and the process goes on.
 */
static bool is_of_proc(const struct io_fault *fault)
{
	bool is_message = fault->call == IO_SEND && fault->code != EINTR;
	return fault->call == IO_READDIR || fault->call == IO_PTRACE || fault->how == IO_ENDS ||
	       is_message;
}

static const char *const process_lines[] = { "info", "info --json" };

TEST_OF(processes, a_process)
{
	struct live_child child = child_start(2, NULL, NULL);
	char pid[20];
	(void)snprintf(pid, sizeof(pid), "%d", (int)child.pid);
	for (size_t i = 0; i < COUNT(process_lines); i++) {
		const struct fault_case one = { .target = pid,
						.line = process_lines[i],
						.settings = { { "workers", "1" } },
						.most = 3,
						.stable = without_memory,
						.is_ignored = is_of_proc };
		fault_check(&one);
		CU_ASSERT(child_is_running(&child));
	}
	fault_report("a process");
	child_end(&child);
}

static const char *const runtime_lines[] = { "collect PID -o OUT.nettrace",
					     "collect PID -o OUT.gcdump --json", "collect PID -o -",
					     "ps" };
static char own_pid[20];

/* The line of our own process; others come and go. */
static int own_line(const char *line, int size)
{
	const char *at = strstr(line, own_pid);
	return at && at < line + size ? size : -1;
}

/*
 * A process that is not ours to look at counts as none, as does one whose socket cannot be reached; a
 * file of /proc ends where the kernel says.
 */
static bool is_of_others(const struct io_fault *fault)
{
	return fault->call == IO_STAT || fault->code == EACCES ||
	       (fault->call == IO_READ && fault->how == IO_ENDS);
}

TEST_OF(collect, a_runtime_that_is_asked)
{
	struct live_child child = fake_runtime_start("tests/data/small300.nettrace");
	(void)snprintf(own_pid, sizeof(own_pid), "%d", (int)child.pid);
	for (size_t i = 0; i < COUNT(runtime_lines); i++) {
		char line[100];
		const char *at = strstr(runtime_lines[i], "PID");
		(void)snprintf(line, sizeof(line), "%.*s%s%s",
			       at ? (int)(at - runtime_lines[i]) : (int)strlen(runtime_lines[i]),
			       runtime_lines[i], at ? own_pid : "", at ? at + 3 : "");
		const struct fault_case one = { .line = line,
						.most = 3,
						.stable = at ? without_measures : own_line,
						.unknown = at ? NULL : "?",
						.is_ignored = is_of_others };
		fault_check(&one);
	}
	fault_report("collect");
	fake_runtime_end(&child);
}

static const char *const machine_lines[] = { "doctor" };

/* A thing that cannot be found out makes another line of an answer that is about just that. */
static int no_line(const char *line, int size)
{
	(void)line;
	(void)size;
	return -1;
}

static bool is_any(const struct io_fault *fault)
{
	(void)fault;
	return true;
}

TEST_OF(files, the_machine)
{
	const struct fault_case one = {
		.line = machine_lines[0], .most = 3, .stable = no_line, .is_ignored = is_any
	};
	fault_check(&one);
	fault_report("doctor");
}

static bool has_command(const char *const *lines, size_t count, const char *name)
{
	size_t size = strlen(name);
	for (size_t i = 0; i < count; i++) {
		if (strncmp(lines[i], name, size) == 0 &&
		    (!lines[i][size] || lines[i][size] == ' '))
			return true;
	}
	return false;
}

TEST_OF(files, every_command_is_run)
{
	struct hd_command_info info;
	for (size_t i = 0; hd_command_at(i, &info) == 0; i++) {
		bool is_run = has_command(log_lines, COUNT(log_lines), info.name) ||
			      has_command(core_lines, COUNT(core_lines), info.name) ||
			      has_command(runtime_lines, COUNT(runtime_lines), info.name) ||
			      has_command(machine_lines, COUNT(machine_lines), info.name);
		ASSERT_TEXT(is_run ? "" : info.name, "");
	}
}

/* The suite that is named, or all. */
int main(int argc, char **argv)
{
	static const struct suite suites[] = {
		{ "files", .key = "files", .set_up = fault_set_up, .tear_down = fault_tear_down },
		{ "cores", .key = "cores", .init = core_set_up, .cleanup = core_tear_down },
		{ "processes", .key = "processes", .set_up = fault_set_up,
		  .tear_down = fault_tear_down },
		{ "collect", .key = "collect", .set_up = fault_set_up,
		  .tear_down = fault_tear_down },
	};
	return suites_run(suites, COUNT(suites), argc > 1 ? argv[1] : NULL);
}
