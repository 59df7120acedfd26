/* SPDX-License-Identifier: MIT */
/* Load contexts that were unloaded and are still there: doc/report.md 4.16. */
#include "findings/rule.h"
#include "gc/heap.h"
#include "runtime/coreclr/modules/module_facts.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/text.h"

#define CONTEXT   "System.Runtime.Loader.AssemblyLoadContext"
#define ALLOCATOR "System.Reflection.LoaderAllocator"
#define UNLOADING 1u
/* Objects of all paths that are gone through. */
#define STEPS_MAX 10000000u

#define TELLING_OF_CONTEXTS                                                                        \
	.id = "load-contexts:{holder}", .title_of_one = "an unloaded load context is still there", \
	.title = "{objects} unloaded load contexts are still there",                               \
	.next = "gcroot -type " ALLOCATOR

/* {0}: how many contexts, {1}: the kind of root. */
static const struct telling of_kept = {
	TELLING_OF_CONTEXTS,
	.sentence = "Unload was called for {0}, but {holder} ({1}) still keeps code that could be "
		    "unloaded, with native memory that is not counted here.",
	.look_at = "what {holder} holds of the plug-in: it must be taken away before Unload",
};
static const struct telling of_unloaded = {
	TELLING_OF_CONTEXTS,
	.sentence =
		"Unload was called for {0}, and nothing was found that keeps the code: the next "
		"collections may free it.",
	.look_at = "whether it is still there after the next collections",
};

/* The contexts whose Unload was called. */
struct unloading {
	uint64_t count, bytes;
	uint32_t first;    /* node of one of them */
	uint64_t *binders; /* of the runtime; ascending after find_in_use() */
	size_t binders_count, binders_capacity;
	bool has_all_binders;
	/* LoaderAllocators of the runtime whose code is that of another context; ascending. */
	uint64_t *in_use;
	size_t in_use_count, in_use_capacity;
};

static void unloading_deinit(struct unloading *unloading)
{
	pages_free(unloading->binders, unloading->binders_capacity, sizeof(uint64_t));
	pages_free(unloading->in_use, unloading->in_use_capacity, sizeof(uint64_t));
	*unloading = (struct unloading){ 0 };
}

static bool add_context(const struct report_facts *facts, uint32_t node,
			struct unloading *unloading)
{
	struct member state = facts_fact(facts, node, FACT_LOAD_CONTEXT_STATE);
	struct member collectible = facts_fact(facts, node, FACT_LOAD_CONTEXT_COLLECTIBLE);
	if (state.state != MEMBER_READ || state.bits != UNLOADING || !collectible.bits)
		return true;
	unloading->first = unloading->count++ ? unloading->first : node;
	unloading->bytes += facts_retained(facts, node);
	struct member binder = facts_fact(facts, node, FACT_LOAD_CONTEXT_NATIVE);
	if (!binder.bits) {
		unloading->has_all_binders = false;
		return true;
	}
	if (!PAGES_RESERVE(unloading, binders))
		return false;
	unloading->binders[unloading->binders_count++] = binder.bits;
	return true;
}

static enum hd_status find_unloading(const struct report_facts *facts, struct unloading *ret,
				     struct hd_error *err)
{
	*ret = (struct unloading){ .first = HD_NONE, .has_all_binders = true };
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		const struct graph_type *row = &facts->graph->types[type];
		struct typed_nodes all = typed_nodes(facts, type);
		if (!all.count || !type_contains(row, "LoadContext"))
			continue;
		for (uint32_t i = 0; i < all.count; i++) {
			TRY_MEMORY(add_context(facts, all.nodes[i], ret), err);
		}
	}
	return HD_OK;
}

static bool address_is_in(const uint64_t *ascending, size_t count, uint64_t address)
{
	size_t at = lower_bound_u64(ascending, count, address);
	return at < count && ascending[at] == address;
}

/*
 * The LoaderAllocators of modules that are of another context than those: what keeps their code is no
 * fault.  Where modules or binders are not known, none is.
 */
static enum hd_status find_in_use(const struct report_facts *facts, struct unloading *unloading,
				  struct hd_error *err)
{
	struct module *const *modules;
	size_t count;
	if (!unloading->has_all_binders)
		return HD_OK;
	enum hd_status status = module_list(facts->heap->runtime, &modules, &count, err);
	if (status != HD_OK)
		return status == HD_ERR_NOMEM ? status : HD_OK;
	sort_u64(unloading->binders, unloading->binders_count);
	for (size_t i = 0; i < count; i++) {
		struct module_facts module;
		module_facts_read(facts->heap->runtime, modules[i], &module);
		if (!module.binder || !module.allocator ||
		    address_is_in(unloading->binders, unloading->binders_count, module.binder))
			continue;
		TRY_MEMORY(PAGES_RESERVE(unloading, in_use), err);
		unloading->in_use[unloading->in_use_count++] = module.allocator;
	}
	sort_u64(unloading->in_use, unloading->in_use_count);
	return HD_OK;
}

/* Is the root the handle by which the runtime keeps a context that is in use? */
static bool is_own_handle(const struct report_facts *facts, uint32_t root, uint32_t allocator)
{
	const struct graph_root *row = &facts->graph->roots[root];
	return row->kind == HD_ROOT_HANDLE && row->node == allocator;
}

/* The LoaderAllocator of code that something keeps; HD_NONE: none was found. */
static uint32_t find_kept_code(struct report *report, const struct unloading *unloading)
{
	const struct report_facts *facts = &report->facts;
	uint32_t type = typed_next(facts, HD_NONE, ALLOCATOR);
	struct typed_nodes all = { NULL, 0 };
	uint64_t steps = STEPS_MAX;
	if (type != HD_NONE)
		all = typed_nodes(facts, type);
	for (uint32_t i = 0; i < all.count && steps; i++) {
		struct member native =
			facts_fact(facts, all.nodes[i], FACT_LOADER_ALLOCATOR_NATIVE);
		if (native.state == MEMBER_READ &&
		    address_is_in(unloading->in_use, unloading->in_use_count, native.bits))
			continue;
		uint32_t root = holder_root(report, all.nodes[i], &steps);
		if (root != HD_NONE && !is_own_handle(facts, root, all.nodes[i]))
			return all.nodes[i];
	}
	if (!steps)
		rule_limited(report);
	return HD_NONE;
}

static enum hd_status add_finding(struct report *report, const struct unloading *unloading,
				  struct hd_error *err)
{
	uint64_t count = unloading->count;
	uint32_t first = unloading->first, kept = find_kept_code(report, unloading);
	/* One of which only the small object is known may be about to go. */
	enum severity of_one = kept != HD_NONE ? SEVERITY_MEDIUM : SEVERITY_LOW;
	struct report_finding finding = { .severity = count >= 2 ? SEVERITY_HIGH : of_one,
					  .bytes = unloading->bytes,
					  .objects = count };
	finding_about(report, &finding, kept != HD_NONE ? kept : first, first);
	char contexts[COUNT_SIZE];
	const char *const texts[] = { format_count(count, "load context", contexts),
				      finding.holder.root_kind };
	finding_count(&finding, "contexts", count);
	return finding_tell(report, &finding, kept != HD_NONE ? &of_kept : &of_unloaded, texts,
			    err);
}

static enum hd_status find_contexts(struct report *report, struct hd_error *err)
{
	HD_CLEANUP(unloading) struct unloading unloading = { 0 };
	TRY(find_unloading(&report->facts, &unloading, err));
	rule_met(report, unloading.count);
	if (!unloading.count)
		return HD_OK;
	TRY(find_in_use(&report->facts, &unloading, err));
	return add_finding(report, &unloading, err);
}

const struct report_rule load_contexts_rule = {
	.name = "load-contexts",
	.turn = TURN_DEFECTS,
	.threshold = "a load context whose Unload was called and that is still alive",
	.needs = RULE_FIELDS,
	.find = find_contexts,
};
