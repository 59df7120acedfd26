/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/table.h"
#include "runtime/thread_state.h"

#define STATE_LIST(X)                                                 \
	X(STATE_VALUE, "value", NULL, KIND_ADDRESS, 0, 0, "the bits") \
	X(STATE_NAMES, "states", NULL, KIND_SET, 0, 0, "the name of each bit")

COLUMNS(state, STATE_COLUMNS, STATE_LIST);

/* As in SOS: a line for each bit. */
static void thread_state_layout(struct out *out, const struct cell *cells)
{
	uint64_t bits = cells[STATE_NAMES].set.bits;
	for (unsigned int i = 0; i < THREAD_STATE_BITS; i++) {
		if (bits >> i & 1)
			out_printf(out, "    %s\n", thread_state_text(i));
	}
	if (!bits)
		out_puts(out, "    no bit is set\n");
}

static const struct schema thread_state_schema = { SCHEMA_COLUMNS(state_columns),
						   .layout = thread_state_layout };

static enum hd_status run_threadstate(struct call *call)
{
	uint64_t value = call->words[0].number;
	if (value > UINT32_MAX) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "%" PRIx64 " has more than the 32 bits of a thread's state", value);
	}
	const struct cell cells[STATE_COLUMNS] = {
		[STATE_VALUE] = cell_number(value),
		[STATE_NAMES] = cell_set(thread_state_words, value),
	};
	answer_record(&call->answer, &thread_state_schema, cells);
	return HD_OK;
}

COMMAND(threadstate, .summary = "say what the bits of a thread's state mean",
	.description = "VALUE is what clrthreads shows in its column State.\n",
	.example = "threadstate 21220", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_THREADS, .words = { { "VALUE", VALUE_ADDRESS, false } });
