/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "clr/threads/sync_block.h"
#include "command/objects/object.h"
#include "command/table.h"
#include "targets/target.h"

enum {
	OPT_ALL
};

static const struct option syncblk_options[] = {
	[OPT_ALL] = { "all", VALUE_NONE, NULL, "also those whose monitor nobody holds", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

enum block_column {
	BLOCK_INDEX,
	BLOCK_ADDRESS,
	BLOCK_OBJECT,
	BLOCK_TYPE,
	BLOCK_HELD,
	BLOCK_WAITERS,
	BLOCK_RECURSION,
	BLOCK_THREAD,
	BLOCK_OS_ID,
	BLOCK_NUMBER,
	BLOCK_COLUMNS
};

static const struct column block_columns[BLOCK_COLUMNS] = {
	[BLOCK_INDEX] = { "index", "Index", KIND_NUMBER, 5, 0, "its place in the table" },
	[BLOCK_ADDRESS] = { "block", "SyncBlock", KIND_ADDRESS, 16, LOOK_ZEROS | LOOK_UPPER,
			    "where the block is" },
	[BLOCK_OBJECT] = { "object", NULL, KIND_ADDRESS, 0, 0, "the object that it belongs to" },
	[BLOCK_TYPE] = { "type", NULL, KIND_TYPE, 0, 0, "type of the object" },
	[BLOCK_HELD] = { "held", "MonitorHeld", KIND_FLAG, 0, LOOK_LEAVE_OUT,
			 "does a thread hold its monitor?" },
	[BLOCK_WAITERS] = { "waiters", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,
			    "threads that wait to get it" },
	[BLOCK_RECURSION] = { "recursion", "Recursion", KIND_NUMBER, 0, LOOK_LEAVE_OUT,
			      "how often it was taken" },
	[BLOCK_THREAD] = { "thread", "Owning Thread", KIND_ADDRESS, 0, LOOK_LEAVE_OUT,
			   "the Thread that holds it; 0x0: none, or not known" },
	[BLOCK_OS_ID] = { "os_id", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "its id in the system" },
	[BLOCK_NUMBER] = { NULL, "Info", KIND_SIGNED, 0, 0, NULL },
};

static void block_layout(struct out *out, const struct cell *cells)
{
	bool is_held = cells[BLOCK_HELD].flag;
	const struct cell *type = &cells[BLOCK_TYPE];
	/* SOS counts who holds it as 1 and each waiter as 2 */
	out_printf(out, "%5" PRIu64 " %016" PRIX64 " %12" PRIu64 " %9" PRIu64,
		   cells[BLOCK_INDEX].number, cells[BLOCK_ADDRESS].number,
		   cells[BLOCK_WAITERS].number * 2 + is_held, cells[BLOCK_RECURSION].number);
	if (is_held) {
		out_printf(out, " %016" PRIX64 " %4" PRIx64 " %3" PRId64 "   ",
			   cells[BLOCK_THREAD].number, cells[BLOCK_OS_ID].number,
			   cells[BLOCK_NUMBER].signed_number);
	} else {
		out_printf(out, " %016" PRIX64 " %4s %3s   ", (uint64_t)0, "none", "");
	}
	out_styled(out, STYLE_ADDRESS, "%016" PRIx64, cells[BLOCK_OBJECT].number);
	out_puts(out, " ");
	if (type->is_there) {
		out_type(out, type->text.bytes, type->text.size, type->text.id);
	} else {
		out_styled(out, STYLE_NOTE, "<no object>");
	}
	out_puts(out, "\n");
}

const struct schema syncblk_schema = {
	.name = "blocks",
	SCHEMA_COLUMNS(block_columns),
	.is_main = true,
	.heading = "Index         SyncBlock MonitorHeld Recursion Owning Thread Info          "
		   "SyncBlock Owner",
	.layout = block_layout,
};

static const struct column total_columns[] = {
	{ "total", "Total", KIND_NUMBER, 16, 0, "entries of the table that were ever used" },
	{ "free", "Free", KIND_NUMBER, 16, 0, "entries that belong to no object" },
};
static const struct schema total_schema = { SCHEMA_COLUMNS(total_columns) };

static void write_block(struct call *call, uint32_t index, const struct sync_block *block,
			struct window *window)
{
	const struct clr *clr = call->heap->clr;
	struct object object;
	struct cell cells[BLOCK_COLUMNS] = {
		[BLOCK_INDEX] = cell_number(index),
		[BLOCK_ADDRESS] = cell_number(block->address),
		[BLOCK_OBJECT] = cell_number(block->object),
	};
	if (object_read(call->heap, window, block->object, &object)) {
		size_t size;
		const char *name = type_name(call->heap->clr, object.type, &size);
		cells[BLOCK_TYPE] = cell_type(name, size, object.type->method_table);
	}
	if (block->has_monitor) {
		cells[BLOCK_HELD] = cell_flag(block->is_held);
		cells[BLOCK_WAITERS] = cell_number(block->waiters);
		cells[BLOCK_RECURSION] = cell_number(block->recursion);
		cells[BLOCK_THREAD] = cell_number(block->owner ? block->owner->address : 0);
		cells[BLOCK_OS_ID] = cell_number(block->os_id);
		cells[BLOCK_NUMBER] =
			cell_signed(target_thread_number(clr_target(clr), block->os_id));
	}
	answer_row(&call->answer, cells);
}

static enum hd_status write_blocks(struct call *call, uint32_t *ret_used, uint32_t *ret_free)
{
	bool all = call->options[OPT_ALL].given;
	struct window window = { .memory = call->heap->memory };
	enum hd_status status = HD_OK;
	struct sync_block block;
	for (uint32_t i = 1; status == HD_OK && clr_sync_block(call->heap->clr, i, &block); i++) {
		if (block.object) {
			++*ret_used;
		} else {
			++*ret_free;
		}
		bool shown = block.is_held || block.waiters || all;
		if (block.object && shown)
			write_block(call, i, &block, &window);
		status = call_check(call);
	}
	window_deinit(&window);
	return status;
}

static enum hd_status run_syncblk(struct call *call)
{
	if (!clr_has_sync_table(call->heap->clr)) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "the table of sync blocks was not found in this runtime");
	}
	struct answer *answer = &call->answer;
	uint32_t used = 0, unused = 0;
	answer_table(answer, &syncblk_schema, NULL);
	TRY(write_blocks(call, &used, &unused));
	(void)answer_table_end(answer);
	answer_remark(answer, "-----------------------------\n");
	const struct cell total[] = { cell_number(used + unused), cell_number(unused) };
	answer_record(answer, &total_schema, total);
	return HD_OK;
}

const struct command syncblk_command = {
	.name = "syncblk",
	.has_rows = true,
	.summary = "list the monitors that threads hold, with their sync blocks",
	.description = "Monitors in thin locks are listed by dumpheap -thinlock.\n",
	.example = "syncblk -all",
	.top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP,
	.options = syncblk_options,
	.run = run_syncblk,
};
