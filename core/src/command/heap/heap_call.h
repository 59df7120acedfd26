/* SPDX-License-Identifier: MIT */
/* Commands about the heap of a core or process have this in common. */
#pragma once

#include "analysis/heap/heap_gaps.h"
#include "analysis/heap/heap_range.h"
#include "analysis/heap/life.h"
#include "command/call.h"

/** Choices of -gen: SOS's names, and the numbers. */
extern const char *const generation_choices[];
/** enum generation of one of them. */
uint8_t generation_choice(const char *choice);
/** HD_ERR_UNSUPPORTED: @p what asks for generations, and the dump file does not tell them. */
enum hd_status no_generations(const struct call *call, const char *what);

/**
 * The range that -heap, -segment, -gen and the words START and END choose: options that were not
 * given choose all.
 */
struct range_choice range_choice(const struct value *heap, const struct value *segment,
				 const struct value *generation, const struct value *words);

/**
 * Find out what is alive, from the roots as call_is_conservative() says.
 *
 * @retval HD_OK
 * @retval others as session_graph() and session_live()
 */
HD_NODISCARD enum hd_status call_life(struct call *call, bool is_dead, struct life *ret);
/** SOS's line, or "live": {count, roots}; nothing when @p life is of all objects. */
void life_write(const struct life *life, struct call *call);

/**
 * Warn that an answer is incomplete, once, and set call->findings if the heap is damaged.  Does
 * nothing when @p gaps is zero.  Settles them.
 */
void gaps_report(struct call *call, struct gaps *gaps);
