/* SPDX-License-Identifier: MIT */
/*
 * Commands of SOS and dotnet-dump that are not commands here (names: dotnet/diagnostics, src/SOS, of 2026), and words of
 * GDB, LLDB and WinDbg that people type at the prompt of the shell.
 */
#include "command/foreign_names.h"

#include <stddef.h>
#include <strings.h>

#define NOTHING    "nothing here does what it does in SOS"
#define LIVE       "it is about a process that runs under a debugger; nothing here does that"
#define WINDOWS    "it is about Windows; nothing here does that"
#define MEMORY     "use dq for words with what they mean, db for bytes, du for text"
#define NOT_NEEDED "it is not needed: nothing has to be set up or downloaded here"
#define USE_STACKS "use clrstack -all"
#define STRESS_LOG \
	"the runtime's stress log is not read here; gcwhere and gcroot show where an object is now"
#define STACK  "use clrstack, or clrstack -f for native frames too; clrstack -all for all threads"
#define FRAME  "use clrstack, which shows all frames, with -a their arguments and locals"
#define VALUES "use dumpobj for an object, dq or db for memory, and registers"

static const struct {
	const char *name, *advice;
} names[] = {
	{ "analyze", "use triage for the first look, crashinfo for a crash" },
	{ "attach", "use open PID" },
	{ "backtrace", STACK },
	{ "bpmd", "it is there in GDB and LLDB; break NAMESPACE.TYPE.METHOD does the same" },
	{ "break", LIVE },
	{ "bt", STACK },
	{ "clrma", "use crashinfo" },
	{ "comstate", WINDOWS },
	{ "continue", LIVE },
	{ "core", "use open FILE" },
	{ "createdump",
	  "use collect for a heap dump; gcore and the runtime's createdump make cores" },
	{ "d", MEMORY },
	{ "dbgout", NOT_NEEDED },
	{ "detach", "use close" },
	{ "disassemble", "use clru for the code of a method, and a debugger for other code" },
	{ "down", FRAME },
	{ "dt", VALUES },
	{ "dumpccw", WINDOWS },
	{ "dumpgcdata",
	  "use balance and gcheapstat; the counters of the garbage collector are not read here" },
	{ "dumphttprequests", "use dumphttp" },
	{ "dumplog", STRESS_LOG },
	{ "dumpobjgcrefs", "use dumpobj -refs" },
	{ "dumprcw", WINDOWS },
	{ "dumpruntimetypes", "use types" },
	{ "dumpstack", "use clrstack -f, or the debugger's own backtrace" },
	{ "dv", FRAME },
	{ "eestack", USE_STACKS },
	{ "enummem", NOT_NEEDED },
	{ "ext", "use help" },
	{ "faq", "use help" },
	{ "file", "use open FILE" },
	{ "findappdomain", "use dumpdomain: .NET has one application domain" },
	{ "findpointersin",
	  "use dumpstackobjects BEGIN END, for the objects to which the words of a range refer" },
	{ "findroots", LIVE },
	{ "finish", LIVE },
	{ "frame", FRAME },
	{ "gchandleleaks", "use gchandles -stat" },
	{ "gctonative", NOTHING },
	{ "heapstat", "use gcheapstat" },
	{ "histclear", STRESS_LOG },
	{ "histinit", STRESS_LOG },
	{ "histobj", STRESS_LOG },
	{ "histobjfind", STRESS_LOG },
	{ "histroot", STRESS_LOG },
	{ "histstats", STRESS_LOG },
	{ "image", "use modules, or clrmodules for managed ones" },
	{ "k", STACK },
	{ "kb", STACK },
	{ "kn", STACK },
	{ "kp", STACK },
	{ "kv", STACK },
	{ "list", "use clrstack, which shows the source lines where PDBs are found" },
	{ "loadsymbols", NOT_NEEDED },
	{ "logclose", "use the shell: heapdump TARGET COMMAND >FILE" },
	{ "logging", NOT_NEEDED },
	{ "logopen", "use the shell: heapdump TARGET COMMAND >FILE" },
	{ "minidumpmode", NOT_NEEDED },
	{ "nameof", "use dumpobj" },
	{ "next", LIVE },
	{ "p", VALUES },
	{ "print", VALUES },
	{ "procinfo", "use info" },
	{ "rcwcleanuplist", WINDOWS },
	{ "readmemory", MEMORY },
	{ "register", "use registers" },
	{ "run", LIVE },
	{ "runtimes", "use info" },
	{ "s", "use strings, or types -type TEXT" },
	{ "saveallmodules", NOTHING },
	{ "savemodule", NOTHING },
	{ "setclrpath", NOT_NEEDED },
	{ "sethostruntime", NOT_NEEDED },
	{ "setsymbolserver", NOT_NEEDED },
	{ "sharedlibrary", "use modules, or clrmodules for managed ones" },
	{ "simulate_gc_heap_corruption", NOTHING },
	{ "soe", LIVE },
	{ "sos", "use the command without it" },
	{ "sosflush", NOT_NEEDED },
	{ "soshelp", "use help" },
	{ "sosstatus", "use info" },
	{ "step", LIVE },
	{ "stoponcatch", LIVE },
	{ "stoponexception", LIVE },
	{ "suppressjitoptimization", LIVE },
	{ "target", "use open FILE" },
	{ "thread",
	  "use threads for the list, setthread to choose one, clrstack -all for all stacks" },
	{ "tracetocode", NOTHING },
	{ "traverseheap", "use export FILE" },
	{ "up", FRAME },
	{ "verifystack", NOTHING },
	{ "version", "use info; heapdump --version says the version of this program" },
	{ "vh", "use verifyheap" },
	{ "vmstat", NOTHING },
	{ "vo", "use verifyobj" },
	{ "watch", LIVE },
	{ "watsonbuckets", WINDOWS },
	{ "where", STACK },
	{ "x", VALUES },
	{ "~", "use threads for the list, setthread to choose one, clrstack -all for all stacks" },
};

const char *foreign_name_at(unsigned int index)
{
	return index < sizeof(names) / sizeof(names[0]) ? names[index].name : NULL;
}

const char *foreign_name_advice(const char *name)
{
	/* WinDbg's extensions begin with an exclamation mark. */
	name += *name == '!';
	for (unsigned int i = 0; foreign_name_at(i); i++) {
		if (strcasecmp(names[i].name, name) == 0)
			return names[i].advice;
	}
	return NULL;
}
