/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "command/session/crash.h"

/** Blanks below a label in text. */
#define INFO_BLANK "             "

/** Totals of a walk of the whole heap. */
struct heap_totals {
	uint64_t objects, bytes, types;
	uint64_t free_count, free_size;
	bool marked; /**< any object is: a GC had begun */
};

/** info about the open core or process; @p layout: the offsets and where they come from. */
HD_NODISCARD enum hd_status run_info_target(struct call *call, bool layout);

/**
 * The answer about the open core or process; without call->heap, @p totals are zeros.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status write_target_info(struct call *call, const struct heap_totals *totals,
					      const struct crash *crash);
/**
 * "memory": all memory of the process or core by owner, as far as that costs nothing.
 *
 * @retval HD_OK also if it is not known
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status info_memory(struct call *call);
/** "layout": every offset. */
void write_layout_info(struct answer *answer, const struct runtime *runtime);

/** "roots", "root_kinds", ...: how many there are; one line of text. */
void info_roots(struct answer *answer, const struct hd_graph *graph);

/** "missing": what is not there, data only. */
extern const struct schema info_missing_schema;
