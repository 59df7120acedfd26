/* SPDX-License-Identifier: MIT */
#include "command/table.h"

#include <strings.h>

#define COMMAND_ENTRY(name) &name##_command,

static const struct command *const commands[] = { COMMANDS(COMMAND_NO_GROUP, COMMAND_ENTRY) };

const struct command *command_at(size_t index)
{
	return index < sizeof(commands) / sizeof(commands[0]) ? commands[index] : NULL;
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

/* Questions about the heap; what opens, writes or sets is a word of debuggers, too. */
static bool is_top_level(const struct command *command)
{
	return command->top_level == TOP_LEVEL_ALWAYS ||
	       (command->top_level == TOP_LEVEL_QUERIES && command->role == HD_ROLE_QUERY &&
		!command->writes && command->needs != NEEDS_NOTHING);
}

static int fill_command_info(const struct command *command, struct hd_command_info *ret)
{
	if (!command || !ret)
		return -1;
	*ret = (struct hd_command_info){
		.name = command->name,
		.alias = command->alias,
		.summary = command->summary,
		.is_top_level = is_top_level(command),
		.needs_open = command->needs != NEEDS_NOTHING,
		.role = (uint32_t)command->role,
		.writes = command->writes,
		.is_raw = command->is_raw,
		.follows = command->follows,
	};
	return 0;
}

int hd_command_at(size_t index, struct hd_command_info *ret)
{
	return fill_command_info(command_at(index), ret);
}

int hd_command_find(const char *name, struct hd_command_info *ret)
{
	return fill_command_info(name ? command_find(name) : NULL, ret);
}
