/* SPDX-License-Identifier: MIT */
/* The entries of all commands, each at the end of its cmd_NAME.c, by name. */
#ifndef HEAPDUMP_SRC_COMMAND_TABLE_H
#define HEAPDUMP_SRC_COMMAND_TABLE_H

#include "command/call.h"

extern const struct command analyzeoom_command;
extern const struct command balance_command;
extern const struct command close_command;
extern const struct command clrmodules_command;
extern const struct command clrstack_command;
extern const struct command clrthreads_command;
extern const struct command collect_command;
extern const struct command crashinfo_command;
extern const struct command diff_command;
extern const struct command doctor_command;
extern const struct command dominators_command;
extern const struct command dumpalc_command;
extern const struct command dumparray_command;
extern const struct command dumpassembly_command;
extern const struct command dumpasync_command;
extern const struct command dumpclass_command;
extern const struct command dumpcollection_command;
extern const struct command dumpconcurrentdictionary_command;
extern const struct command dumpconcurrentqueue_command;
extern const struct command dumpdelegate_command;
extern const struct command dumpdomain_command;
extern const struct command dumpexceptions_command;
extern const struct command dumpgen_command;
extern const struct command dumpheap_command;
extern const struct command dumphttp_command;
extern const struct command dumpil_command;
extern const struct command dumpsig_command;
extern const struct command dumpsigelem_command;
extern const struct command dumpmd_command;
extern const struct command dumpmodule_command;
extern const struct command dumpmt_command;
extern const struct command dumpobj_command;
extern const struct command dumprequests_command;
extern const struct command dumpstackobjects_command;
extern const struct command dumptasks_command;
extern const struct command dumpvc_command;
extern const struct command eeheap_command;
extern const struct command eeversion_command;
extern const struct command ephrefs_command;
extern const struct command ephtoloh_command;
extern const struct command export_command;
extern const struct command finalizequeue_command;
extern const struct command gchandles_command;
extern const struct command gcheapstat_command;
extern const struct command gcroot_command;
extern const struct command gcwhere_command;
extern const struct command hang_command;
extern const struct command help_command;
extern const struct command info_command;
extern const struct command ip2md_command;
extern const struct command listnearobj_command;
extern const struct command memory_command;
extern const struct command maddress_command;
extern const struct command modules_command;
extern const struct command name2ee_command;
extern const struct command notreachableinrange_command;
extern const struct command objsize_command;
extern const struct command open_command;
extern const struct command parallelstacks_command;
extern const struct command pathto_command;
extern const struct command printexception_command;
extern const struct command ps_command;
extern const struct command referrers_command;
extern const struct command report_command;
extern const struct command retained_command;
extern const struct command roots_command;
extern const struct command set_command;
extern const struct command setthread_command;
extern const struct command sizestats_command;
extern const struct command sql_command;
extern const struct command strings_command;
extern const struct command syncblk_command;
extern const struct command taskstate_command;
extern const struct command threadpool_command;
extern const struct command threadpoolqueue_command;
extern const struct command threads_command;
extern const struct command threadstate_command;
extern const struct command timerinfo_command;
extern const struct command token2ee_command;
extern const struct command types_command;
extern const struct command verifyheap_command;
extern const struct command verifyobj_command;
extern const struct command waits_command;

#endif
