/* SPDX-License-Identifier: MIT */
/* Sentences about a channel all of whose readers wait. */
#pragma once

struct busy_channel;
struct text;
struct waits;

/** Append "Probably nobody reads on from the channel 7f..: all 3 readers wait in Shop.Endpoint.Ask, and 19 items are in it". */
void append_busy_channel(struct text *text, const struct waits *waits,
			 const struct busy_channel *busy);
/** Append why they probably wait for ever. */
void append_busy_cause(struct text *text, const struct busy_channel *busy);
