/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "command/table.h"
#include "gc/heap.h"

#define VERSION_SIZE 256u

#define VERSION_LIST(X)                                                                          \
	X(VERSION_RUNTIME, "runtime", NULL, KIND_TEXT, 0, 0, "version of .NET; null: not known") \
	X(VERSION_FILE, "file_version", NULL, KIND_TEXT, 0, 0,                                   \
	  "version and commit, out of the runtime's data; null: not there")                      \
	X(VERSION_SERVER, "server", NULL, KIND_FLAG, 0, 0,                                       \
	  "has the GC a heap for each processor?")                                               \
	X(VERSION_HEAPS, "heaps", NULL, KIND_NUMBER, 0, 0, "number of heaps")

COLUMNS(version, VERSION_COLUMNS, VERSION_LIST);

/* SOS's lines. */
static void version_layout(struct out *out, const struct cell *cells)
{
	const struct cell *file = &cells[VERSION_FILE];
	if (file->is_there) {
		size_t number = strcspn(file->text.bytes, " ");
		text_escape(&out->text, file->text.bytes, number);
		out_puts(out, "\n");
		text_escape(&out->text, file->text.bytes, file->text.size);
		out_puts(out, "\n");
	}
	if (cells[VERSION_RUNTIME].is_there)
		out_printf(out, ".NET %s\n", cells[VERSION_RUNTIME].text.bytes);
	if (cells[VERSION_SERVER].flag) {
		out_printf(out, "Server mode with %" PRIu64 " gc heaps\n",
			   cells[VERSION_HEAPS].number);
	} else {
		out_puts(out, "Workstation mode\n");
	}
}

SCHEMA(version, .layout = version_layout);

static enum hd_status run_eeversion(struct call *call)
{
	struct runtime *runtime = call->heap->runtime;
	char file[VERSION_SIZE];
	const char *version = runtime_version(runtime);
	const struct cell cells[VERSION_COLUMNS] = {
		[VERSION_RUNTIME] = cell_string(*version ? version : NULL),
		[VERSION_FILE] = cell_string(
			runtime_file_version(runtime, file, sizeof(file)) ? file : NULL),
		[VERSION_SERVER] = cell_flag(runtime_has_server_gc(runtime)),
		[VERSION_HEAPS] = cell_number(call->heap->heap_count),
	};
	answer_record(&call->answer, &version_schema, cells);
	return HD_OK;
}

COMMAND(eeversion, .summary = "show the version of the runtime, and the mode of its GC",
	.description = "info says more: what the core is, and what is missing in it.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME);
