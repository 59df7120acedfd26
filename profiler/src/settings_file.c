/* SPDX-License-Identifier: MIT */
#include "settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read_text.h"
#include "write_line.h"

/* libjansson compares a stream with this one, which we never give it (CMakeLists.txt). */
extern FILE *profiler_no_stream;
FILE *profiler_no_stream;

/* Why a file is not used; NULL: it is. */
static const char *distrust(const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return "it is not a regular file";
	if (status->st_uid != 0 && status->st_uid != geteuid())
		return "it belongs to another user";
	if (status->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write it";
	if (status->st_size > SETTINGS_FILE_LIMIT)
		return "it is larger than 64 KB";
	return NULL;
}

/* The number of a setting; SETTINGS: there is none with this name. */
static size_t find_setting(const char *name)
{
	size_t i = 0;
	while (i < SETTINGS && strcmp(name, setting_name((enum setting)i)) != 0)
		i++;
	return i;
}

/*
 * Copy a member.  All may be strings; keep may be a number, and what is on or off true or false.  Anything else, and what
 * is too long: false.
 */
static bool copy_member(const json_t *value, size_t setting, char ret[SETTING_SIZE])
{
	bool is_switch =
		setting == SETTING_LIVE || setting == SETTING_HOLD || setting == SETTING_REPORT;
	if (setting == SETTING_KEEP && json_is_integer(value)) {
		(void)snprintf(ret, SETTING_SIZE, "%lld", (long long)json_integer_value(value));
		return true;
	}
	if (is_switch && json_is_boolean(value)) {
		(void)snprintf(ret, SETTING_SIZE, "%d", json_is_true(value) ? 1 : 0);
		return true;
	}
	if (!json_is_string(value) || json_string_length(value) >= SETTING_SIZE)
		return false;
	memcpy(ret, json_string_value(value), json_string_length(value) + 1);
	return true;
}

static bool read_members(json_t *root, const char *path, struct setting_texts *ret)
{
	const char *name;
	json_t *value;
	if (!json_is_object(root)) {
		write_line("%s: it is not an object; it does not count", path);
		return false;
	}
	json_object_foreach(root, name, value)
	{
		size_t setting = find_setting(name);
		if (setting == SETTINGS) {
			write_line("%s: there is no setting \"%.100s\"; it does not count", path,
				   name);
			return false;
		}
		if (!copy_member(value, setting, ret->text[setting])) {
			write_line(
				"%s: \"%s\" is not a string of at most %u bytes%s; it does not count",
				path, name, SETTING_SIZE - 1,
				setting == SETTING_KEEP  ? ", or a number"
				: setting > SETTING_RATE ? ", true or false"
							 : "");
			return false;
		}
	}
	return true;
}

static bool parse_settings_file(const char *bytes, size_t size, const char *path,
				struct setting_texts *ret)
{
	json_error_t error;
	json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		write_line("%s: line %d: %s; it does not count", path, error.line, error.text);
		return false;
	}
	bool is_good = read_members(root, path, ret);
	json_decref(root);
	return is_good;
}

bool settings_file_read(const char *path, struct setting_texts *ret)
{
	struct stat status;
	*ret = (struct setting_texts){ 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return true;
	const char *why =
		fd < 0 || fstat(fd, &status) != 0 ? strerrordesc_np(errno) : distrust(&status);
	char *bytes = why ? NULL : malloc(SETTINGS_FILE_LIMIT);
	ssize_t size = bytes ? read_whole(fd, bytes, SETTINGS_FILE_LIMIT) : -1;
	if (!why && size < 0)
		why = bytes ? strerrordesc_np(errno) : "there is no memory";
	if (fd >= 0)
		(void)close(fd);
	if (why)
		write_line("%s is not used: %s; it does not count", path, why);
	bool is_good = !why && parse_settings_file(bytes, (size_t)size, path, ret);
	free(bytes);
	return is_good;
}
