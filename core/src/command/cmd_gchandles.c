/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "command/command.h"
#include "command/type_counts.h"
#include "roots/handles.h"

enum {
	OPT_STAT,
	OPT_TYPE,
	OPT_PER_DOMAIN,
	OPT_LIMIT
};

/* Also taken: WeakWinRT, and JSON's names. */
static const char *const kind_choices[] = {
	"Strong",   "Pinned",    "AsyncPinned",   "RefCounted",
	"WeakLong", "WeakShort", "WeakNativeCom", "WeakInteriorPointer",
	"Variable", "SizedRef",  "Dependent",     "CrossReference",
	NULL
};

const struct option gchandles_options[] = {
	[OPT_STAT] = { "stat", VALUE_NONE, NULL, "only the statistics", NULL },
	[OPT_TYPE] = { "type", VALUE_TEXT, "KIND",
		       "handles of this kind alone: Strong, Pinned, Dependent, WeakShort, ...",
		       kind_choices },
	[OPT_PER_DOMAIN] = { "perdomain", VALUE_NONE, NULL,
			     "taken for SOS's sake: there is one domain", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N handles (0 = all)", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* Names of a type of handles: SOS's, in JSON, in SOS's list of counts; in the order of that list. */
static const struct kind {
	enum handle_type type;
	const char *name, *json, *plural;
} kinds[] = {
	{ HANDLE_STRONG, "Strong", "strong", "Strong Handles:" },
	{ HANDLE_PINNED, "Pinned", "pinned", "Pinned Handles:" },
	{ HANDLE_ASYNC_PINNED, "AsyncPinned", "async-pinned", "Async Pinned Handles:" },
	{ HANDLE_REF_COUNTED, "RefCounted", "ref-counted", "Ref Count Handles:" },
	{ HANDLE_WEAK_LONG, "WeakLong", "weak-long", "Weak Long Handles:" },
	{ HANDLE_WEAK_SHORT, "WeakShort", "weak-short", "Weak Short Handles:" },
	{ HANDLE_WEAK_NATIVE_COM, "WeakNativeCom", "weak-native-com", "Weak Native COM Handles:" },
	{ HANDLE_WEAK_INTERIOR, "WeakInteriorPointer", "weak-interior",
	  "Weak Interior Pointer Handles:" },
	{ HANDLE_VARIABLE, "Variable", "variable", "Variable Handles:" },
	{ HANDLE_SIZED_REF, "SizedRef", "sized-ref", "SizedRef Handles:" },
	{ HANDLE_DEPENDENT, "Dependent", "dependent", "Dependent Handles:" },
	{ HANDLE_CROSS_REFERENCE, "CrossReference", "cross-reference", "Cross Reference Handles:" },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
_Static_assert(KINDS == HANDLE_TYPES, "a type of handles has no name");

static const struct kind *kind_of(uint8_t type)
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
	return strcasecmp(name, "WeakWinRT") == 0 ? kind_of(HANDLE_WEAK_NATIVE_COM) : NULL;
}

static enum hd_status unknown_kind(struct call *call)
{
	struct text text = { 0 };
	for (size_t i = 0; i < KINDS; i++)
		text_printf(&text, "%s%s", i ? ", " : "", kinds[i].name);
	enum hd_status status =
		fail(call->err, HD_ERR_ARGUMENT, 0, "-type is one of %s, not \"%.40s\"",
		     text.bytes ? text.bytes : "", call->options[OPT_TYPE].text);
	text_deinit(&text);
	return status;
}

struct lister {
	struct call *call;
	const struct kind *only; /* NULL: all */
	struct window window;
	struct type_counts counts;
	uint64_t by_type[HANDLE_TYPES];
	uint64_t listed;
};

static bool has_secondary(const struct handle *handle)
{
	return handle->type == HANDLE_DEPENDENT || handle->type == HANDLE_WEAK_INTERIOR;
}

static void write_json(struct call *call, const struct handle *handle, const char *name,
		       size_t size)
{
	struct json *json = &call->json;
	json_object(json, NULL);
	json_address(json, "address", handle->address);
	json_string(json, "kind", kind_of(handle->type)->json);
	json_address(json, "object", handle->object);
	json_text(json, "type", name, size);
	if (has_secondary(handle)) {
		json_address(json, "secondary", handle->secondary);
	} else {
		json_null(json, "secondary");
	}
	json_end(json);
}

static void write_text(struct call *call, const struct handle *handle, const struct object *object,
		       const char *name, size_t size)
{
	struct out *out = &call->out;
	char secondary[17] = "";
	if (has_secondary(handle)) {
		(void)snprintf(secondary, sizeof(secondary), "%016" PRIX64, handle->secondary);
	}
	out_printf(out, "%016" PRIX64 " %-11s ", handle->address, kind_of(handle->type)->name);
	out_styled(out, STYLE_ADDRESS, "%016" PRIX64, handle->object);
	out_printf(out, " %8" PRIu64 " %16s ", object->type ? object->size : 0, secondary);
	if (name) {
		out_type(out, name, size, 0);
	} else {
		out_styled(out, STYLE_NOTE, "<no object>");
	}
	out_puts(out, "\n");
}

static enum hd_status list_handle(struct lister *lister, const struct handle *handle,
				  uint64_t limit)
{
	struct call *call = lister->call;
	struct object object = { 0 };
	if (!object_read(call->heap, &lister->window, handle->object, &object)) {
		object.type = NULL;
	} else if (!type_counts_add(&lister->counts, &object)) {
		return fail_nomem(call->err);
	}
	lister->by_type[handle->type]++;
	if (lister->listed++ >= limit)
		return HD_OK;
	size_t size = 0;
	const char *name = object.type ? type_name(call->heap->clr, object.type, &size) : NULL;
	if (call->as_json) {
		write_json(call, handle, name, size);
	} else {
		write_text(call, handle, &object, name, size);
	}
	return call_check(call);
}

static enum hd_status list_handles(struct lister *lister, const struct handle_list *list)
{
	struct call *call = lister->call;
	bool rows = !call->options[OPT_STAT].given;
	uint64_t limit = rows ? call_limit(call, OPT_LIMIT, UINT64_MAX) : 0;
	if (call->as_json && rows) {
		json_array(&call->json, "handles");
	} else if (rows) {
		out_styled(&call->out, STYLE_HEAD, "%16s %-11s %16s %8s %16s %s", "Handle", "Type",
			   "Object", "Size", "Data", "Type");
		out_puts(&call->out, "\n");
	}
	for (size_t i = 0; i < list->rows_count; i++) {
		if (!lister->only || list->rows[i].type == lister->only->type)
			TRY(list_handle(lister, &list->rows[i], limit));
	}
	bool truncated = rows && lister->listed > limit;
	if (call->as_json && rows) {
		json_end(&call->json);
		if (truncated)
			json_bool(&call->json, "truncated", true);
	} else if (rows) {
		char number[27];
		if (truncated) {
			out_printf(&call->out, "(the first %s; -limit 0 lists all)\n",
				   format_thousands(limit, number));
		}
		out_puts(&call->out, "\n");
	}
	return HD_OK;
}

static void write_kinds(const struct lister *lister)
{
	struct call *call = lister->call;
	if (call->as_json) {
		json_object(&call->json, "kinds");
	} else {
		out_puts(&call->out, "\nHandles:\n");
	}
	for (size_t i = 0; i < KINDS; i++) {
		uint64_t count = lister->by_type[kinds[i].type];
		if (!count)
			continue;
		if (call->as_json) {
			json_number(&call->json, kinds[i].json, count);
		} else {
			out_printf(&call->out, "    %-21s %" PRIu64 "\n", kinds[i].plural, count);
		}
	}
	if (call->as_json)
		json_end(&call->json);
}

static enum hd_status write_statistics(struct lister *lister)
{
	struct call *call = lister->call;
	struct statistics statistics;
	TRY(type_counts_statistics(&lister->counts, call->heap->clr, NULL, &statistics, call->err));
	statistics_sort(&statistics, false, false);
	if (call->as_json) {
		statistics_json(&statistics, &call->json);
	} else {
		statistics_plain(&statistics, &call->out);
	}
	statistics_deinit(&statistics);
	if (call->as_json || !lister->only)
		write_kinds(lister);
	return HD_OK;
}

enum hd_status run_gchandles(struct call *call)
{
	struct lister lister = { .call = call, .window = { .memory = call->heap->memory } };
	struct handle_list list;
	if (call->options[OPT_TYPE].given) {
		lister.only = find_kind(call->options[OPT_TYPE].text);
		if (!lister.only)
			return unknown_kind(call);
	}
	TRY(handle_list_read(call->heap, &call->job, &list, call->err));
	job_end(&call->job);
	enum hd_status status = list_handles(&lister, &list);
	if (status == HD_OK)
		status = write_statistics(&lister);
	window_deinit(&lister.window);
	type_counts_deinit(&lister.counts);
	handle_list_deinit(&list);
	return status;
}
