/* SPDX-License-Identifier: MIT */
/* Command lines about heap dump files, for commands that need a core or a process. */
#include <string.h>

#include "command/call.h"
#include "graph/heap_graph.h"

#define BY_GENERATION \
	"sql \"SELECT generation, count(*), sum(size) FROM objects GROUP BY generation\""

static const struct instead {
	const char *command, *line;
	bool needs_generations; /* does it ask where the generations are? */
} rows[] = {
	{ "dumpgen", "dumpheap -stat -gen GENERATION", true },
	{ "eeheap", BY_GENERATION, true },
	{ "finalizequeue", "roots -kind finalizer", false },
	{ "gchandles", "roots -kind handle", false },
	{ "gcheapstat", BY_GENERATION, true },
	{ "gcwhere", "sql \"SELECT * FROM objects WHERE address = 0xADDR\"", true },
};

static const struct instead *find_instead(const char *command)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].command, command) == 0)
			return &rows[i];
	}
	return NULL;
}

enum hd_status call_refuse_file(const struct call *call)
{
	const struct hd_graph *graph = call->session->graph;
	const struct instead *instead = find_instead(call->command->name);
	if (!instead) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "%s needs a core or a process; a heap dump file does not hold their "
			    "memory",
			    call->command->name);
	}
	bool lacks = instead->needs_generations && !(graph && graph->places.generation);
	return fail(call->err, HD_ERR_UNSUPPORTED, 0,
		    "%s needs a core or a process; of a heap dump file, this tells it: %s%s",
		    call->command->name, instead->line,
		    lacks ? " (this file does not say where the generations are; one made by "
			    "collect -generations does)"
			  : "");
}
