/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"

/** All commands, in the order in which help lists them; each is at the end of its cmd_NAME.c. */
/* clang-format off */
#define COMMANDS(X) \
	X(gcroot) X(pathto) X(objsize) X(dumpheap) X(dumpobj) X(dumparray) X(dumpcollection) \
	X(dumpconcurrentdictionary) X(dumpconcurrentqueue) X(dumpvc) X(dumpmt) X(dumpclass) \
	X(name2ee) X(token2ee) X(ip2md) X(dumpmd) X(dumpil) X(dumpsig) X(dumpsigelem) \
	X(clrmodules) X(modules) X(dumpmodule) X(dumpassembly) X(dumpdomain) X(dumpalc) \
	X(eeversion) X(crashinfo) X(analyzeoom) X(sizestats) X(printexception) X(dumpdelegate) \
	X(strings) X(syncblk) X(eeheap) X(memory) X(maddress) X(verifyheap) X(verifyobj) \
	X(gcwhere) X(listnearobj) X(clrthreads) X(threadstate) X(threads) X(setthread) \
	X(clrstack) X(dumpstackobjects) X(parallelstacks) X(waits) X(hang) X(dumpasync) \
	X(dumphttp) X(dumprequests) X(dumptasks) X(taskstate) X(threadpool) X(threadpoolqueue) \
	X(timerinfo) X(gchandles) X(finalizequeue) X(dumpgen) X(dumpexceptions) X(gcheapstat) \
	X(notreachableinrange) X(ephrefs) X(ephtoloh) X(balance) X(referrers) X(report) X(triage) \
	X(retained) X(dominators) X(roots) X(types) X(info) X(diff) X(sql) X(export) X(collect) \
	X(ps) X(doctor) X(open) X(close) X(set) X(help)
/* clang-format on */

/** A command of that list. */
#define COMMAND_DECLARATION(name) extern const struct command name##_command;

COMMANDS(COMMAND_DECLARATION)
