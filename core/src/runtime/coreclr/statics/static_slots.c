/* SPDX-License-Identifier: MIT */
/* The slots of all static fields of all types (doc/coreclr.md 10). */
#include <inttypes.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/statics/static_base.h"
#include "runtime/coreclr/statics/static_check.h"
#include "runtime/coreclr/types/field_desc.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/statics.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/job.h"

/* MTFlags2 of 9 and 10: the type has static fields, of threads or not. */
#define HAS_STATICS 0x2u

/* A target with more than these is completely damaged: a large service has some 300,000 slots. */
#define STATIC_FIELDS_MAX ((size_t)16 << 20)
#define STATIC_SLOTS_MAX  ((size_t)4 << 20)
/* Most pairs of a thread and a type with thread statics that are read. */
#define PAIRS_MAX ((uint64_t)64 << 20)

#define STRIDE 1024u

/* A static field that refers to an object. */
struct static_field {
	uint32_t token, offset;
	bool is_boxed, is_thread_static;
};

/* The fields of one EEClass: a part of reader.fields. */
struct class_fields {
	uint32_t first, count;
	bool is_read, is_broken, has_thread_statics, has_statics;
};

struct thread_type {
	struct thread_static_key key;
	uint32_t first, count; /* in reader.fields */
};

struct statics_reader {
	struct runtime *runtime;
	struct job *job;
	struct static_slots slots;
	struct static_field *fields;
	size_t fields_count, fields_capacity;
	struct class_fields *classes; /* by index of the canonical type */
	size_t class_count;
	struct thread_type *thread_types;
	size_t thread_types_count, thread_types_capacity;
	uint64_t visited;
	bool is_cut; /* one of the limits was met */
	enum hd_status status;
};

static bool static_reader_stop(struct statics_reader *reader, enum hd_status status)
{
	reader->status = status;
	return false;
}

/* Counts types or pairs; false when the work was cancelled. */
static bool static_reader_step(struct statics_reader *reader)
{
	if (++reader->visited % STRIDE || job_step(reader->job, 0, STRIDE))
		return true;
	return static_reader_stop(reader, HD_ERR_CANCELLED);
}

static struct class_fields *class_of(struct statics_reader *reader, const struct type *canonical)
{
	if (canonical->index >= reader->class_count) {
		size_t count = type_count(reader->runtime) + type_count(reader->runtime) / 4 + 64;
		struct class_fields *classes =
			mem_realloc(reader->classes, count, sizeof(*classes));
		if (!classes)
			return NULL;
		memset(classes + reader->class_count, 0,
		       (count - reader->class_count) * sizeof(*classes));
		reader->classes = classes;
		reader->class_count = count;
	}
	return &reader->classes[canonical->index];
}

/* Keep the fields that refer to objects; static ones follow those of instances. */
static bool add_class_fields(struct statics_reader *reader, const uint8_t *bytes, uint32_t count,
			     struct class_fields *class)
{
	for (uint32_t i = 0; i < count; i++) {
		struct field_desc desc;
		if (!field_desc_decode(bytes + (size_t)i * FIELD_DESC_SIZE, &desc))
			continue;
		if (!desc.is_static) {
			class->is_broken = true;
			return true;
		}
		if (desc.is_rva || !element_is_gc_static(desc.element_type))
			continue;
		if (!PAGES_RESERVE(reader, fields))
			return false;
		reader->fields[reader->fields_count++] = (struct static_field){
			.token = desc.token,
			.offset = desc.offset,
			.is_boxed = desc.element_type == ELEMENT_VALUE,
			.is_thread_static = desc.is_thread_static,
		};
		class->count++;
		class->has_thread_statics |= desc.is_thread_static;
		class->has_statics |= !desc.is_thread_static;
	}
	return true;
}

/* The FieldDescs of a class: base classes' instance fields are not among them. */
static bool find_descs(struct statics_reader *reader, const struct type *canonical, uint64_t *ret,
		       uint32_t *ret_count)
{
	struct runtime *runtime = reader->runtime;
	struct field_counts own, inherited = { 0 };
	*ret_count = 0;
	if (!field_counts_read(runtime, canonical->links.ee_class, &own))
		return false;
	if (!own.statics)
		return true;
	const struct type *parent =
		canonical->parent ? type_find(runtime, canonical->parent) : NULL;
	if ((canonical->parent && !parent) ||
	    (parent && !field_counts_read(runtime, parent->links.ee_class, &inherited)) ||
	    own.instance < inherited.instance || own.instance > CLASS_FIELDS_MAX ||
	    own.statics > CLASS_FIELDS_MAX ||
	    !coreclr_pointer(runtime, canonical->links.ee_class, L_CLASS_FIELDS, ret))
		return false;
	*ret += (uint64_t)FIELD_DESC_SIZE * (own.instance - inherited.instance);
	*ret_count = own.statics;
	return true;
}

static bool read_class(struct statics_reader *reader, const struct type *canonical,
		       struct class_fields *class)
{
	uint64_t descs;
	uint32_t count;
	*class = (struct class_fields){ .is_read = true, .first = (uint32_t)reader->fields_count };
	if (!find_descs(reader, canonical, &descs, &count)) {
		class->is_broken = true;
		return true;
	}
	if (count > STATIC_FIELDS_MAX - reader->fields_count) {
		reader->is_cut = true;
		return true;
	}
	if (!count)
		return true;
	HD_FREE uint8_t *bytes = mem_alloc(count, FIELD_DESC_SIZE);
	if (!bytes)
		return false;
	bool good = true;
	if (memory_read(reader->runtime->memory, descs, bytes, (size_t)count * FIELD_DESC_SIZE)) {
		good = add_class_fields(reader, bytes, count, class);
	} else {
		class->is_broken = true;
	}
	return good;
}

/* A type that cannot be read has no slots, but is counted. */
static bool add_static_slot(struct statics_reader *reader, const struct static_slot *slot)
{
	uint64_t value;
	if (slot->address % 8 || !memory_u64(reader->runtime->memory, slot->address, &value)) {
		reader->slots.broken++;
		return true;
	}
	if (reader->slots.rows_count >= STATIC_SLOTS_MAX) {
		reader->is_cut = true;
		return true;
	}
	if (!PAGES_RESERVE(&reader->slots, rows))
		return static_reader_stop(reader, HD_ERR_NOMEM);
	reader->slots.rows[reader->slots.rows_count++] = *slot;
	return true;
}

static bool add_plain(struct statics_reader *reader, const struct type *type,
		      const struct class_fields *class)
{
	struct static_bases bases;
	static_bases_read(reader->runtime, type, &bases);
	reader->slots.broken += bases.is_broken;
	if (!bases.gc)
		return true;
	for (uint32_t i = 0; i < class->count; i++) {
		const struct static_field *field = &reader->fields[class->first + i];
		if (field->is_thread_static)
			continue;
		if (!add_static_slot(reader, &(struct static_slot){
						     .address = bases.gc + field->offset,
						     .type = type,
						     .token = field->token,
						     .thread = UINT32_MAX,
						     .is_boxed = field->is_boxed,
						     .is_initialised = bases.gc_initialised,
					     }))
			return false;
	}
	return true;
}

static bool add_thread_type(struct statics_reader *reader, const struct type *type,
			    const struct class_fields *class)
{
	struct thread_type row = { .first = class->first, .count = class->count };
	if (!thread_static_key_read(reader->runtime, type, &row.key)) {
		reader->slots.broken++;
		return true;
	}
	if (!PAGES_RESERVE(reader, thread_types))
		return static_reader_stop(reader, HD_ERR_NOMEM);
	reader->thread_types[reader->thread_types_count++] = row;
	return true;
}

static bool visit_static_type(void *arg, const struct type *type)
{
	struct statics_reader *reader = arg;
	struct runtime *runtime = reader->runtime;
	if (!static_reader_step(reader))
		return false;
	if (!type_has_slots(type) ||
	    (!coreclr_has(runtime, CORECLR_DOMAIN_STATICS) && !(type->links.flags2 & HAS_STATICS)))
		return true;
	const struct type *canonical = type->links.canonical == type->method_table
					       ? type
					       : type_find(runtime, type->links.canonical);
	if (!canonical) {
		reader->slots.broken++;
		return true;
	}
	struct class_fields *class = class_of(reader, canonical);
	if (!class || (!class->is_read && !read_class(reader, canonical, class)))
		return static_reader_stop(reader, HD_ERR_NOMEM);
	reader->slots.broken += class->is_broken;
	reader->slots.types += class->count != 0;
	return (!class->has_statics || add_plain(reader, type, class)) &&
	       (!class->has_thread_statics || add_thread_type(reader, type, class));
}

static bool add_of_thread(struct statics_reader *reader, uint32_t thread,
			  const struct thread_storage *storage, const struct thread_type *row)
{
	uint64_t base = thread_static_base(reader->runtime, storage, &row->key, true);
	for (uint32_t i = 0; base && i < row->count; i++) {
		const struct static_field *field = &reader->fields[row->first + i];
		if (field->is_thread_static &&
		    !add_static_slot(reader, &(struct static_slot){
						     .address = base + field->offset,
						     .type = row->key.type,
						     .token = field->token,
						     .thread = thread,
						     .is_boxed = field->is_boxed,
						     .is_initialised = true,
					     }))
			return false;
	}
	return true;
}

static void read_threads(struct statics_reader *reader)
{
	struct runtime *runtime = reader->runtime;
	uint64_t left = PAIRS_MAX;
	for (size_t i = 0; i < runtime->threads.count; i++) {
		struct thread_storage storage;
		bool has_storage =
			thread_storage_read(runtime, &runtime->threads.rows[i], &storage);
		reader->slots.broken += storage.is_broken;
		if (!has_storage)
			continue;
		if (reader->thread_types_count > left) {
			reader->is_cut = true;
			return;
		}
		left -= reader->thread_types_count;
		for (size_t k = 0; k < reader->thread_types_count; k++) {
			if (!static_reader_step(reader) ||
			    !add_of_thread(reader, (uint32_t)i, &storage, &reader->thread_types[k]))
				return;
		}
	}
}

static void report_static_slots(const struct statics_reader *reader, enum hd_status listed,
				const char *why)
{
	struct findings *findings = &reader->runtime->target->findings;
	if (listed != HD_OK) {
		findings_add(findings, FINDING_STATICS, NULL,
			     "static fields are not known, what they refer to is shown as held by "
			     "arrays of the runtime: %s",
			     why);
		return;
	}
	if (reader->is_cut) {
		findings_add(
			findings, FINDING_STATICS, NULL,
			"there are more static fields than %zu slots: the others are not known",
			STATIC_SLOTS_MAX);
	}
	if (reader->slots.broken) {
		findings_add(findings, FINDING_STATICS, NULL,
			     "%" PRIu64 " types or slots of static fields could not be read: "
			     "some static fields are not known",
			     reader->slots.broken);
	}
	static_slots_check(reader->runtime, &reader->slots);
}

static enum hd_status read_all(struct statics_reader *reader, struct hd_error *err)
{
	struct runtime *runtime = reader->runtime;
	struct hd_error why = { 0 };
	(void)runtime_type_table_failed(runtime);
	enum hd_status listed = type_for_each(runtime, visit_static_type, reader, &why);
	if (listed == HD_ERR_NOMEM || listed == HD_ERR_CANCELLED)
		return fail(err, listed, 0, "%s", why.message);
	if (reader->status == HD_OK)
		read_threads(reader);
	if (reader->status == HD_ERR_CANCELLED)
		return fail_cancelled(err);
	if (reader->status != HD_OK || runtime_type_table_failed(runtime))
		return fail_nomem(err);
	TRY(static_slots_sort(&reader->slots, err));
	report_static_slots(reader, listed, why.message);
	return HD_OK;
}

enum hd_status coreclr_statics(struct runtime *runtime, struct job *job, struct static_slots *ret,
			       struct hd_error *err)
{
	struct statics_reader reader = { .runtime = runtime, .job = job };
	job_begin(job, "Reading static fields", 0);
	enum hd_status status = read_all(&reader, err);
	job_end(job);
	pages_free(reader.fields, reader.fields_capacity, sizeof(*reader.fields));
	pages_free(reader.thread_types, reader.thread_types_capacity, sizeof(*reader.thread_types));
	mem_free(reader.classes);
	if (status != HD_OK) {
		static_slots_deinit(&reader.slots);
		return status;
	}
	*ret = reader.slots;
	return HD_OK;
}
