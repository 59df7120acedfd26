/* SPDX-License-Identifier: MIT */
/*
 * Are the debuggers and the plug-ins there?  Only files are looked at: root may run this, with a PATH that others can
 * write to.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/session/doctor.h"
#include "util/alloc.h"
#include "util/opening.h"
#include "util/own_folders.h"
#include "util/text.h"

/* Bytes of a debugger's file that are searched at most. */
#define PROGRAM_MAX ((size_t)64 << 20)
#define PIECE_SIZE  ((size_t)64 << 10)
#define PYTHON      "libpython3."
#define NAME_SIZE   64u
/* The plug-in is built for the first, and loads into later ones. */
#define LLDB_FIRST 14
#define LLDB_LAST  30

static bool is_file(const char *path, mode_t *ret_mode)
{
	struct stat info;
	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	if (ret_mode)
		*ret_mode = info.st_mode;
	return true;
}

/* The program @p name of PATH; its folders are absolute, or left out. */
static bool find_program(const char *name, char ret[PATH_MAX])
{
	const char *folder = getenv("PATH"); // NOLINT(concurrency-mt-unsafe)
	while (folder && *folder) {
		size_t size = strcspn(folder, ":");
		mode_t mode = 0;
		int length = snprintf(ret, PATH_MAX, "%.*s/%s", (int)(size < PATH_MAX ? size : 0),
				      folder, name);
		if (folder[0] == '/' && length < PATH_MAX && is_file(ret, &mode) && mode & S_IXOTH)
			return true;
		folder += size + (folder[size] == ':');
	}
	return false;
}

/* The name of a library in @p bytes that is Python's, without ".so" and what follows; false: none. */
static bool find_python_name(const char *bytes, size_t size, char ret[NAME_SIZE])
{
	const char *end = bytes + size, *at = bytes;
	while ((at = memmem(at, (size_t)(end - at), PYTHON, strlen(PYTHON)))) {
		size_t left = (size_t)(end - at);
		const char *dot = memmem(at, left < NAME_SIZE ? left : NAME_SIZE, ".so", 3);
		if (dot && printable_run(at, (size_t)(dot - at)) == (size_t)(dot - at)) {
			(void)snprintf(ret, NAME_SIZE, "%.*s", (int)(dot - at), at);
			return true;
		}
		at++;
	}
	return false;
}

/* Which Python a program is linked with: its file has the name of the library. */
static bool find_python(const char *path, char ret[NAME_SIZE])
{
	int fd = open_as(HD_OPEN_INPUT, path);
	HD_FREE char *piece = fd < 0 ? NULL : mem_alloc(1, PIECE_SIZE);
	bool found = false;
	size_t kept = 0;
	for (size_t done = 0; piece && !found && done < PROGRAM_MAX;) {
		ssize_t got = read(fd, piece + kept, PIECE_SIZE - kept);
		if (got <= 0)
			break;
		size_t size = kept + (size_t)got;
		found = find_python_name(piece, size, ret);
		/* A name that the end has cut is whole with the next piece. */
		kept = size < NAME_SIZE ? size : NAME_SIZE;
		memmove(piece, piece + size - kept, kept);
		done += (size_t)got;
	}
	if (fd >= 0)
		(void)close(fd);
	return found;
}

/*
 * A file of ours: where this is installed (in bin or lib), where it was built, or where packages and "cmake --install"
 * put it.  Each of @p places is an absolute path, or goes on from our own folders.
 */
static bool find_plugin(const char *const *places, char ret[PATH_MAX])
{
	const char *folders[OWN_FOLDERS_MAX];
	char path[2 * PATH_MAX];
	int count = own_folders(folders);
	for (; *places; places++) {
		if (**places == '/' && is_file(*places, NULL) && realpath(*places, ret))
			return true;
		for (int i = 0; **places != '/' && i < count; i++) {
			(void)snprintf(path, sizeof(path), "%s/%s", folders[i], *places);
			if (is_file(path, NULL) && realpath(path, ret))
				return true;
		}
	}
	return false;
}

static void check_gdb(struct call *call)
{
	static const char *const places[] = {
		"../share/heapdump/gdb/heapdump.py",   "../../share/heapdump/gdb/heapdump.py",
		"../gdb-plugin/heapdump.py",           "/usr/local/share/heapdump/gdb/heapdump.py",
		"/usr/share/heapdump/gdb/heapdump.py", NULL
	};
	char path[PATH_MAX], python[NAME_SIZE];
	if (!find_program("gdb", path)) {
		doctor_row(call, "gdb", CHECK_NO, "install gdb to have the commands there",
			   "no gdb in PATH");
	} else if (!find_python(path, python)) {
		doctor_row(call, "gdb", CHECK_NO,
			   "install a GDB with Python (Debian: gdb, not gdb-minimal)",
			   "%s, which is not linked with Python", path);
	} else {
		doctor_row(call, "gdb", CHECK_OK, NULL, "%s with %s", path, python + strlen("lib"));
	}
	if (!find_plugin(places, path)) {
		doctor_row(call, "gdb-plugin", CHECK_NO,
			   "install heapdump as a package, or by cmake --install",
			   "it is not next to this program, nor in /usr or /usr/local");
	} else if (is_file("/etc/gdb/gdbinit.d/heapdump.py", NULL)) {
		doctor_row(call, "gdb-plugin", CHECK_OK, NULL, "%s; GDB loads it when it starts",
			   path);
	} else {
		doctor_row(call, "gdb-plugin", CHECK_OK,
			   "heapdump --print-gdbinit >> ~/.gdbinit, if it is not there yet", "%s",
			   path);
	}
}

/* The library that GDB's plug-in loads. */
static void check_gdb_library(struct call *call)
{
	static const char *const places[] = { "libheapdump.so.0",
					      "libheapdump.so",
					      "../lib/libheapdump.so.0",
					      "../lib64/libheapdump.so.0",
					      "../lib/x86_64-linux-gnu/libheapdump.so.0",
					      "/usr/local/lib/libheapdump.so.0",
					      "/usr/lib/x86_64-linux-gnu/libheapdump.so.0",
					      "/usr/lib64/libheapdump.so.0",
					      NULL };
	const char *named = getenv("HEAPDUMP_LIBRARY"); // NOLINT(concurrency-mt-unsafe)
	char path[PATH_MAX];
	if (named && *named && is_file(named, NULL)) {
		doctor_row(call, "gdb-library", CHECK_OK, NULL, "%s, which HEAPDUMP_LIBRARY names",
			   named);
	} else if (named && *named) {
		doctor_row(call, "gdb-library", CHECK_NO,
			   "unset HEAPDUMP_LIBRARY, or set it to the path of libheapdump.so",
			   "HEAPDUMP_LIBRARY names %s, and there is no such file", named);
	} else if (find_plugin(places, path)) {
		doctor_row(call, "gdb-library", CHECK_OK, NULL, "%s", path);
	} else {
		doctor_row(
			call, "gdb-library", CHECK_NO,
			"install heapdump, or set HEAPDUMP_LIBRARY to the path of libheapdump.so "
			"before GDB starts",
			"it is not next to this program, nor in /usr or /usr/local");
	}
}

/* "lldb", or a name with a version, as Debian has them. */
static bool find_lldb(char path[PATH_MAX])
{
	if (find_program("lldb", path))
		return true;
	for (int version = LLDB_LAST; version >= LLDB_FIRST; version--) {
		char name[16];
		(void)snprintf(name, sizeof(name), "lldb-%d", version);
		if (find_program(name, path))
			return true;
	}
	return false;
}

static void check_lldb(struct call *call)
{
	static const char *const places[] = {
		"../lib/heapdump/libheapdump_lldb.so",
		"../lib/x86_64-linux-gnu/heapdump/libheapdump_lldb.so",
		"../lib64/heapdump/libheapdump_lldb.so",
		"libheapdump_lldb.so",
		"/usr/local/lib/heapdump/libheapdump_lldb.so",
		"/usr/lib/heapdump/libheapdump_lldb.so",
		NULL
	};
	char path[PATH_MAX], real[PATH_MAX];
	if (!find_lldb(path)) {
		doctor_row(call, "lldb", CHECK_NO, "install lldb to have the commands there",
			   "no lldb in PATH");
	} else {
		/* /usr/lib/llvm-14/bin/lldb: the version is in the name. */
		bool is_real = realpath(path, real) && strcmp(real, path) != 0;
		doctor_row(call, "lldb", CHECK_OK, NULL, "%s%s%s", path,
			   is_real ? ", which is " : "", is_real ? real : "");
	}
	if (!find_plugin(places, path)) {
		doctor_row(call, "lldb-plugin", CHECK_NO,
			   "install heapdump as a package, or by cmake --install with -DHD_LLDB=ON",
			   "it is not next to this program, nor in /usr or /usr/local");
		return;
	}
	doctor_row(call, "lldb-plugin", CHECK_OK,
		   "heapdump --print-lldbinit >> ~/.lldbinit, if it is not there yet", "%s", path);
}

void doctor_debuggers(struct call *call)
{
	check_gdb(call);
	check_gdb_library(call);
	check_lldb(call);
}
