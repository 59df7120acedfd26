/* SPDX-License-Identifier: MIT */
/* Sentences about things that nobody has but those who wait for them. */
#pragma once

struct text;
struct wait_thing;

/** Append "for SemaphoreSlim 7f.., which nobody else has any more: nobody can release it". */
void append_alone(struct text *text, const struct wait_thing *thing);
/** Append why that is so. */
void append_alone_cause(struct text *text, const struct wait_thing *thing);
