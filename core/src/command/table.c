/* SPDX-License-Identifier: MIT */
#include <strings.h>

#include "command/command.h"

static const struct command commands[] = {
	{ .name = "gcroot",
	  .summary = "show what keeps an object alive",
	  .description =
		  "For every root that reaches the object: the shortest path from the root to it.\n"
		  "Weak roots keep nothing alive and are named apart; a root with the weak flag is\n"
		  "weak whatever its kind. Runs of over 4 objects of one type and the middle of very\n"
		  "long paths are folded. A path that meets one already shown ends there.\n",
	  .example = "gcroot 1ce056",
	  .is_sos = true,
	  .needs_graph = true,
	  .options = gcroot_options,
	  .words = { { "ID", VALUE_ADDRESS, false } },
	  .run = run_gcroot },
	{ .name = "pathto",
	  .summary = "show the shortest path from one object to another",
	  .description = "",
	  .example = "pathto 1c0010 1ce056",
	  .is_sos = true,
	  .needs_graph = true,
	  .options = pathto_options,
	  .words = { { "FROM", VALUE_ADDRESS, false }, { "TO", VALUE_ADDRESS, false } },
	  .run = run_pathto },
	{ .name = "objsize",
	  .summary = "list what an object keeps reachable, itself included",
	  .description = "",
	  .example = "objsize 1ce056 -stat",
	  .is_sos = true,
	  .needs_graph = true,
	  .options = objsize_options,
	  .words = { { "ID", VALUE_ADDRESS, false } },
	  .run = run_objsize },
	{ .name = "dumpheap",
	  .summary = "list objects, and count them by type",
	  .description =
		  "Objects stand in ascending order of their ids; those of START <= id < END when a\n"
		  "range is given. -type looks for its value in the type's name, case matters and\n"
		  "backticks do not.\n",
	  .example = "dumpheap -stat -type System.String",
	  .is_sos = true,
	  .needs_graph = true,
	  .options = dumpheap_options,
	  .words = { { "START", VALUE_ADDRESS, true }, { "END", VALUE_ADDRESS, true } },
	  .run = run_dumpheap },
	{ .name = "dumpobj",
	  .alias = "do",
	  .summary = "show one object: type, size, references",
	  .description = "",
	  .example = "dumpobj 1ce056 -refs",
	  .is_sos = true,
	  .needs_graph = true,
	  .options = dumpobj_options,
	  .words = { { "ID", VALUE_ADDRESS, false } },
	  .run = run_dumpobj },
	{ .name = "retained",
	  .summary = "count what would be freed if an object went away",
	  .description =
		  "The objects that every strong path from the roots reaches through this one, itself\n"
		  "included: what its dominator subtree holds.\n",
	  .example = "retained 1ce056",
	  .needs_graph = true,
	  .words = { { "ID", VALUE_ADDRESS, false } },
	  .run = run_retained },
	{ .name = "dominators",
	  .summary = "show the objects that retain most, as a tree",
	  .description =
		  "An object dominates another when every path from the roots to the other leads\n"
		  "through it. With ID only its subtree is shown.\n",
	  .example = "dominators -top 20",
	  .needs_graph = true,
	  .options = dominators_options,
	  .words = { { "ID", VALUE_ADDRESS, true } },
	  .run = run_dominators },
	{ .name = "roots",
	  .summary = "list the roots",
	  .description = "",
	  .example = "roots -kind static",
	  .needs_graph = true,
	  .options = roots_options,
	  .run = run_roots },
	{ .name = "types",
	  .summary = "list the types, also those without objects",
	  .description = "",
	  .example = "types -type Bubble",
	  .needs_graph = true,
	  .options = types_options,
	  .run = run_types },
	{ .name = "info",
	  .summary = "describe the file: sections, totals, findings",
	  .description =
		  "Findings are what is incomplete or wrong in the file: references and types that it\n"
		  "does not define, a missing end, records that --lenient passed over.\n",
	  .example = "info",
	  .needs_graph = true,
	  .run = run_info },
	{ .name = "diff",
	  .summary = "compare with another dump, by type",
	  .description =
		  "The open file is before, OTHER is after; most growth in bytes comes first. Ids are\n"
		  "not comparable between dumps, so objects are counted, not matched.\n",
	  .example = "diff later.heap",
	  .needs_graph = true,
	  .options = diff_options,
	  .words = { { "OTHER", VALUE_FILE, false } },
	  .run = run_diff },
	{ .name = "export",
	  .summary = "write the heap to a dump file",
	  .description =
		  "The file appears under its name when it is complete; a file of that name is\n"
		  "replaced. FILE - writes to the output of the command.\n",
	  .example = "export copy.heap --format rpm",
	  .needs_graph = true,
	  .options = export_options,
	  .words = { { "FILE", VALUE_FILE, false } },
	  .run = run_export },
	{ .name = "open",
	  .summary = "open a heap dump file",
	  .description = "What was open before is closed; it stays when FILE cannot be read.\n",
	  .example = "open bubblecs.heap",
	  .words = { { "FILE", VALUE_FILE, false } },
	  .run = run_open },
	{ .name = "close",
	  .summary = "close the heap dump file",
	  .description = "",
	  .example = "close",
	  .run = run_close },
	{ .name = "set",
	  .summary = "show or change settings",
	  .description = "",
	  .example = "set workers 2",
	  .words = { { "NAME", VALUE_SETTING, true }, { "VALUE", VALUE_TEXT, true } },
	  .run = run_set },
	{ .name = "help",
	  .summary = "list the commands, or describe one",
	  .description = "",
	  .example = "help gcroot",
	  .words = { { "COMMAND", VALUE_COMMAND, true } },
	  .run = run_help },
};

const struct command *command_at(size_t index)
{
	return index < sizeof(commands) / sizeof(commands[0]) ? &commands[index] : NULL;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; command_at(i); i++) {
		const struct command *command = command_at(i);
		if (strcasecmp(command->name, name) == 0 ||
		    (command->alias && strcasecmp(command->alias, name) == 0))
			return command;
	}
	return NULL;
}

int hd_command_at(size_t index, struct hd_command_info *ret)
{
	const struct command *command = command_at(index);
	if (!command)
		return -1;
	*ret = (struct hd_command_info){
		.name = command->name,
		.alias = command->alias,
		.summary = command->summary,
		.is_sos = command->is_sos,
	};
	return 0;
}
