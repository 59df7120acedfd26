/* SPDX-License-Identifier: MIT */
#include "permit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <heapdump/broker.h>

static bool is_named_path(const char *name, const char *path)
{
	return name && *name && strcmp(name, path) == 0;
}

/* A file, or a process, that the words up to one of them name last; NULL: none. */
static const char *input_up_to(const struct permit *permit, int count)
{
	struct hd_command_names names;
	hd_command_name(count, permit->argv, &names);
	return names.input;
}

/* Is @p name the open target, or a file that the command opens? */
static bool is_target(const struct permit *permit, const char *name)
{
	bool ret = is_named_path(permit->target, name) || is_named_path(permit->names.input, name);
	for (int i = 2; !ret && i <= permit->argc; i++)
		ret = is_named_path(input_up_to(permit, i), name);
	return ret;
}

/* Does the path only go down from where it begins? */
static bool is_straight(const char *path)
{
	return !strstr(path, "/..") && !strstr(path, "/./");
}

static bool begins(const char *path, const char *with)
{
	return strncmp(path, with, strlen(with)) == 0;
}

static bool ends(const char *path, const char *with)
{
	size_t size = strlen(path), tail = strlen(with);
	return size >= tail && strcmp(path + size - tail, with) == 0;
}

/* /proc/PID/NAME or /proc/PID/task/TID/NAME, with a NAME that tells no secrets but the one it is asked for. */
static bool is_of_process(const char *path)
{
	static const char *const names[] = { "",         "/stat", "/status", "/cgroup",
					     "/environ", "/task", "/comm",   "/cmdline" };
	if (!begins(path, "/proc/"))
		return false;
	const char *at = path + strlen("/proc/");
	size_t digits = strspn(at, "0123456789");
	if (!digits)
		return strcmp(at, "meminfo") == 0;
	at += digits;
	if (begins(at, "/task/")) {
		at += strlen("/task/");
		at += strspn(at, "0123456789");
		return strcmp(at, "/stat") == 0 || strcmp(at, "/comm") == 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(at, names[i]) == 0)
			return true;
	}
	return false;
}

static bool is_system(const char *path)
{
	return strcmp(path, "/proc") == 0 || is_of_process(path) ||
	       (begins(path, "/sys/fs/cgroup/") && is_straight(path));
}

/* Is @p path a file in which the kernel counts the memory of a cgroup, or of the machine? */
static bool is_of_group(const char *path)
{
	static const char *const names[] = {
		"max",
		"high",
		"current",
		"peak",
		"swap.current",
		"stat",
		"events",
		"pressure",
		"limit_in_bytes",
		"failcnt",
		"usage_in_bytes",
		"max_usage_in_bytes",
		"oom_control",
		"kmem.usage_in_bytes",
	};
	static const char prefix[] = "memory.";
	const char *slash = strrchr(path, '/');
	if (strcmp(path, "/proc/pressure/memory") == 0)
		return true;
	if (!begins(path, "/sys/fs/cgroup/") || !is_straight(path) || !slash ||
	    !begins(slash + 1, prefix))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(slash + sizeof(prefix), names[i]) == 0)
			return true;
	}
	return false;
}

static bool is_process_id(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* The name by which collectors take turns. */
static bool is_turn(const char *path)
{
	static const char prefix[] = "@heapdump-collect-";
	return begins(path, prefix) && is_process_id(path + sizeof(prefix) - 1);
}

/* A runtime's own socket, or our profiler's in it, by its name; who listens there is asked when it is opened. */
static bool is_socket(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && ends(path, "-socket") &&
	       (begins(slash + 1, "dotnet-diagnostic-") || begins(slash + 1, "heapdump-inside-"));
}

/* The library that collect -inside sends: whether a process sees it, and the same one. */
static bool is_profiler(const char *path)
{
	return *path == '/' && ends(path, "/libheapdump_profiler.so");
}

/*
 * Is it one of the files that everybody may read about a process (whether it exists, its threads,
 * its state, its cgroup and the memory of that), and do the words name a process?
 */
static bool is_of_words(const struct permit *permit, const char *path)
{
	static const char *const names[] = { "/stat", "/status", "/task", "/cgroup" };
	bool has_number = (permit->target && is_process_id(permit->target)) ||
			  (permit->names.input && is_process_id(permit->names.input));
	for (int i = 2; !has_number && i <= permit->argc; i++) {
		const char *input = input_up_to(permit, i);
		has_number = input && is_process_id(input);
	}
	if (has_number && is_of_group(path))
		return true;
	if (!has_number || !is_of_process(path))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (ends(path, names[i]) && !strstr(path, "/task/"))
			return true;
	}
	return false;
}

/*
 * A module, or its symbol file in the user's folder of symbols.  This checks only the folder: whoever
 * opens the file checks what kind of file it is.
 */
static bool has_module(const struct permit_files *files, int as, const char *below)
{
	return (!files->are_off && (as == HD_OPEN_MODULE || files->are_trusted) &&
		strcmp(below, files->sysroot) == 0) ||
	       (as == HD_OPEN_MODULE && is_named_path(files->symbols, below));
}

/* A PDB next to a module, or anywhere in the user's folder of symbols. */
static bool has_pdb(const struct permit_files *files, const char *path, const char *below)
{
	return ends(path, ".pdb") && ((!files->are_off && strcmp(below, files->sysroot) == 0) ||
				      is_named_path(files->symbols, below));
}

bool permit_open(const struct permit *permit, int as, const char *path, const char *below)
{
	switch (as) {
	case HD_OPEN_INPUT:
		return is_target(permit, path);
	case HD_OPEN_ANY_MODULE:
	case HD_OPEN_MODULE:
		return has_module(&permit->now, as, below) || has_module(&permit->then, as, below);
	case HD_OPEN_PDB:
		return has_pdb(&permit->now, path, below) || has_pdb(&permit->then, path, below);
	case HD_OPEN_FOLDER:
		return is_named_path(permit->sysroot, path) ||
		       is_named_path(permit->symbols, path) ||
		       is_named_path(permit->names.sysroot, path) ||
		       is_named_path(permit->names.symbols, path);
	case HD_OPEN_SYSTEM:
		return permit->is_collecting ? is_system(path) : is_of_words(permit, path);
	case HD_OPEN_PLACE:
		return is_target(permit, path) ||
		       (permit->is_collecting && (is_socket(path) || is_profiler(path)));
	case HD_OPEN_TEMPORARY: {
		const char *folder = getenv("TMPDIR");
		return strcmp(path, folder && *folder ? folder : "/tmp") == 0;
	}
	case HD_OPEN_CONNECT:
		return permit->is_collecting && (is_socket(path) || is_turn(path));
	case HD_OPEN_LISTEN:
		return permit->is_collecting &&
		       (is_named_path(permit->names.socket, path) || is_turn(path));
	default:
		return false;
	}
}

/* Skip @p count digits at *@p at. */
static bool take_digits(const char **at, size_t count)
{
	bool are = strspn(*at, "0123456789") == count;
	*at += are ? count : 0;
	return are;
}

/* Such as "4711-20260131-235959.gcdump": id of a process and time, in the working folder. */
static bool is_made_up(const char *path)
{
	static const char *const extensions[] = { ".gcdump",       ".nettrace", ".heap",
						  ".heapsnapshot", ".folded",   ".speedscope.json",
						  ".hprof" };
	const char *at = path;
	size_t digits = strspn(at, "0123456789");
	if (!digits || digits > 10 || !take_digits(&at, digits) || *at++ != '-' ||
	    !take_digits(&at, 8) || *at++ != '-' || !take_digits(&at, 6))
		return false;
	for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
		if (strcmp(at, extensions[i]) == 0)
			return true;
	}
	return false;
}

/* A folder by the name of the output, or, when it was begun, a table in it. */
static bool is_folder_of_output(const struct permit *permit, const char *path)
{
	const char *output = permit->names.output;
	size_t size = output ? strlen(output) : 0;
	while (size > 1 && output[size - 1] == '/')
		size--;
	if (!size || strncmp(path, output, size) != 0 || path[size] != '/')
		return false;
	const char *name = path + size + 1;
	size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyz");
	return !*name || (permit->has_folder && letters && strcmp(name + letters, ".parquet") == 0);
}

bool permit_create(struct permit *permit, const char *path)
{
	struct stat info;
	if (permit->names.output || !permit->may_make_name) {
		return is_named_path(permit->names.output, path) ||
		       is_folder_of_output(permit, path);
	}
	if (!is_made_up(path) || lstat(path, &info) == 0 ||
	    (*permit->made_name && strcmp(permit->made_name, path) != 0))
		return false;
	(void)snprintf(permit->made_name, sizeof(permit->made_name), "%s", path);
	return true;
}

void permit_created(struct permit *permit, const char *path)
{
	permit->has_folder |= ends(path, "/");
}

bool permit_attach(const struct permit *permit, int pid)
{
	char name[16];
	(void)snprintf(name, sizeof(name), "%d", pid);
	return is_target(permit, name);
}
