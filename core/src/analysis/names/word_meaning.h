/* SPDX-License-Identifier: MIT */
/* The thing that a word of memory, or a register, is the address of. */
#pragma once

#include "gc/starts.h"
#include "targets/target.h"

struct job;

enum word_kind {
	WORD_PLAIN,  /**< none that is known: a number, or memory that nothing here knows */
	WORD_OBJECT, /**< an object starts there */
	WORD_INSIDE, /**< inside an object */
	WORD_HEAP, /**< in a segment of the GC heap: no object is known there, as in free or damaged memory */
	WORD_TYPE,   /**< a MethodTable */
	WORD_METHOD, /**< a MethodDesc */
	WORD_CODE,   /**< code of a managed method, or a stub of one */
	WORD_STACK,  /**< in the stack of a thread */
	WORD_FILE,   /**< in a mapped file: native code or data */
};

/** Members that do not belong to the kind are 0. */
struct word_meaning {
	enum word_kind kind;
	struct object object; /**< WORD_OBJECT, WORD_INSIDE */
	uint64_t
		offset; /**< WORD_INSIDE: bytes into the object; WORD_CODE: into the method's code */
	bool is_stub;   /**< WORD_CODE: in front of a method's code, or in the place of it */
	const struct type *type;              /**< WORD_TYPE */
	uint64_t method_desc;                 /**< WORD_METHOD, WORD_CODE */
	const struct target_thread *thread;   /**< WORD_STACK */
	const struct target_mapping *mapping; /**< WORD_FILE */
};

struct word_stack;

/** Says of words what they mean.  Zeros but for heap: it has not looked at anything yet. */
struct word_reader {
	struct heap *heap;     /**< borrowed */
	struct starts *starts; /**< made when the first word leads into the GC heap */
	struct window window;
	struct word_stack *stacks; /**< ascending; made when the first word may lead to one */
	size_t stacks_count;
};

void word_reader_deinit(struct word_reader *reader);

/**
 * Find out what is at @p word.
 *
 * @param[out] ret Untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: the first word that leads into the GC heap walks the heap once; the others some reads.
 */
HD_NODISCARD enum hd_status word_meaning(struct word_reader *reader, uint64_t word, struct job *job,
					 struct word_meaning *ret, struct hd_error *err);
