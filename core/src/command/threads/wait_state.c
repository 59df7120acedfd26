/* SPDX-License-Identifier: MIT */
#include "command/threads/wait_state.h"

#include <inttypes.h>

#include "hangs/wait_databases.h"
#include "hangs/wait_ended.h"
#include "hangs/wait_handles.h"
#include "inspect/managed_lock.h"
#include "inspect/value.h"

/* Barrier._currentTotalCount: how many take part, and how many of them have come. */
#define BARRIER_MASK  0x7fffu
#define BARRIER_SHIFT 16u

#define MUTEX net_type_name(NET_MUTEX)

/* Characters of the name of a file. */
#define FILE_MAX 128u

static void append_free(struct text *text, const struct waits *waits, const struct object *object)
{
	struct member count = fact_of(waits->members, object, FACT_SEMAPHORE_FREE);
	if (count.state == MEMBER_READ)
		text_printf(text, "%" PRId64 " free", member_signed(&count));
}

static void append_left(struct text *text, const struct waits *waits, const struct object *object)
{
	struct member left = fact_of(waits->members, object, FACT_COUNTDOWN_LEFT);
	struct member all = fact_of(waits->members, object, FACT_COUNTDOWN_INITIAL);
	if (left.state == MEMBER_READ && all.state == MEMBER_READ) {
		text_printf(text, "%" PRId64 " of %" PRId64 " left", member_signed(&left),
			    member_signed(&all));
	}
}

static void append_arrived(struct text *text, const struct waits *waits,
			   const struct object *object)
{
	struct member total = fact_of(waits->members, object, FACT_BARRIER_TOTAL);
	if (total.state == MEMBER_READ) {
		text_printf(text, "%" PRIu64 " of %" PRIu64 " have come",
			    total.bits >> BARRIER_SHIFT & BARRIER_MASK, total.bits & BARRIER_MASK);
	}
}

static void append_spin(struct text *text, const struct waits *waits,
			const struct thread_wait *wait)
{
	struct wait_spin_lock lock;
	if (!wait_find_spin_lock(waits, wait, &lock)) {
		text_puts(text, "it is not in an object, and its owner is not known");
	} else if (!lock.has_owner_id) {
		text_puts(text, "without owner tracking: its owner is not known");
	}
}

/* Append what the framework says about a handle since 11; the owner of a mutex is told apart. */
static void append_handle(struct text *text, const struct waits *waits,
			  const struct thread_wait *wait)
{
	const struct object *object = &wait->object;
	struct waitable waitable;
	if (!waitable_of_handle(waits->heap, waits->members, object->address, &waitable)) {
		if (type_derives_from(waits->heap->runtime, object->type, 0, MUTEX))
			text_puts(text, "its owner is not known");
		return;
	}
	switch (waitable.type) {
	case WAITABLE_MUTEX:
		if (!wait->blamed_owner) {
			text_puts(text,
				  waitable.owner ? "its owner is not known" : "nobody has it");
		}
		break;
	case WAITABLE_SEMAPHORE:
		text_printf(text, "%" PRId64 " of %" PRId64 " free", waitable.signals,
			    waitable.limit);
		break;
	default:
		text_puts(text, waitable.signals > 0 ? "it is set" : "");
		break;
	}
}

void append_process(struct text *text, const struct waits *waits,
		    const struct wait_process *process)
{
	HD_CLEANUP(text) struct text file = { 0 };
	text_printf(text, "process %" PRId64, process->pid);
	if (!process->file || !string_value(waits->heap, process->file, FILE_MAX, &file, NULL) ||
	    !file.size)
		return;
	text_puts(text, " of ");
	text_escape(text, file.bytes, file.size);
}

static void append_process_state(struct text *text, const struct waits *waits,
				 const struct thread_wait *wait)
{
	struct wait_process process;
	if (!wait_process_read(waits, wait, &process))
		return;
	append_process(text, waits, &process);
	text_puts(text, process.is_unread ? ", whose output nobody reads" : "");
}

static void append_database(struct text *text, const struct waits *waits,
			    const struct thread_wait *wait)
{
	HD_CLEANUP(text) struct text name = { 0 };
	if (!wait_database_append(&name, waits, wait))
		return;
	text_puts(text, "the database ");
	text_escape(text, name.bytes, name.size);
	text_puts(text, " is locked");
}

void append_wait_state(struct text *text, const struct waits *waits, const struct thread_wait *wait)
{
	const struct object *object = &wait->object;
	if (wait->kind == WAIT_SPIN_LOCK)
		append_spin(text, waits, wait);
	if (wait->is_over)
		text_puts(text, "it can go on");
	uint64_t lock;
	enum lock_holder holder = wait_lock_holder(waits, wait, &lock);
	if (holder != HOLDER_OTHER) {
		text_puts(text,
			  holder == HOLDER_ENDED ? "its holder has ended" : "its holder is idle");
	}
	if (!object->type || wait->is_over)
		return;
	switch (wait->kind) {
	case WAIT_SEMAPHORE:
		append_free(text, waits, object);
		break;
	case WAIT_COUNTDOWN:
		append_left(text, waits, object);
		break;
	case WAIT_BARRIER:
		append_arrived(text, waits, object);
		break;
	case WAIT_DATABASE:
		append_database(text, waits, wait);
		break;
	case WAIT_PROCESS:
		append_process_state(text, waits, wait);
		break;
	case WAIT_HANDLE:
		append_handle(text, waits, wait);
		break;
	default:
		break;
	}
}

void append_wait_handles(struct text *text, const struct waits *waits,
			 const struct thread_wait *wait)
{
	struct wait_handles handles;
	wait_handles_read(waits, wait, &handles);
	for (size_t i = 0; i < handles.rows_count; i++) {
		size_t size;
		const char *name = type_name(waits->heap->runtime, handles.rows[i].type, &size);
		text_puts(text, i ? ", " : "");
		text_escape(text, name, size);
		text_printf(text, " %" PRIx64, handles.rows[i].address);
	}
}
