/* SPDX-License-Identifier: MIT */
/* The sentences of hang: one for each verdict. */
#pragma once

struct text;
struct verdict;
struct wait_thing;
struct waits;

/**
 * Append "25 async methods wait for SemaphoreSlim 7f..., which probably nobody releases"; or, if
 * somebody is known who may do it, "which somebody may still release".
 */
void append_thing(struct text *text, const struct wait_thing *thing);

/** Append the sentence of a verdict, with its full stop. */
void append_summary(struct text *text, const struct waits *waits, const struct verdict *verdict);
