/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "command/table.h"
#include "gc/gc_limits.h"
#include "gc/heap.h"

#define VERSION_SIZE 256u

#define VERSION_LIST(X)                                                                          \
	X(VERSION_RUNTIME, "runtime", NULL, KIND_TEXT, 0, 0, "version of .NET; null: not known") \
	X(VERSION_FILE, "file_version", NULL, KIND_TEXT, 0, 0,                                   \
	  "version and commit, out of the runtime's data; null: not there")                      \
	X(VERSION_SERVER, "server", NULL, KIND_FLAG, 0, 0,                                       \
	  "has the GC a heap for each processor?")                                               \
	X(VERSION_HEAPS, "heaps", NULL, KIND_NUMBER, 0, 0, "number of heaps")                    \
	X(VERSION_DATAS, "datas", NULL, KIND_FLAG, 0, 0,                                         \
	  "does the GC adapt the number of its heaps (DATAS)? null: not known")                  \
	X(VERSION_NUMBER, .heading = "number",                                                   \
	  .kind = KIND_TEXT) /**< text only: out of the file version */

COLUMNS(version, VERSION_COLUMNS, VERSION_LIST);

SCHEMA(version,
       .lines =
	       "[{number}\n{file_version}\n][.NET {runtime}\n]"
	       "[?server Server mode with {heaps} gc heaps[?datas , DATAS is on]|Workstation mode]\n");

static enum hd_status run_eeversion(struct call *call)
{
	struct runtime *runtime = call->heap->runtime;
	char file[VERSION_SIZE];
	const char *version = runtime_version(runtime);
	const bool has_file = runtime_file_version(runtime, file, sizeof(file));
	struct gc_limits limits;
	gc_limits_read(runtime, &limits);
	const struct cell cells[VERSION_COLUMNS] = {
		[VERSION_NUMBER] =
			cell_text(has_file ? file : NULL, has_file ? strcspn(file, " ") : 0),
		[VERSION_RUNTIME] = cell_string(*version ? version : NULL),
		[VERSION_FILE] = cell_string(has_file ? file : NULL),
		[VERSION_SERVER] = cell_flag(runtime_has_server_gc(runtime)),
		[VERSION_HEAPS] = cell_number(call->heap->heap_count),
		[VERSION_DATAS] =
			limits.has_adaptation ? cell_flag(limits.is_adaptive) : cell_null(),
	};
	answer_record(&call->answer, &version_schema, cells);
	return HD_OK;
}

COMMAND(eeversion, .summary = "show the version of the runtime, and the mode of its GC",
	.description = "info says more: what the core is, and what is missing in it.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME);
