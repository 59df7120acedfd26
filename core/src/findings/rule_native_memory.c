/* SPDX-License-Identifier: MIT */
/* A process that is large by native memory, not by its heap, and who probably has it: doc/report.md 4.25. */
#include "findings/rule.h"
#include "inspect/value.h"
#include "mem/memory.h"
#include "native/memory_share.h"
#include "roots/root_set.h"
#include "runtime/coreclr/types/field.h"
#include "util/text.h"

#define NATIVE_MIN      ((uint64_t)64 << 20)
#define TIMES_COMMITTED 3u
/* So many objects of one type that probably have native memory are named, of so many types. */
#define OWNERS_MIN   32u
#define OWNERS_SHOWN 3u

/* "332 MB in memory": what all of it is. */
static const char *all_text(struct report *report, const struct memory_share *share)
{
	const char *all = report_bytes(report, share->all);
	return share->is_live
		       ? report_text(report, "The process has %s in memory", all)
		       : report_text(report, "The core has %s in pages that are not zero", all);
}

static const char *native_text(struct report *report, const struct memory_share *share)
{
	const char *native = report_bytes(report, share->native);
	if (!share->is_malloc && !share->arenas)
		return report_text(report, "%s are native memory", native);
	if (!share->is_malloc) {
		return report_text(report, "%s are native memory, with %s area%s of malloc", native,
				   report_number(report, share->arenas),
				   share->arenas == 1 ? "" : "s");
	}
	return report_text(report, "%s are malloc in %s arena%s", native,
			   report_number(report, share->arenas), share->arenas == 1 ? "" : "s");
}

/* {0}: percent, {1}: all of it, {2}: times, {3}: the part. */
static const struct telling of_native = {
	.id = "native-memory",
	.title = "native memory is {0} % of all",
	.sentence = "{1}, {2} times what the GC heap has committed ({size1}); {3}. No collection "
		    "makes that smaller; one dump cannot tell whether it grows.",
	.look_at = "native libraries and calls of NativeMemory and Marshal.AllocHGlobal; if memory "
		   "shows much of malloc as free: MALLOC_ARENA_MAX",
	.next = "memory -detail",
};

#define TELLING_OF_OWNED                                                                  \
	.id = "native-memory",                                                            \
	.title = "native memory is {0} % of all, probably of {objects} {type}",           \
	.sentence =                                                                       \
		"{1}, {2} times what the GC heap has committed ({size1}); {3}. Probably " \
		"{4} have it: each has a finalizer that has not run, and a native pointer or handle."

/* {4}: who probably has it. */
static const struct telling of_owned = { TELLING_OF_OWNED,
					 .look_at = "who keeps {type}, and does not dispose it",
					 .next = "gcroot -nostacks -type {full}" };
static const struct telling of_garbage = {
	TELLING_OF_OWNED,
	.look_at = "who makes {type} without Dispose, or without GC.AddMemoryPressure",
	.next = "finalizequeue -stat",
};

/* Descriptors and handles of the system, not memory: -1 is none of them. */
static const char *const descriptors[] = {
	"Microsoft.Win32.SafeHandles.SafeHandleMinusOneIsInvalid",
	"Microsoft.Win32.SafeHandles.SafeHandleZeroOrMinusOneIsInvalid",
};

static bool has_pointer(struct runtime *runtime, const struct type *class)
{
	HD_CLEANUP(field_list) struct field_list fields = { 0 };
	struct hd_error ignored;
	if (field_list_read(runtime, class, &fields, &ignored) != HD_OK)
		return false;
	for (size_t i = 0; i < fields.count; i++) {
		const struct field *field = &fields.rows[i];
		if (!field->is_static &&
		    (field->element_type == ELEMENT_I || field->element_type == ELEMENT_U ||
		     field->element_type == ELEMENT_POINTER))
			return true;
	}
	return false;
}

/* Do objects of the type, which has a finalizer, probably have native memory? */
static bool may_own_memory(const struct report_facts *facts, uint32_t type)
{
	struct runtime *runtime = facts->heap->runtime;
	const struct type *class =
		type < facts->graph->type_count ? typed_class(facts, type) : NULL;
	if (!class)
		return false;
	if (type_is_own(&facts->graph->types[type]))
		return has_pointer(runtime, class);
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
		if (type_derives_from(runtime, class, 0, descriptors[i]))
			return false;
	}
	return type_derives_from(runtime, class, 0, "System.Runtime.InteropServices.SafeHandle");
}

/* The node of an object whose finalizer has yet to run; HD_NONE: it need not, Dispose has. */
static uint32_t unfinalized_node(const struct report_facts *facts,
				 const struct finalizer_entry *entry)
{
	uint32_t header;
	uint32_t node = facts_node(facts, entry->object);
	bool is_done = !memory_u32(facts->heap->memory, entry->object - 4, &header) ||
		       header & HEADER_FINALIZER_RUN;
	return is_done ? HD_NONE : node;
}

/* Count those that are alive, or are garbage; of these the tally's bytes are the number. */
static enum hd_status count_unfinalized(const struct report_facts *facts, bool is_live,
					struct tally *ret, struct hd_error *err)
{
	const struct finalizer_list *list = &facts->roots->finalizers;
	for (size_t i = 0; i < list->rows_count; i++) {
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		uint32_t node = unfinalized_node(facts, &list->rows[i]);
		if (node != HD_NONE && facts_is_live(facts, node) == is_live)
			tally_add(ret, facts->graph->node_types[node], node, !is_live);
	}
	return HD_OK;
}

static enum hd_status count_owners(struct report *report, struct tally *ret, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	/* The first one of a type is alive, if one is. */
	TRY(count_unfinalized(facts, true, ret, err));
	TRY(count_unfinalized(facts, false, ret, err));
	for (size_t i = 0; i < ret->count; i++) {
		if (ret->counts[i] < OWNERS_MIN || !may_own_memory(facts, (uint32_t)ret->keys[i]))
			ret->counts[i] = 0;
	}
	if (ret->is_full)
		rule_limited(report);
	return HD_OK;
}

/* "200 SKBitmap (12 of them garbage)" */
static const char *owner_text(struct report *report, const struct tally *owners, size_t row)
{
	const char *name = report_short_name(report, (uint32_t)owners->keys[row]);
	const char *count = report_number(report, owners->counts[row]);
	return owners->bytes[row] ? report_text(report, "%s %s (%s of them garbage)", count, name,
						report_number(report, owners->bytes[row]))
				  : report_text(report, "%s %s", count, name);
}

/* The types with most objects in words, about the first one; NULL: nobody is known. Are most of those garbage? */
static const char *owners_text(struct report *report, struct tally *owners,
			       struct report_finding *finding, bool *ret_garbage)
{
	const char *text = NULL;
	for (unsigned int i = 0; i < OWNERS_SHOWN; i++) {
		size_t top = tally_top(owners);
		if (top >= owners->count || !owners->counts[top])
			break;
		const char *one = owner_text(report, owners, top);
		if (!text) {
			finding_about(report, finding, owners->first[top], owners->first[top]);
			finding->objects = owners->counts[top];
			*ret_garbage = owners->bytes[top] > owners->counts[top] / 2;
		}
		text = text ? report_text(report, "%s and %s", text, one) : one;
		owners->counts[top] = 0;
	}
	return text;
}

static enum hd_status find_native(struct report *report, struct hd_error *err)
{
	struct tally owners = { .count = 0 };
	const struct memory_share *share = report->facts.native;
	uint64_t percent =
		share->all ? (uint64_t)((double)share->native * 100 / (double)share->all) : 0;
	rule_met(report, percent);
	if (!share->gc_committed || share->native < NATIVE_MIN ||
	    share->native < share->all - share->native ||
	    share->all / TIMES_COMMITTED < share->gc_committed)
		return HD_OK;
	struct report_finding finding = {
		.severity = SEVERITY_MEDIUM,
		.confidence = share->is_malloc ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
		.bytes = share->native,
		.member_type = HD_NONE,
		.holder = { .subject = HD_NONE, .root_kind = "none", .name = "native code" }
	};
	double times = (double)share->all / (double)share->gc_committed;
	const char *texts[] = { report_number(report, percent), all_text(report, share),
				report_text(report, "%.*f", times < 10, times),
				native_text(report, share), NULL };
	finding_count(&finding, "bytes in memory", share->all);
	finding_count(&finding, "bytes committed by the GC", share->gc_committed);
	if (share->arenas)
		finding_count(&finding, "arenas", share->arenas);
	TRY(count_owners(report, &owners, err));
	bool are_garbage = false;
	texts[4] = owners_text(report, &owners, &finding, &are_garbage);
	const struct telling *telling = are_garbage ? &of_garbage
					: texts[4]  ? &of_owned
						    : &of_native;
	return finding_tell(report, &finding, telling, texts, err);
}

const struct report_rule native_memory_rule = {
	.name = "native-memory",
	.turn = TURN_WASTE,
	.threshold = "half of all memory, 64 MB, and all is 3 times what the GC has committed",
	.needs = RULE_FIELDS | RULE_ROOTS | RULE_MEMORY,
	.is_outside = true,
	.find = find_native,
};
