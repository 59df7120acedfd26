/* SPDX-License-Identifier: MIT */
/* The entries of all commands, each at the end of its cmd_NAME.c. */
#ifndef HEAPDUMP_SRC_COMMAND_TABLE_H
#define HEAPDUMP_SRC_COMMAND_TABLE_H

#include "command/call.h"

extern const struct command gcroot_command, pathto_command, objsize_command, dumpheap_command,
	dumpobj_command, dumparray_command, dumpvc_command, dumpmt_command, dumpclass_command,
	printexception_command, dumpdelegate_command, strings_command, syncblk_command,
	eeheap_command, memory_command, verifyheap_command, verifyobj_command, gcwhere_command,
	listnearobj_command, clrthreads_command, clrstack_command, gchandles_command,
	finalizequeue_command, dumpgen_command, dumpexceptions_command, gcheapstat_command,
	notreachableinrange_command, ephrefs_command, ephtoloh_command, balance_command,
	referrers_command, report_command, retained_command, dominators_command, roots_command,
	types_command, info_command, diff_command, sql_command, export_command, collect_command,
	ps_command, doctor_command, waits_command, hang_command, threadpool_command,
	threadpoolqueue_command, timerinfo_command, dumpasync_command, dumphttp_command,
	dumprequests_command, dumptasks_command, taskstate_command, open_command, close_command,
	set_command, help_command, name2ee_command, token2ee_command, ip2md_command, dumpmd_command,
	clrmodules_command, modules_command, dumpmodule_command, dumpassembly_command,
	dumpdomain_command, dumpalc_command, dumpil_command, eeversion_command, crashinfo_command,
	analyzeoom_command, sizestats_command, dumpcollection_command,
	dumpconcurrentdictionary_command, dumpconcurrentqueue_command, parallelstacks_command,
	dumpstackobjects_command, threadstate_command, threads_command, setthread_command;

#endif
