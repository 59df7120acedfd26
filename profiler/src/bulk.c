/* SPDX-License-Identifier: MIT */
#include "bulk.h"

#include <stdlib.h>
#include <string.h>

#define EVENT_SIZE     64000u /* bytes of the entries of an event */
#define HEAD_SIZE      10u    /* number, count, instance of the runtime */
#define TYPE_HEAD_SIZE 6u     /* count, instance */
#define INDUCED        1u
#define GC_START       1u
#define GC_START_TYPE  2u
#define GC_END         2u
#define ROOT_KINDS     4u

static const uint32_t bulk_ids[BULK_KINDS] = { 15, 16, 17, 18, 19 };

/* COR_PRF_GC_ROOT_KIND: other, stack, finalizer, handle. */
static const uint8_t root_kinds[ROOT_KINDS] = { 3, 0, 1, 2 };

static size_t head_size(enum bulk_kind kind)
{
	return kind == BULK_TYPES ? TYPE_HEAD_SIZE : HEAD_SIZE;
}

static void put_u16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put_u64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void send(struct bulk_writer *writer, uint32_t id, uint32_t version, const uint8_t *bytes,
		 size_t size)
{
	const struct hd_snapshot_event event = { .struct_size = sizeof(event),
						 .provider = "Microsoft-Windows-DotNETRuntime",
						 .id = id,
						 .version = version,
						 .payload = bytes,
						 .size = size };
	if (hd_snapshot_event(writer->snapshot, &event, NULL) != HD_OK)
		writer->is_full = true;
}

/* Send the event that has been gathered, if it has any entries. */
static void flush(struct bulk_writer *writer, enum bulk_kind kind)
{
	struct bulk *bulk = &writer->bulks[kind];
	uint8_t *head = bulk->bytes;
	if (!bulk->count)
		return;
	if (kind != BULK_TYPES) {
		put_u32(head, bulk->number++);
		head += 4;
	}
	put_u32(head, bulk->count);
	put_u16(head + 4, 0);
	send(writer, bulk_ids[kind], 0, bulk->bytes, head_size(kind) + bulk->used);
	bulk->used = bulk->count = 0;
}

/* Room for one more entry, which is counted. */
static uint8_t *add_entry(struct bulk_writer *writer, enum bulk_kind kind, size_t size)
{
	struct bulk *bulk = &writer->bulks[kind];
	if (bulk->used + size > EVENT_SIZE)
		flush(writer, kind);
	uint8_t *at = bulk->bytes + head_size(kind) + bulk->used;
	bulk->used += size;
	bulk->count++;
	return at;
}

bool bulk_init(struct bulk_writer *writer, struct hd_snapshot *snapshot)
{
	*writer = (struct bulk_writer){ .snapshot = snapshot };
	for (size_t i = 0; i < BULK_KINDS; i++) {
		writer->bulks[i].bytes = malloc(HEAD_SIZE + EVENT_SIZE);
		if (!writer->bulks[i].bytes) {
			bulk_deinit(writer);
			return false;
		}
	}
	return true;
}

void bulk_deinit(struct bulk_writer *writer)
{
	for (size_t i = 0; i < BULK_KINDS; i++)
		free(writer->bulks[i].bytes);
	*writer = (struct bulk_writer){ 0 };
}

void bulk_start(struct bulk_writer *writer)
{
	uint8_t payload[26] = { 0 };
	put_u32(payload, 1);
	put_u32(payload + 4, 2);
	put_u32(payload + 8, INDUCED);
	send(writer, GC_START, GC_START_TYPE, payload, sizeof(payload));
}

void bulk_root(struct bulk_writer *writer, const struct bulk_root *root)
{
	uint8_t *at = add_entry(writer, BULK_ROOTS, 21);
	put_u64(at, root->object);
	at[8] = root->kind < ROOT_KINDS ? root_kinds[root->kind] : root_kinds[0];
	put_u32(at + 9, root->flags);
	put_u64(at + 13, root->id);
}

void bulk_dependent(struct bulk_writer *writer, uint64_t key, uint64_t value, uint64_t id)
{
	uint8_t *at = add_entry(writer, BULK_DEPENDENTS, 24);
	put_u64(at, key);
	put_u64(at + 8, value);
	put_u64(at + 16, id);
}

void bulk_object(struct bulk_writer *writer, const struct bulk_object *object,
		 const uintptr_t *targets)
{
	uint8_t *at = add_entry(writer, BULK_NODES, 32);
	put_u64(at, object->address);
	put_u64(at + 8, object->size);
	put_u64(at + 16, object->type);
	put_u64(at + 24, object->count);
	for (uint64_t i = 0; i < object->count && !writer->is_full; i++) {
		at = add_entry(writer, BULK_EDGES, 12);
		put_u64(at, targets[i]);
		put_u32(at + 8, 0);
	}
}

void bulk_type(struct bulk_writer *writer, uint64_t type, const struct type_about *about)
{
	size_t units = 0;
	while (about->name[units])
		units++;
	size_t name_size = (units + 1) * sizeof(uint16_t);
	uint8_t *at = add_entry(writer, BULK_TYPES, 25 + name_size + 4);
	put_u64(at, type);
	put_u64(at + 8, about->module);
	put_u32(at + 16, about->token);
	put_u32(at + 20, about->flags);
	at[24] = 0;
	memcpy(at + 25, about->name, name_size);
	put_u32(at + 25 + name_size, 0);
}

void bulk_end(struct bulk_writer *writer)
{
	uint8_t payload[10] = { 0 };
	for (size_t i = 0; i < BULK_KINDS; i++)
		flush(writer, (enum bulk_kind)i);
	put_u32(payload, 1);
	put_u32(payload + 4, 2);
	send(writer, GC_END, 1, payload, sizeof(payload));
}

bool bulk_is_full(const struct bulk_writer *writer)
{
	return writer->is_full;
}
