/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "out_path.h"
#include "settings_file.h"
#include "write_line.h"

#define KEEP_MOST     10000u
#define VARIABLE_SIZE 32u

static const char *const names[SETTINGS] = { "when", "out",  "way",  "keep",  "free",
					     "rate", "live", "hold", "report" };

const char *setting_name(enum setting setting)
{
	return names[setting];
}

/* The variable of a setting, such as HEAPDUMP_WHEN. */
static void variable_name(enum setting setting, char *ret)
{
	(void)snprintf(ret, VARIABLE_SIZE, "HEAPDUMP_%s", names[setting]);
	for (char *at = ret; *at; at++)
		*at = (char)toupper((unsigned char)*at);
}

/* The name of a setting in a line about it, and the consequence of a mistake in it. */
struct source {
	char name[64];
	const char *outcome;
};

static struct source source_of(enum setting setting, bool is_file)
{
	struct source ret = { .outcome = is_file ? "it does not count" : "nothing is done" };
	if (is_file) {
		(void)snprintf(ret.name, sizeof(ret.name), "%s: \"%s\"", SETTINGS_FILE,
			       names[setting]);
	} else {
		variable_name(setting, ret.name);
	}
	return ret;
}

/* Say what is wrong with a setting; false. */
static bool refuse(enum setting setting, bool is_file, const char *text, const char *why)
{
	const struct source source = source_of(setting, is_file);
	write_line("%s: '%.200s': %s: %s", source.name, text, why, source.outcome);
	return false;
}

/* Each returns what is wrong with a text, or NULL. */

static const char *parse_way(const char *text, struct settings *ret)
{
	static const char *const ways[] = { "any", "socket", "events", "walk" };
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(text, ways[i]) == 0) {
			ret->way = (enum way)i;
			return NULL;
		}
	}
	return "it is not any, socket, events or walk";
}

static const char *parse_switch(const char *text, bool *ret)
{
	*ret = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
	bool is_known = *ret || strcmp(text, "0") == 0 || strcmp(text, "false") == 0;
	return is_known ? NULL : "it is not 1, 0, true or false";
}

static const char *parse_keep(const char *text, struct settings *ret)
{
	struct word word = word_of(text);
	uint64_t count;
	if (!word_take_number(&word, &count) || word.at != word.end || count > KEEP_MOST)
		return "it is not a number from 1 to 10000";
	ret->keep = (unsigned)count;
	return NULL;
}

static const char *parse_free(const char *text, struct settings *ret)
{
	struct word word = word_of(text);
	bool is_good = word_take_size(&word, &ret->free) && word.at == word.end;
	return is_good ? NULL : "it is not a number and K, M or G";
}

static const char *parse_rate(const char *text, struct settings *ret)
{
	struct word word = word_of(text);
	bool is_good = word_take_time(&word, &ret->rate) && word.at == word.end;
	return is_good ? NULL : "it is not a number and s, m or h, of at most a year";
}

static const char *parse_out(const char *text, struct settings *ret)
{
	const char *why = out_path_problem(text);
	if (!why)
		memcpy(ret->out, text, strlen(text) + 1);
	return why;
}

static const char *parse_one(enum setting setting, const char *text, struct settings *ret)
{
	switch (setting) {
	case SETTING_OUT:
		return parse_out(text, ret);
	case SETTING_WAY:
		return parse_way(text, ret);
	case SETTING_KEEP:
		return parse_keep(text, ret);
	case SETTING_FREE:
		return parse_free(text, ret);
	case SETTING_RATE:
		return parse_rate(text, ret);
	case SETTING_LIVE:
		return parse_switch(text, &ret->is_live);
	case SETTING_HOLD:
		return parse_switch(text, &ret->is_held);
	case SETTING_REPORT:
		return parse_switch(text, &ret->has_report);
	default:
		return NULL;
	}
}

/* Read what is there; what is not there stays as it is. */
static bool parse_each(const struct setting_texts *texts, bool is_file, struct settings *ret)
{
	const struct source source = source_of(SETTING_WHEN, is_file);
	const struct when_source when = { source.name, source.outcome };
	if (*texts->text[SETTING_WHEN] && !when_parse(texts->text[SETTING_WHEN], &when, &ret->when))
		return false;
	for (size_t i = SETTING_WHEN + 1; i < SETTINGS; i++) {
		const char *text = texts->text[i];
		const char *why = *text ? parse_one((enum setting)i, text, ret) : NULL;
		if (why)
			return refuse((enum setting)i, is_file, text, why);
	}
	return true;
}

/* The words must be possible together. */
static bool check_together(const struct settings *settings)
{
	const char *ending = strrchr(settings->out, '.');
	bool is_trace = ending && strcmp(ending, ".nettrace") == 0;
	bool is_walk = settings->way == WAY_WALK || settings->when.at_exit;
	if (settings->when.at_exit && settings->way != WAY_ANY && settings->way != WAY_WALK) {
		write_line(
			"HEAPDUMP_WHEN: 'exit' needs HEAPDUMP_WAY any or walk, for the runtime has closed the "
			"others by then: nothing is done");
		return false;
	}
	if (is_walk && is_trace) {
		write_line(
			"HEAPDUMP_OUT: '%.200s': %s has no events for a .nettrace: nothing is done",
			settings->out, settings->when.at_exit ? "exit" : "walk");
		return false;
	}
	if (settings->is_live && is_trace) {
		return refuse(SETTING_OUT, false, settings->out,
			      "a .nettrace has all objects: HEAPDUMP_LIVE needs another format");
	}
	if (settings->has_report && settings->way == WAY_SOCKET &&
	    out_path_is_only_written(settings->out)) {
		return refuse(SETTING_OUT, false, settings->out,
			      "HEAPDUMP_REPORT by socket needs a format that can be read");
	}
	if (settings->is_held && settings->way != WAY_ANY && settings->way != WAY_EVENTS) {
		return refuse(SETTING_WAY, false, settings->way == WAY_WALK ? "walk" : "socket",
			      "HEAPDUMP_HOLD needs any or events");
	}
	return true;
}

bool settings_parse(const struct setting_texts *texts, struct settings *ret)
{
	const char *when = texts->text[SETTING_WHEN], *out = texts->text[SETTING_OUT];
	*ret = (struct settings){ 0 };
	if (!*when && !*out)
		return false;
	if (!*when || !*out) {
		write_line("%s is not set, and \"%s\" is not in " SETTINGS_FILE ": nothing is done",
			   *when ? "HEAPDUMP_OUT" : "HEAPDUMP_WHEN", *when ? "out" : "when");
		return false;
	}
	return parse_each(texts, false, ret) && check_together(ret);
}

/* Take the variables over; false: one is too long. */
static bool read_variables(struct setting_texts *texts)
{
	for (size_t i = 0; i < SETTINGS; i++) {
		char variable[VARIABLE_SIZE];
		variable_name((enum setting)i, variable);
		/* NOLINTNEXTLINE(concurrency-mt-unsafe): a profiler is initialised before the program runs */
		const char *value = getenv(variable);
		if (!value)
			continue;
		if (strlen(value) >= SETTING_SIZE)
			return refuse((enum setting)i, false, value, "it is longer than 511 bytes");
		memcpy(texts->text[i], value, strlen(value) + 1);
	}
	return true;
}

bool settings_check_file(const struct setting_texts *texts)
{
	struct settings unused = { 0 };
	return parse_each(texts, true, &unused);
}

bool settings_read(struct settings *ret, int *ret_signal)
{
	struct setting_texts texts;
	bool is_file = settings_file_read(SETTINGS_FILE, &texts);
	int of_file = when_signal(texts.text[SETTING_WHEN]);
	/* A file that anybody can put there must not keep the variables from working. */
	if (!is_file || !settings_check_file(&texts))
		texts = (struct setting_texts){ 0 };
	bool is_read = read_variables(&texts);
	*ret_signal = when_signal(texts.text[SETTING_WHEN]);
	if (!*ret_signal)
		*ret_signal = of_file;
	return is_read && settings_parse(&texts, ret);
}
