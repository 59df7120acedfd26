/* SPDX-License-Identifier: MIT */
#include "own_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int own_file_open(const char *path)
{
	struct stat info;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= OWN_SIZE_MAX &&
	    (info.st_uid == geteuid() || info.st_uid == 0) && !(info.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	(void)close(fd);
	return -1;
}

/* A file of heapdump below $VARIABLE, or below a folder of HOME; the specification wants absolute paths. */
static char *own_path(const char *variable, const char *below_home, const char *name)
{
	const char *folder = getenv(variable), *home = getenv("HOME");
	char *path = NULL;
	int size = -1;
	if (folder && *folder == '/') {
		size = asprintf(&path, "%s/heapdump/%s", folder, name);
	} else if (home && *home) {
		size = asprintf(&path, "%s/%s/heapdump/%s", home, below_home, name);
	}
	return size < 0 ? NULL : path;
}

char *own_history_path(void)
{
	return own_path("XDG_STATE_HOME", ".local/state", "history");
}

/* Does a folder belong to the caller, who alone may change it? */
static bool is_own_folder(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
	       !(info.st_mode & (S_IWGRP | S_IWOTH));
}

void own_folders_make(const char *path)
{
	char folder[PATH_MAX];
	if (strlen(path) >= sizeof(folder))
		return;
	/* From the last folder up to one that is there, and down again. */
	size_t end = strlen(path), bottom = 0;
	while (end) {
		while (end && path[end] != '/')
			end--;
		if (!end)
			return;
		memcpy(folder, path, end);
		folder[end] = '\0';
		bottom = bottom ? bottom : end;
		if (access(folder, F_OK) == 0)
			break;
		end--;
	}
	while (end < bottom && is_own_folder(folder)) {
		size_t next = end + 1;
		while (next < bottom && path[next] != '/')
			next++;
		memcpy(folder, path, next);
		folder[next] = '\0';
		if (mkdir(folder, S_IRWXU) != 0)
			return;
		end = next;
	}
}

/* A # after a blank begins a comment. */
static void cut_comment(char *text)
{
	for (char *at = text; (at = strchr(at, '#')); at++) {
		if (at == text || strchr(" \t", at[-1])) {
			*at = '\0';
			return;
		}
	}
}

/* "~/symbols" in the folder of the user; to be freed. */
static char *expand_home(const char *value)
{
	const char *home = getenv("HOME");
	char *path = NULL;
	bool is_below = value[0] == '~' && (value[1] == '/' || !value[1]) && home && *home;
	int size = is_below ? asprintf(&path, "%s%s", home, value + 1) : -1;
	return is_below ? (size < 0 ? NULL : path) : strdup(value);
}

/* One line, without its end. */
static void take_line(struct cli *cli, const char *path, unsigned int number, char *line)
{
	static const char blanks[] = " \t\r";
	struct hd_error err;
	char *name = line + strspn(line, blanks);
	cut_comment(name);
	if (!*name)
		return;
	char *value = name + strcspn(name, blanks);
	if (*value)
		*value++ = '\0';
	value += strspn(value, blanks);
	size_t size = strlen(value);
	while (size && strchr(blanks, value[size - 1]))
		value[--size] = '\0';
	char *expanded = expand_home(value);
	if (!expanded) {
		cli_say("out of memory");
	} else if (hd_session_set(cli->session, name, expanded, &err) != HD_OK) {
		cli_say("warning: %s, line %u: %s", path, number, err.message);
	}
	free(expanded);
}

/* Somebody has made it, and waits that it counts. */
static void tell_unused(const char *path)
{
	struct stat info;
	if (lstat(path, &info) != 0)
		return;
	cli_say("warning: %s is not read: it must be a file (no folder, no link) of yours or of root, "
		"which nobody else may write, of at most %d MB",
		path, OWN_SIZE_MAX >> 20);
}

void own_settings_take(struct cli *cli)
{
	char *path = own_path("XDG_CONFIG_HOME", ".config", "config"), *line = NULL;
	int fd = path ? own_file_open(path) : -1;
	if (path && fd < 0)
		tell_unused(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	size_t room = 0;
	ssize_t size = 0;
	for (unsigned int number = 1; file && (size = getline(&line, &room, file)) >= 0; number++) {
		if (size && line[size - 1] == '\n')
			line[size - 1] = '\0';
		take_line(cli, path, number, line);
	}
	if (file) {
		(void)fclose(file);
	} else if (fd >= 0) {
		(void)close(fd);
	}
	free(line);
	free(path);
}
