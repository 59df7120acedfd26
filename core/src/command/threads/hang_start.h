/* SPDX-License-Identifier: MIT */
/* Sentences of hang about a host that still starts. */
#pragma once

struct host_start;
struct text;
struct waits;

/** Append "the host is still starting: Shop.Warmup.StartAsync waits (TaskCompletionSource), and 3 of 6 services have not started". */
void append_starting(struct text *text, const struct waits *waits, const struct host_start *start);
/** Append "The host does not start: Shop.Warmup.StartAsync waits for a TaskCompletionSource, which only Shop.Feed completes, ...". */
void append_no_start(struct text *text, const struct waits *waits, const struct host_start *start);
/** Append "2 of 6 services have not started, as they start one after the other: Shop.Feed 7f.. is one of them". */
void append_not_started(struct text *text, const struct waits *waits,
			const struct host_start *start);
