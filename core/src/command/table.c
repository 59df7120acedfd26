/* SPDX-License-Identifier: MIT */
#include <strings.h>

#include "command/heap/heap_range.h"
#include "command/objects/object.h"

static const struct command commands[] = {
	{ .name = "gcroot",
	  .has_rows = true,
	  .summary = "show what keeps an object alive",
	  .description =
		  "For every root that reaches the object: the shortest path from the root to it.\n"
		  "Weak roots keep nothing alive and are named apart; a root with the weak flag is\n"
		  "weak whatever its kind. Runs of over 4 objects of one type and the middle of very\n"
		  "long paths are folded. A path that meets one already shown ends there.\n"
		  "\n"
		  "With -type or -mt in place of ID: the shortest paths to all such objects, merged\n"
		  "into one tree by root, field and type, with how many objects and bytes each branch\n"
		  "leads to; most bytes first. \"repeats\" marks what comes again and again in a path,\n"
		  "as in a list.\n"
		  "\n"
		  "-gcgen 0 or 1: what keeps the object from a collection of that generation, which\n"
		  "follows no path through older objects, but takes what they refer to for alive.\n",
	  .example = "gcroot 1ce056",
	  .is_sos = true,
	  .needs = NEEDS_PATHS,
	  .options = gcroot_options,
	  .words = { { "ID", VALUE_ADDRESS, true } },
	  .check = check_gcroot,
	  .run = run_gcroot },
	{ .name = "pathto",
	  .has_rows = true,
	  .summary = "show the shortest path from one object to another",
	  .description = "",
	  .example = "pathto 1c0010 1ce056",
	  .is_sos = true,
	  .needs = NEEDS_GRAPH,
	  .options = pathto_options,
	  .words = { { "FROM", VALUE_ADDRESS, false }, { "TO", VALUE_ADDRESS, false } },
	  .run = run_pathto },
	{ .name = "objsize",
	  .has_rows = true,
	  .summary = "list what an object keeps reachable, itself included",
	  .description = "",
	  .example = "objsize 1ce056 -stat",
	  .is_sos = true,
	  .needs = NEEDS_GRAPH,
	  .options = objsize_options,
	  .words = { { "ID", VALUE_ADDRESS, true } },
	  .check = check_objsize,
	  .run = run_objsize },
	{ .name = "dumpheap",
	  .has_rows = true,
	  .summary = "list objects, and count them by type",
	  .description =
		  "Objects stand in ascending order of their addresses (ids in a dump file); those of\n"
		  "START <= address < END when a range is given. -type looks for its value in the\n"
		  "type's name, case matters and backticks do not; `2 stands for 2 type arguments.\n",
	  .example = "dumpheap -stat -type System.String",
	  .is_sos = true,
	  .needs = NEEDS_EITHER,
	  .options = dumpheap_options,
	  .words = { { "START", VALUE_ADDRESS, true }, { "END", VALUE_ADDRESS, true } },
	  .check = check_dumpheap,
	  .run = run_dumpheap },
	{ .name = "dumpobj",
	  .alias = "do",
	  .summary = "show one object: type, size, fields, references",
	  .description =
		  "Of a core or process: SOS's table of fields with their values, statics too; behind a\n"
		  "name what the value means (an enum's name, the begin of a string, a date). Of a dump\n"
		  "file: type, size and references. dumpvc shows a struct inside an object.\n",
	  .example = "dumpobj 7f0fd5c0b2f8 -refs",
	  .is_sos = true,
	  .needs = NEEDS_EITHER,
	  .options = dumpobj_options,
	  .words = { { "ADDR", VALUE_ADDRESS, false } },
	  .run = run_dumpobj },
	{ .name = "dumparray",
	  .summary = "list the elements of an array",
	  .description =
		  "Structs and numbers are shown with their addresses, references with what they refer\n"
		  "to. -start counts over all dimensions.\n",
	  .example = "dumparray 7f0fd5c0b2f8 -start 10 -length 5 -details",
	  .is_sos = true,
	  .has_rows = true,
	  .needs = NEEDS_HEAP,
	  .options = dumparray_options,
	  .words = { { "ADDR", VALUE_ADDRESS, false } },
	  .run = run_dumparray },
	{ .name = "dumpvc",
	  .summary = "show the fields of a struct by its MethodTable and address",
	  .description = "",
	  .example = "dumpvc 7f1bb073d428 7f0fd5c0b278",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .words = { { "MT", VALUE_ADDRESS, false }, { "ADDR", VALUE_ADDRESS, false } },
	  .run = run_dumpvc },
	{ .name = "dumpmt",
	  .summary = "describe a type by its MethodTable",
	  .description = "",
	  .example = "dumpmt 7f1bb073ae40",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .words = { { "MT", VALUE_ADDRESS, false } },
	  .run = run_dumpmt },
	{ .name = "dumpclass",
	  .summary = "list the fields of a type, its statics with their values",
	  .description = "The type is given by its EEClass or its MethodTable.\n",
	  .example = "dumpclass 7f1bb073ae40",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .words = { { "CLASS", VALUE_ADDRESS, false } },
	  .run = run_dumpclass },
	{ .name = "printexception",
	  .alias = "pe",
	  .summary = "show an exception: message, inner, stack trace, HResult",
	  .description = "Without ADDR: what each managed thread has thrown last.\n",
	  .example = "printexception 7f0fd8073538 -nested",
	  .is_sos = true,
	  .needs = NEEDS_RUNTIME,
	  .options = printexception_options,
	  .words = { { "ADDR", VALUE_ADDRESS, true } },
	  .run = run_printexception },
	{ .name = "dumpdelegate",
	  .summary = "show what a delegate calls: targets and methods",
	  .description = "",
	  .example = "dumpdelegate 7f0fd8072c28",
	  .is_sos = true,
	  .has_rows = true,
	  .needs = NEEDS_HEAP,
	  .words = { { "ADDR", VALUE_ADDRESS, false } },
	  .run = run_dumpdelegate },
	{ .name = "strings",
	  .has_rows = true,
	  .summary = "count strings by value",
	  .description = "Ascending by the bytes that all strings of a value take together.\n",
	  .example = "strings -min 2 -limit 20",
	  .needs = NEEDS_HEAP,
	  .options = strings_options,
	  .run = run_strings },
	{ .name = "syncblk",
	  .has_rows = true,
	  .summary = "list the monitors that threads hold, with their sync blocks",
	  .description = "Monitors in thin locks are listed by dumpheap -thinlock.\n",
	  .example = "syncblk -all",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .options = syncblk_options,
	  .run = run_syncblk },
	{ .name = "eeheap",
	  .has_rows = true,
	  .summary = "list heaps, generations and segments of the GC heap",
	  .description =
		  "Allocated is where the objects end, committed is what the GC has of the kernel.\n"
		  "Below the heaps stand the allocation contexts: free memory inside generation 0.\n",
	  .example = "eeheap -gc",
	  .is_sos = true,
	  .needs = NEEDS_RUNTIME,
	  .options = eeheap_options,
	  .words = { { "START", VALUE_ADDRESS, true }, { "END", VALUE_ADDRESS, true } },
	  .check = check_range,
	  .run = run_eeheap },
	{ .name = "verifyheap",
	  .summary = "check the whole heap for damage",
	  .description =
		  "Every object's method table, size, references, lock and sync block; allocation\n"
		  "contexts, segments, finalizer queues. What follows from a damaged thing stands\n"
		  "with it. Exit status 1 when there is damage.\n",
	  .example = "verifyheap",
	  .is_sos = true,
	  .has_rows = true,
	  .needs = NEEDS_HEAP,
	  .options = verifyheap_options,
	  .words = { { "START", VALUE_ADDRESS, true }, { "END", VALUE_ADDRESS, true } },
	  .check = check_range,
	  .run = run_verifyheap },
	{ .name = "verifyobj",
	  .summary = "check one object for damage",
	  .description = "",
	  .example = "verifyobj 7f0fd8068768",
	  .is_sos = true,
	  .has_rows = true,
	  .needs = NEEDS_HEAP,
	  .words = { { "ADDR", VALUE_ADDRESS, false } },
	  .run = run_verifyobj },
	{ .name = "gcwhere",
	  .summary = "show the heap, segment and generation of an address",
	  .description = "",
	  .example = "gcwhere 7f0fd8068768",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .words = { { "ADDR", VALUE_ADDRESS, false } },
	  .run = run_gcwhere },
	{ .name = "listnearobj",
	  .alias = "lno",
	  .summary = "show the objects before, at and behind an address",
	  .description =
		  "The segment is walked from its first object, so ADDR may lie inside an object.\n",
	  .example = "listnearobj 7f0fd8068770",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .words = { { "ADDR", VALUE_ADDRESS, false } },
	  .run = run_listnearobj },
	{ .name = "clrthreads",
	  .has_rows = true,
	  .summary = "list the managed threads and their allocation contexts",
	  .description =
		  "SOS's columns: DBG is the debugger's number of the thread (XXXX: it has none), without\n"
		  "a debugger its place among the threads; Exception what the thread is for and the\n"
		  "exception that it threw last. .NET has neither lock counts nor apartments here.\n",
	  .example = "clrthreads",
	  .is_sos = true,
	  .needs = NEEDS_RUNTIME,
	  .run = run_clrthreads },
	{ .name = "clrstack",
	  .has_rows = true,
	  .summary = "show the managed frames of the threads",
	  .description =
		  "The thread whose OS id is ID (hex) or managed id is -thread N; else the one that the\n"
		  "debugger has selected, or all with -all and where no debugger has. With -roots below\n"
		  "each frame what its slots and registers refer to. A stack that cannot be walked to\n"
		  "its end says why.\n",
	  .example = "clrstack -roots",
	  .is_sos = true,
	  .needs = NEEDS_RUNTIME,
	  .options = clrstack_options,
	  .words = { { "ID", VALUE_ADDRESS, true } },
	  .run = run_clrstack },
	{ .name = "gchandles",
	  .has_rows = true,
	  .summary = "list the GC handles",
	  .description =
		  "Dependent handles show what they keep alive under Data. Weak handles keep nothing\n"
		  "alive.\n",
	  .example = "gchandles -type Pinned",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .options = gchandles_options,
	  .run = run_gchandles },
	{ .name = "finalizequeue",
	  .has_rows = true,
	  .alias = "fq",
	  .summary = "list the objects with finalizers, and those whose turn has come",
	  .description = "",
	  .example = "finalizequeue -stat",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .options = finalizequeue_options,
	  .run = run_finalizequeue },
	{ .name = "dumpgen",
	  .has_rows = true,
	  .alias = "dg",
	  .summary = "count the objects of one generation by type",
	  .description =
		  "GENERATION is gen0, gen1, gen2, loh, poh or foh (frozen objects). Of a dump file\n"
		  "with generations dumpheap -stat -gen does the same.\n",
	  .example = "dumpgen gen2 -type System.String",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .options = dumpgen_options,
	  .words = { { "GENERATION", VALUE_CHOICE, false } },
	  .choices = generation_choices,
	  .run = run_dumpgen },
	{ .name = "gcheapstat",
	  .has_rows = true,
	  .summary = "show the bytes of each generation: objects, free, committed, dead",
	  .description = "",
	  .example = "gcheapstat -unreachable",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .options = gcheapstat_options,
	  .run = run_gcheapstat },
	{ .name = "notreachableinrange",
	  .has_rows = true,
	  .summary = "list the dead objects between two addresses",
	  .description = "",
	  .example = "notreachableinrange 7f0fd8000020 7f0fd8400000 -stat",
	  .is_sos = true,
	  .needs = NEEDS_GRAPH,
	  .options = notreachableinrange_options,
	  .words = { { "START", VALUE_ADDRESS, false }, { "END", VALUE_ADDRESS, false } },
	  .check = check_range,
	  .run = run_notreachableinrange },
	{ .name = "ephrefs",
	  .has_rows = true,
	  .summary = "list old objects that refer to younger ones",
	  .description = "",
	  .example = "ephrefs",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .options = ephrefs_options,
	  .run = run_ephrefs },
	{ .name = "ephtoloh",
	  .has_rows = true,
	  .summary = "list young objects that refer to large ones",
	  .description = "",
	  .example = "ephtoloh",
	  .is_sos = true,
	  .needs = NEEDS_HEAP,
	  .options = ephrefs_options,
	  .run = run_ephtoloh },
	{ .name = "balance",
	  .has_rows = true,
	  .summary = "show the bytes of each logical heap",
	  .description = "",
	  .example = "balance",
	  .needs = NEEDS_HEAP,
	  .run = run_balance },
	{ .name = "retained",
	  .summary = "count what would be freed if an object went away",
	  .description =
		  "The objects that every strong path from the roots reaches through this one, itself\n"
		  "included: what its dominator subtree holds.\n",
	  .example = "retained 1ce056",
	  .needs = NEEDS_GRAPH,
	  .options = retained_options,
	  .words = { { "ID", VALUE_ADDRESS, false } },
	  .run = run_retained },
	{ .name = "dominators",
	  .has_rows = true,
	  .summary = "show the objects that retain most, as a tree",
	  .description =
		  "An object dominates another when every path from the roots to the other leads\n"
		  "through it. With ID only its subtree is shown.\n",
	  .example = "dominators -top 20",
	  .needs = NEEDS_GRAPH,
	  .options = dominators_options,
	  .words = { { "ID", VALUE_ADDRESS, true } },
	  .run = run_dominators },
	{ .name = "roots",
	  .has_rows = true,
	  .summary = "list the roots",
	  .description =
		  "In a core or process with the slot, its name or frame, and the thread. With -stat\n"
		  "how many there are of each kind and container.\n",
	  .example = "roots -kind static",
	  .needs = NEEDS_GRAPH,
	  .options = roots_options,
	  .run = run_roots },
	{ .name = "types",
	  .has_rows = true,
	  .summary = "list the types, also those without objects",
	  .description = "",
	  .example = "types -type Bubble",
	  .needs = NEEDS_GRAPH,
	  .options = types_options,
	  .run = run_types },
	{ .name = "info",
	  .summary = "describe what is open: what it is, totals, findings",
	  .description =
		  "Findings are what is incomplete or wrong. In a dump file: references and types that\n"
		  "it does not define, a missing end, records that --lenient passed over. In a core or\n"
		  "process: what is missing, what that costs, and what can be done.\n",
	  .example = "info",
	  .needs = NEEDS_OPEN,
	  .options = info_options,
	  .run = run_info },
	{ .name = "diff",
	  .has_rows = true,
	  .summary = "compare with another dump, core or process, by type",
	  .description =
		  "What is open is before, OTHER is after; most growth in bytes comes first. Types are\n"
		  "matched by name. Ids are not comparable between dumps, so objects are counted, not\n"
		  "matched.\n",
	  .example = "diff later.heap",
	  .needs = NEEDS_EITHER,
	  .options = diff_options,
	  .words = { { "OTHER", VALUE_FILE, false } },
	  .run = run_diff },
	{ .name = "sql",
	  .has_rows = true,
	  .is_raw = true,
	  .summary = "ask the heap with SQL",
	  .description =
		  "One SELECT statement of SQLite over the tables below, which can be read and not\n"
		  "changed. Addresses are numbers: 0x7f0fd5c0b2f8. A column of addresses is shown in\n"
		  "hexadecimal; what is computed from one is a number: printf('%x', max(address)).\n"
		  "Tables of the same name as a command hold its answer.\n",
	  .example = "sql \"SELECT type, count(*) FROM objects GROUP BY type\"",
	  .needs = NEEDS_EITHER,
	  .options = sql_options,
	  .words = { { "SELECT", VALUE_TEXT, false } },
	  .append_help = append_sql_help,
	  .run = run_sql },
	{ .name = "export",
	  .writes = true,
	  .summary = "write the heap to a dump file",
	  .description =
		  "The file appears under its name when it is complete; a file of that name is\n"
		  "replaced. FILE - is the output of the command, which for a .gcdump must be no\n"
		  "terminal. Of a core or process: objects with their addresses, dead ones too,\n"
		  "references, and all roots. A .sqlite has the tables of sql but arrays; it is made in\n"
		  "$TMPDIR first.\n",
	  .example = "export copy.heap --format rpm",
	  .needs = NEEDS_GRAPH,
	  .options = export_options,
	  .words = { { "FILE", VALUE_OUTPUT, false } },
	  .check = check_export,
	  .run = run_export },
	{ .name = "collect",
	  .writes = true,
	  .role = HD_ROLE_SYSTEM,
	  .summary = "take a snapshot of the heap of a running .NET process",
	  .description =
		  "Its runtime is asked over the diagnostics socket: its garbage collector walks the\n"
		  "heap, and nothing is attached to it. The process stands still for as long as that\n"
		  "takes (a second for some million objects) and needs memory for a buffer. When\n"
		  "events are lost it is done again with a larger one; a snapshot that lacks objects\n"
		  "in the end is kept, with exit status 1. Without PID: the process that is open.\n"
		  "What the process sends is kept in $TMPDIR, else /tmp, until FILE is written from it;\n"
		  "for a .nettrace, which holds just that, beside FILE.\n",
	  .example = "collect 4711 -o shop.gcdump",
	  .needs = NEEDS_NOTHING,
	  .options = collect_options,
	  .words = { { "PID", VALUE_PROCESS, true } },
	  .run = run_collect },
	{ .name = "ps",
	  .role = HD_ROLE_SYSTEM,
	  .summary = "list the running .NET processes",
	  .description =
		  "Those with a diagnostics socket; of other users' as far as they can be seen.\n",
	  .example = "ps",
	  .has_rows = true,
	  .needs = NEEDS_NOTHING,
	  .run = run_ps },
	{ .name = "open",
	  .role = HD_ROLE_OPEN,
	  .summary = "open a heap dump file, a core file or a process",
	  .description =
		  "What was open before is closed; it stays when FILE cannot be read. The number of a\n"
		  "process stands for it: it is stopped, copied and let go.\n",
	  .example = "open bubblecs.heap",
	  .words = { { "FILE", VALUE_FILE, false } },
	  .run = run_open },
	{ .name = "close",
	  .role = HD_ROLE_CLOSE,
	  .summary = "close what is open",
	  .description = "",
	  .example = "close",
	  .run = run_close },
	{ .name = "set",
	  .role = HD_ROLE_OWN,
	  .summary = "show or change settings",
	  .description = "",
	  .example = "set workers 2",
	  .words = { { "NAME", VALUE_SETTING, true }, { "VALUE", VALUE_OF_SETTING, true } },
	  .append_help = append_settings_help,
	  .run = run_set },
	{ .name = "help",
	  .role = HD_ROLE_OWN,
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

static int tell(const struct command *command, struct hd_command_info *ret)
{
	if (!command || !ret)
		return -1;
	*ret = (struct hd_command_info){
		.name = command->name,
		.alias = command->alias,
		.summary = command->summary,
		.is_sos = command->is_sos,
		.needs_open = command->needs != NEEDS_NOTHING,
		.role = (uint32_t)command->role,
		.writes = command->writes,
		.is_raw = command->is_raw,
	};
	return 0;
}

int hd_command_at(size_t index, struct hd_command_info *ret)
{
	return tell(command_at(index), ret);
}

int hd_command_find(const char *name, struct hd_command_info *ret)
{
	return tell(name ? command_find(name) : NULL, ret);
}
