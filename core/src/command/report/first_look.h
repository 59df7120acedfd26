/* SPDX-License-Identifier: MIT */
/* The main lines of other commands about a target: how it crashed, whether its heap is damaged, whether it hangs. */
#pragma once

#include <heapdump/answer.h>

#include "command/call.h"

/** One line. */
struct look_part {
	const char *name;  /**< "crash", "damage", ...; static */
	const char *state; /**< "found", "none", "fact" or "not known"; static */
	const char *next;  /**< the command that shows more; static */
	struct text text;
};
void look_part_deinit(struct look_part *part);

/** A table of parts: the main one of triage, and "state" of report. */
extern const struct schema parts_schema, state_schema;
/** Write a row of it, and set call->findings if something was found. */
void look_part_write(struct call *call, const struct look_part *part);
/** The same for a finding of report, with its severity. */
void look_finding_write(struct call *call, const struct text *severity, const struct text *title,
			const struct text *next);

/**
 * Run a command without arguments.
 *
 * @param[out] ret_rows NULL: it has no answer here, and @p part says why.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status look_ask(struct call *call, const char *command, struct look_part *part,
				     struct hd_rows **ret_rows);

/** Look at it; @p ret is to be given to look_part_deinit(), also on failure.  Statuses as of look_ask(). */
HD_NODISCARD enum hd_status look_at_crash(struct call *call, struct look_part *ret);
HD_NODISCARD enum hd_status look_at_damage(struct call *call, struct look_part *ret);
HD_NODISCARD enum hd_status look_at_hang(struct call *call, struct look_part *ret);

#define LOOK_STATES 3u
/** A crash, damage and a hang. */
struct look_state {
	struct look_part parts[LOOK_STATES];
	size_t count; /**< 0: nobody has looked */
};

/**
 * Look at all three, unless that was done.  Statuses as of look_ask().
 *
 * @param state To be given to look_state_deinit(), also on failure.
 */
HD_NODISCARD enum hd_status look_at_state(struct call *call, struct look_state *state);
void look_state_deinit(struct look_state *state);

/** A value of a row, by the name of its column; NULL: there is none. */
const struct hd_value *look_value(const struct hd_rows *rows, const struct hd_table *table,
				  uint64_t row, const char *column);
/** The number of a member; 0: there is none. */
uint64_t look_number(const struct hd_rows *rows, const char *name);
bool look_has_text(const struct hd_value *value);
/** Append the text of a value; nothing for NULL. */
void look_append(struct text *text, const struct hd_value *value);
