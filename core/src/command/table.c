/* SPDX-License-Identifier: MIT */
#include "command/table.h"

#include <strings.h>

/* clang-format off */
static const struct command *const commands[] = {
	&gcroot_command,
	&pathto_command,
	&objsize_command,
	&dumpheap_command,
	&dumpobj_command,
	&dumparray_command,
	&dumpcollection_command,
	&dumpconcurrentdictionary_command,
	&dumpconcurrentqueue_command,
	&dumpvc_command,
	&dumpmt_command,
	&dumpclass_command,
	&name2ee_command,
	&token2ee_command,
	&ip2md_command,
	&dumpmd_command,
	&dumpil_command,
	&dumpsig_command,
	&dumpsigelem_command,
	&clrmodules_command,
	&modules_command,
	&dumpmodule_command,
	&dumpassembly_command,
	&dumpdomain_command,
	&dumpalc_command,
	&eeversion_command,
	&crashinfo_command,
	&analyzeoom_command,
	&sizestats_command,
	&printexception_command,
	&dumpdelegate_command,
	&strings_command,
	&syncblk_command,
	&eeheap_command,
	&memory_command,
	&maddress_command,
	&verifyheap_command,
	&verifyobj_command,
	&gcwhere_command,
	&listnearobj_command,
	&clrthreads_command,
	&threadstate_command,
	&threads_command,
	&setthread_command,
	&clrstack_command,
	&dumpstackobjects_command,
	&parallelstacks_command,
	&waits_command,
	&hang_command,
	&dumpasync_command,
	&dumphttp_command,
	&dumprequests_command,
	&dumptasks_command,
	&taskstate_command,
	&threadpool_command,
	&threadpoolqueue_command,
	&timerinfo_command,
	&gchandles_command,
	&finalizequeue_command,
	&dumpgen_command,
	&dumpexceptions_command,
	&gcheapstat_command,
	&notreachableinrange_command,
	&ephrefs_command,
	&ephtoloh_command,
	&balance_command,
	&referrers_command,
	&report_command,
	&retained_command,
	&dominators_command,
	&roots_command,
	&types_command,
	&info_command,
	&diff_command,
	&sql_command,
	&export_command,
	&collect_command,
	&ps_command,
	&doctor_command,
	&open_command,
	&close_command,
	&set_command,
	&help_command,
};
/* clang-format on */

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
