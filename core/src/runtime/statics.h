/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/type.h"

struct job;
struct runtime_thread;
struct text;

/** The slot of a static field that holds a reference, or a reference to its boxed struct. */
struct static_slot {
	uint64_t address;        /**< address of the slot */
	const struct type *type; /**< the exact type that declares the field */
	uint32_t token;          /**< token of the field, 0x04xxxxxx */
	uint32_t thread;     /**< thread static: index of runtime_thread_at(); else UINT32_MAX */
	bool is_boxed;       /**< the field is a struct: the slot refers to its box */
	bool is_initialised; /**< the class constructor has run to its end */
};

/** All of them, ascending by address. */
struct static_slots {
	struct static_slot *rows;
	size_t rows_count, rows_capacity;
	uint64_t types;  /**< types that have static fields */
	uint64_t broken; /**< types whose fields or slots cannot be read */
};

/**
 * Find the slots of all static and thread-static fields of all loaded types, with and without
 * instances, collectible ones too (doc/coreclr.md 10).  A slot that belongs to two fields is kept
 * once.  Cost: linear in types and threads.  A runtime that does not tell them has none here.
 *
 * @param[out] ret To be given to static_slots_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status static_slots_read(struct runtime *runtime, struct job *job,
					      struct static_slots *ret, struct hd_error *err);
void static_slots_deinit(struct static_slots *slots);
/** Sort them by address; of several at one address the first stays, because one was read wrongly. */
HD_NODISCARD enum hd_status static_slots_sort(struct static_slots *slots, struct hd_error *err);

/** The slot at @p address, or NULL. */
const struct static_slot *static_slot_at(const struct static_slots *slots, uint64_t address);

/** Append "Namespace.Type.field" (an auto-property's field by the property's name). */
void static_slot_name(struct runtime *runtime, const struct static_slot *slot, struct text *text);

/** A managed array or object that the runtime keeps for a thread, with the thread's static fields in it. */
struct thread_local_data {
	uint64_t object;  /**< 0: there is none yet */
	uint64_t slot_at; /**< address of the word that holds it */
};

/** Number @p index of these, from 0; false: the thread has no more. */
bool thread_local_data_read(struct runtime *runtime, const struct runtime_thread *thread,
			    unsigned int index, struct thread_local_data *ret);
