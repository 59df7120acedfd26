/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"

/**
 * All commands, in the order in which help lists them, each after the title of its group; each is at the end of
 * its cmd_NAME.c.
 */
/* clang-format off */
#define COMMANDS(GROUP, X) \
	GROUP("Begin here") X(triage) X(report) X(hang) X(crashinfo) X(memory) X(info) X(assert) \
	GROUP("Objects") X(dumpheap) X(dumpobj) X(dumparray) X(dumpcollection) \
	X(dumpconcurrentdictionary) X(dumpconcurrentqueue) X(dumpvc) X(dumpdelegate) X(strings) \
	X(types) X(sizestats) X(gcwhere) X(listnearobj) \
	GROUP("What keeps objects") X(gcroot) X(pathto) X(objsize) X(retained) X(dominators) \
	X(referrers) X(roots) X(gchandles) X(finalizequeue) X(ephrefs) X(ephtoloh) \
	X(notreachableinrange) \
	GROUP("The heap") X(eeheap) X(dumpgen) X(gcheapstat) X(balance) X(analyzeoom) X(verifyheap) \
	X(verifyobj) X(maddress) \
	GROUP("Threads and stacks") X(clrthreads) X(clrstack) X(dumpstackobjects) X(parallelstacks) \
	X(threads) X(setthread) X(threadstate) X(waits) X(syncblk) X(threadpool) X(threadpoolqueue) \
	X(timerinfo) \
	GROUP("Memory and registers") X(db) X(dw) X(dd) X(dc) X(dq) X(dp) X(du) X(registers) \
	GROUP("Async methods, tasks and requests") X(dumpasync) X(dumptasks) X(taskstate) X(dumphttp) \
	X(dumprequests) \
	GROUP("Exceptions") X(printexception) X(dumpexceptions) \
	GROUP("Types, methods and modules") X(dumpmt) X(dumpclass) X(name2ee) X(token2ee) X(ip2md) X(symbolize) \
	X(dumpmd) X(dumpil) X(clru) X(gcinfo) X(ehinfo) X(dumpsig) X(dumpsigelem) X(clrmodules) X(modules) X(dumpmodule) \
	X(dumpassembly) X(dumpdomain) X(dumpalc) X(eeversion) \
	GROUP("Questions, files and processes") X(sql) X(diff) X(export) X(collect) X(ps) X(doctor) \
	X(open) X(close) X(set) X(help)
/* clang-format on */

/** For a use of that list to which the groups do not matter. */
#define COMMAND_NO_GROUP(title)

/** A command of that list. */
#define COMMAND_DECLARATION(name) extern const struct command name##_command;

COMMANDS(COMMAND_NO_GROUP, COMMAND_DECLARATION)
