/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/name_similar.h"
#include "command/foreign_names.h"
#include "command/table.h"
#include "util/sink.h"

#define HELP_WIDTH 79u
/* Help describes this, too; it is not a command. */

void help_usage(struct text *text, const struct command *command)
{
	text_puts(text, command->name);
	for (size_t i = 0; command->words[i].name; i++) {
		const struct word *word = &command->words[i];
		text_printf(text, word->optional ? " [%s]" : " %s", word->name);
	}
	for (const struct option *option = command->options; option && option->name; option++) {
		text_printf(text, option->value ? " [-%s %s]" : " [-%s]", option->name,
			    option->value);
	}
}

enum hd_status call_usage(const struct call *call, const char *problem)
{
	HD_CLEANUP(text) struct text text = { 0 };
	help_usage(&text, call->command);
	return fail(call->err, HD_ERR_ARGUMENT, 0, "%s; usage: %s", problem,
		    text.bytes ? text.bytes : "");
}

void help_wrap(struct text *text, const char *words, size_t size, size_t indent, size_t *column)
{
	for (const char *end = words + size; words < end;) {
		const char *blank = memchr(words, ' ', (size_t)(end - words));
		size_t word = (size_t)((blank ? blank : end) - words);
		if (*column > indent && *column + 1 + word > HELP_WIDTH) {
			text_printf(text, "\n%*s", (int)indent, "");
			*column = indent;
		} else if (*column > indent) {
			text_puts(text, " ");
			*column += 1;
		}
		text_append(text, words, word);
		*column += word;
		words += word + (blank != NULL);
	}
}

void help_row(struct text *text, const char *left, int width, const char *summary)
{
	size_t begin = text->size, indent = (size_t)width + 3;
	text_printf(text, "  %-*s", width, left);
	if (text->size - begin < indent)
		text_puts(text, " ");
	size_t column = text->size - begin;
	help_wrap(text, summary, strlen(summary), indent, &column);
	text_puts(text, "\n");
}

/* The rest of a line that is too long comes in front of the next one; what begins with a blank is in its place. */
static void append_description(struct text *text, const char *at)
{
	for (size_t column = 0; *at;) {
		size_t size = strcspn(at, "\n"), before = column + (column > 0) + size;
		if (*at == ' ') {
			text_append(text, at, size);
			column = before;
		} else {
			help_wrap(text, at, size, 0, &column);
		}
		at += size + (at[size] == '\n');
		bool goes_on = column != before && *at && *at != '\n' && *at != ' ';
		text_puts(text, goes_on ? "" : "\n");
		column = goes_on ? column : 0;
	}
}

static void append_options(struct text *text, const struct option *option, const char *dash)
{
	for (; option && option->name; option++) {
		char left[64];
		(void)snprintf(left, sizeof(left), "%s%s%s%s", dash, option->name,
			       option->value ? " " : "", option->value ? option->value : "");
		help_row(text, left, 18, option->help);
	}
}

/* The usage line, broken before an option where it gets long. */
static void append_usage(struct text *text, const struct command *command)
{
	HD_CLEANUP(text) struct text usage = { 0 };
	help_usage(&usage, command);
	size_t column = strlen("Usage: ");
	text_puts(text, "Usage: ");
	for (const char *at = usage.bytes; at && *at;) {
		const char *next = strstr(at + 1, " [");
		size_t size = next ? (size_t)(next - at) : strlen(at);
		if (at != usage.bytes && column + size > HELP_WIDTH) {
			text_puts(text, "\n           ");
			column = strlen("           ");
		}
		text_append(text, at, size);
		column += size;
		at += size;
	}
	text_puts(text, "\n");
}

static void append_command(struct text *text, const struct command *command)
{
	text_printf(text, "%s.\n\n", command->summary);
	size_t first = 0;
	if (text->bytes && text->bytes[first] >= 'a')
		text->bytes[first] = (char)(text->bytes[first] - 'a' + 'A');
	append_usage(text, command);
	if (command->alias)
		text_printf(text, "Also: %s\n", command->alias);
	if (command->description) {
		text_puts(text, "\n");
		append_description(text, command->description);
	}
	if (command->append_help)
		command->append_help(text);
	if (command->options) {
		text_puts(text, "\nOptions (help options has those of all commands):\n");
		append_options(text, command->options, "-");
	} else {
		text_puts(text, "\nhelp options has the options of all commands.\n");
	}
	text_printf(text, "\nExample: %s\n", command->example ? command->example : command->name);
}

static void append_config(struct text *text)
{
	const char *help, *name;
	text_puts(
		text,
		"The shell program first takes settings from the file\n"
		"~/.config/heapdump/config ($XDG_CONFIG_HOME/heapdump/config if that is set).\n"
		"On each line is a name and a value, as after set; # begins a comment, and ~/ is\n"
		"your home. The file must be yours or of root, and nobody else may write to it.\n"
		"Options of the command line count more. For example:\n\n"
		"  symbols ~/symbols   # PDBs of what we ship\n"
		"  color off\n\n"
		"Settings, which set shows with their values:\n");
	for (size_t i = 0; (name = hd_setting_name(i, &help)); i++)
		help_row(text, name, 18, help);
	text_puts(text,
		  "\nGDB and LLDB have files of their own: set heapdump NAME VALUE in ~/.gdbinit,\n"
		  "heapdump set NAME VALUE in ~/.lldbinit.\n");
}

static void append_common_options(struct text *text)
{
	text_puts(text, "Options that every command has, with two dashes or one:\n");
	append_options(text, common_options, "--");
	text_puts(text, "\nset changes most of them for all commands that follow.\n");
}

/* A command, or the title of the group that begins. */
struct help_line {
	const char *group;
	const struct command *command;
};

#define HELP_GROUP(title)  { .group = (title) },
#define HELP_COMMAND(name) { .command = &name##_command },

static const struct help_line help_lines[] = { COMMANDS(HELP_GROUP, HELP_COMMAND) };

/* The whole help of @p command; NULL: the list of commands. */
static void help_append(struct text *text, const struct command *command)
{
	if (command) {
		append_command(text, command);
		return;
	}
	for (size_t i = 0; i < sizeof(help_lines) / sizeof(help_lines[0]); i++) {
		const struct command *listed = help_lines[i].command;
		if (listed) {
			help_row(text, listed->name, 19, listed->summary);
		} else {
			text_printf(text, "%s%s:\n", i ? "\n" : "", help_lines[i].group);
		}
	}
	text_puts(
		text,
		"\nhelp COMMAND describes one, help options lists the options that all have, help\n"
		"config says how to keep settings. Addresses, and ids of dump files, are\n"
		"hexadecimal and may be sums: 1ce000+56.\n");
}

/* How near a command is to what was typed: it begins with that, or a letter or two differ. */
static unsigned int help_distance(const struct command *command, const char *part)
{
	unsigned int least = NAME_DIFFERS;
	const char *const names[] = { command->name, command->alias };
	for (size_t i = 0; i < 2 && names[i]; i++) {
		if (strncasecmp(names[i], part, strlen(part)) == 0)
			return 0;
		unsigned int now = name_difference(names[i], strlen(names[i]), part);
		/* Two other letters of three or four make another word. */
		if (now < least && now < (strlen(part) + 1) / 2)
			least = now;
	}
	return least;
}

/* Append the names of the commands that are nearest to @p part, "a, b or c"; false: none is near. */
static bool help_meant(struct text *text, const char *part)
{
	unsigned int least = NAME_DIFFERS;
	for (size_t i = 0; *part && command_at(i); i++) {
		unsigned int now = help_distance(command_at(i), part);
		least = now < least ? now : least;
	}
	const char *last = NULL;
	for (size_t i = 0; least < NAME_DIFFERS && command_at(i); i++) {
		if (help_distance(command_at(i), part) != least)
			continue;
		if (last)
			text_printf(text, "%s%s", text->size ? ", " : "", last);
		last = command_at(i)->name;
	}
	if (last)
		text_printf(text, "%s%s", text->size ? " or " : "", last);
	return last;
}

enum hd_status hd_command_help(const char *name, const struct hd_sink *sink, struct hd_error *err)
{
	struct hd_sink own;
	TRY(sink_read(sink, true, &own, err));
	const struct command *command = name ? command_find(name) : NULL;
	if (name && !command)
		return fail(err, HD_ERR_NOTFOUND, 0, "no command \"%.40s\"", name);
	HD_CLEANUP(text) struct text text = { 0 };
	help_append(&text, command);
	TRY_MEMORY(!text.failed, err);
	return own.write(own.arg, text.bytes, text.size) == 0 ? HD_OK : fail_cancelled(err);
}

#define HELP_LIST(X)                                                       \
	X(HELP_NAME, "name", NULL, KIND_TEXT, 0, 0, "name of the command") \
	X(HELP_SUMMARY, "summary", NULL, KIND_TEXT, 0, 0, "what it does")  \
	X(HELP_USAGE, "usage", NULL, KIND_TEXT, 0, 0, "its words and options")

COLUMNS(help, HELP_COLUMNS, HELP_LIST);

/* Data only. */
static enum hd_status write_commands(struct call *call, const struct command *only)
{
	static const struct schema schema = { .name = "commands", SCHEMA_COLUMNS(help_columns) };
	answer_table(&call->answer, &schema, NULL);
	for (size_t i = 0; command_at(i); i++) {
		const struct command *command = command_at(i);
		if (only && command != only)
			continue;
		struct text text = { 0 };
		help_usage(&text, command);
		if (text.failed) {
			text_deinit(&text);
			return fail_nomem(call->err);
		}
		const struct cell cells[HELP_COLUMNS] = {
			[HELP_NAME] = cell_string(command->name),
			[HELP_SUMMARY] = cell_string(command->summary),
			[HELP_USAGE] = cell_string(text.bytes),
		};
		answer_row(&call->answer, cells);
		text_deinit(&text);
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

static void manual_layout(struct out *out, const struct cell *cells)
{
	out_puts(out, cells[0].text.bytes);
}

static const struct column option_columns[] = {
	{ "name", NULL, KIND_TEXT, 0, 0, "name of the option" },
	{ "value", NULL, KIND_TEXT, 0, 0, "what it takes; null: nothing" },
	{ "summary", NULL, KIND_TEXT, 0, 0, "what it does" },
};

/* Data only. */
static void write_common_options(struct call *call)
{
	static const struct schema schema = { .name = "options", SCHEMA_COLUMNS(option_columns) };
	answer_table(&call->answer, &schema, NULL);
	for (const struct option *option = common_options; option->name; option++) {
		const struct cell cells[] = {
			cell_string(option->name),
			option->value ? cell_string(option->value) : cell_null(),
			cell_string(option->help),
		};
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
}

/* Data only. */
static void write_settings(struct call *call)
{
	static const struct schema schema = { .name = "settings", SCHEMA_COLUMNS(option_columns) };
	const char *help, *name;
	answer_table(&call->answer, &schema, NULL);
	for (size_t i = 0; (name = hd_setting_name(i, &help)); i++) {
		answer_row(&call->answer, (const struct cell[]){ cell_string(name), cell_null(),
								 cell_string(help) });
	}
	(void)answer_table_end(&call->answer);
}

/* A part of help that is not about a command. */
static const struct topic {
	const char *name;
	void (*append)(struct text *text);
	void (*write)(struct call *call);
} topics[] = {
	{ "options", append_common_options, write_common_options },
	{ "config", append_config, write_settings },
};

static const struct topic *find_topic(const char *name)
{
	for (size_t i = 0; name && i < sizeof(topics) / sizeof(topics[0]); i++) {
		if (strcasecmp(topics[i].name, name) == 0)
			return &topics[i];
	}
	return NULL;
}

/* Text only. */
static enum hd_status write_manual(struct call *call, const struct command *command,
				   const struct topic *topic)
{
	static const struct column columns[] = { { .kind = KIND_TEXT } };
	static const struct schema schema = { SCHEMA_COLUMNS(columns), .layout = manual_layout };
	HD_CLEANUP(text) struct text text = { 0 };
	if (topic) {
		topic->append(&text);
	} else {
		help_append(&text, command);
	}
	TRY_MEMORY(!text.failed, call->err);
	answer_heading(&call->answer, &schema,
		       (const struct cell[]){ cell_text(text.bytes, text.size) });
	return HD_OK;
}

enum hd_status help_unknown(enum hd_status status, const char *name, struct hd_error *err)
{
	if (name[0] == '-') {
		return fail(err, status, 0,
			    "no command \"%.40s\": options come after the command (info %.40s)",
			    name, name);
	}
	const char *advice = foreign_name_advice(name);
	if (advice)
		return fail(err, status, 0, "no command \"%.40s\": %s", name, advice);
	HD_CLEANUP(text) struct text text = { 0 };
	bool meant = help_meant(&text, name);
	(void)fail(err, status, 0, "no command \"%.40s\"%s%s%s", name,
		   meant ? ": did you mean " : "; help lists the commands",
		   meant && text.bytes ? text.bytes : "", meant ? "?" : "");
	return status;
}

static enum hd_status run_help(struct call *call)
{
	const char *word = call->words[0].text;
	const struct topic *topic = find_topic(word);
	const struct command *command = word && !topic ? command_find(word) : NULL;
	if (word && !topic && !command)
		return help_unknown(HD_ERR_NOTFOUND, word, call->err);
	if (answer_is_text(&call->answer))
		return write_manual(call, command, topic);
	if (!topic)
		return write_commands(call, command);
	topic->write(call);
	return HD_OK;
}

COMMAND(help, .role = HD_ROLE_OWN, .summary = "list the commands, or describe one",
	.description =
		"help options lists the options that every command has, help config says how settings\n"
		"are kept in a file.\n",
	.example = "help gcroot", .words = { { "COMMAND", VALUE_COMMAND, true } });
