/* SPDX-License-Identifier: MIT */
/* Sentences about things that nobody has but those who wait for them. */
#pragma once

struct lost_place;
struct text;
struct wait_thing;
struct waits;

/** Append "for SemaphoreSlim 7f.., which nobody else has any more: nobody can release it". */
void append_alone(struct text *text, const struct wait_thing *thing);
/** Append why that is so. */
void append_alone_cause(struct text *text, const struct wait_thing *thing);
/** Append "3 async methods wait for SemaphoreSlim 7f..: its 4 places are taken, and probably nobody has one any more". */
void append_lost_places(struct text *text, const struct waits *waits,
			const struct lost_place *place);
/** Append where it is, and who takes its places and gives them back. */
void append_place_methods(struct text *text, const struct lost_place *place);
/** Append what is known of the calls in flight. */
void append_place_calls(struct text *text, const struct waits *waits,
			const struct lost_place *place);
