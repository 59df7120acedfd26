/* SPDX-License-Identifier: MIT */
#include "findings/facts.h"

#include <stdlib.h>

#include "framework/member.h"
#include "framework/owns.h"
#include "gc/heap.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"
#include "util/sort.h"

bool type_is_class(const struct graph_type *type, const char *name)
{
	size_t size = strlen(name);
	return type_begins(type, name) &&
	       (type->name_size == size || type->name[size] == '<' || type->name[size] == '`');
}

bool type_contains(const struct graph_type *type, const char *part)
{
	return type->name && memmem(type->name, type->name_size, part, strlen(part));
}

/* Is nothing known of its module? */
static bool type_goes_by_name(const struct graph_type *type)
{
	return type->name && type->owner == TYPE_OWNER_UNKNOWN &&
	       framework_owner_of_file(type->module) == OWNER_UNKNOWN;
}

uint32_t facts_types_by_name(const struct report_facts *facts)
{
	const struct hd_graph *graph = facts->graph;
	uint32_t count = 0;
	for (uint32_t i = 0; i < graph->type_count; i++)
		count += graph->types[i].count && type_goes_by_name(&graph->types[i]);
	return count;
}

bool type_is_own(const struct graph_type *type)
{
	if (!type->name || type->owner != TYPE_OWNER_UNKNOWN)
		return type->name && type->owner == TYPE_OF_PROGRAM;
	enum module_owner owner = framework_owner_of_file(type->module);
	return owner == OWNER_UNKNOWN ? !framework_owns(NULL, type->name, type->name_size)
				      : owner == OWNER_PROGRAM;
}

bool facts_name_is_own(const struct report_facts *facts, const char *name, size_t size)
{
	return size && !framework_owns(facts->heap ? facts->heap->runtime : NULL, name, size);
}

bool facts_object(const struct report_facts *facts, uint32_t node, struct object *ret)
{
	return facts->members && node < facts->graph->object_count &&
	       member_object(facts->members, graph_id(facts->graph, node), ret);
}

struct member facts_fact(const struct report_facts *facts, uint32_t node, enum fact fact)
{
	struct object object;
	if (!facts_object(facts, node, &object))
		return (struct member){ .state = MEMBER_UNREADABLE };
	return fact_of(facts->members, &object, fact);
}

uint32_t facts_node(const struct report_facts *facts, uint64_t address)
{
	const struct hd_graph *graph = facts->graph;
	uint32_t node = address ? graph_lower_bound(graph, address) : HD_NONE;
	return node < graph->object_count && graph_id(graph, node) == address ? node : HD_NONE;
}

uint32_t facts_fact_node(const struct report_facts *facts, uint32_t node, enum fact fact)
{
	struct member member = facts_fact(facts, node, fact);
	return member.state == MEMBER_READ ? facts_node(facts, member.bits) : HD_NONE;
}

void facts_claim(struct report_facts *facts, uint32_t node)
{
	if (node < facts->graph->node_count)
		(void)bitmap_add(facts->claimed, node);
}

bool facts_is_claimed(const struct report_facts *facts, uint32_t node, unsigned int levels)
{
	for (unsigned int i = 0; node != HD_NONE && i <= levels; i++) {
		if (bitmap_has(facts->claimed, node))
			return true;
		node = facts_idom(facts, node);
	}
	return false;
}

uint64_t facts_limit(const struct report_facts *facts)
{
	uint64_t live = facts->sums.all_live, tenth = live / 10;
	uint64_t least = live < 10 * MEGABYTE ? MEGABYTE / 4 : MEGABYTE;
	return tenth > least ? tenth : least;
}

/* Does a root's name begin with that static field? */
static bool is_static(const char *name, enum fact fact)
{
	const struct fact_row *row = fact_row(fact);
	const char *type = net_type_name(row->type);
	size_t size = strlen(type);
	return name && strncmp(name, type, size) == 0 && name[size] == '.' &&
	       strncmp(name + size + 1, row->path, strlen(row->path)) == 0;
}

/*
 * Does the static hold work that is going to run?  Else it would look like the owner of what a job
 * holds.
 */
static bool is_schedule(const char *name)
{
	static const char *const prefixes[] = {
		"System.Threading.ThreadPool.",
		"System.Threading.ThreadPoolWorkQueue",
		"System.Threading.TimerQueue.",
		"System.Net.Sockets.SocketAsyncEngine.",
	};
	for (size_t i = 0; name && i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return is_static(name, FACT_TASK_ACTIVE) || is_static(name, FACT_TASK_IS_DEBUGGED);
}

/* In which order paths are looked for. */
enum stage {
	STAGE_PROCESS,
	STAGE_DIAGNOSTIC, /* what traces the program refers to much of it by chance */
	STAGE_SCHEDULED,
	STAGE_THREAD,
	STAGES
};

static const uint8_t class_of_stage[STAGES] = { CLASS_PROCESS, CLASS_PROCESS, CLASS_SCHEDULED,
						CLASS_THREAD };

static bool is_diagnostic(const struct graph_type *type)
{
	return type_begins(type, "System.Diagnostics.Tracing.") ||
	       type_begins(type, "System.Diagnostics.Diagnostic") ||
	       type_contains(type, "EventSource");
}

static uint8_t stage_of_root(const struct report_facts *facts, uint32_t root)
{
	const struct hd_graph *graph = facts->graph;
	const struct graph_root *row = &graph->roots[root];
	const char *name = graph->origins.details ? graph->origins.details[root].name : NULL;
	const struct graph_type static_name = { .name = name,
						.name_size = name ? (uint32_t)strlen(name) : 0 };
	uint32_t type = row->node < graph->object_count ? graph->node_types[row->node] : HD_NONE;
	switch (row->kind) {
	case HD_ROOT_STACK:
	case HD_ROOT_THREAD_STATIC:
		return PATH_STAGE(STAGE_THREAD, false);
	case HD_ROOT_STATIC:
		if (is_schedule(name))
			return PATH_STAGE(STAGE_SCHEDULED, false);
		if (is_diagnostic(&static_name))
			return PATH_STAGE(STAGE_DIAGNOSTIC, false);
		return PATH_STAGE(STAGE_PROCESS,
				  name && !facts_name_is_own(facts, name, strlen(name)));
	default:
		return PATH_STAGE(type < graph->type_count && is_diagnostic(&graph->types[type])
					  ? STAGE_DIAGNOSTIC
					  : STAGE_PROCESS,
				  false);
	}
}

/* Hosts and containers; those that contain others come first. */
static const char *const host_names[] = {
	"Microsoft.AspNetCore.Builder.WebApplication",
	"Microsoft.AspNetCore.Hosting.WebHost",
	"Microsoft.Extensions.Hosting.Internal.Host",
	"Microsoft.Extensions.DependencyInjection.ServiceProvider",
};
#define HOST_NAMES (sizeof(host_names) / sizeof(host_names[0]))

/* Which of the names a type has: its number and 1; 0: none. */
static uint8_t host_of_type(const struct graph_type *type)
{
	for (size_t i = 0; i < HOST_NAMES; i++) {
		size_t size = strlen(host_names[i]);
		if (type->name && type->name_size == size &&
		    memcmp(type->name, host_names[i], size) == 0)
			return (uint8_t)(i + 1);
	}
	return 0;
}

/* Note the live ones as kept, by name; none if there are too many. */
static void keep_hosts(const struct report_facts *facts, const uint8_t *of_types,
		       struct path_stages *stages)
{
	const struct hd_graph *graph = facts->graph;
	uint32_t nodes[KEPT_MAX];
	size_t count = 0;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		uint32_t type = graph->node_types[node];
		if (type >= graph->type_count || !of_types[type] ||
		    !facts->dominators->retained_count[node])
			continue;
		if (count == KEPT_MAX)
			return;
		nodes[count++] = node;
	}
	for (size_t name = 1; name <= HOST_NAMES; name++) {
		for (size_t i = 0; i < count; i++) {
			if (of_types[graph->node_types[nodes[i]]] == name)
				stages->kept[stages->kept_count++] = nodes[i];
		}
	}
}

/*
 * A host and its container live as long as the process, though only the stack or the async method that waits for the host's
 * end may refer to them. Where there are many, they are made for jobs, and none is kept.
 */
static enum hd_status find_hosts(const struct report_facts *facts, struct path_stages *stages,
				 struct hd_error *err)
{
	const struct hd_graph *graph = facts->graph;
	bool is_any = false;
	uint8_t *of_types = pages_alloc((size_t)graph->type_count + 1, 1);
	TRY_MEMORY(of_types, err);
	for (uint32_t type = 0; type < graph->type_count; type++) {
		of_types[type] = host_of_type(&graph->types[type]);
		is_any |= of_types[type] != 0;
	}
	if (is_any)
		keep_hosts(facts, of_types, stages);
	pages_free(of_types, (size_t)graph->type_count + 1, 1);
	return HD_OK;
}

/* Each timer refers to the queue that it is in, with all other timers: it does not hold those. */
static struct path_lists find_timer_lists(const struct hd_graph *graph)
{
	struct path_lists ret = { HD_NONE, HD_NONE, STAGE_SCHEDULED };
	for (uint32_t type = 0; type < graph->type_count; type++) {
		if (type_is_class(&graph->types[type], "System.Threading.TimerQueueTimer"))
			ret.item_type = type;
		if (type_is_class(&graph->types[type], "System.Threading.TimerQueue"))
			ret.list_type = type;
	}
	return ret;
}

ORDER_BY(compare_seeds, struct seed, node)

static enum hd_status find_paths(struct report_facts *facts, struct hd_error *err)
{
	const struct hd_graph *graph = facts->graph;
	uint64_t ends[STAGES];
	uint8_t *of_roots = pages_alloc(graph->root_count, 1);
	TRY_MEMORY(of_roots, err);
	for (uint32_t i = 0; i < graph->root_count; i++)
		of_roots[i] = stage_of_root(facts, i);
	struct path_stages in = { .of_roots = of_roots,
				  .count = STAGES,
				  .ends = ends,
				  .lists = find_timer_lists(graph) };
	enum hd_status status = find_hosts(facts, &in, err);
	if (status == HD_OK)
		status = root_paths_staged(graph, &in, facts->job, &facts->paths, err);
	pages_free(of_roots, graph->root_count, 1);
	TRY(status);
	facts->classes = pages_alloc(graph->node_count, 1);
	TRY_MEMORY(facts->classes, err);
	memset(facts->classes, CLASS_DEAD, graph->node_count);
	for (uint64_t i = 0, stage = 0; i < facts->paths.live_count; i++) {
		while (stage < STAGES - 1 && i >= ends[stage])
			stage++;
		facts->classes[facts->paths.order[i]] = class_of_stage[stage];
	}
	/* Only needed for this. */
	pages_free(facts->paths.order, facts->paths.node_count, sizeof(*facts->paths.order));
	facts->paths.order = NULL;
	if (facts->paths.seeds_count) {
		qsort(facts->paths.seeds, facts->paths.seeds_count, sizeof(*facts->paths.seeds),
		      compare_seeds);
	}
	return HD_OK;
}

static enum hd_status add_generation_run(struct report_facts *facts, uint64_t begin,
					 unsigned int generation, struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(facts, runs), err);
	facts->runs[facts->runs_count++] =
		(struct generation_run){ graph_lower_bound(facts->graph, begin), generation, 0 };
	return HD_OK;
}

/* A dump file says which addresses belong to which generation; between two ranges nothing is known. */
static enum hd_status find_runs_of_ranges(struct report_facts *facts, struct hd_error *err)
{
	const struct graph_info *info = &facts->graph->info;
	for (size_t i = 0; i < info->range_count; i++) {
		const struct graph_range *range = &info->ranges[i];
		TRY(add_generation_run(facts, range->start, range->generation, err));
		bool is_last = i + 1 == info->range_count;
		if (is_last || range[1].start != range->end)
			TRY(add_generation_run(facts, range->end, GENERATION_UNKNOWN, err));
	}
	facts->has_generations = info->range_count > 0;
	return HD_OK;
}

static enum hd_status find_runs(struct report_facts *facts, struct hd_error *err)
{
	if (!facts->heap)
		return find_runs_of_ranges(facts, err);
	for (size_t i = 0; i < facts->heap->segment_count; i++) {
		const struct segment *segment = &facts->heap->segments[i];
		if (segment->generation != GENERATION_EPHEMERAL) {
			TRY(add_generation_run(facts, segment->begin, segment->generation, err));
			continue;
		}
		TRY(add_generation_run(facts, segment->begin, GENERATION_2, err));
		TRY(add_generation_run(facts, segment->gen1_begin, GENERATION_1, err));
		TRY(add_generation_run(facts, segment->gen0_begin, GENERATION_0, err));
	}
	facts->has_generations = true;
	return HD_OK;
}

unsigned int facts_generation(const struct report_facts *facts, uint32_t node)
{
	if (!facts->runs_count || node < facts->runs[0].first)
		return GENERATION_UNKNOWN;
	return facts->runs[ROW_OF(facts->runs, facts->runs_count, first, node)].generation;
}

unsigned int facts_young_part(const struct report_facts *facts, uint32_t node)
{
	if (!facts->runs_count || !facts->sums.young_objects)
		return 0;
	const struct generation_run *run =
		&facts->runs[ROW_OF(facts->runs, facts->runs_count, first, node)];
	uint64_t before = run->young_before + (uint64_t)(node - run->first);
	return before < facts->sums.young_objects
		       ? (unsigned int)(before * YOUNG_PARTS / facts->sums.young_objects)
		       : YOUNG_PARTS - 1;
}

static void count_young_objects(struct report_facts *facts)
{
	for (size_t i = 0; i < facts->runs_count; i++) {
		struct generation_run *run = &facts->runs[i];
		uint32_t end =
			i + 1 < facts->runs_count ? run[1].first : facts->graph->object_count;
		run->young_before = (uint32_t)facts->sums.young_objects;
		if (run->generation == GENERATION_0 && end > run->first)
			facts->sums.young_objects += end - run->first;
	}
}

static enum hd_status sum_objects(struct report_facts *facts, struct hd_error *err)
{
	const struct hd_graph *graph = facts->graph;
	struct heap_sums *sums = &facts->sums;
	size_t run = 0;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		if (node % JOB_STRIDE == 0 && !job_step(facts->job, 0, JOB_STRIDE))
			return fail_cancelled(err);
		while (run < facts->runs_count && facts->runs[run].first <= node)
			run++;
		unsigned int generation =
			run ? facts->runs[run - 1].generation : GENERATION_UNKNOWN;
		if (generation >= FACT_GENERATIONS)
			generation = GENERATION_UNKNOWN;
		uint64_t size = graph_size(graph, node);
		if (facts->classes[node] == CLASS_DEAD) {
			sums->dead[generation] += size;
			sums->dead_objects++;
			continue;
		}
		sums->live[generation] += size;
		sums->live_objects++;
		if (graph->node_types[node] < graph->type_count)
			facts->type_begin[graph->node_types[node] + 1]++;
	}
	for (size_t i = 0; i < FACT_GENERATIONS; i++) {
		sums->all_live += sums->live[i];
		sums->all_dead += sums->dead[i];
	}
	sums->recent = sums->live[0] + sums->dead[0];
	return HD_OK;
}

static enum hd_status list_by_type(struct report_facts *facts, struct hd_error *err)
{
	const struct hd_graph *graph = facts->graph;
	for (uint32_t i = 0; i < graph->type_count; i++)
		facts->type_begin[i + 1] += facts->type_begin[i];
	facts->type_nodes = pages_alloc(facts->sums.live_objects, sizeof(uint32_t));
	uint32_t *next = pages_alloc((size_t)graph->type_count + 1, sizeof(*next));
	if (!next || !facts->type_nodes) {
		pages_free(next, (size_t)graph->type_count + 1, sizeof(*next));
		return fail_nomem(err);
	}
	memcpy(next, facts->type_begin, (size_t)graph->type_count * sizeof(*next));
	for (uint32_t node = 0; node < graph->object_count; node++) {
		if (facts->classes[node] != CLASS_DEAD &&
		    graph->node_types[node] < graph->type_count)
			facts->type_nodes[next[graph->node_types[node]]++] = node;
	}
	pages_free(next, (size_t)graph->type_count + 1, sizeof(*next));
	return job_step(facts->job, 0, 0) ? HD_OK : fail_cancelled(err);
}

enum hd_status facts_init(struct report_facts *ret, const struct facts_of *of, struct job *job,
			  struct hd_error *err)
{
	*ret = (struct report_facts){ .graph = of->graph,
				      .heap = of->heap,
				      .roots = of->roots,
				      .dominators = of->dominators,
				      .native = of->native,
				      .async = of->async,
				      .is_complete = of->is_complete,
				      .sums.has_recent = of->heap != NULL,
				      .job = job };
	if (of->heap)
		TRY(members_create(of->heap, &ret->members, err));
	ret->claimed = bitmap_alloc(of->graph->node_count);
	ret->type_begin = pages_alloc((size_t)of->graph->type_count + 1, sizeof(*ret->type_begin));
	TRY_MEMORY(ret->claimed && ret->type_begin, err);
	TRY(find_paths(ret, err));
	TRY(find_runs(ret, err));
	count_young_objects(ret);
	job_begin(job, "Counting objects", of->graph->object_count);
	TRY(sum_objects(ret, err));
	return list_by_type(ret, err);
}

void facts_deinit(struct report_facts *facts)
{
	const struct hd_graph *graph = facts->graph;
	if (!graph)
		return;
	members_destroy(facts->members);
	root_paths_deinit(&facts->paths);
	pages_free(facts->classes, graph->node_count, 1);
	pages_free(facts->runs, facts->runs_capacity, sizeof(*facts->runs));
	pages_free(facts->type_begin, (size_t)graph->type_count + 1, sizeof(uint32_t));
	pages_free(facts->type_nodes, facts->sums.live_objects, sizeof(uint32_t));
	bitmap_free(facts->claimed, graph->node_count);
	mem_free(facts->counted);
	*facts = (struct report_facts){ 0 };
}
