/* SPDX-License-Identifier: MIT */
/* Sentences about a Pulse that woke the wrong thread. */
#pragma once

struct lost_pulse;
struct text;
struct waits;

/** Append "Probably nobody wakes 5 threads that wait in Monitor.Wait of Shop.Gate 7f..: 4 in Shop.Jobs.Take, 1 in Shop.Jobs.WaitForAll". */
void append_lost_pulse(struct text *text, const struct waits *waits,
		       const struct lost_pulse *pulse);
/** Append why. */
void append_lost_pulse_cause(struct text *text);
