/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/table.h"
#include "command/threads/gap_rows.h"
#include "hangs/waits.h"
#include "inspect/thread_name.h"
#include "runtime/coreclr/threads/sync_block.h"

#define SYNCBLK_OPTIONS(X) \
	X(OPT_ALL, "all", VALUE_NONE, NULL, "also those whose monitor nobody holds", NULL)

OPTIONS(syncblk, SYNCBLK_OPTIONS);

#define BLOCK_LIST(X)                                                                         \
	X(BLOCK_INDEX, "index", "Index", KIND_NUMBER, 5, 0, "its place in the table")         \
	X(BLOCK_ADDRESS, "block", "SyncBlock", KIND_ADDRESS, 16, LOOK_ZEROS | LOOK_UPPER,     \
	  "where the block is")                                                               \
	X(BLOCK_OBJECT, "object", NULL, KIND_ADDRESS, 0, 0, "the object that it belongs to")  \
	X(BLOCK_TYPE, "type", NULL, KIND_TYPE, 0, 0, "type of the object")                    \
	X(BLOCK_HELD, "held", "MonitorHeld", KIND_FLAG, 0, LOOK_LEAVE_OUT,                    \
	  "does a thread hold its monitor?")                                                  \
	X(BLOCK_WAITERS, "waiters", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                     \
	  "threads that wait to get it")                                                      \
	X(BLOCK_RECURSION, "recursion", "Recursion", KIND_NUMBER, 0, LOOK_LEAVE_OUT,          \
	  "how often it was taken")                                                           \
	X(BLOCK_THREAD, "thread", "Owning Thread", KIND_ADDRESS, 0, LOOK_LEAVE_OUT,           \
	  "the Thread that holds it; 0x0: none, or not known")                                \
	X(BLOCK_OS_ID, "os_id", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "its id in the system") \
	X(BLOCK_NUMBER, NULL, "Info", KIND_SIGNED, 0, 0, NULL)

COLUMNS(block, BLOCK_COLUMNS, BLOCK_LIST);

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

#define WAITING_LIST(X)                                                                         \
	X(WAITING_BLOCK, "index", "Index", KIND_NUMBER, 5, 0, "the block's place in the table") \
	X(WAITING_OBJECT, "object", "Object", KIND_ADDRESS, 16, LOOK_ZEROS,                     \
	  "the object whose monitor it waits for")                                              \
	X(WAITING_ID, "id", "ID", KIND_NUMBER, 4, 0, "managed id of the thread that waits")     \
	X(WAITING_OS_ID, "os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system")              \
	X(WAITING_NAME, "name", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "its Thread.Name")          \
	X(WAITING_FOR, "waits_for", NULL, KIND_TEXT, 0, 0,                                      \
	  "Monitor.Enter, Lazy: to get it; Monitor.Wait: until somebody pulses")                \
	X(WAITING_OWNER, "owner", NULL, KIND_NUMBER, 0, 0, "managed id of the thread that holds it")

COLUMNS(waiting, WAITING_COLUMNS, WAITING_LIST);

SCHEMA(waiting, .name = "waiting",
       .heading = "Index           Object   ID   OSID Owner Waits for     Name",
       .lines = "{index:5} {object:016a} {id:4} {os_id:6x} {owner:5?} {waits_for:-13} {name}\n");

/* The list that is written, and the threads that wait. */
struct block_list {
	struct call *call;
	struct waits *waits; /* the threads alone */
	struct window window;
	uint32_t used, unused;
};

static void write_block(struct call *call, uint32_t index, const struct sync_block *block,
			struct window *window)
{
	const struct runtime *runtime = call->heap->runtime;
	struct object object;
	struct cell cells[BLOCK_COLUMNS] = {
		[BLOCK_INDEX] = cell_number(index),
		[BLOCK_ADDRESS] = cell_number(block->address),
		[BLOCK_OBJECT] = cell_number(block->object),
	};
	if (object_read(call->heap, window, block->object, &object)) {
		size_t size;
		const char *name = type_name(call->heap->runtime, object.type, &size);
		cells[BLOCK_TYPE] = cell_type(name, size, object.type->method_table);
	}
	if (block->has_monitor) {
		cells[BLOCK_HELD] = cell_flag(block->is_held);
		cells[BLOCK_WAITERS] = cell_number(block->waiters);
		cells[BLOCK_RECURSION] = cell_number(block->recursion);
		cells[BLOCK_THREAD] = cell_number(block->owner ? block->owner->address : 0);
		cells[BLOCK_OS_ID] = cell_number(block->os_id);
		cells[BLOCK_NUMBER] =
			cell_signed(target_thread_number(runtime_target(runtime), block->os_id));
	}
	answer_row(&call->answer, cells);
}

static bool is_block_wanted(const struct block_list *list, uint32_t index,
			    const struct sync_block *block)
{
	const struct call *call = list->call;
	if (call->words[0].given)
		return index == call->words[0].number;
	/* All that are held or waited for are in the list of monitors. */
	return call->options[OPT_ALL].given || block->is_held || block->waiters ||
	       monitor_of(&list->waits->monitors, block->object);
}

static enum hd_status write_blocks(struct block_list *list)
{
	struct call *call = list->call;
	enum hd_status status = HD_OK;
	struct monitor monitor;
	for (uint32_t i = 1; status == HD_OK &&
			     monitor_read(call->heap->runtime, list->waits->members, i, &monitor);
	     i++) {
		if (monitor.block.object) {
			list->used++;
		} else {
			list->unused++;
		}
		if (monitor.block.object && is_block_wanted(list, i, &monitor.block))
			write_block(call, i, &monitor.block, &list->window);
		status = call_check(call);
	}
	return status;
}

/* The monitor that a thread waits for, if it is one that is asked for. */
static const struct monitor *waited_monitor(const struct block_list *list,
					    const struct thread_wait *wait)
{
	const struct monitor *monitor = wait->entered ? wait->entered : wait->pulse;
	const struct value *index = &list->call->words[0];
	bool is_asked = monitor && (!index->given || monitor->index == index->number);
	return is_asked ? monitor : NULL;
}

static void write_waiting(struct block_list *list)
{
	struct call *call = list->call;
	HD_CLEANUP(text) struct text name = { 0 };
	for (size_t i = 0; i < list->waits->count; i++) {
		const struct thread_wait *wait = &list->waits->rows[i];
		const struct monitor *monitor = wait->entered ? wait->entered : wait->pulse;
		if (!monitor)
			continue;
		uint32_t index = monitor->index;
		if (call->words[0].given && index != call->words[0].number)
			continue;
		struct cell cells[WAITING_COLUMNS] = {
			[WAITING_BLOCK] = cell_number(index),
			[WAITING_OBJECT] = cell_number(monitor->block.object),
			[WAITING_ID] = cell_number(wait->thread->id),
			[WAITING_OS_ID] = cell_number(wait->thread->os_id),
			[WAITING_FOR] = cell_string(wait->entered ? wait_kind_name(wait->kind)
								  : "Monitor.Wait"),
		};
		name.size = 0;
		if (thread_name(call->heap, wait->thread, &name) && name.size)
			cells[WAITING_NAME] = cell_text(name.bytes, name.size);
		if (monitor->block.owner && wait->entered)
			cells[WAITING_OWNER] = cell_number(monitor->block.owner->id);
		answer_row(&call->answer, cells);
	}
}

static bool has_waiting(const struct block_list *list)
{
	for (size_t i = 0; i < list->waits->count; i++) {
		if (waited_monitor(list, &list->waits->rows[i]))
			return true;
	}
	return false;
}

static enum hd_status write_answer(struct block_list *list)
{
	struct answer *answer = &list->call->answer;
	answer_table(answer, &syncblk_schema, NULL);
	TRY(write_blocks(list));
	(void)answer_table_end(answer);
	bool is_waited = has_waiting(list);
	const struct table_options options = { .no_heading = !is_waited };
	answer_remark(answer, is_waited ? "\n" : "");
	answer_table(answer, &waiting_schema, &options);
	write_waiting(list);
	(void)answer_table_end(answer);
	if (list->waits->not_matched) {
		bool is_one = list->waits->not_matched == 1;
		char count[COUNT_SIZE];
		answer_remark(answer, "%s %s to get one of them; %s not tell which.\n",
			      format_count(list->waits->not_matched, "more thread", count),
			      is_one ? "waits" : "wait",
			      is_one ? "its stack does" : "their stacks do");
	}
	answer_remark(answer, "-----------------------------\n");
	const struct cell total[] = { cell_number(list->used + list->unused),
				      cell_number(list->unused) };
	answer_record(answer, &total_schema, total);
	struct wait_gaps gaps;
	wait_gaps_find(list->waits, &gaps);
	write_gap_rows(list->call, &gaps, GAPS_OF_WAITS);
	list->call->findings = gaps.is_any;
	return HD_OK;
}

static enum hd_status run_syncblk(struct call *call)
{
	struct block_list list = { .call = call, .window = { .memory = call->heap->memory } };
	if (!runtime_has_sync_table(call->heap->runtime)) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "the table of sync blocks was not found in this runtime");
	}
	const struct value *index = &call->words[0];
	struct sync_block block;
	if (index->given &&
	    (!index->number || index->number > UINT32_MAX ||
	     !runtime_sync_block(call->heap->runtime, (uint32_t)index->number, &block))) {
		return fail(call->err, HD_ERR_NOTFOUND, 0,
			    "no sync block has the index %" PRIu64 ": syncblk -all lists them",
			    index->number);
	}
	TRY(waits_create_threads(call->heap, &call->job, &list.waits, call->err));
	enum hd_status status = write_answer(&list);
	waits_destroy(list.waits);
	window_deinit(&list.window);
	return status;
}

COMMAND(syncblk, .has_rows = true,
	.summary = "list the monitors that threads hold or wait for, with their sync blocks",
	.description =
		"INDEX shows one block. Below are the threads that wait: to get a monitor\n"
		"(Monitor.Enter), or until somebody pulses (Monitor.Wait). Monitors in thin locks,\n"
		"for which nobody waits, are listed by dumpheap -thinlock.\n"
		"Ends with status 1 when threads or locks cannot be read.\n",
	.example = "syncblk -all", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP,
	.options = syncblk_options, .words = { { "INDEX", VALUE_NUMBER, true } });
