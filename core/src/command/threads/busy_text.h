/* SPDX-License-Identifier: MIT */
/* Sentences about readers that wait: all those of a channel, and those of a connection for what they would read. */
#pragma once

struct busy_channel;
struct own_answer;
struct text;
struct waits;

/** Append "Probably nobody reads on from the channel 7f..: all 3 readers wait in Shop.Endpoint.Ask, and 19 items are in it". */
void append_busy_channel(struct text *text, const struct waits *waits,
			 const struct busy_channel *busy);
/** Append why they probably wait for ever. */
void append_busy_cause(struct text *text, const struct busy_channel *busy);

/** Append " probably waits for ever in Shop.Link.Ask: Shop.Link.Read, further out on its stack, would bring the answer". */
void append_own_answer(struct text *text, const struct waits *waits,
		       const struct own_answer *answer);
/** Append why nobody else was found who brings it. */
void append_answer_ways(struct text *text, const struct waits *waits,
			const struct own_answer *answer);
/** Append how it comes to that, and what to do. */
void append_answer_cause(struct text *text, const struct own_answer *answer);
