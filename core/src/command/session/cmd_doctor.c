/* SPDX-License-Identifier: MIT */
/*
 * Tells which parts of this program work on this machine, and how to get the others to work.  It
 * looks at no target.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect/room.h"
#include "command/session/doctor.h"
#include "command/table.h"
#include "targets/process/own_rights.h"
#include "targets/process/proc.h"

#define FOUND_SIZE 512
/* The number of the machine's own pid namespace, which the kernel gives no other (PROC_PID_INIT_INO). */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"
#define GIGABYTE            ((uint64_t)1 << 30)

#define CHECK_LIST(X)                                                       \
	X(CHECK_WHAT, "what", NULL, KIND_TEXT, 0, 0, "what was looked at")  \
	X(CHECK_STATE, "state", NULL, KIND_TEXT, 0, 0, "ok, limited or no") \
	X(CHECK_FOUND, "found", NULL, KIND_TEXT, 0, 0, "what was found")    \
	X(CHECK_ADVICE, "advice", NULL, KIND_TEXT, 0, 0, "what to do, where something can be done")

COLUMNS(check, CHECK_COLUMNS, CHECK_LIST);

SCHEMA(check, .name = "checks", .is_main = true, .heading = "What         State   Found",
       .lines = "{what:-12} {state:-8}{found}[\n                     -> {advice}]\n");

void doctor_row(struct call *call, const char *what, enum check_state state, const char *advice,
		const char *found, ...)
{
	static const char *const states[] = { "ok", "limited", "no" };
	char line[FOUND_SIZE];
	va_list args;
	va_start(args, found);
	(void)vsnprintf(line, sizeof(line), found, args);
	va_end(args);
	const struct cell cells[CHECK_COLUMNS] = {
		[CHECK_WHAT] = cell_string(what),
		[CHECK_STATE] = cell_string(states[state]),
		[CHECK_FOUND] = cell_string(line),
		[CHECK_ADVICE] = cell_string(advice),
	};
	answer_row(&call->answer, cells);
	call->findings |= state == CHECK_NO;
}

/* The number in a file of the kernel; -1: there is no such file. */
static int read_setting(const char *path)
{
	HD_CLEANUP(text) struct text text = { 0 };
	int value =
		proc_read_path(path, &text) && text.bytes ? (int)strtol(text.bytes, NULL, 10) : -1;
	return value;
}

static void check_ptrace(struct call *call)
{
	bool may_all = own_may_trace_all();
	int error = own_trace_trial();
	if (error) {
		doctor_row(
			call, "ptrace", CHECK_NO,
			"in a container give --cap-add=SYS_PTRACE, or a seccomp profile that allows ptrace",
			"attaching to a child process is refused: %s", strerrordesc_np(error));
	} else {
		doctor_row(call, "ptrace", CHECK_OK, NULL, "attaching to a child process works");
	}
	int scope = read_setting("/proc/sys/kernel/yama/ptrace_scope");
	if (scope < 0) {
		doctor_row(call, "yama", CHECK_OK, NULL, "this kernel has no ptrace_scope");
	} else if (scope >= 3) {
		doctor_row(call, "yama", CHECK_NO,
			   "only a restart with another kernel.yama.ptrace_scope changes it",
			   "ptrace_scope is %d: nobody may attach to a process", scope);
	} else if (scope > 0 && !may_all) {
		doctor_row(
			call, "yama", CHECK_LIMITED,
			"run heapdump as root, or: sysctl kernel.yama.ptrace_scope=0",
			"ptrace_scope is %d: without CAP_SYS_PTRACE running processes cannot be read",
			scope);
	} else {
		doctor_row(call, "yama", CHECK_OK, NULL, "ptrace_scope is %d", scope);
	}
	if (may_all) {
		doctor_row(call, "capability", CHECK_OK, NULL,
			   "CAP_SYS_PTRACE: processes of all users can be read");
	} else {
		doctor_row(call, "capability", CHECK_LIMITED,
			   "run heapdump as root for processes of other users",
			   "no CAP_SYS_PTRACE: only processes of user %u can be read",
			   (unsigned int)geteuid());
	}
}

static void check_namespace(struct call *call)
{
	char name[64];
	ssize_t size = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);
	name[size > 0 ? size : 0] = '\0';
	if (size <= 0) {
		doctor_row(call, "processes", CHECK_NO, "mount /proc",
			   "/proc does not show this process");
	} else if (strcmp(name, FIRST_PID_NAMESPACE) == 0) {
		doctor_row(call, "processes", CHECK_OK, NULL, "all of the machine are seen");
	} else {
		doctor_row(
			call, "processes", CHECK_LIMITED,
			"for others run heapdump in their container (docker exec, kubectl debug --target), or on the machine",
			"this is a container: only its own processes are seen (%s)", name);
	}
}

static void check_memory(struct call *call)
{
	struct room room;
	struct rlimit limit;
	room_read("", (int)getpid(), &room);
	bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
	if (is_limited && (!room.free || limit.rlim_cur < room.free)) {
		doctor_row(call, "memory", CHECK_LIMITED, "ulimit -v unlimited",
			   "ulimit -v leaves %" PRIu64 " MB", (uint64_t)limit.rlim_cur >> 20);
	} else if (!room.free) {
		doctor_row(call, "memory", CHECK_LIMITED, NULL, "it is not known how much is free");
	} else {
		const char *whose =
			room.is_cgroup ? "by the limit of this cgroup" : "on this machine";
		bool is_little = room.free < GIGABYTE;
		doctor_row(call, "memory", is_little ? CHECK_LIMITED : CHECK_OK,
			   is_little ? "copy large cores to another machine, and read them there"
				     : NULL,
			   "%" PRIu64 " MB are free %s", room.free >> 20, whose);
	}
}

static void check_sandbox(struct call *call)
{
	bool has_seccomp = own_kernel_has_seccomp();
	int landlock = own_kernel_landlock();
	if (has_seccomp && landlock) {
		doctor_row(call, "sandbox", CHECK_OK, NULL,
			   "seccomp and Landlock %d; it needs no user namespace", landlock);
	} else if (has_seccomp) {
		doctor_row(call, "sandbox", CHECK_OK, NULL, "seccomp; this system has no Landlock");
	} else {
		doctor_row(call, "sandbox", landlock ? CHECK_LIMITED : CHECK_NO,
			   "open targets that you do not trust on another machine",
			   "this system has no seccomp%s", landlock ? "" : ", nor Landlock");
	}
}

static void check_cores(struct call *call)
{
	static const char advice[] =
		"set DOTNET_DbgEnableMiniDump=1 for the program: its runtime writes the core then";
	HD_CLEANUP(text) struct text pattern = { 0 };
	struct rlimit limit;
	bool is_known = proc_read_path("/proc/sys/kernel/core_pattern", &pattern) && pattern.size;
	while (pattern.size && pattern.bytes[pattern.size - 1] == '\n')
		pattern.bytes[--pattern.size] = '\0';
	bool has_none = getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0;
	if (!is_known) {
		doctor_row(call, "cores", CHECK_LIMITED, advice, "it is not known where cores go");
	} else if (strstr(pattern.bytes, "systemd-coredump")) {
		doctor_row(call, "cores", CHECK_OK, "coredumpctl dump PID -o app.core",
			   "systemd-coredump keeps them");
	} else if (pattern.bytes[0] == '|') {
		doctor_row(call, "cores", CHECK_LIMITED, advice, "a program takes them: %s",
			   pattern.bytes + 1);
	} else if (has_none) {
		doctor_row(call, "cores", CHECK_LIMITED,
			   "ulimit -c unlimited, or DOTNET_DbgEnableMiniDump=1 for the program",
			   "ulimit -c is 0: none are written (pattern: %s)", pattern.bytes);
	} else {
		doctor_row(call, "cores", CHECK_OK, NULL, "they are written as: %s", pattern.bytes);
	}
}

static enum hd_status run_doctor(struct call *call)
{
	static const struct table_options options = { .limit = UINT64_MAX };
	answer_table(&call->answer, &check_schema, &options);
	doctor_debuggers(call);
	check_ptrace(call);
	check_namespace(call);
	check_memory(call);
	check_sandbox(call);
	check_cores(call);
	(void)answer_table_end(&call->answer);
	return call_check(call);
}

COMMAND(doctor, .role = HD_ROLE_OWN, .summary = "say what of heapdump works on this machine",
	.description =
		"GDB, LLDB and the plug-ins; the rights to read processes; containers; memory; the\n"
		"sandbox; where cores go. A line is ok, limited or no, and says what to do. Status 1:\n"
		"something does not work. It opens no target, and runs no program.\n",
	.has_rows = true, .needs = NEEDS_NOTHING);
