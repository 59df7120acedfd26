/* SPDX-License-Identifier: MIT */
/* Exceptions of a heap, counted by type, message and stack. */
#pragma once

#include "analysis/graph/hash_index.h"
#include "analysis/heap/type_kinds.h"
#include "framework/member.h"
#include "inspect/value.h"
#include "util/text.h"

/** Frames of an exception, the innermost ones, that are compared and kept. */
#define EXCEPTION_FRAMES_MAX 32u
/** UTF-16 units of a message that are compared and kept. */
#define EXCEPTION_MESSAGE_MAX 1024u

/** UTF-16 units of the text of a stack that are compared and kept. */
#define EXCEPTION_REMOTE_MAX 2048u

/** A string of an exception. */
struct exception_text {
	char *bytes; /**< UTF-8; NULL: null, or it cannot be read */
	size_t size;
	bool is_lost; /**< there is one, but it cannot be read */
	bool is_cut;  /**< it is longer */
};

/** Equal exceptions. */
struct exception_count {
	const struct type *type;
	uint64_t count;
	uint64_t first;                /**< the first of them in the order of the pass */
	struct exception_text message; /**< owned */
	/** The part of the stack that is text, before the frames (doc/coreclr.md 20.1); owned. */
	struct exception_text remote;
	struct exception_frame *frames; /**< the innermost first; owned */
	uint32_t frames_count;
	bool is_stack_cut; /**< there are more frames */
};

/** Empty when zero-initialised, but for heap and members. */
struct exception_counts {
	struct heap *heap;
	struct members *members;
	struct exception_count *rows;
	size_t rows_count, rows_capacity;
	uint64_t total; /**< exceptions */
	uint64_t bytes; /**< of the texts and frames of the rows */
	struct hash_index index;
	struct type_kinds kinds;
	const struct type *base;     /**< System.Exception */
	struct text message, remote; /**< of the exception that is added */
};

void exception_counts_deinit(struct exception_counts *counts);

/**
 * Count @p object if it is an exception.
 *
 * @retval HD_OK also when it is not
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status exception_counts_add(struct exception_counts *counts,
						 const struct object *object, struct hd_error *err);

/** Sort the rows: those with the highest count first, then by their first exception. */
void exception_counts_sort(struct exception_counts *counts);
