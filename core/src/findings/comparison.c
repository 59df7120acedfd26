/* SPDX-License-Identifier: MIT */
#include "findings/comparison.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/sort.h"

#define TYPES_MIN     16u
#define OWN_TYPES_MIN 3u
#define ADDRESS_MIN   0x10000u
#define OLDS_MIN      16u
#define GROWTH_SHARE  20u /* a twentieth more is growth */
#define MEDIAN_FACTOR 3u
#define STEADY_PART   4u /* steady: each step has a quarter of the average */

const char *same_process_name(enum same_process same)
{
	static const char *const names[] = { "unknown", "same", "other", "other-program" };
	return names[same];
}

const char *since_name(enum since_state state)
{
	static const char *const names[] = { "unknown", "new", "grew", "same", "shrank" };
	return names[state];
}

/* A type of either heap. */
struct typed_name {
	const char *name;
	uint64_t id;
	bool is_after;
};

static int compare_typed_names(const void *left, const void *right)
{
	const struct typed_name *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	return order ? order : (int)a->is_after - (int)b->is_after;
}

static void add_typed_names(const struct named_sums *sums, bool is_after, struct typed_name *ret)
{
	for (size_t i = 0; i < sums->rows_count; i++)
		ret[i] = (struct typed_name){ sums->rows[i].name, sums->rows[i].id, is_after };
}

/* Types of two heaps. */
struct types_in_both {
	size_t own[2];   /* types of the program itself: in the other heap, and in this one */
	size_t own_both; /* in both, by name */
	size_t placed;   /* types in both, of any kind, whose addresses are known */
	size_t equal;    /* of these, types at the same address */
};

static void count_common_types(const struct report_facts *facts, const struct typed_name *names,
			       size_t count, struct types_in_both *ret)
{
	for (size_t i = 0; i < count; i++) {
		bool is_own = facts_name_is_own(facts, names[i].name, strlen(names[i].name));
		ret->own[names[i].is_after] += is_own;
		if (!i || names[i].is_after == names[i - 1].is_after ||
		    strcmp(names[i].name, names[i - 1].name) != 0)
			continue;
		ret->own_both += is_own;
		bool is_placed = names[i].id >= ADDRESS_MIN && names[i - 1].id >= ADDRESS_MIN;
		ret->placed += is_placed;
		ret->equal += is_placed && names[i].id == names[i - 1].id;
	}
}

/*
 * Types lie where the runtime put them when it loaded them: with address space layout randomization,
 * no two processes agree on these addresses.
 */
static enum same_process judge_process(const struct types_in_both *types, bool is_other_pid)
{
	if (!types->own_both && types->own[0] >= OWN_TYPES_MIN && types->own[1] >= OWN_TYPES_MIN)
		return PROCESS_OTHER_PROGRAM;
	if (types->placed < TYPES_MIN)
		return PROCESS_UNKNOWN;
	if (is_other_pid || types->equal < types->placed / 2)
		return PROCESS_OTHER;
	return types->equal >= types->placed - types->placed / 10 ? PROCESS_SAME : PROCESS_UNKNOWN;
}

static enum hd_status find_same_process(const struct report_facts *facts,
					struct heap_comparison *comparison, int pid,
					struct hd_error *err)
{
	const struct named_sums *before = &comparison->before->types;
	const struct named_sums *after = &comparison->after.types;
	size_t count = before->rows_count + after->rows_count;
	struct types_in_both types = { .own = { 0 } };
	struct typed_name *names = pages_alloc(count, sizeof(*names));
	TRY_MEMORY(names, err);
	add_typed_names(before, false, names);
	add_typed_names(after, true, names + before->rows_count);
	if (count)
		qsort(names, count, sizeof(*names), compare_typed_names);
	count_common_types(facts, names, count, &types);
	pages_free(names, count, sizeof(*names));
	int before_pid = comparison->before->pid;
	comparison->process = judge_process(&types, pid && before_pid && pid != before_pid);
	return HD_OK;
}

/* Is an object of that type alive at that address? */
static bool is_still_there(const struct report_facts *facts, uint64_t id, uint64_t type)
{
	uint32_t node = graph_lower_bound(facts->graph, id);
	return node < facts->graph->object_count && graph_id(facts->graph, node) == id &&
	       facts_is_live(facts, node) && facts_type(facts, node)->id == type;
}

static void find_survivors(struct heap_comparison *comparison, const struct report_facts *facts)
{
	const struct inventory *before = comparison->before;
	if (comparison->process != PROCESS_SAME)
		return;
	for (size_t i = 0; i < before->olds_count; i++) {
		comparison->olds_found +=
			is_still_there(facts, before->olds[i].id, before->olds[i].type);
	}
	comparison->olds = (uint32_t)before->olds_count;
	comparison->by_address =
		comparison->olds >= OLDS_MIN && comparison->olds_found >= comparison->olds / 5;
}

static enum hd_status add_change(struct heap_comparison *comparison, const struct holding *before,
				 const struct holding *after, struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(comparison, changes), err);
	comparison->changes[comparison->changes_count++] =
		(struct change){ .before = before, .after = after };
	return HD_OK;
}

static enum hd_status pair_holdings(struct heap_comparison *comparison, struct hd_error *err)
{
	const struct inventory *before = comparison->before, *after = &comparison->after;
	size_t i = 0, j = 0;
	while (i < before->holdings_count || j < after->holdings_count) {
		const struct holding *a = &before->holdings[i], *b = &after->holdings[j];
		int order = i == before->holdings_count  ? 1
			    : j == after->holdings_count ? -1
							 : holding_compare(a, b);
		TRY(add_change(comparison, order <= 0 ? a : NULL, order >= 0 ? b : NULL, err));
		i += order <= 0;
		j += order >= 0;
	}
	return HD_OK;
}

static uint64_t growth_in_bytes(const struct change *change)
{
	uint64_t before = change->before ? change->before->bytes : 0;
	uint64_t after = change->after ? change->after->bytes : 0;
	return after > before ? after - before : 0;
}

/* Find how much growth is usual and does not count: caches and pools of the framework grow, too. */
static enum hd_status find_noise(struct heap_comparison *comparison, struct hd_error *err)
{
	uint64_t live = comparison->after.live, share = live / 50;
	uint64_t least = live < 10 * MEGABYTE ? MEGABYTE / 4 : MEGABYTE;
	size_t count = comparison->changes_count;
	comparison->noise = share > least ? share : least;
	uint64_t *values = pages_alloc(count, sizeof(*values));
	TRY_MEMORY(values, err);
	for (size_t i = 0; i < count; i++)
		values[i] = growth_in_bytes(&comparison->changes[i]);
	sort_u64(values, count);
	uint64_t usual = count ? MEDIAN_FACTOR * values[count / 2] : 0;
	/* Where there are few holdings, the median is the growth itself. */
	if (count >= TYPES_MIN && usual > comparison->noise)
		comparison->noise = usual;
	pages_free(values, count, sizeof(*values));
	return HD_OK;
}

static enum since_state state_of_change(const struct heap_comparison *comparison,
					const struct change *change)
{
	uint64_t before = change->before ? change->before->bytes : 0;
	uint64_t after = change->after ? change->after->bytes : 0;
	if (!change->before) {
		bool is_new = !comparison->before->is_limited && after >= comparison->noise;
		return is_new ? SINCE_NEW : SINCE_UNKNOWN;
	}
	if (!change->after) {
		bool is_gone = !comparison->after.is_limited && before >= comparison->noise;
		return is_gone ? SINCE_SHRANK : SINCE_UNKNOWN;
	}
	uint64_t least = before / GROWTH_SHARE > comparison->noise ? before / GROWTH_SHARE
								   : comparison->noise;
	if (after >= before && after - before >= least)
		return SINCE_GREW;
	if (before > after && before - after >= least)
		return SINCE_SHRANK;
	return change->after->count <= change->before->count ? SINCE_SAME : SINCE_UNKNOWN;
}

static void count_changes(const struct change *change, struct since *since)
{
	const struct own_count *before = &change->before->owner, *after = &change->after->owner;
	if (!before->has_version || !after->has_version || after->version < before->version)
		return;
	uint64_t inserted = after->version - before->version;
	if (before->count + inserted < after->count)
		return;
	since->has_changes = true;
	since->inserted = inserted;
	since->removed = before->count + inserted - after->count;
}

void since_rate(const struct heap_comparison *comparison, struct since *since)
{
	double more = (double)since->bytes - (double)since->bytes_before;
	since->has_rate = comparison->with->hours > 0 && !comparison->objection;
	if (since->has_rate)
		since->bytes_per_hour = more / comparison->with->hours;
}

static void find_since(const struct heap_comparison *comparison, const struct report_facts *facts,
		       struct change *change)
{
	const struct holding *before = change->before, *after = change->after;
	struct since *since = &change->since;
	since->state = state_of_change(comparison, change);
	since->count_before = before ? before->count : 0;
	since->bytes_before = before ? before->bytes : 0;
	since->count = after ? after->count : 0;
	since->bytes = after ? after->bytes : 0;
	since_rate(comparison, since);
	if (before && after)
		count_changes(change, since);
	if (!before || !comparison->by_address)
		return;
	since->sampled = before->old_count;
	for (uint32_t i = 0; i < before->old_count; i++)
		since->survived += is_still_there(facts, before->old_ids[i], before->type_id);
}

/* Nothing at all is different: perhaps it is the same dump, and nothing can be said of growth. */
static bool is_same_heap(const struct heap_comparison *comparison)
{
	return comparison->before->live == comparison->after.live &&
	       comparison->before->objects == comparison->after.objects;
}

/* A collection never counts backwards: 1, the other heap is the earlier one; -1, the later one; 0, not known. */
static int order_by_versions(const struct heap_comparison *comparison)
{
	size_t more = 0, less = 0;
	for (size_t i = 0; i < comparison->changes_count; i++) {
		const struct change *change = &comparison->changes[i];
		const struct holding *before = change->before, *after = change->after;
		if (comparison->process != PROCESS_SAME || !before || !after ||
		    before->owner_id != after->owner_id || !before->owner.has_version ||
		    !after->owner.has_version)
			continue;
		more += after->owner.version > before->owner.version;
		less += after->owner.version < before->owner.version;
	}
	return more && less ? 0 : more ? 1 : less ? -1 : 0;
}

/* When a file was written says little of a copy. */
static bool find_later(const struct heap_comparison *comparison)
{
	int order = order_by_versions(comparison);
	bool is_by_time = comparison->with->is_later;
	if (order < 0)
		return true;
	return is_by_time && !(order > 0 && comparison->with->is_approximate);
}

/* Why the other heap is no earlier one of the process, with all that is alive. */
static const char *find_misfit(const struct heap_comparison *comparison)
{
	if (comparison->with->is_same_file)
		return "both are the same file";
	if (comparison->is_later) {
		return comparison->with->is_later
			       ? "by its time it is the later one: open that one, and compare it "
				 "with this one; or say -minutes"
			       : "it is the later one, for its collections have counted more "
				 "changes: open that one, and compare it with this one";
	}
	if (comparison->process == PROCESS_OTHER_PROGRAM) {
		return "it is a heap of another program: the two have none of their own types in "
		       "common";
	}
	if (comparison->process == PROCESS_OTHER)
		return "two processes may hold different loads";
	if (!comparison->before->is_complete || !comparison->after.is_complete)
		return "roots, references or objects are missing in one of them";
	return NULL;
}

static const char *find_objection(const struct heap_comparison *comparison)
{
	const char *misfit = find_misfit(comparison);
	return misfit ? misfit : is_same_heap(comparison) ? "nothing is different" : NULL;
}

/* Why a heap in between says nothing; NULL: it does. */
static enum hd_status object_to(struct report *report, const struct heap_comparison *comparison,
				const struct compared_with *with, const char **ret,
				struct hd_error *err)
{
	struct heap_comparison one = { .with = with,
				       .before = with->before,
				       .after = comparison->after };
	enum hd_status status = find_same_process(&report->facts, &one, with->pid, err);
	if (status == HD_OK)
		status = pair_holdings(&one, err);
	one.is_later = status == HD_OK && find_later(&one);
	*ret = find_misfit(&one);
	pages_free(one.changes, one.changes_capacity, sizeof(*one.changes));
	return status;
}

/* The same holding in another heap; NULL: it has too little of it. */
static const struct holding *holding_in(const struct inventory *inventory,
					const struct holding *key)
{
	size_t low = 0, high = inventory->holdings_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = holding_compare(&inventory->holdings[middle], key);
		if (!order)
			return &inventory->holdings[middle];
		low = order < 0 ? middle + 1 : low;
		high = order < 0 ? high : middle;
	}
	return NULL;
}

static void judge_series(struct since *since)
{
	struct since_series *series = &since->series;
	uint64_t more = since->count > since->count_before ? since->count - since->count_before : 0;
	uint64_t least = more / ((uint64_t)STEADY_PART * (series->count + 1)),
		 last = since->count_before;
	bool rises = more > series->count;
	for (uint32_t i = 0; i <= series->count; i++) {
		uint64_t next = i < series->count ? series->counts[i] : since->count;
		rises &= next > last && next - last >= least;
		last = next;
	}
	series->is_steady = rises && since->state == SINCE_GREW;
	series->has_stopped =
		since->state == SINCE_GREW && since->count <= series->counts[series->count - 1];
	if (series->has_stopped)
		since->state = SINCE_SAME;
}

static void follow_change(const struct heap_comparison *comparison, struct change *change)
{
	const struct holding *key = change->after ? change->after : change->before;
	struct since_series *series = &change->since.series;
	for (const struct compared_with *with = comparison->with->next;
	     with && series->count < EARLIER_MAX - 1; with = with->next) {
		const struct holding *holding = holding_in(with->before, key);
		series->counts[series->count] = holding ? holding->count : 0;
		series->bytes[series->count++] = holding ? holding->bytes : 0;
	}
	judge_series(&change->since);
}

/* Follow the changes over the heaps between the first one and the present one. */
static enum hd_status follow_changes(struct report *report, struct heap_comparison *comparison,
				     struct hd_error *err)
{
	const struct compared_with *with = comparison->with->next;
	for (; with && !comparison->between; with = with->next)
		TRY(object_to(report, comparison, with, &comparison->between, err));
	if (!comparison->with->next || comparison->between)
		return HD_OK;
	for (size_t i = 0; i < comparison->changes_count; i++)
		follow_change(comparison, &comparison->changes[i]);
	return HD_OK;
}

enum hd_status comparison_make(struct report *report, const struct compared_with *with,
			       struct heap_comparison *ret, struct hd_error *err)
{
	*ret = (struct heap_comparison){ .with = with, .before = with->before };
	TRY(inventory_make(report, &ret->after, err));
	TRY(find_same_process(&report->facts, ret, with->pid, err));
	find_survivors(ret, &report->facts);
	TRY(pair_holdings(ret, err));
	TRY(find_noise(ret, err));
	ret->is_later = find_later(ret);
	ret->objection = find_objection(ret);
	for (size_t i = 0; i < ret->changes_count; i++)
		find_since(ret, &report->facts, &ret->changes[i]);
	return ret->objection ? HD_OK : follow_changes(report, ret, err);
}

void comparison_deinit(struct heap_comparison *comparison)
{
	inventory_deinit(&comparison->after);
	mem_free(comparison->told);
	pages_free(comparison->changes, comparison->changes_capacity, sizeof(*comparison->changes));
	*comparison = (struct heap_comparison){ 0 };
}

const struct since *comparison_since(const struct report *report, const char *name,
				     const char *member)
{
	const struct heap_comparison *comparison = report->comparison;
	const struct holding key = { .name = name, .member = member };
	size_t low = 0, high = comparison_is_used(report) ? comparison->changes_count : 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct change *change = &comparison->changes[middle];
		int order = holding_compare(change->after ? change->after : change->before, &key);
		if (!order)
			return change->after ? &change->since : NULL;
		low = order < 0 ? middle + 1 : low;
		high = order < 0 ? high : middle;
	}
	return NULL;
}

static int most_growth_first(const void *left, const void *right)
{
	const struct change *const *first = left, *const *second = right;
	const struct since *a = &(*first)->since, *b = &(*second)->since;
	double x = (double)a->bytes - (double)a->bytes_before;
	double y = (double)b->bytes - (double)b->bytes_before;
	if (x != y)
		return x > y ? -1 : 1;
	return a < b ? -1 : a > b;
}

enum hd_status comparison_by_growth(const struct heap_comparison *comparison,
				    const struct change ***ret, struct hd_error *err)
{
	size_t count = comparison->changes_count;
	const struct change **order = mem_calloc(count + 1, sizeof(const struct change *));
	*ret = order;
	TRY_MEMORY(order, err);
	for (size_t i = 0; i < count; i++)
		order[i] = &comparison->changes[i];
	if (count)
		qsort(order, count, sizeof(const struct change *), most_growth_first);
	return HD_OK;
}
