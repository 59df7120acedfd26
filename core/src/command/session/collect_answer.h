/* SPDX-License-Identifier: MIT */
#pragma once

#include "collect/collect.h"
#include "command/call.h"

/** The data of collect's answer once the file is written; all is borrowed. */
struct collect_answer {
	int pid;
	const char *path;   /**< where to; "-" for the output itself */
	const char *format; /**< its name */
	uint64_t objects, references, roots;
	bool has_roots;   /**< roots are known */
	uint64_t size;    /**< bytes of the file; 0: nobody can look at it again */
	double seconds;   /**< how long it took */
	bool is_complete; /**< the whole heap is in it */
	const struct collected *collected;
};

/**
 * Say it.  Text says findings, and, where the output is the dump itself, all of it, as warnings: to
 * the sink.
 */
void collect_answer_write(struct call *call, const struct collect_answer *wanted);
