/* SPDX-License-Identifier: MIT */
#include <strings.h>

#include "analysis/heap/handle_objects.h"
#include "answer/tables.h"
#include "command/table.h"

/* Also taken: WeakWinRT, and JSON's names. */
static const char *const kind_choices[] = {
	"Strong",   "Pinned",    "AsyncPinned",   "RefCounted",
	"WeakLong", "WeakShort", "WeakNativeCom", "WeakInteriorPointer",
	"Variable", "SizedRef",  "Dependent",     "CrossReference",
	NULL
};

#define GCHANDLES_OPTIONS(X)                                                                    \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "only the statistics", NULL)                      \
	X(OPT_TYPE, "type", VALUE_TEXT, "KIND",                                                 \
	  "only handles of this kind: Strong, Pinned, Dependent, WeakShort, ...", kind_choices) \
	X(OPT_PER_DOMAIN, "perdomain", VALUE_NONE, NULL,                                        \
	  "accepted for SOS: there is only one domain", NULL)                                   \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N handles, or types (0 = all)", NULL)

OPTIONS(gchandles, GCHANDLES_OPTIONS);

/* Types of handles, in the order of SOS's list of counts. */
static const struct kind {
	enum handle_type type;
	const char *name, *json; /* SOS's, and in data */
} kinds[] = {
	{ HANDLE_STRONG, "Strong", "strong" },
	{ HANDLE_PINNED, "Pinned", "pinned" },
	{ HANDLE_ASYNC_PINNED, "AsyncPinned", "async-pinned" },
	{ HANDLE_REF_COUNTED, "RefCounted", "ref-counted" },
	{ HANDLE_WEAK_LONG, "WeakLong", "weak-long" },
	{ HANDLE_WEAK_SHORT, "WeakShort", "weak-short" },
	{ HANDLE_WEAK_NATIVE_COM, "WeakNativeCom", "weak-native-com" },
	{ HANDLE_WEAK_INTERIOR, "WeakInteriorPointer", "weak-interior" },
	{ HANDLE_VARIABLE, "Variable", "variable" },
	{ HANDLE_SIZED_REF, "SizedRef", "sized-ref" },
	{ HANDLE_DEPENDENT, "Dependent", "dependent" },
	{ HANDLE_CROSS_REFERENCE, "CrossReference", "cross-reference" },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
_Static_assert(KINDS == HANDLE_TYPES, "a type of handles has no name");

static const struct kind *handle_kind_of(uint8_t type)
{
	size_t i = 0;
	while (i < KINDS - 1 && kinds[i].type != type)
		i++;
	return &kinds[i];
}

/* The kind that -type names, in SOS's way or in JSON's; NULL: there is none. */
static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (strcasecmp(kinds[i].name, name) == 0 || strcasecmp(kinds[i].json, name) == 0)
			return &kinds[i];
	}
	return strcasecmp(name, "WeakWinRT") == 0 ? handle_kind_of(HANDLE_WEAK_NATIVE_COM) : NULL;
}

static enum hd_status unknown_kind(struct call *call)
{
	HD_CLEANUP(text) struct text text = { 0 };
	for (size_t i = 0; i < KINDS; i++)
		text_printf(&text, "%s%s", i ? ", " : "", kinds[i].name);
	enum hd_status status =
		fail(call->err, HD_ERR_ARGUMENT, 0, "-type is one of %s, not \"%.40s\"",
		     text.bytes ? text.bytes : "", call->options[OPT_TYPE].text);
	return status;
}

static bool has_secondary(const struct handle *handle)
{
	return handle->type == HANDLE_DEPENDENT || handle->type == HANDLE_WEAK_INTERIOR;
}

#define HANDLE_LIST(X)                                                                    \
	X(HANDLE_ADDRESS, "address", "Handle", KIND_ADDRESS, 16, LOOK_ZEROS | LOOK_UPPER, \
	  "where the handle is")                                                          \
	X(HANDLE_KIND, "kind", "Type", KIND_TEXT, 11, LOOK_LEFT, "kind of the handle")    \
	X(HANDLE_OBJECT, "object", "Object", KIND_ADDRESS, 16,                            \
	  LOOK_ZEROS | LOOK_UPPER | LOOK_ADDRESS, "what it refers to")                    \
	X(HANDLE_TYPE, "type", NULL, KIND_TYPE, 0, 0, "type of the object")               \
	X(HANDLE_OBJECT_SIZE, NULL, "Size", KIND_BYTES, 8, 0, NULL)                       \
	X(HANDLE_SECONDARY, "secondary", NULL, KIND_ADDRESS, 0, 0,                        \
	  "for a dependent handle: what the object keeps alive")                          \
	X(HANDLE_DATA, NULL, "Data", KIND_ADDRESS, 16, LOOK_ZEROS | LOOK_UPPER, NULL)     \
	X(HANDLE_CLASS, NULL, "Type", KIND_TYPE, 0, 0, NULL)

COLUMNS(handle, HANDLE_COLUMNS, HANDLE_LIST);

const struct schema gchandles_schema = {
	.name = "handles",
	SCHEMA_COLUMNS(handle_columns),
	.is_main = true,
};

static void write_handle(struct call *call, const struct handle *handle,
			 const struct object *object)
{
	const struct kind *kind = handle_kind_of(handle->type);
	struct cell type = { .shown = "<no object>" }, secondary = { 0 };
	size_t size = 0;
	if (object->type) {
		const char *name = type_name(call->heap->runtime, object->type, &size);
		type = cell_type(name, size, object->type->method_table);
	}
	if (has_secondary(handle))
		secondary = cell_number(handle->secondary);
	const struct cell cells[HANDLE_COLUMNS] = {
		[HANDLE_ADDRESS] = cell_number(handle->address),
		[HANDLE_KIND] = cell_shown(cell_string(kind->json), kind->name),
		[HANDLE_OBJECT] = cell_number(handle->object),
		[HANDLE_TYPE] = type,
		[HANDLE_OBJECT_SIZE] = cell_number(object->type ? object->size : 0),
		[HANDLE_SECONDARY] = secondary,
		[HANDLE_DATA] = secondary,
		[HANDLE_CLASS] = type,
	};
	answer_row(&call->answer, cells);
}

static enum hd_status list_handle_rows(struct call *call, struct handle_objects *objects)
{
	for (;;) {
		bool is_there;
		TRY(handle_objects_next(objects, &is_there, call->err));
		if (!is_there)
			return HD_OK;
		if (!call->options[OPT_STAT].given && answer_wants_row(&call->answer))
			write_handle(call, objects->handle, &objects->object);
		TRY(call_check(call));
	}
}

static enum hd_status list_handles(struct call *call, struct handle_objects *objects)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX);
	if (call->options[OPT_STAT].given)
		return list_handle_rows(call, objects);
	answer_table(&call->answer, &gchandles_schema,
		     &(const struct table_options){ .limit = limit });
	TRY(list_handle_rows(call, objects));
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, limit);
	answer_remark(&call->answer, "\n");
	return HD_OK;
}

/* How many there are of each, in the same order; those that are not there have no line. */
static const struct column kind_columns[] = {
	{ "strong", "    Strong Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT, NULL },
	{ "pinned", "    Pinned Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT, NULL },
	{ "async-pinned", "    Async Pinned Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT, NULL },
	{ "ref-counted", "    Ref Count Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT, NULL },
	{ "weak-long", "    Weak Long Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT, NULL },
	{ "weak-short", "    Weak Short Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT, NULL },
	{ "weak-native-com", "    Weak Native COM Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT,
	  NULL },
	{ "weak-interior", "    Weak Interior Pointer Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT,
	  NULL },
	{ "variable", "    Variable Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT, NULL },
	{ "sized-ref", "    SizedRef Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT, NULL },
	{ "dependent", "    Dependent Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT, NULL },
	{ "cross-reference", "    Cross Reference Handles:", KIND_NUMBER, 26, LOOK_LEAVE_OUT,
	  NULL },
};
_Static_assert(sizeof(kind_columns) / sizeof(kind_columns[0]) == KINDS, "a kind has no column");

static const struct schema kinds_schema = { .name = "kinds", SCHEMA_COLUMNS(kind_columns) };

static void write_handle_kinds(struct call *call, const struct handle_objects *objects)
{
	struct cell cells[KINDS];
	for (size_t i = 0; i < KINDS; i++) {
		uint64_t count = objects->by_type[kinds[i].type];
		cells[i] = count ? cell_number(count) : (struct cell){ 0 };
	}
	if (objects->has_type) {
		answer_data(&call->answer, &kinds_schema, cells);
		return;
	}
	answer_remark(&call->answer, "\nHandles:\n");
	answer_record(&call->answer, &kinds_schema, cells);
}

static enum hd_status write_handle_statistics(struct call *call,
					      const struct handle_objects *objects)
{
	struct statistics statistics;
	TRY(type_counts_statistics(&objects->counts, call->heap->runtime, NULL, &statistics,
				   call->err));
	statistics_sort(&statistics, false, false);
	statistics.limit = call_statistics_limit(call, OPT_STAT, OPT_LIMIT);
	statistics_table_plain(&call->answer, &statistics);
	statistics_deinit(&statistics);
	write_handle_kinds(call, objects);
	return HD_OK;
}

static enum hd_status run_gchandles(struct call *call)
{
	const struct kind *only = NULL;
	HD_CLEANUP(handle_list) struct handle_list list = { 0 };
	if (call->options[OPT_TYPE].given) {
		only = find_kind(call->options[OPT_TYPE].text);
		if (!only)
			return unknown_kind(call);
	}
	TRY(handle_list_read(call->heap, &call->job, &list, call->err));
	job_end(&call->job);
	HD_CLEANUP(handle_objects) struct handle_objects objects = { 0 };
	handle_objects_open(&objects, call->heap, &list, only ? &only->type : NULL);
	TRY(list_handles(call, &objects));
	return write_handle_statistics(call, &objects);
}

COMMAND(gchandles, .has_rows = true, .summary = "list the GC handles",
	.description =
		"Dependent handles show what they keep alive under Data. Weak handles keep nothing\n"
		"alive.\n",
	.example = "gchandles -type Pinned", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP,
	.options = gchandles_options);
