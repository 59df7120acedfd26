/* SPDX-License-Identifier: MIT */
#include "type_events.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "type_names.h"

#define GC_START   1u
#define GC_END     2u
#define BACKGROUND 1u         /* the kind of a collection */
#define HEAD_SIZE  6u         /* count, instance of the runtime */
#define ENTRY_SIZE 25u        /* up to the name: type, module, token, flags, kind of element */
#define ROOM       (1u << 20) /* an event has at most 64 KB, and most names stay as they are */

/* Where an entry of a payload has what; sizes in bytes. */
struct entry {
	uint64_t type;
	size_t name, name_end, end; /* offsets; the name's end is after its zero */
};

static struct {
	_Atomic pid_t thread; /* that has begun a collection; 0: none */
	uint8_t *bytes;
	size_t used;
	struct type_about about;
} renaming;

bool type_events_begin(void)
{
	atomic_store(&renaming.thread, 0);
	renaming.bytes = malloc(ROOM);
	return renaming.bytes;
}

void type_events_end(void)
{
	free(renaming.bytes);
	renaming.bytes = NULL;
}

void type_events_see(uint32_t id, const uint8_t *payload, size_t size)
{
	/* The number of the collection, its generation, reason and kind. */
	uint32_t head[4] = { 0 };
	if (size >= sizeof(head))
		memcpy(head, payload, sizeof(head));
	if (id == GC_START && head[3] != BACKGROUND) {
		atomic_store(&renaming.thread, gettid());
	} else if (id == GC_END) {
		atomic_store(&renaming.thread, 0);
	}
}

/* Is this a thread of the collection that runs?  One of several may have begun it. */
static bool is_collecting(void)
{
	static const char collector[] = ".NET Server GC";
	const pid_t began = atomic_load(&renaming.thread);
	char name[16] = "";
	return began &&
	       (began == gettid() || (prctl(PR_GET_NAME, name) == 0 &&
				      strncmp(name, collector, sizeof(collector) - 1) == 0));
}

/* Find the parts of the entry that begins at @p at; false: it goes past the end. */
static bool find_entry(const uint8_t *payload, size_t size, size_t at, struct entry *ret)
{
	uint32_t count;
	if (size - at < ENTRY_SIZE)
		return false;
	memcpy(&ret->type, payload + at, sizeof(ret->type));
	ret->name = at + ENTRY_SIZE;
	size_t end = ret->name;
	while (size - end >= 2 && (payload[end] || payload[end + 1]))
		end += 2;
	if (size - end < 2 + sizeof(count))
		return false;
	ret->name_end = end + 2;
	memcpy(&count, payload + ret->name_end, sizeof(count));
	end = ret->name_end + sizeof(count);
	if (count > (size - end) / sizeof(uint64_t))
		return false;
	ret->end = end + count * sizeof(uint64_t);
	return true;
}

static bool add_bytes(const void *bytes, size_t size)
{
	if (size > ROOM - renaming.used)
		return false;
	memcpy(renaming.bytes + renaming.used, bytes, size);
	renaming.used += size;
	return true;
}

/* The whole name with its zero, in bytes; 0: the type is in no other one, or not known. */
static size_t find_whole_name(uint64_t type)
{
	size_t units = 0;
	bool is_nested = false;
	/* Pointers and the like are marked, and the profiling API has no classes for them. */
	if (type & 3)
		return 0;
	type_names_ask((uintptr_t)type, &renaming.about);
	while (renaming.about.name[units])
		is_nested = renaming.about.name[units++] == '+' || is_nested;
	return is_nested ? (units + 1) * sizeof(uint16_t) : 0;
}

static bool add_entry(const uint8_t *payload, size_t at, const struct entry *entry)
{
	size_t size = find_whole_name(entry->type);
	bool is_added = add_bytes(payload + at, ENTRY_SIZE);
	if (size) {
		is_added = is_added && add_bytes(renaming.about.name, size);
	} else {
		is_added =
			is_added && add_bytes(payload + entry->name, entry->name_end - entry->name);
	}
	return is_added && add_bytes(payload + entry->name_end, entry->end - entry->name_end);
}

const uint8_t *type_events_rename(const uint8_t *payload, size_t size, size_t *ret_size)
{
	uint32_t count;
	if (!renaming.bytes || !is_collecting() || size < HEAD_SIZE)
		return NULL;
	memcpy(&count, payload, sizeof(count));
	renaming.used = 0;
	(void)add_bytes(payload, HEAD_SIZE);
	for (size_t at = HEAD_SIZE; count; count--) {
		struct entry entry;
		if (!find_entry(payload, size, at, &entry) || !add_entry(payload, at, &entry))
			return NULL;
		at = entry.end;
	}
	*ret_size = renaming.used;
	return renaming.bytes;
}
