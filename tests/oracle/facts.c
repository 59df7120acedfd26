/* SPDX-License-Identifier: MIT */
/*
 * facts [--no-files] [--no-live] CORE OUT [ADDRESS...]: what heapdump reads out of a core, in the lines that clrmd/Program.cs
 * describes, and for each ADDRESS the values in that object, which the programs of corefiles/apps
 * know themselves:
 *
 *   V  ADDRESS PATH ELEMENT BITS   PATH: Type.field, Type.field/Type.field inside a struct, [index]
 *
 * --no-files: take no byte from the files that the core names.  --no-live: leave out what is alive.
 * Exit status: 0 written, 1 failed.
 */
#include "facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "framework/member.h"
#include "gc/references.h"
#include "hangs/monitors.h"
#include "inspect/value.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/threads/sync_block.h"
#include "runtime/coreclr/types/field.h"
#include "targets/target.h"
#include "util/job.h"
#include "util/text.h"

#define MAX_UNITS    1000u
#define MAX_ELEMENTS 64u
#define MAX_DEPTH    8

static void hex_units(FILE *out, const uint8_t *bytes, size_t count)
{
	if (count == 0)
		fputc('-', out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%04x", load_u16(bytes + 2 * i));
}

static void hex_bytes(FILE *out, const char *string)
{
	if (!string || !*string)
		fputc('-', out);
	for (; string && *string; string++)
		fprintf(out, "%02x", (unsigned char)*string);
}

static const char *name_or_dash(const char *name)
{
	return name && *name ? name : "-";
}

static void write_segments(struct facts *facts)
{
	const struct heap *heap = facts->heap;
	FILE *out = facts->out;
	fprintf(out, "I\tserver\t%d\n", heap->runtime->gc.is_server);
	fprintf(out, "I\theaps\t%" PRIu32 "\n", heap->heap_count);
	fprintf(out, "I\tregions\t%d\n", heap->runtime->gc.has_regions);
	fprintf(out, "I\twalkable\t%d\n", heap->is_walkable && !heap->gc_in_progress);
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *s = &heap->segments[i];
		fprintf(out,
			"S\t%" PRIu32 "\t%s\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\n",
			s->heap, generation_name(s->generation), s->begin, s->end, s->committed,
			s->reserved);
		if (s->generation == GENERATION_EPHEMERAL)
			fprintf(out,
				"G\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64
				"\t%" PRIx64 "\n",
				s->begin, s->gen1_begin, s->gen1_begin, s->gen0_begin,
				s->gen0_begin, s->end);
	}
	for (size_t i = 0; i < heap->context_count; i++)
		fprintf(out, "A\t%" PRIx64 "\t%" PRIx64 "\n", heap->contexts[i].pointer,
			heap->contexts[i].limit);
}

static void write_threads(struct facts *facts)
{
	for (size_t i = 0; i < facts->runtime->threads.count; i++) {
		const struct runtime_thread *t = &facts->runtime->threads.rows[i];
		fprintf(facts->out, "H\t%" PRIu32 "\t%" PRIu64 "\t%" PRIx64 "\t%" PRIx32 "\n",
			t->id, t->os_id, t->address, t->state);
	}
}

static void write_references(struct facts *facts, const struct object *object)
{
	struct references references;
	struct reference reference;
	references_begin(&references, &facts->window, object);
	while (references_next(&references, &reference)) {
		int64_t offset = reference.slot ? (int64_t)(reference.slot - object->address) : -1;
		fprintf(facts->out, "R\t%" PRIx64 "\t%" PRId64 "\t%" PRIx64 "\n", object->address,
			offset, reference.value);
	}
}

static void write_string(struct facts *facts, const struct object *object)
{
	uint8_t bytes[2 * MAX_UNITS];
	uint32_t units = object->length < MAX_UNITS ? object->length : MAX_UNITS;
	if (!memory_read(facts->heap->memory, object->address + 12, bytes, (size_t)2 * units)) {
		fprintf(facts->out, "E\t%" PRIx64 "\tstring is not readable\n", object->address);
		return;
	}
	fprintf(facts->out, "T\t%" PRIx64 "\t%" PRIu32 "\t", object->address, object->length);
	hex_units(facts->out, bytes, units);
	fputc('\n', facts->out);
}

static void write_array(struct facts *facts, const struct object *object)
{
	struct array_info array;
	if (!array_read(facts->heap, object, &array)) {
		fprintf(facts->out, "E\t%" PRIx64 "\tarray is not readable\n", object->address);
		return;
	}
	fprintf(facts->out, "P\t%" PRIx64 "\t%" PRIu32 "\t", object->address, array.rank);
	for (uint32_t i = 0; i < array.rank; i++)
		fprintf(facts->out, "%s%" PRIu32, i ? "," : "", array.lengths[i]);
	fputc('\t', facts->out);
	for (uint32_t i = 0; i < array.rank; i++)
		fprintf(facts->out, "%s%" PRId32, i ? "," : "", array.bounds[i]);
	fputc('\n', facts->out);
}

static void write_exception(struct facts *facts, const struct object *object)
{
	struct exception_info info;
	if (!exception_read(facts->heap, object, &info)) {
		fprintf(facts->out, "E\t%" PRIx64 "\texception is not readable\n", object->address);
		return;
	}
	fprintf(facts->out, "X\t%" PRIx64 "\t%" PRIx32 "\t%" PRIx64 "\t", object->address,
		(uint32_t)info.hresult, info.inner);
	hex_bytes(facts->out, info.message);
	fputc('\n', facts->out);
	exception_info_deinit(&info);
}

/* The targets of a multicast delegate: the first invocation_count elements of its list. */
static void write_targets(struct facts *facts, const struct delegate_info *info)
{
	for (uint64_t i = 0; i < info->invocation_count; i++) {
		uint64_t address = 0;
		struct object object;
		struct delegate_info one = { 0 };
		if (!memory_u64(facts->heap->memory, info->invocation_list + 16 + 8 * i,
				&address) ||
		    !object_read(facts->heap, &facts->window, address, &object) ||
		    !delegate_read(facts->heap, &object, &one))
			fputs(i ? ",?" : "?", facts->out);
		else
			fprintf(facts->out, "%s%" PRIx64, i ? "," : "", one.target);
	}
}

static void write_delegate(struct facts *facts, const struct object *object)
{
	struct delegate_info info;
	if (!delegate_read(facts->heap, object, &info)) {
		fprintf(facts->out, "E\t%" PRIx64 "\tdelegate is not readable\n", object->address);
		return;
	}
	if (info.invocation_list) {
		fprintf(facts->out, "M\t%" PRIx64 "\t", object->address);
		write_targets(facts, &info);
		fputc('\n', facts->out);
		return;
	}
	char name[512] = "";
	if (info.method_desc)
		(void)runtime_method_name(facts->runtime, info.method_desc, name, sizeof(name),
					  NULL);
	fprintf(facts->out, "D\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx32 "\t%s\n", object->address,
		info.target, info.token, name_or_dash(name));
}

static void write_locks(struct facts *facts, const struct object *object)
{
	struct sync_info sync;
	if (!runtime_sync_info(facts->runtime, object->address, &sync))
		return;
	if (sync.has_thin_lock)
		fprintf(facts->out, "L\t%" PRIx64 "\t%" PRIu32 "\t%" PRIu32 "\n", object->address,
			sync.lock_thread, sync.lock_recursion);
	if (sync.has_sync_block)
		fprintf(facts->out, "B\t%" PRIx64 "\t%" PRIu32 "\n", object->address, sync.index);
}

/* Write every sync block with its monitor. */
static enum hd_status write_sync_blocks(struct facts *facts, struct hd_error *err)
{
	struct monitor monitor;
	struct members *members;
	TRY(members_create(facts->heap, &members, err));
	runtime_sync_count(facts->runtime);
	for (uint32_t i = 1; monitor_read(facts->runtime, members, i, &monitor); i++) {
		const struct sync_block *block = &monitor.block;
		if (!block->object)
			continue;
		fprintf(facts->out,
			"K\t%" PRIu32 "\t%" PRIx64 "\t%u\t%" PRIx64 "\t%" PRIu32 "\t%" PRIu32 "\n",
			i, block->object, block->is_held, block->owner ? block->owner->address : 0,
			block->recursion, block->waiters);
	}
	members_destroy(members);
	return HD_OK;
}

static bool mark_seen(struct facts *facts, const struct type *type)
{
	if (type->index >= facts->seen_count) {
		size_t count = 2 * (size_t)type->index + 64;
		bool *seen = realloc(facts->seen, count * sizeof(*seen));
		if (!seen)
			return false;
		memset(seen + facts->seen_count, 0, (count - facts->seen_count) * sizeof(*seen));
		facts->seen = seen;
		facts->seen_count = count;
	}
	facts->seen[type->index] = true;
	return true;
}

static bool write_object(struct facts *facts, const struct segment *segment,
			 const struct object *object)
{
	static const char generations[GENERATION_COUNT] = { '0', '1', '2', 'l', 'p', 'n', 'e' };
	const struct type *type = object->type;
	fprintf(facts->out, "O\t%" PRIx64 "\t%" PRIx64 "\t%" PRIu64 "\t%c\n", object->address,
		type->method_table, object->size,
		generations[segment_generation_at(segment, object->address)]);
	if (!mark_seen(facts, type))
		return false;
	if (type->is_free)
		return true;
	if (type->has_pointers || type->is_collectible)
		write_references(facts, object);
	if (type->is_string)
		write_string(facts, object);
	else if (type->category == CATEGORY_SZ_ARRAY || type->category == CATEGORY_MD_ARRAY)
		write_array(facts, object);
	else if (type_is_exception(facts->runtime, type))
		write_exception(facts, object);
	else if (type_is_delegate(facts->runtime, type))
		write_delegate(facts, object);
	write_locks(facts, object);
	return true;
}

static void write_field(struct facts *facts, const struct type *type, const struct field *field)
{
	if (!field->is_static) {
		fprintf(facts->out, "F\t%" PRIx64 "\t%s\t%" PRIu32 "\t%u\t%" PRIx32 "\t%s\n",
			type->method_table, field->name, field->offset, field->element_type,
			field->token, name_or_dash(field->type_name));
		return;
	}
	if (field->is_thread_static || field->declaring != type || type->is_collectible)
		return;
	bool initialised;
	uint64_t address = field_static_address(facts->runtime, field, &initialised);
	fprintf(facts->out, "Q\t%" PRIx64 "\t%s\t%" PRIu32 "\t%u\t%" PRIx32 "\t%" PRIx64 "\t%s\n",
		type->method_table, field->name, field->offset, field->element_type, field->token,
		address, name_or_dash(field->type_name));
}

static enum hd_status write_types(struct facts *facts, struct hd_error *err)
{
	for (size_t i = 0; i < facts->seen_count; i++) {
		if (!facts->seen[i])
			continue;
		const struct type *type = type_at(facts->runtime, i);
		fprintf(facts->out, "N\t%" PRIx64 "\t%s\n", type->method_table,
			type_name(facts->runtime, type, NULL));
		if (type->is_free)
			continue;
		struct field_list fields;
		enum hd_status status = field_list_read(facts->runtime, type, &fields, err);
		if (status == HD_ERR_FAULT) {
			fprintf(facts->out, "E\t%" PRIx64 "\tfields are not readable\n",
				type->method_table);
			continue;
		}
		if (status != HD_OK)
			return status;
		for (size_t k = 0; k < fields.count; k++)
			write_field(facts, type, &fields.rows[k]);
		field_list_deinit(&fields);
	}
	return HD_OK;
}

static void write_value(struct facts *facts, const char *path, uint8_t element,
			const struct type *type, uint64_t address)
{
	struct value_out value;
	value_read(facts->heap, element, type, address, &value);
	if (value.form == FORM_MISSING)
		fprintf(facts->out, "E\t%" PRIx64 "\t%s is missing\n", facts->asked, path);
	else
		fprintf(facts->out, "V\t%" PRIx64 "\t%s\t%u\t%" PRIx64 "\n", facts->asked, path,
			element, value.form == FORM_TEXT ? value.bits : value.address);
}

/* The fields of a struct or an object at @p base, whose path so far is @p path. */
static enum hd_status write_values(struct facts *facts, const char *path, const struct type *type,
				   uint64_t base, int depth, struct hd_error *err)
{
	struct field_list fields;
	enum hd_status status = field_list_read(facts->runtime, type, &fields, err);
	if (status != HD_OK)
		return status == HD_ERR_FAULT ? HD_OK : status;
	for (size_t i = 0; i < fields.count && status == HD_OK; i++) {
		const struct field *field = &fields.rows[i];
		if (field->is_static)
			continue;
		struct text name = { 0 };
		text_printf(&name, "%s%s%s.%s", path, *path ? "/" : "",
			    type_name(facts->runtime, field->declaring, NULL), field->name);
		uint64_t address = base + field->offset;
		if (field->element_type == ELEMENT_VALUE && field->type && depth < MAX_DEPTH)
			status = write_values(facts, name.bytes, field->type, address, depth + 1,
					      err);
		else
			write_value(facts, name.bytes, field->element_type, field->type, address);
		text_deinit(&name);
	}
	field_list_deinit(&fields);
	return status;
}

static void write_elements(struct facts *facts, const struct array_info *array)
{
	for (uint32_t i = 0; i < array->length && i < MAX_ELEMENTS; i++) {
		char path[16];
		snprintf(path, sizeof(path), "[%" PRIu32 "]", i);
		write_value(facts, path, array->element_type, array->element,
			    array->data + (uint64_t)i * array->element_size);
	}
}

static enum hd_status write_asked(struct facts *facts, const char *word, struct hd_error *err)
{
	uint64_t address;
	struct object object;
	struct array_info array;
	if (!parse_address(word, &address) ||
	    !object_read(facts->heap, &facts->window, address, &object)) {
		fprintf(facts->out, "E\t%s\tno object\n", word);
		return HD_OK;
	}
	if (object.type->is_string)
		return HD_OK;
	facts->asked = address;
	if (array_read(facts->heap, &object, &array)) {
		write_elements(facts, &array);
		return HD_OK;
	}
	return write_values(facts, "", object.type, address + 8, 0, err);
}

static enum hd_status write_heap(struct facts *facts, struct hd_error *err)
{
	struct walker walker;
	enum hd_status status = walker_init(&walker, facts->heap, err);
	if (status != HD_OK)
		return status;
	bool good = true;
	for (size_t i = 0; good && i < facts->heap->segment_count; i++) {
		const struct segment *segment = &facts->heap->segments[i];
		walker_begin(&walker, segment, segment->begin, segment->end);
		enum walk_result result;
		while (good && (result = walker_next(&walker)) != WALK_END) {
			if (result == WALK_OBJECT)
				good = write_object(facts, segment, &walker.object);
			else
				fprintf(facts->out,
					"E\t%" PRIx64 "\tdamage %u, %" PRIu64 " bytes\n",
					walker.damage.address, walker.damage.kind,
					walker.damage.skipped);
		}
	}
	walker_deinit(&walker);
	return good ? HD_OK : fail_nomem(err);
}

static enum hd_status write_facts(struct facts *facts, char **addresses, struct job *job,
				  struct hd_error *err)
{
	write_segments(facts);
	write_threads(facts);
	TRY(write_sync_blocks(facts, err));
	enum hd_status status = write_heap(facts, err);
	if (status == HD_OK)
		status = write_types(facts, err);
	for (; *addresses && status == HD_OK; addresses++)
		status = write_asked(facts, *addresses, err);
	if (status == HD_OK)
		status = write_roots(facts, job, err);
	return status;
}

static enum hd_status run(const struct target_options *options, bool no_live, const char *core,
			  FILE *out, char **addresses, struct hd_error *err)
{
	struct target *target = NULL;
	struct facts facts = { .out = out, .no_live = no_live };
	struct job job = { .workers = 1 };
	enum hd_status status = target_open_core(core, options, &job, &target, err);
	if (status == HD_OK)
		status = runtime_open(target, &job, &facts.runtime, err);
	if (status == HD_OK)
		status = heap_open(facts.runtime, &facts.heap, err);
	if (status == HD_OK) {
		facts.window.memory = facts.heap->memory;
		status = write_facts(&facts, addresses, &job, err);
	}
	free(facts.seen);
	window_deinit(&facts.window);
	heap_destroy(facts.heap);
	runtime_destroy(facts.runtime);
	target_destroy(target);
	return status;
}

int main(int argc, char **argv)
{
	struct target_options options = { 0 };
	bool no_live = false;
	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		options.no_files |= strcmp(argv[1], "--no-files") == 0;
		no_live |= strcmp(argv[1], "--no-live") == 0;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: facts [--no-files] [--no-live] CORE OUT [ADDRESS...]\n");
		return 1;
	}
	FILE *out = fopen(argv[2], "w");
	if (!out) {
		fprintf(stderr, "facts: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	struct hd_error err = { 0 };
	enum hd_status status = run(&options, no_live, argv[1], out, argv + 3, &err);
	bool written = fclose(out) == 0;
	if (status != HD_OK)
		fprintf(stderr, "facts: %s: %s\n", argv[1], err.message);
	else if (!written)
		fprintf(stderr, "facts: %s cannot be written\n", argv[2]);
	return status == HD_OK && written ? 0 : 1;
}
