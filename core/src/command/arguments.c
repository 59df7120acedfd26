/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "command/call.h"
#include "command/type_words.h"
#include "util/opening.h"

static const char *const format_choices[] = { "text", "json", "ndjson", "csv", NULL };
static const char *const color_choices[] = { "auto", "on", "off", NULL };

/* Places in common_options: the first eight take no value, the others are settings. */
enum {
	COMMON_JSON,
	COMMON_LENIENT,
	COMMON_NO_FILES,
	COMMON_TRUST_FILES,
	COMMON_EXACT,
	COMMON_COPY_ALL,
	COMMON_FULL,
	COMMON_RAW_CSV,
	COMMON_SYSROOT = 9,
	COMMON_SYMBOLS = 10,
	COMMON_MAX_MEM = 13,
	COMMON_COUNT = 18
};

const struct option common_options[COMMON_COUNT + 1] = {
	{ "json", VALUE_NONE, NULL, "answer with one JSON document", NULL },
	{ "lenient", VALUE_NONE, NULL, "when a file is read: count and skip malformed records",
	  NULL },
	{ "no-files", VALUE_NONE, NULL, "when a core is opened: read no module files next to it",
	  NULL },
	{ "trust-files", VALUE_NONE, NULL,
	  "when a core is opened: use module files that nothing proves to be right", NULL },
	{ "exact", VALUE_NONE, NULL, "when a .nettrace is read: as dotnet-gcdump does", NULL },
	{ "copy-all", VALUE_NONE, NULL,
	  "when a process is opened: copy all its memory, also what no answer needs", NULL },
	{ "full", VALUE_NONE, NULL,
	  "shorten no names and no values, however narrow the terminal is", NULL },
	{ "raw-csv", VALUE_NONE, NULL,
	  "csv without the apostrophe that keeps a spreadsheet from running a text", NULL },
	{ "snapshot", VALUE_NUMBER, "N", "when a .nettrace is read: which of its heap snapshots",
	  NULL },
	{ "sysroot", VALUE_FOLDER, "DIR", "when a core is opened: look up module files below DIR",
	  NULL },
	{ "symbols", VALUE_FOLDER, "DIR",
	  "look up PDBs and symbol files, for lines and names, in DIR", NULL },
	{ "runtime", VALUE_TEXT, "NAME",
	  "when a core or process is opened: of several .NET runtimes, that of module NAME", NULL },
	{ "workers", VALUE_NUMBER, "N", "threads for this command", NULL },
	{ "max-mem", VALUE_TEXT, "SIZE", "memory that opening may take", NULL },
	{ "max-stop", VALUE_NUMBER, "SECONDS",
	  "when a process is opened: let it go after this time in any case", NULL },
	{ "width", VALUE_TEXT, "N",
	  "shorten names to fit N columns (auto: the terminal's; 0: never)", NULL },
	{ "color", VALUE_CHOICE, "WHEN", "colours: auto, on or off", color_choices },
	{ "format", VALUE_CHOICE, "FORMAT",
	  "text, json, ndjson or csv (the rows of its main table)", format_choices },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] != '\0';
}

/* The name in a word such as --limit=3: without dashes, up to the =. */
static const char *option_name(const char *word, size_t *ret_size)
{
	word += word[1] == '-' ? 2 : 1;
	*ret_size = strcspn(word, "=");
	return word;
}

static const struct option *find_option_in(const struct option *options, const char *word)
{
	size_t size;
	const char *name = option_name(word, &size);
	for (; options && options->name; options++) {
		if (strlen(options->name) == size && strncasecmp(options->name, name, size) == 0)
			return options;
	}
	return NULL;
}

const struct option *arguments_option(const struct command *command, const char *word)
{
	if (!is_option(word))
		return NULL;
	const struct option *option = command ? find_option_in(command->options, word) : NULL;
	return option ? option : find_option_in(common_options, word);
}

/* Is the option with two dashes, or one, among the words? */
static bool has_option_word(int argc, const char *const *argv, const char *option)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcasecmp(argv[i], option) == 0 || strcasecmp(argv[i], option + 1) == 0)
			return true;
	}
	return false;
}

bool arguments_want_json(int argc, const char *const *argv)
{
	return has_option_word(argc, argv, "--json");
}

bool arguments_want_help(int argc, const char *const *argv)
{
	return has_option_word(argc, argv, "--help");
}

static const char *instead_of(const struct command *command, const char *word)
{
	char name[8];
	word += word[1] == '-' ? 2 : 1;
	int size = snprintf(name, sizeof(name), " %s ", word);
	if (size <= 2 || (size_t)size >= sizeof(name))
		return NULL;
	for (const struct sos_option *sos = command->sos_options; sos && sos->names; sos++) {
		if (strcasestr(sos->names, name))
			return sos->instead;
	}
	return NULL;
}

static enum hd_status unknown_option(const struct call *call, const char *word)
{
	HD_CLEANUP(text) struct text text = { 0 };
	const char *instead = instead_of(call->command, word);
	if (instead) {
		return fail(call->err, HD_ERR_ARGUMENT, 0, "%s has no option \"%.40s\": %s",
			    call->command->name, word, instead);
	}
	const struct option *option = call->command->options;
	for (; option && option->name; option++)
		text_printf(&text, "%s -%s", text.size ? "" : "; it has", option->name);
	return fail(call->err, HD_ERR_ARGUMENT, 0,
		    "%s has no option \"%.40s\"%s; help options lists those that "
		    "every command has",
		    call->command->name, word, text.bytes ? text.bytes : "");
}

static enum hd_status usage(const struct call *call, const char *problem, const char *word)
{
	HD_CLEANUP(text) struct text text = { 0 };
	help_usage(&text, call->command);
	return fail(call->err, HD_ERR_ARGUMENT, 0, "%s%.60s%s; usage: %s", problem, word,
		    *word ? "\"" : "", text.bytes ? text.bytes : "");
}

/* The kind of value that an option or a word takes, as messages name it. */
struct expected {
	const char *dash, *name;
	enum value_kind kind;
	const char *const *choices;
};

/* The choice that @p text is, case ignored, as the list spells it; or NULL. */
static const char *find_choice(const char *const *choices, const char *text)
{
	for (; *choices; choices++) {
		if (strcasecmp(*choices, text) == 0)
			return *choices;
	}
	return NULL;
}

static enum hd_status bad_choice(const struct call *call, const struct expected *expected,
				 const char *text)
{
	HD_CLEANUP(text) struct text list = { 0 };
	for (const char *const *choice = expected->choices; *choice; choice++)
		text_printf(&list, "%s%s", choice == expected->choices ? "" : ", ", *choice);
	enum hd_status status =
		fail(call->err, HD_ERR_ARGUMENT, 0, "%s%s is one of %s, not \"%.40s\"",
		     expected->dash, expected->name, list.bytes ? list.bytes : "", text);
	return status;
}

static bool is_number(enum value_kind kind)
{
	return kind == VALUE_NUMBER || kind == VALUE_THREAD || kind == VALUE_PROCESS;
}

static bool is_id(enum value_kind kind)
{
	return kind == VALUE_ADDRESS || kind == VALUE_TYPE_ID || kind == VALUE_OBJECT;
}

/* Parse @p text by its kind. */
static enum hd_status parse_value(const struct call *call, const struct expected *expected,
				  const char *text, struct value *ret)
{
	const enum value_kind kind = expected->kind;
	const char *dash = expected->dash, *name = expected->name;
	if (is_number(kind) && !parse_number(text, &ret->number)) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "%s%s is a number such as 100, 0x64 or 1.5M, not \"%.40s\"", dash, name,
			    text);
	}
	bool is_address = is_id(kind) && parse_address(text, &ret->number);
	/* No type's name begins with a digit. */
	if (is_id(kind) && !is_address &&
	    (kind == VALUE_ADDRESS || isdigit((unsigned char)*text))) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "%s%s is a hexadecimal id such as 1ce056 or 1ce000+56, not \"%.40s\"%s",
			    dash, name, text,
			    *text == '$'
				    ? "; $ is for GDB and LLDB, registers shows what registers hold"
				    : "");
	}
	if (kind == VALUE_CHOICE) {
		const char *choice = find_choice(expected->choices, text);
		if (!choice)
			return bad_choice(call, expected, text);
		text = choice;
	}
	ret->given = true;
	ret->text = text;
	ret->is_type = is_id(kind) && !is_address;
	return HD_OK;
}

static enum hd_status apply_common(struct call *call, const struct option *option, const char *text)
{
	switch (option - common_options) {
	case COMMON_JSON:
		call->settings.format = FORMAT_JSON;
		return HD_OK;
	case COMMON_LENIENT:
		call->settings.lenient = true;
		return HD_OK;
	case COMMON_NO_FILES:
		call->settings.no_files = true;
		return HD_OK;
	case COMMON_TRUST_FILES:
		call->settings.trust_files = true;
		return HD_OK;
	case COMMON_EXACT:
		call->settings.exact = true;
		return HD_OK;
	case COMMON_COPY_ALL:
		call->settings.copy_all = true;
		return HD_OK;
	case COMMON_RAW_CSV:
		call->settings.raw_csv = true;
		return HD_OK;
	case COMMON_FULL:
		call->settings.width = 0;
		return HD_OK;
	default:
		return settings_set(&call->settings, option->name, text, call->err);
	}
}

/* One option at argv[*index], whose value may be the next word. */
static enum hd_status parse_option(struct call *call, int argc, const char *const *argv, int *index)
{
	const char *word = argv[*index];
	const struct option *option = arguments_option(call->command, word);
	if (!option)
		return unknown_option(call, word);
	const char *value = strchr(word, '=');
	if (value && !option->value)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "-%s takes no value", option->name);
	if (value) {
		value++;
	} else if (option->value && *index + 1 < argc) {
		value = argv[++*index];
	}
	if (option->value && !value) {
		return fail(call->err, HD_ERR_ARGUMENT, 0, "-%s needs a value: -%s %s",
			    option->name, option->name, option->value);
	}
	struct value parsed = { .given = true };
	if (option->value) {
		const struct expected expected = { "-", option->name, option->kind,
						   option->choices };
		TRY(parse_value(call, &expected, value, &parsed));
	}
	bool common = option >= common_options && option < common_options + COMMON_COUNT;
	if (common)
		return apply_common(call, option, parsed.text);
	struct value *before = &call->options[option - call->command->options];
	if (option->kind == VALUE_RULE) {
		text_printf(&call->joined, "%s %s\n", option->name, parsed.text);
		if (call->joined.failed)
			return fail_nomem(call->err);
	}
	if (option->kind != VALUE_RULE && option->value && before->given &&
	    strcmp(before->text, value) != 0) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "-%s is given twice, as \"%.40s\" and as \"%.40s\": give it once",
			    option->name, before->text, value);
	}
	/* A command's own -full shows names whole, too. */
	if (strcmp(option->name, common_options[COMMON_FULL].name) == 0)
		call->settings.width = 0;
	*before = parsed;
	return HD_OK;
}

/* All that is not an option is one word; what looks like an option and is none, as -1, is a part of it. */
static enum hd_status parse_raw(struct call *call, int argc, const char *const *argv)
{
	for (int i = 1; i < argc; i++) {
		bool is_in_text = call->joined.size && !arguments_option(call->command, argv[i]);
		if (is_option(argv[i]) && !is_in_text) {
			TRY(parse_option(call, argc, argv, &i));
			continue;
		}
		text_puts(&call->joined, call->joined.size ? " " : "");
		text_puts(&call->joined, argv[i]);
	}
	if (call->joined.failed)
		return fail_nomem(call->err);
	call->words[0] = (struct value){ .given = call->joined.size, .text = call->joined.bytes };
	return call->joined.size ? HD_OK : usage(call, "a word is missing", "");
}

enum hd_status arguments_parse(struct call *call, int argc, const char *const *argv)
{
	if (call->command->is_raw)
		return parse_raw(call, argc, argv);
	size_t count = 0;
	bool options_end = false;
	for (int i = 1; i < argc; i++) {
		if (!options_end && strcmp(argv[i], "--") == 0) {
			options_end = true;
		} else if (!options_end && is_option(argv[i])) {
			TRY(parse_option(call, argc, argv, &i));
		} else {
			const struct word *word = &call->command->words[count];
			if (count == WORDS_MAX || !word->name)
				return usage(call, "one word too many: \"", argv[i]);
			const struct expected expected = { "", word->name, word->kind,
							   call->command->choices };
			TRY(parse_value(call, &expected, argv[i], &call->words[count]));
			count++;
		}
	}
	const struct word *next = &call->command->words[count];
	if (!next->name || next->optional)
		return HD_OK;
	bool is_file = next->kind == VALUE_FILE || next->kind == VALUE_OUTPUT;
	const char *what = is_file             ? "a file is missing"
			   : is_id(next->kind) ? "an id is missing"
					       : "a word is missing";
	return usage(call, what, "");
}

/* The kind of each word of a command line, as far as it can be told. */
static enum value_kind kind_of_word(const struct command *command, int index,
				    const char *const *argv)
{
	size_t words = 0;
	bool options_end = false;
	for (int i = 1; i <= index; i++) {
		const struct option *option =
			options_end ? NULL : arguments_option(command, argv[i]);
		if (!options_end && strcmp(argv[i], "--") == 0) {
			options_end = true;
		} else if (!options_end && is_option(argv[i])) {
			bool takes_next = option && option->value && !strchr(argv[i], '=');
			if (takes_next && i + 1 == index)
				return option->kind;
			i += takes_next;
		} else if (i == index) {
			return words < WORDS_MAX ? command->words[words].kind : VALUE_NONE;
		} else {
			words++;
		}
	}
	return VALUE_NONE;
}

bool arguments_are_there(int argc, const char *const *argv)
{
	for (int i = 0; i < argc; i++) {
		if (!argv || !argv[i])
			return false;
	}
	return argc >= 0;
}

void hd_command_expressions(int argc, const char *const *argv, uint8_t *ret)
{
	if (!ret || !arguments_are_there(argc, argv))
		return;
	const struct command *command = argc > 0 ? command_find(argv[0]) : NULL;
	for (int i = 0; i < argc; i++) {
		uint64_t value;
		enum value_kind kind = command && i ? kind_of_word(command, i, argv) : VALUE_NONE;
		bool is_expression = kind == VALUE_ADDRESS ||
				     (kind == VALUE_OBJECT && !word_is_type_name(argv[i])) ||
				     (kind == VALUE_TYPE_ID && strpbrk(argv[i], "$(*&"));
		ret[i] = is_expression && !parse_address(argv[i], &value);
	}
}

static void name_word(struct hd_command_names *names, enum value_kind kind, const char *word)
{
	bool is_standard = kind == VALUE_STREAM && strcmp(word, "-") == 0;
	if (kind == VALUE_FILE || kind == VALUE_STREAM)
		names->input = is_standard ? STANDARD_INPUT : word;
	if (kind == VALUE_OUTPUT)
		names->output = word;
	if (kind == VALUE_SOCKET)
		names->socket = word;
}

/* @p value: NULL where the option has none. */
static void name_option(struct hd_command_names *names, const struct option *option,
			const char *value)
{
	name_word(names, option->kind, value);
	if (option == &common_options[COMMON_SYSROOT])
		names->sysroot = value;
	if (option == &common_options[COMMON_SYMBOLS])
		names->symbols = value;
	if (option == &common_options[COMMON_MAX_MEM])
		names->max_mem = value;
	if (option == &common_options[COMMON_NO_FILES])
		names->no_files = 1;
	if (option == &common_options[COMMON_TRUST_FILES])
		names->trust_files = 1;
}

void hd_command_name(int argc, const char *const *argv, struct hd_command_names *ret)
{
	if (!ret)
		return;
	*ret = (struct hd_command_names){ 0 };
	const struct command *command =
		argc > 0 && arguments_are_there(argc, argv) ? command_find(argv[0]) : NULL;
	size_t words = 0;
	bool options_end = false;
	for (int i = 1; command && i < argc; i++) {
		const struct option *option =
			options_end ? NULL : arguments_option(command, argv[i]);
		if (option) {
			const char *value = strchr(argv[i], '=');
			if (value) {
				value++;
			} else if (option->value && i + 1 < argc) {
				value = argv[++i];
			}
			name_option(ret, option, value);
		} else if (!options_end && strcmp(argv[i], "--") == 0) {
			options_end = true;
		} else if (words < WORDS_MAX && (options_end || !is_option(argv[i]))) {
			name_word(ret, command->words[words++].kind, argv[i]);
		}
	}
	if (command && !words && command->words[0].kind == VALUE_STREAM)
		ret->input = STANDARD_INPUT;
}
