/* SPDX-License-Identifier: MIT */
/*
 * Looks for threads that keep much by their stacks and by variables of their own: doc/report.md
 * 4.23.
 */
#include "findings/counted.h"
#include "findings/rule.h"
#include "gc/heap.h"
#include "runtime/thread_state.h"
#include "util/alloc.h"

#define LARGE_MIN   4096u /* bytes of an object that no root refers to, but several together hold */
#define STEPS_MAX   50000000u /* on all paths from such objects to their roots */
#define OBJECTS_MAX 1000000u
#define THREADS_MIN 32u
#define NAMES_MAX   64u

/* The objects that one thread keeps. */
struct thread_keeps {
	uint64_t bytes;
	uint32_t largest; /* the object with most of them */
	uint32_t frame;   /* that holds this one, or HD_NONE */
};

/* A [ThreadStatic] variable of all threads, or a method that threads run. */
struct kept_by_many {
	const char *name;
	uint64_t threads, bytes;
	uint32_t largest;
};

struct kept_names {
	struct kept_by_many rows[NAMES_MAX];
	size_t count;
};

struct threads_keep {
	struct thread_keeps *threads; /* by graph->threads */
	struct kept_names statics, methods;
	uint64_t steps; /* that are left */
	bool is_limited;
};

/* {0}: its number, {1}: its name, {2}: the same, or that of the holder. */
static const struct telling of_thread = {
	.id = "threads:{2}",
	.title = "thread {0} ({1}) keeps {bytes}",
	.sentence =
		"Thread {0} ({1}) keeps {bytes} ({share} of the live heap) by its stack and its "
		"variables, the largest part is {type} in {holder}; that is what it works on.",
	.look_at = "what the thread does, if it should be idle",
	.next = "clrstack -all",
};

/* {0}: its name, {1}: what is known of its growth. */
static const struct telling of_variable = {
	.id = "threads:static:{0}",
	.title = "{0} of {objects} threads keeps {bytes}",
	.sentence = "The variable {0}, which each thread has for itself, keeps {bytes} ({share} of "
		    "the live heap) in {objects} threads{1}.",
	.look_at = "when {0} is emptied: threads of the pool live on",
	.next = "threads",
};

static const struct telling of_method = {
	.id = "threads:method:{method}",
	.title = "{objects} threads in {method} keep {bytes}",
	.sentence =
		"{objects} threads that do not belong to the pool run {method} and keep {bytes} "
		"({share} of the live heap) by their stacks.",
	.look_at = "who starts a thread for {method}, and what ends it: an old one may still run",
	.next = "parallelstacks",
};

static void add_kept_by_many(struct threads_keep *keep, struct kept_names *names, const char *name,
			     const struct thread_keeps *thread)
{
	size_t i = 0;
	while (i < names->count && strcmp(names->rows[i].name, name) != 0)
		i++;
	if (i == NAMES_MAX) {
		keep->is_limited = true;
		return;
	}
	struct kept_by_many *row = &names->rows[i];
	if (i == names->count) {
		names->count++;
		*row = (struct kept_by_many){ .name = name, .largest = thread->largest };
	}
	row->threads++;
	if (thread->bytes > row->bytes / row->threads)
		row->largest = thread->largest;
	row->bytes += thread->bytes;
}

/* Add an object that nothing dominates to the thread whose root its path begins with. */
static void add_kept(const struct report *report, uint32_t node, struct threads_keep *keep)
{
	const struct report_facts *facts = &report->facts;
	const struct hd_graph *graph = facts->graph;
	uint64_t bytes = facts_retained(facts, node);
	uint32_t root = holder_root(report, node, &keep->steps);
	keep->is_limited |= !keep->steps;
	if (root == HD_NONE || graph->origins.details[root].thread >= graph->origins.thread_count)
		return;
	struct thread_keeps *thread = &keep->threads[graph->origins.details[root].thread];
	if (!thread->bytes || bytes > facts_retained(facts, thread->largest)) {
		thread->largest = node;
		thread->frame = graph->origins.details[root].frame;
	}
	thread->bytes += bytes;
	if (graph->roots[root].kind == HD_ROOT_THREAD_STATIC && graph->origins.details[root].name) {
		const struct thread_keeps one = { .bytes = bytes, .largest = node };
		add_kept_by_many(keep, &keep->statics, graph->origins.details[root].name, &one);
	}
}

static enum hd_status add_kept_objects(struct report *report, struct threads_keep *keep,
				       struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	uint32_t count = 0;
	for (uint32_t node = 0; node < facts->graph->object_count; node++) {
		if (node % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (facts->classes[node] != CLASS_THREAD || facts_idom(facts, node) != HD_NONE ||
		    facts_retained(facts, node) < LARGE_MIN)
			continue;
		if (++count > OBJECTS_MAX) {
			keep->is_limited = true;
			break;
		}
		add_kept(report, node, keep);
	}
	return HD_OK;
}

static enum hd_status add_thread_finding(struct report *report, uint32_t index,
					 const struct thread_keeps *row, struct hd_error *err)
{
	const struct graph_thread *thread = &report->facts.graph->origins.threads[index];
	struct report_finding finding = { .severity = SEVERITY_INFO, .bytes = row->bytes };
	finding_about(report, &finding, row->largest, row->largest);
	const char *name = thread->name ? report_name(report, thread->name, strlen(thread->name))
					: "without a name";
	finding.objects = report->facts.dominators->retained_count[row->largest];
	const char *number = report_text(report, "%u", thread->id);
	const char *id = thread->name ? name : finding.holder.name;
	return finding_tell(report, &finding, &of_thread, (const char *[]){ number, name, id },
			    err);
}

/* A variable of pool threads that grows: nothing takes it away between two jobs. */
static enum hd_status add_static_finding(struct report *report, const struct kept_by_many *row,
					 struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct counted counted;
	bool grows = counted_read(facts, row->largest, &counted) && counted_only_grew(&counted);
	const char *name = report_name(report, row->name, strlen(row->name));
	struct report_finding finding = { .severity = grows ? SEVERITY_MEDIUM : SEVERITY_INFO,
					  .confidence = CONFIDENCE_MEDIUM,
					  .bytes = row->bytes,
					  .objects = row->threads };
	finding_about(report, &finding, row->largest, row->largest);
	finding_count(&finding, "threads", row->threads);
	const char *growth = grows ? "; nothing was ever removed from the largest one" : "";
	return finding_tell(report, &finding, &of_variable, (const char *[]){ name, growth }, err);
}

/* The threads of the pool run whatever comes; others were made for one method. */
static bool is_pool_thread(const struct report_facts *facts, const struct graph_thread *thread)
{
	const struct runtime_thread *row = runtime_thread_by_id(facts->heap->runtime, thread->id);
	return row && thread_state_is(row, THREAD_STATE_POOL_WORKER | THREAD_STATE_COMPLETION_PORT);
}

static void add_thread_methods(const struct report_facts *facts, struct threads_keep *keep)
{
	const struct hd_graph *graph = facts->graph;
	for (size_t i = 0; i < graph->origins.thread_count; i++) {
		const struct thread_keeps *thread = &keep->threads[i];
		if (!thread->bytes || thread->frame >= graph->origins.frame_count ||
		    is_pool_thread(facts, &graph->origins.threads[i]))
			continue;
		const char *method = graph->origins.frames[thread->frame].method;
		if (method && facts_name_is_own(facts, method, strlen(method)))
			add_kept_by_many(keep, &keep->methods, method, thread);
	}
}

/* So many threads that do the same are not what somebody wanted, if they keep much. */
static enum hd_status add_method_finding(struct report *report, const struct kept_by_many *row,
					 struct hd_error *err)
{
	struct report_finding finding = { .severity = SEVERITY_MEDIUM,
					  .confidence = CONFIDENCE_MEDIUM,
					  .bytes = row->bytes,
					  .objects = row->threads,
					  .method = report_name(report, row->name,
								strlen(row->name)) };
	finding_about(report, &finding, row->largest, row->largest);
	finding_count(&finding, "threads", row->threads);
	return finding_tell(report, &finding, &of_method, NULL, err);
}

static enum hd_status judge_threads(struct report *report, const struct threads_keep *keep,
				    struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (size_t i = 0; i < keep->statics.count; i++) {
		const struct kept_by_many *row = &keep->statics.rows[i];
		if (row->bytes >= facts_limit(facts) &&
		    facts_name_is_own(facts, row->name, strlen(row->name)))
			TRY(add_static_finding(report, row, err));
	}
	for (size_t i = 0; i < keep->methods.count; i++) {
		const struct kept_by_many *row = &keep->methods.rows[i];
		if (row->threads >= THREADS_MIN && row->bytes >= facts_limit(facts))
			TRY(add_method_finding(report, row, err));
	}
	for (size_t i = 0; i < facts->graph->origins.thread_count; i++) {
		rule_met(report, facts_permille(facts, keep->threads[i].bytes) / 10);
		if (keep->threads[i].bytes >= facts_limit(facts))
			TRY(add_thread_finding(report, (uint32_t)i, &keep->threads[i], err));
	}
	if (keep->is_limited)
		rule_limited(report);
	return HD_OK;
}

static enum hd_status find_threads(struct report *report, struct hd_error *err)
{
	const struct hd_graph *graph = report->facts.graph;
	if (!graph->origins.details || !graph->origins.thread_count)
		return HD_OK;
	HD_FREE struct thread_keeps *threads =
		mem_calloc(graph->origins.thread_count, sizeof(*threads));
	struct threads_keep keep = { .threads = threads, .steps = STEPS_MAX };
	TRY_MEMORY(threads, err);
	TRY(add_kept_objects(report, &keep, err));
	add_thread_methods(&report->facts, &keep);
	return judge_threads(report, &keep, err);
}

const struct report_rule threads_rule = {
	.name = "threads",
	.turn = TURN_WASTE,
	.threshold = "a thread, or 32 threads that run one method, keep 10 % of the live heap",
	.needs = RULE_FIELDS,
	.find = find_threads,
};
