/* SPDX-License-Identifier: MIT */
/* Garbage that waits for its finalizer because nobody called Dispose: doc/report.md 4.19. */
#include "analysis/heap/finalizer_objects.h"
#include "findings/rule.h"
#include "inspect/value.h"
#include "mem/memory.h"
#include "roots/root_set.h"
#include "runtime/coreclr/code/method_list.h"
#include "util/alloc.h"

#define OBJECTS_MIN 500u
#define SHARE_MIN   20u /* one in this many objects of the type */
#define BASE_LEVELS 16u

/*
 * Each of these has something of the system: a descriptor, a connection.  The handles of other libraries, as those of the
 * statements of a database, mostly stand for some native memory.
 */
static const char *const costly[] = { "System.Net.Sockets.Socket",
				      "System.IO.FileSystemWatcher",
				      "System.Data.Common.DbConnection",
				      "Microsoft.Win32.SafeHandles.SafeFileHandle",
				      "Microsoft.Win32.SafeHandles.SafeWaitHandle",
				      "Microsoft.Win32.SafeHandles.SafeProcessHandle",
				      "System.Net.Sockets.SafeSocketHandle",
				      NULL };

static bool is_costly(const struct report_facts *facts, const struct type *class)
{
	for (size_t i = 0; costly[i]; i++) {
		if (type_derives_from(facts->heap->runtime, class, 0, costly[i]))
			return true;
	}
	return false;
}

/* Has the class, or one that it derives from, a method Dispose? */
static bool has_dispose(const struct report_facts *facts, const struct type *class)
{
	struct runtime *runtime = facts->heap->runtime;
	for (unsigned int i = 0; class && i < BASE_LEVELS; i++) {
		struct method_list list;
		struct method method;
		method_list_begin(&list, runtime, class);
		while (method_list_next(&list, &method)) {
			if (method.name && strcmp(method.name, "Dispose") == 0)
				return true;
		}
		class = class->parent ? type_find(runtime, class->parent) : NULL;
	}
	return false;
}

/* A handle that was closed by a call of its own, and not by Dispose, has nothing of the system any more. */
static bool is_closed(const struct report_facts *facts, uint32_t node)
{
	struct member value = facts_fact(facts, node, FACT_SAFE_HANDLE_VALUE);
	return value.state == MEMBER_READ && (!value.bits || value.bits == UINT64_MAX);
}

static bool is_undisposed(const struct report_facts *facts, const struct finalizer_entry *entry,
			  uint32_t *ret)
{
	uint32_t header;
	if (finalizer_is_ready(entry))
		return false;
	*ret = facts_node(facts, entry->object);
	return *ret != HD_NONE && !facts_is_live(facts, *ret) &&
	       facts->graph->node_types[*ret] < facts->graph->type_count &&
	       memory_u32(facts->heap->memory, entry->object - 4, &header) &&
	       !(header & HEADER_FINALIZER_RUN) && !is_closed(facts, *ret);
}

/* {0}: how many objects the type has, {1}: what they cost. */
static const struct telling of_undisposed = {
	.id = "undisposed:{full}",
	.title = "{objects} {type} that nobody disposed",
	.sentence = "{objects} of {0} {type} are garbage that nobody disposed: each lives until "
		    "its finalizer has run{1}.",
	.look_at = "who makes {type} without using or Dispose",
	.next = "finalizequeue -stat",
};

/* The garbage of one type. */
struct undisposed {
	uint64_t count, bytes;
	uint32_t first;
};

static enum hd_status judge_undisposed(struct report *report, uint32_t type,
				       const struct undisposed *row, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct object object;
	rule_met(report, row->count);
	if (row->count < OBJECTS_MIN || row->count * SHARE_MIN < facts->graph->types[type].count ||
	    !facts_object(facts, row->first, &object))
		return HD_OK;
	bool costs = is_costly(facts, object.type);
	/* Many of the framework's own classes have a finalizer for what Dispose does not do. */
	if (!costs &&
	    (!type_is_own(&facts->graph->types[type]) || !has_dispose(facts, object.type)))
		return HD_OK;
	struct report_finding finding = { .severity = costs ? SEVERITY_MEDIUM : SEVERITY_LOW,
					  .bytes = row->bytes,
					  .objects = row->count };
	finding_about(report, &finding, row->first, row->first);
	finding_count(&finding, "dead and not disposed", row->count);
	finding_count(&finding, "of the type", facts->graph->types[type].count);
	const char *of_type = report_number(report, facts->graph->types[type].count);
	const char *cost = costs ? ", and keeps what it has of the system until then" : "";
	return finding_tell(report, &finding, &of_undisposed, (const char *[]){ of_type, cost },
			    err);
}

static enum hd_status find_undisposed(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	const struct finalizer_list *list = &facts->roots->finalizers;
	size_t types = facts->graph->type_count;
	/* Nobody knows which objects are dead if roots are missing. */
	if (!facts->is_complete || list->rows_count < OBJECTS_MIN)
		return HD_OK;
	HD_FREE struct undisposed *rows = mem_calloc(types + 1, sizeof(*rows));
	TRY_MEMORY(rows, err);
	for (size_t i = 0; i < list->rows_count; i++) {
		uint32_t node;
		if (!is_undisposed(facts, &list->rows[i], &node))
			continue;
		struct undisposed *row = &rows[facts->graph->node_types[node]];
		row->first = row->count++ ? row->first : node;
		row->bytes += graph_size(facts->graph, node);
	}
	for (uint32_t i = 0; i < types; i++)
		TRY(judge_undisposed(report, i, &rows[i], err));
	return HD_OK;
}

const struct report_rule undisposed_rule = {
	.name = "undisposed",
	.turn = TURN_WASTE,
	.threshold = "500 dead objects of a type with Dispose that wait for their finalizer",
	.needs = RULE_FIELDS | RULE_ROOTS,
	.find = find_undisposed,
};
