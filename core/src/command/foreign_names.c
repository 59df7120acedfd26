/* SPDX-License-Identifier: MIT */
/* Commands of SOS and dotnet-dump that are not commands here (names: dotnet/diagnostics, src/SOS, of 2026). */
#include "command/foreign_names.h"

#include <stddef.h>
#include <strings.h>

#define NOTHING    "nothing here does what it does in SOS"
#define LIVE       "it is about a process that runs under a debugger; nothing here does that"
#define WINDOWS    "it is about Windows; nothing here does that"
#define DEBUGGER   "use the debugger's own command for memory and registers"
#define NOT_NEEDED "it is not needed: nothing has to be set up or downloaded here"
#define USE_STACKS "use clrstack -all"

static const struct {
	const char *name, *advice;
} names[] = {
	{ "bpmd", LIVE },
	{ "clrma", NOTHING },
	{ "clru", NOTHING },
	{ "comstate", WINDOWS },
	{ "d", DEBUGGER },
	{ "db", DEBUGGER },
	{ "dc", DEBUGGER },
	{ "dbgout", NOT_NEEDED },
	{ "dd", DEBUGGER },
	{ "dp", DEBUGGER },
	{ "dq", DEBUGGER },
	{ "du", DEBUGGER },
	{ "dumpccw", WINDOWS },
	{ "dumpgcdata", NOTHING },
	{ "dumplog", NOTHING },
	{ "dumprcw", WINDOWS },
	{ "dumpruntimetypes", "use types" },
	{ "dumpsig", NOTHING },
	{ "dumpsigelem", NOTHING },
	{ "dumpstack", USE_STACKS ", or the debugger's own backtrace" },
	{ "dw", DEBUGGER },
	{ "eestack", USE_STACKS },
	{ "ehinfo", NOTHING },
	{ "enummem", NOT_NEEDED },
	{ "ext", "use help" },
	{ "findappdomain", NOTHING },
	{ "findpointersin", NOTHING },
	{ "findroots", LIVE },
	{ "gchandleleaks", "use gchandles -stat" },
	{ "gcinfo", NOTHING },
	{ "gctonative", NOTHING },
	{ "histclear", NOTHING },
	{ "histinit", NOTHING },
	{ "histobj", NOTHING },
	{ "histobjfind", NOTHING },
	{ "histroot", NOTHING },
	{ "histstats", NOTHING },
	{ "loadsymbols", NOT_NEEDED },
	{ "logclose", "use the shell: heapdump TARGET COMMAND >FILE" },
	{ "logging", NOT_NEEDED },
	{ "logopen", "use the shell: heapdump TARGET COMMAND >FILE" },
	{ "maddress", NOTHING },
	{ "nameof", "use dumpobj" },
	{ "r", DEBUGGER },
	{ "rcwcleanuplist", WINDOWS },
	{ "readmemory", DEBUGGER },
	{ "registers", DEBUGGER },
	{ "runtimes", "use info" },
	{ "setclrpath", NOT_NEEDED },
	{ "sethostruntime", NOT_NEEDED },
	{ "setsymbolserver", NOT_NEEDED },
	{ "sos", "use the command without it" },
	{ "sosflush", NOT_NEEDED },
	{ "soshelp", "use help" },
	{ "sosstatus", "use info" },
	{ "stoponcatch", LIVE },
	{ "stoponexception", LIVE },
	{ "traverseheap", "use export FILE" },
	{ "u", "use dumpmd or ip2md for the method, and the debugger's own disassembly" },
	{ "vh", "use verifyheap" },
	{ "vo", "use verifyobj" },
	{ "watsonbuckets", WINDOWS },
};

const char *foreign_name_at(unsigned int index)
{
	return index < sizeof(names) / sizeof(names[0]) ? names[index].name : NULL;
}

const char *foreign_name_advice(const char *name)
{
	for (unsigned int i = 0; foreign_name_at(i); i++) {
		if (strcasecmp(names[i].name, name) == 0)
			return names[i].advice;
	}
	return NULL;
}
