/* SPDX-License-Identifier: MIT */
#include "permit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <heapdump/broker.h>

/* Is @p name a word of the command, or the value in one (--sysroot=DIR)? */
static bool is_word(const struct permit *permit, const char *name)
{
	for (int i = 1; i < permit->argc; i++) {
		const char *word = permit->argv[i], *value = strchr(word, '=');
		if ((*name && strcmp(word, name) == 0) ||
		    (word[0] == '-' && value && strcmp(value + 1, name) == 0))
			return true;
	}
	return false;
}

static bool is_target(const struct permit *permit, const char *name)
{
	return permit->target && strcmp(permit->target, name) == 0;
}

/* A path that goes down from where it begins, and nowhere else. */
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

/* The name by which collectors take turns. */
static bool is_turn(const char *path)
{
	return begins(path, "@heapdump-collect-");
}

/* The runtime's own sockets, or the one of the user's -port. */
static bool is_socket(const struct permit *permit, const char *path)
{
	const char *slash = strrchr(path, '/');
	return is_word(permit, path) || is_turn(path) ||
	       (slash && begins(slash + 1, "dotnet-diagnostic-") && ends(path, "-socket"));
}

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* What everybody may know of processes (is it there? its threads, its state), if the words name one. */
static bool is_of_words(const struct permit *permit, const char *path)
{
	static const char *const names[] = { "/stat", "/status", "/task" };
	bool has_number = permit->target && is_number(permit->target);
	for (int i = 1; i < permit->argc && !has_number; i++)
		has_number = is_number(permit->argv[i]);
	if (!has_number || !is_of_process(path))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (ends(path, names[i]) && !strstr(path, "/task/"))
			return true;
	}
	return false;
}

bool permit_open(const struct permit *permit, int as, const char *path, const char *below)
{
	switch (as) {
	case HD_OPEN_INPUT:
		return is_target(permit, path) || is_word(permit, path);
	case HD_OPEN_ANY_MODULE:
	case HD_OPEN_MODULE:
		if (as == HD_OPEN_ANY_MODULE && !permit->trusts_files)
			return false;
		/* What it is, is looked at when it is opened. */
		return !*below || strcmp(below, permit->sysroot) == 0 || is_word(permit, below);
	case HD_OPEN_FOLDER:
		return strcmp(path, permit->sysroot) == 0 || is_word(permit, path);
	case HD_OPEN_SYSTEM:
		return permit->is_collecting ? is_system(path) : is_of_words(permit, path);
	case HD_OPEN_PLACE:
		return is_target(permit, path) || is_word(permit, path) ||
		       (permit->is_collecting && is_socket(permit, path));
	case HD_OPEN_TEMPORARY: {
		const char *folder = getenv("TMPDIR");
		return strcmp(path, folder && *folder ? folder : "/tmp") == 0;
	}
	case HD_OPEN_CONNECT:
		return permit->is_collecting && is_socket(permit, path);
	case HD_OPEN_LISTEN:
		return permit->is_collecting && (is_word(permit, path) || is_turn(path));
	default:
		return false;
	}
}

bool permit_create(const struct permit *permit, const char *path)
{
	if (!permit->is_writing)
		return false;
	/* Without a name collect makes one, of a process and the time, in the working folder. */
	bool is_made = permit->is_collecting && !strchr(path, '/') && strspn(path, "0123456789") &&
		       (ends(path, ".gcdump") || ends(path, ".nettrace"));
	return is_word(permit, path) || is_made;
}

bool permit_attach(const struct permit *permit, int pid)
{
	char name[16];
	(void)snprintf(name, sizeof(name), "%d", pid);
	return is_target(permit, name) || is_word(permit, name);
}
