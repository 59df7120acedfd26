/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "clr/sync_block.h"
#include "command/object.h"

enum {
	OPT_ALL
};

const struct option syncblk_options[] = {
	[OPT_ALL] = { "all", VALUE_NONE, NULL, "also those whose monitor nobody holds", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static void block_json(struct call *call, uint32_t index, const struct sync_block *block,
		       const char *name, size_t size)
{
	struct json *json = &call->json;
	json_object(json, NULL);
	json_number(json, "index", index);
	json_address(json, "block", block->address);
	json_address(json, "object", block->object);
	json_text(json, "type", name, size);
	if (block->has_monitor) {
		json_bool(json, "held", block->is_held);
		json_number(json, "waiters", block->waiters);
		json_number(json, "recursion", block->recursion);
		json_address(json, "thread", block->owner ? block->owner->address : 0);
		json_number(json, "os_id", block->os_id);
	}
	json_end(json);
}

static void block_text(struct call *call, uint32_t index, const struct sync_block *block,
		       const char *name, size_t size)
{
	struct out *out = &call->out;
	/* SOS counts who holds it as 1 and each waiter as 2 */
	out_printf(out, "%5" PRIu32 " %016" PRIX64 " %12" PRIu32 " %9" PRIu32, index,
		   block->address, block->waiters * 2 + block->is_held, block->recursion);
	if (block->is_held) {
		out_printf(out, " %016" PRIX64 " %4" PRIx64 " %3" PRId64 "   ",
			   block->owner ? block->owner->address : 0, block->os_id,
			   target_thread_number(call->heap->clr->target, block->os_id));
	} else {
		out_printf(out, " %016" PRIX64 " %4s %3s   ", (uint64_t)0, "none", "");
	}
	out_styled(out, STYLE_ADDRESS, "%016" PRIx64, block->object);
	out_puts(out, " ");
	if (name) {
		out_type(out, name, size, 0);
	} else {
		out_styled(out, STYLE_NOTE, "<no object>");
	}
	out_puts(out, "\n");
}

static void write_block(struct call *call, uint32_t index, const struct sync_block *block,
			struct window *window)
{
	struct object object;
	bool is_object = object_read(call->heap, window, block->object, &object);
	size_t size = 0;
	const char *name = is_object ? type_name(call->heap->clr, object.type, &size) : NULL;
	if (call->as_json) {
		block_json(call, index, block, name, size);
	} else {
		block_text(call, index, block, name, size);
	}
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

enum hd_status run_syncblk(struct call *call)
{
	if (!call->heap->clr->sync_table) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "the table of sync blocks was not found in this runtime");
	}
	uint32_t used = 0, unused = 0;
	if (call->as_json) {
		json_array(&call->json, "blocks");
	} else {
		out_styled(
			&call->out, STYLE_HEAD,
			"Index         SyncBlock MonitorHeld Recursion Owning Thread Info          "
			"SyncBlock Owner");
		out_puts(&call->out, "\n");
	}
	TRY(write_blocks(call, &used, &unused));
	if (call->as_json) {
		json_end(&call->json);
		json_number(&call->json, "total", used + unused);
		json_number(&call->json, "free", unused);
	} else {
		out_printf(&call->out,
			   "-----------------------------\nTotal           %" PRIu32
			   "\nFree            %" PRIu32 "\n",
			   used + unused, unused);
	}
	return HD_OK;
}
