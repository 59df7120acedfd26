/* SPDX-License-Identifier: MIT */
#include "hangs/wait_readers.h"

#include <string.h>

#include "hangs/wait_several.h"
#include "runtime/coreclr/statics/static.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/job.h"

/* Locks of one thread: as many entries as it has held at once. */
#define ENTRIES_MAX 1024u

/*
 * ReaderWriterLockSlim._owners: the low bits are the number of those that read.  The others say that
 * somebody writes, or waits to do so: then nobody gets in who comes to read.
 */
#define LOCK_WRITTEN 0x80000000u
#define READERS_MASK 0x0fffffffu
#define READERS_MAX  0x0ffffffeu

#define LOCK  "System.Threading.ReaderWriterLockSlim"
#define ENTRY "System.Threading.ReaderWriterCount"

void wait_readers_deinit(struct wait_readers *readers)
{
	wait_rows_deinit(&readers->readers);
	wait_rows_deinit(&readers->writers);
}

static bool waits_for_lock(const struct thread_wait *wait)
{
	return wait->object.type &&
	       (wait->kind == WAIT_READ || wait->kind == WAIT_WRITE || wait->kind == WAIT_UPGRADE);
}

/* The list of a thread, from its newest entry on; one is used again when its lock was left. */
static enum hd_status read_entries(const struct waits *waits, uint32_t row, uint64_t entry,
				   struct wait_readers *ret, struct hd_error *err)
{
	struct members *members = waits->members;
	for (unsigned int i = 0; entry; i++) {
		struct object object;
		if (i == ENTRIES_MAX || !member_object(members, entry, &object) ||
		    strcmp(type_name(waits->heap->runtime, object.type, NULL), ENTRY) != 0) {
			ret->are_all_read = false;
			break;
		}
		struct member lock = fact_of(members, &object, FACT_LOCK_COUNT_LOCK);
		struct member count = fact_of(members, &object, FACT_LOCK_COUNT_READERS);
		if (lock.bits && count.state == MEMBER_READ && member_signed(&count) > 0)
			TRY(wait_rows_add(&ret->readers, lock.bits, row, err));
		ret->are_all_read &= lock.state == MEMBER_READ && count.state == MEMBER_READ;
		entry = fact_of(members, &object, FACT_LOCK_COUNT_NEXT).bits;
	}
	return HD_OK;
}

static const struct field *list_field(const struct field_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->rows[i].is_thread_static && strcmp(list->rows[i].name, "t_rwc") == 0)
			return &list->rows[i];
	}
	return NULL;
}

static enum hd_status read_lists(const struct waits *waits, const struct field *field,
				 struct job *job, struct wait_readers *ret, struct hd_error *err)
{
	struct heap *heap = waits->heap;
	size_t lists = 0;
	ret->are_all_read = runtime_knows_all_threads(heap->runtime);
	for (size_t i = 0; i < waits->count; i++) {
		uint64_t entry = 0, address = field_thread_static_address(heap->runtime, field,
									  waits->rows[i].thread);
		TRY(job_check(job, 0, err));
		/* A thread that has entered no such lock has no list. */
		if (!address)
			continue;
		lists++;
		if (!memory_u64(heap->memory, address, &entry))
			ret->are_all_read = false;
		TRY(read_entries(waits, (uint32_t)i, entry, ret, err));
	}
	ret->are_all_read &= lists > 0;
	return HD_OK;
}

static enum hd_status find_readers(const struct waits *waits, struct job *job,
				   struct wait_readers *ret, struct hd_error *err)
{
	struct runtime *runtime = waits->heap->runtime;
	const struct type *type = type_by_name(runtime, LOCK, 0);
	HD_CLEANUP(field_list) struct field_list list = { 0 };
	if (!type || field_list_read(runtime, type, &list, NULL) != HD_OK)
		return HD_OK;
	const struct field *field = list_field(&list);
	return field ? read_lists(waits, field, job, ret, err) : HD_OK;
}

enum hd_status wait_readers_find(const struct waits *waits, struct job *job,
				 struct wait_readers *ret, struct hd_error *err)
{
	bool is_wanted = false;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		is_wanted |= waits_for_lock(wait);
		if (waits_for_lock(wait) && wait->kind == WAIT_WRITE)
			TRY(wait_rows_add(&ret->writers, wait->object.address, (uint32_t)i, err));
	}
	if (is_wanted)
		TRY(find_readers(waits, job, ret, err));
	wait_rows_sort(&ret->readers);
	wait_rows_sort(&ret->writers);
	return HD_OK;
}

/* A writer gets the lock before everybody who comes to read: the first that waits, but for @p row. */
static uint32_t waiting_writer(const struct wait_readers *readers, uint64_t lock, uint32_t row)
{
	const struct wait_rows *writers = &readers->writers;
	for (size_t i = wait_rows_of(writers, lock); wait_rows_has(writers, i, lock); i++) {
		if (writers->rows[i].node != row)
			return writers->rows[i].node;
	}
	return WAIT_NOBODY;
}

/* All that read the lock, and who may write it later: a writer waits until they have left. */
static enum hd_status add_readers(const struct wait_readers *readers, struct waits *waits,
				  struct thread_wait *wait, uint64_t all, struct hd_error *err)
{
	const struct wait_rows *users = &readers->readers;
	struct member id = fact_of(waits->members, &wait->object, FACT_LOCK_SLIM_ID);
	const struct thread_wait *upgrader = wait_of_thread(waits, wait->stored_owner);
	uint32_t self = (uint32_t)(wait - waits->rows);
	uint64_t known = 0;
	if (upgrader && upgrader != wait) {
		TRY(wait_part_add(waits,
				  (struct wait_edge){ .to = (uint32_t)(upgrader - waits->rows) },
				  err));
	}
	if (!id.bits)
		return HD_OK;
	for (size_t i = wait_rows_of(users, id.bits); wait_rows_has(users, i, id.bits); i++) {
		uint32_t node = users->rows[i].node;
		known++;
		if (node != self && wait_parts_have_room(waits, 1))
			TRY(wait_part_add(waits, (struct wait_edge){ .to = node }, err));
	}
	/* Who may write later is counted as one that reads. */
	known += wait_lock_upgrader(waits, &wait->object) != NULL;
	wait->unknown_readers = all > known ? (uint32_t)(all - known) : 0;
	wait->are_readers_gone = readers->are_all_read;
	return HD_OK;
}

enum hd_status wait_add_readers(const struct wait_readers *readers, struct waits *waits,
				struct thread_wait *wait, struct hd_error *err)
{
	struct wait_several several = { .node = (uint32_t)(wait - waits->rows),
					.begin = waits->several.parts_count };
	if (!waits_for_lock(wait) || wait_lock_writer(waits, &wait->object) ||
	    (wait->stored_owner && wait->kind != WAIT_WRITE))
		return HD_OK;
	struct member owners = fact_of(waits->members, &wait->object, FACT_LOCK_SLIM_OWNERS);
	if (owners.state != MEMBER_READ || (wait->kind != WAIT_WRITE && owners.bits < READERS_MAX))
		return HD_OK;
	uint32_t writer = wait->kind == WAIT_WRITE
				  ? WAIT_NOBODY
				  : waiting_writer(readers, wait->object.address, several.node);
	if (writer != WAIT_NOBODY) {
		TRY(wait_part_add(waits, (struct wait_edge){ .to = writer }, err));
	} else {
		TRY(add_readers(readers, waits, wait, owners.bits & READERS_MASK, err));
	}
	return wait_several_add(waits, several, err);
}

uint64_t wait_lock_readers(const struct waits *waits, const struct object *lock)
{
	struct member owners = fact_of(waits->members, lock, FACT_LOCK_SLIM_OWNERS);
	bool is_read = owners.state == MEMBER_READ && !(owners.bits & LOCK_WRITTEN);
	return is_read ? owners.bits & READERS_MASK : 0;
}

bool wait_lock_is_open(const struct waits *waits, const struct thread_wait *wait)
{
	if (!waits_for_lock(wait))
		return false;
	struct member owners = fact_of(waits->members, &wait->object, FACT_LOCK_SLIM_OWNERS);
	struct member upgrader = fact_of(waits->members, &wait->object, FACT_LOCK_SLIM_UPGRADER);
	if (owners.state != MEMBER_READ || upgrader.state != MEMBER_READ)
		return false;
	if (wait->kind == WAIT_READ)
		return owners.bits < READERS_MAX;
	if (wait->kind == WAIT_UPGRADE)
		return owners.bits < READERS_MAX && member_signed(&upgrader) <= 0;
	/* Who may write later is counted as one that reads. */
	bool is_itself = wait_lock_upgrader(waits, &wait->object) == wait->thread;
	return !(owners.bits & LOCK_WRITTEN) && (owners.bits & READERS_MASK) == is_itself;
}
