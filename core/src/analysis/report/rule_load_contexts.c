/* SPDX-License-Identifier: MIT */
/* Load contexts that were unloaded and are still there: doc/report.md 4.16. */
#include "analysis/report/rule.h"
#include "analysis/report/rules.h"
#include "analysis/report/typed.h"
#include "inspect/member.h"
#include "util/text.h"

#define CONTEXT   "System.Runtime.Loader.AssemblyLoadContext"
#define ALLOCATOR "System.Reflection.LoaderAllocator"
#define UNLOADING 1u
/* Objects of all paths that are gone through. */
#define STEPS_MAX 10000000u

/* Contexts whose Unload was called. */
static uint64_t count_unloading(const struct report_facts *facts, uint32_t *ret_first,
				uint64_t *ret_bytes)
{
	uint64_t count = 0;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		const struct graph_type *row = &facts->graph->types[type];
		struct typed_nodes all = typed_nodes(facts, type);
		if (!all.count || !type_contains(row, "LoadContext"))
			continue;
		for (uint32_t i = 0; i < all.count; i++) {
			struct member state = facts_member(facts, all.nodes[i], "_state");
			struct member collectible =
				facts_member(facts, all.nodes[i], "_isCollectible");
			if (state.state != MEMBER_READ || state.bits != UNLOADING ||
			    collectible.state != MEMBER_READ || !collectible.bits)
				continue;
			*ret_first = count++ ? *ret_first : all.nodes[i];
			*ret_bytes += facts_retained(facts, all.nodes[i]);
		}
	}
	return count;
}

/*
 * The LoaderAllocator of code that something keeps: a path that does not begin with a handle, as the
 * runtime has one itself.  HD_NONE: none was found.
 */
static uint32_t find_kept_code(struct report *report)
{
	const struct report_facts *facts = &report->facts;
	uint32_t type = typed_next(facts, HD_NONE, ALLOCATOR);
	struct typed_nodes all = { NULL, 0 };
	uint64_t steps = STEPS_MAX;
	if (type != HD_NONE)
		all = typed_nodes(facts, type);
	for (uint32_t i = 0; i < all.count && steps; i++) {
		uint32_t root = holder_root(report, all.nodes[i], &steps);
		if (root != HD_NONE && facts->graph->roots[root].kind != HD_ROOT_HANDLE)
			return all.nodes[i];
	}
	if (!steps)
		rule_limited(report);
	return HD_NONE;
}

static void describe_contexts(struct report *report, uint64_t count, bool is_kept,
			      struct report_finding *finding)
{
	const char *name = finding->holder.name;
	char contexts[COUNT_SIZE];
	(void)format_count(count, "load context", contexts);
	finding->title = report_text(report,
				     count == 1 ? "an unloaded load context is still there"
						: "%s unloaded load contexts are still there",
				     report_number(report, count));
	finding->sentence =
		is_kept ? report_text(report,
				      "Unload was called for %s, but %s (%s) still keeps code that "
				      "could be unloaded, with native memory that is not counted "
				      "here.",
				      contexts, name, finding->holder.root_kind)
			: report_text(report,
				      "Unload was called for %s, and nothing but handles was found "
				      "that keeps the code: the next collections may free it.",
				      contexts);
	finding->look_at = is_kept ? report_text(report,
						 "what %s holds of the plug-in: it must be taken "
						 "away before Unload",
						 name)
				   : "whether it is still there after the next collections";
}

static enum hd_status find_contexts(struct report *report, struct hd_error *err)
{
	uint32_t first = HD_NONE;
	uint64_t bytes = 0, count = count_unloading(&report->facts, &first, &bytes);
	rule_met(report, count);
	if (!count)
		return HD_OK;
	uint32_t kept = find_kept_code(report);
	/* One of which only the small object is known may be about to go. */
	enum severity of_one = kept != HD_NONE ? SEVERITY_MEDIUM : SEVERITY_LOW;
	struct report_finding finding = { .severity = count >= 2 ? SEVERITY_HIGH : of_one,
					  .bytes = bytes,
					  .objects = count,
					  .member_type = report->facts.graph->node_types[first] };
	holder_find(report, kept != HD_NONE ? kept : first, &finding.holder);
	finding.id = report_text(report, "load-contexts:%s", finding.holder.name);
	describe_contexts(report, count, kept != HD_NONE, &finding);
	finding.next = "gcroot -type " ALLOCATOR;
	finding_count(&finding, "contexts", count);
	finding_sample(&finding, first);
	return finding_add(report, &finding, err);
}

const struct report_rule load_contexts_rule = {
	.name = "load-contexts",
	.threshold = "a load context whose Unload was called and that is still alive",
	.needs = RULE_FIELDS,
	.find = find_contexts,
};
