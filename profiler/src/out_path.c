/* SPDX-License-Identifier: MIT */
#include "out_path.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "settings.h"

#define PID_DIGITS  10u
#define DATE_LENGTH 15u

static bool ends_in_format(const char *pattern)
{
	static const char *const endings[] = { ".gcdump", ".nettrace", ".heapsnapshot", ".heap" };
	size_t length = strlen(pattern);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t ending = strlen(endings[i]);
		if (length > ending && strcmp(pattern + length - ending, endings[i]) == 0)
			return true;
	}
	return false;
}

const char *out_path_problem(const char *pattern)
{
	if (strlen(pattern) >= SETTING_SIZE)
		return "it is longer than 511 bytes";
	if (pattern[0] != '/')
		return "it does not begin with /, and the working folder may change";
	if (!ends_in_format(pattern))
		return "it does not end in .gcdump, .nettrace, .heapsnapshot or .heap";
	for (const char *at = pattern; (at = strchr(at, '%')); at += 2) {
		if (!at[1] || !strchr("ptr%", at[1]))
			return "only %p, %t, %r and %% may follow the sign %";
	}
	return NULL;
}

bool out_path_is_only_written(const char *pattern)
{
	const char *ending = strrchr(pattern, '.');
	return ending && strcmp(ending, ".heapsnapshot") == 0;
}

bool out_path_make(const char *pattern, int pid, time_t now, const char *reason, char *ret,
		   size_t size)
{
	char number[16], date[32] = "";
	struct tm tm;
	(void)snprintf(number, sizeof(number), "%d", pid);
	if (!localtime_r(&now, &tm) || !strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm))
		(void)snprintf(date, sizeof(date), "%lld", (long long)now);
	size_t used = 0;
	for (const char *at = pattern; *at; at++) {
		char plain[2] = { *at, '\0' };
		const char *piece = plain;
		if (*at == '%') {
			at++;
			piece = *at == 'p' ? number : *at == 't' ? date : *at == 'r' ? reason : "%";
		}
		size_t length = strlen(piece);
		if (length >= size - used)
			return false;
		memcpy(ret + used, piece, length);
		used += length;
	}
	ret[used] = '\0';
	return true;
}

/* Two digits, at most @p most. */
static bool is_pair(const char *text, unsigned most)
{
	return text[0] >= '0' && text[0] <= '9' && text[1] >= '0' && text[1] <= '9' &&
	       (unsigned)(text[0] - '0') * 10 + (unsigned)(text[1] - '0') <= most;
}

/* A date, as out_path_make() writes it: 20261125-143059. */
static bool is_date(const char *text)
{
	static const unsigned most[] = { 99, 99, 12, 31, 23, 59, 60 };
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++, text += 2) {
		if (i == 4 && *text++ != '-')
			return false;
		if (!is_pair(text, most[i]))
			return false;
	}
	return true;
}

/* Where what a letter stands for may end, if it begins with @p text; @p ends has room for all of that. */
static void mark_ends(char letter, const char *text, bool *ends)
{
	static const char *const reasons[] = { "signal", "rss",      "every", "oom",   "exit",
					       "heap",   "pressure", "high",  "growth" };
	if (letter == 'p' && *text != '0') {
		for (size_t i = 0; i < PID_DIGITS && text[i] >= '0' && text[i] <= '9'; i++)
			ends[i + 1] = true;
	}
	if (letter == 't' && is_date(text))
		ends[DATE_LENGTH] = true;
	for (size_t i = 0; letter == 'r' && i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		size_t length = strlen(reasons[i]);
		if (strncmp(text, reasons[i], length) == 0)
			ends[length] = true;
	}
	if (letter == '%' && *text == '%')
		ends[1] = true;
}

bool out_path_matches(const char *pattern, const char *name)
{
	const char *slash = strrchr(pattern, '/');
	const char *at = slash ? slash + 1 : pattern;
	size_t length = strlen(name);
	if (length > NAME_MAX)
		return false;
	/* How much of the name the pattern can have made so far: an id and a time have no end of their own. */
	bool ends[NAME_MAX + 1] = { true };
	for (; *at; at++) {
		bool next[NAME_MAX + 1] = { false };
		char letter = '\0';
		if (*at == '%')
			letter = *++at;
		for (size_t i = 0; i < length; i++) {
			if (ends[i] && letter) {
				mark_ends(letter, name + i, next + i);
			} else if (ends[i] && name[i] == *at) {
				next[i + 1] = true;
			}
		}
		memcpy(ends, next, sizeof(ends));
	}
	return ends[length];
}
