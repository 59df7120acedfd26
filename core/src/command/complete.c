/* SPDX-License-Identifier: MIT */
/* Completion of a command line's last word. */
#include <stdio.h>
#include <string.h>

#include "analysis/graph/filter.h"
#include "collect/discover.h"
#include "command/call.h"
#include "runtime/coreclr/types/type_lookup.h"

/* Names offered for a type at the most: more help nobody. */
#define TYPES_OFFERED_MAX 1000u

struct completer {
	const char *word;
	void (*add)(void *arg, const char *candidate);
	void *arg;
};

static void offer_candidate(const struct completer *completer, const char *candidate)
{
	if (strncmp(candidate, completer->word, strlen(completer->word)) == 0)
		completer->add(completer->arg, candidate);
}

static void offer_commands(const struct completer *completer)
{
	for (size_t i = 0; command_at(i); i++)
		offer_candidate(completer, command_at(i)->name);
}

static void offer_options(const struct completer *completer, const struct option *option,
			  const char *dashes)
{
	for (; option && option->name; option++) {
		char name[64];
		(void)snprintf(name, sizeof(name), "%s%s", dashes, option->name);
		offer_candidate(completer, name);
	}
}

/* Types offered so far. */
struct type_offer {
	const struct completer *completer;
	struct runtime *runtime;
	unsigned int offered;
};

static void offer_type(struct type_offer *offer, const char *bytes, size_t size)
{
	HD_CLEANUP(text) struct text name = { 0 };
	const struct completer *completer = offer->completer;
	text_escape(&name, bytes, size);
	if (name.bytes && strncmp(name.bytes, completer->word, strlen(completer->word)) == 0) {
		completer->add(completer->arg, name.bytes);
		offer->offered++;
	}
}

static bool offer_loaded(void *arg, const struct type *type)
{
	struct type_offer *offer = arg;
	size_t size;
	const char *name = type_name(offer->runtime, type, &size);
	offer_type(offer, name, size);
	return offer->offered < TYPES_OFFERED_MAX;
}

/*
 * The types of a target are known only after a command has found its runtime: a TAB must not take
 * seconds.
 */
static void offer_types(const struct completer *completer, const struct hd_session *session)
{
	struct type_offer offer = { .completer = completer, .runtime = session->runtime };
	if (session->runtime) {
		enum hd_status ignored =
			type_for_each(session->runtime, offer_loaded, &offer, NULL);
		(void)ignored;
		return;
	}
	const struct hd_graph *graph = session->graph;
	for (uint32_t i = 0; graph && i < graph->type_count && offer.offered < TYPES_OFFERED_MAX;
	     i++) {
		if (graph->types[i].name)
			offer_type(&offer, graph->types[i].name, graph->types[i].name_size);
	}
}

static void offer_choices(const struct completer *completer, const char *const *choices)
{
	for (; choices && *choices; choices++)
		offer_candidate(completer, *choices);
}

static void offer_processes(const struct completer *completer)
{
	HD_CLEANUP(dotnet_processes) struct dotnet_processes processes = { 0 };
	if (dotnet_processes_list(&processes, NULL) != HD_OK)
		return;
	for (size_t i = 0; i < processes.rows_count; i++) {
		char pid[16];
		(void)snprintf(pid, sizeof(pid), "%d", processes.rows[i].pid);
		offer_candidate(completer, pid);
	}
}

static int offer_kind(const struct completer *completer, const struct hd_session *session,
		      enum value_kind kind, const char *const *choices)
{
	const char *name;
	switch (kind) {
	case VALUE_TYPE:
	case VALUE_RULE:
	case VALUE_TYPE_ID:
	case VALUE_OBJECT:
		if (session)
			offer_types(completer, session);
		return 0;
	case VALUE_TEXT:
	case VALUE_CHOICE:
		offer_choices(completer, choices);
		return 0;
	case VALUE_FILE:
	case VALUE_STREAM:
	case VALUE_OUTPUT:
	case VALUE_FOLDER:
	case VALUE_SOCKET:
		return 1;
	case VALUE_COMMAND:
		offer_commands(completer);
		return 0;
	case VALUE_SETTING:
		for (size_t i = 0; (name = hd_setting_name(i, NULL)); i++)
			offer_candidate(completer, name);
		return 0;
	case VALUE_PROCESS:
		offer_processes(completer);
		return 0;
	case VALUE_NONE:
	case VALUE_CONSERVATIVE:
	case VALUE_THREAD:
	case VALUE_OF_SETTING:
	case VALUE_NUMBER:
	case VALUE_ADDRESS:
		break;
	}
	return 0;
}

/* How many words that are neither options nor values of options come before the last one. */
static size_t words_before(const struct command *command, int argc, const char *const *argv)
{
	size_t words = 0;
	for (int i = 1; i < argc - 1; i++) {
		const struct option *option = arguments_option(command, argv[i]);
		if (option && option->value && !strchr(argv[i], '=')) {
			i++;
		} else if (argv[i][0] != '-') {
			words++;
		}
	}
	return words;
}

int hd_command_complete(struct hd_session *session, int argc, const char *const *argv,
			void (*add)(void *arg, const char *candidate), void *arg)
{
	if (argc < 1 || !add || !arguments_are_there(argc, argv))
		return 0;
	const struct completer completer = { argv[argc - 1], add, arg };
	if (argc == 1) {
		offer_commands(&completer);
		return 0;
	}
	const struct command *command = command_find(argv[0]);
	if (!command)
		return 0;
	const struct option *before = argc > 2 ? arguments_option(command, argv[argc - 2]) : NULL;
	if (before && before->value && !strchr(argv[argc - 2], '='))
		return offer_kind(&completer, session, before->kind, before->choices);
	if (completer.word[0] == '-') {
		bool two = completer.word[1] == '-';
		offer_options(&completer, command->options, two ? "--" : "-");
		offer_options(&completer, common_options, "--");
		return 0;
	}
	size_t words = words_before(command, argc, argv);
	if (words >= WORDS_MAX || !command->words[words].name)
		return 0;
	const struct word *word = &command->words[words];
	if (word->kind == VALUE_OF_SETTING) {
		offer_choices(&completer, settings_choices(argv[argc - 2]));
		return 0;
	}
	return offer_kind(&completer, session, word->kind, command->choices);
}
