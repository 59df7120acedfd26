/* SPDX-License-Identifier: MIT */
/* Reverse references: counted by target, then filled in. */
#include "graph/csr.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"

/* How many edges ahead memory is prefetched while counting and filling at random places. */
#define AHEAD_EDGES 24u
/* How many edges a worker picks before it counts or fills. */
#define EDGES_PICKED 1024u
/* More workers would spend their time on skipping edges. */
#define REVERSE_WORKERS_MAX 8u
/* Targets whose memory is freed together: 2 MiB. */
#define SLAB_SHIFT 19u

/*
 * A reversal, shared by its workers.  Each goes over all edges and takes those whose target is in
 * its own part of the nodes: neighbours mostly refer to neighbours, so skipping costs little, and
 * no worker writes where another one does.
 */
struct reversing {
	const struct csr *csr; /* the edges; or NULL, then they are */
	struct csr_rows *rows;
	const uint32_t *targets; /* of either */
	uint64_t edge_count;
	struct csr ret;
	struct job *job;
	unsigned int workers;
	_Atomic unsigned int *passed; /* for rows: workers that are finished with a slab */
	_Atomic bool cancelled;
};

struct range {
	uint32_t begin, size;
};

/*
 * One worker, and the edges that it has picked: this is done without a branch, which the processor
 * would often predict wrongly.
 */
struct picker {
	struct reversing *reversing;
	struct range range;
	unsigned int worker;
	uint64_t since; /* edges and nodes since it last counted its progress */
	uint32_t count;
	uint32_t targets[EDGES_PICKED + AHEAD_EDGES];
	uint32_t sources[EDGES_PICKED];
};

static struct range range_of(const struct reversing *reversing, unsigned int worker)
{
	uint64_t blocks = csr_block_count(reversing->ret.node_count);
	uint64_t count = reversing->ret.node_count;
	uint64_t begin = blocks * worker / reversing->workers << CSR_BLOCK_SHIFT;
	uint64_t end = blocks * (worker + 1) / reversing->workers << CSR_BLOCK_SHIFT;
	begin = begin < count ? begin : count;
	end = end < count ? end : count;
	return (struct range){ .begin = (uint32_t)begin, .size = (uint32_t)(end - begin) };
}

static void picker_init(struct picker *picker, struct reversing *reversing, unsigned int worker)
{
	*picker = (struct picker){ .reversing = reversing,
				   .range = range_of(reversing, worker),
				   .worker = worker };
}

/* Pick the edge if its target is the worker's. */
static inline void pick(struct picker *picker, uint32_t target, uint32_t source)
{
	picker->targets[picker->count] = target;
	picker->sources[picker->count] = source;
	picker->count += target - picker->range.begin < picker->range.size;
}

/* Count @p units of all that the workers read; false when the work must end. */
static bool step_picker(struct picker *picker, uint64_t units)
{
	struct reversing *reversing = picker->reversing;
	picker->since += units;
	if (picker->since < JOB_STRIDE)
		return true;
	if (!job_step(reversing->job, picker->worker, picker->since / reversing->workers))
		reversing->cancelled = true;
	picker->since = 0;
	return !reversing->cancelled;
}

/* Prefetching after the last edge must also use a node of the worker. */
static void pad(struct picker *picker)
{
	for (uint32_t i = picker->count; i < picker->count + AHEAD_EDGES; i++)
		picker->targets[i] = picker->range.begin;
}

static void count_batch(struct picker *picker)
{
	uint32_t *counts = picker->reversing->ret.offsets;
	pad(picker);
	for (uint32_t i = 0; i < picker->count; i++) {
		__builtin_prefetch(&counts[picker->targets[i + AHEAD_EDGES]], 1);
		counts[picker->targets[i]]++;
	}
	picker->count = 0;
}

static void count_targets(void *arg, unsigned int worker)
{
	struct reversing *reversing = arg;
	uint64_t edges = reversing->edge_count;
	struct picker picker;
	picker_init(&picker, reversing, worker);
	for (uint64_t done = 0; done < edges; done += EDGES_PICKED) {
		uint64_t end = edges - done > EDGES_PICKED ? done + EDGES_PICKED : edges;
		for (uint64_t i = done; i < end; i++)
			pick(&picker, reversing->targets[i], 0);
		count_batch(&picker);
		if (!step_picker(&picker, end - done))
			return;
	}
}

/*
 * Each offset starts at the end of its row and moves down to its start: with the sources taken in
 * descending order, rows ascend and no second array of cursors is needed.
 */
static void fill_batch(struct picker *picker)
{
	const struct csr *ret = &picker->reversing->ret;
	const uint32_t *targets = picker->targets;
	pad(picker);
	for (uint32_t i = 0; i < picker->count; i++) {
		uint32_t target = targets[i];
		__builtin_prefetch(&ret->offsets[targets[i + AHEAD_EDGES]], 1);
		__builtin_prefetch(&ret->targets[csr_begin(ret, targets[i + AHEAD_EDGES / 2])], 1);
		uint64_t place = ret->bases[target >> CSR_BLOCK_SHIFT] + --ret->offsets[target];
		ret->targets[place] = picker->sources[i];
	}
	picker->count = 0;
}

/* The edges [begin, end) of one node; false when the work must end. */
static inline bool pick_row(struct picker *picker, uint32_t node, uint64_t begin, uint64_t end)
{
	for (uint64_t i = end; i-- > begin;) {
		pick(picker, picker->reversing->targets[i], node);
		if (picker->count == EDGES_PICKED)
			fill_batch(picker);
	}
	return step_picker(picker, end - begin + 1);
}

static void fill_from_csr(void *arg, unsigned int worker)
{
	struct reversing *reversing = arg;
	const struct csr *csr = reversing->csr;
	struct picker picker;
	uint64_t end = reversing->edge_count;
	picker_init(&picker, reversing, worker);
	for (uint32_t node = csr->node_count; node-- > 0;) {
		uint64_t begin = csr_begin(csr, node);
		if (!pick_row(&picker, node, begin, end))
			return;
		end = begin;
	}
	fill_batch(&picker);
}

/* A worker is finished with the edges from @p edge to the end: free what all are finished with. */
static void pass_slabs(struct reversing *reversing, uint64_t edge, uint64_t *slab)
{
	for (; *slab && edge <= (*slab - 1) << SLAB_SHIFT; (*slab)--) {
		if (++reversing->passed[*slab - 1] < reversing->workers)
			continue;
		uint64_t begin = (*slab - 1) << SLAB_SHIFT;
		uint64_t rest = reversing->edge_count - begin;
		uint64_t size = (uint64_t)1 << SLAB_SHIFT;
		pages_discard(reversing->rows->targets, reversing->edge_count, begin,
			      rest < size ? rest : size, sizeof(*reversing->targets));
	}
}

static uint64_t slab_count(const struct csr_rows *rows)
{
	return (rows->edge_count >> SLAB_SHIFT) + 1;
}

static void fill_from_rows(void *arg, unsigned int worker)
{
	struct reversing *reversing = arg;
	const struct csr_rows *rows = reversing->rows;
	struct picker picker;
	uint64_t end = rows->edge_count, slab = slab_count(rows);
	uint32_t node = rows->node_count; /* its edges end at end */
	picker_init(&picker, reversing, worker);
	for (size_t i = bitmap_words(node + end); i-- > 0;) {
		for (uint64_t word = rows->ends[i]; word;) {
			unsigned int bit = 63 - (unsigned int)__builtin_clzll(word);
			word ^= (uint64_t)1 << bit;
			/* The end of the node before it. */
			uint64_t begin = i * 64 + bit - (node - 1);
			if (node < rows->node_count && !pick_row(&picker, node, begin, end))
				return;
			node--;
			end = begin;
		}
		pass_slabs(reversing, end, &slab);
	}
	if (rows->node_count && pick_row(&picker, 0, 0, end))
		pass_slabs(reversing, 0, &slab);
	fill_batch(&picker);
}

static enum hd_status run_reversing(struct reversing *reversing,
				    void (*fn)(void *arg, unsigned int worker),
				    struct hd_error *err)
{
	unsigned int workers = job_workers(reversing->job);
	reversing->workers = workers < REVERSE_WORKERS_MAX ? workers : REVERSE_WORKERS_MAX;
	if (reversing->edge_count < 4 * (uint64_t)JOB_STRIDE)
		reversing->workers = 1;
	job_begin(reversing->job, "Reversing references", reversing->edge_count);
	run_parallel(reversing->workers, reversing->job, fn, reversing);
	return reversing->cancelled ? fail_cancelled(err) : HD_OK;
}

/* Make room for the counted edges. */
static enum hd_status allocate_targets(struct csr *csr, struct hd_error *err)
{
	TRY(csr_ends_from_degrees(csr, err));
	uint64_t edges = csr_begin(csr, csr->node_count);
	uint32_t *targets = pages_alloc(edges, sizeof(*csr->targets));
	TRY_MEMORY(targets, err);
	pages_free(csr->targets, csr->edge_count, sizeof(*csr->targets));
	csr->targets = targets;
	csr->edge_count = edges;
	return HD_OK;
}

static enum hd_status reverse(struct reversing *reversing, uint32_t node_count, struct csr *ret,
			      struct hd_error *err)
{
	TRY(csr_init(&reversing->ret, node_count, 0, err));
	enum hd_status status = run_reversing(reversing, count_targets, err);
	if (status == HD_OK)
		status = allocate_targets(&reversing->ret, err);
	if (status == HD_OK) {
		status = run_reversing(reversing, reversing->csr ? fill_from_csr : fill_from_rows,
				       err);
	}
	if (status != HD_OK) {
		csr_deinit(&reversing->ret);
		return status;
	}
	*ret = reversing->ret;
	return HD_OK;
}

enum hd_status csr_reverse(const struct csr *csr, struct job *job, struct csr *ret,
			   struct hd_error *err)
{
	struct reversing reversing = {
		.csr = csr, .targets = csr->targets, .edge_count = csr->edge_count, .job = job
	};
	return reverse(&reversing, csr->node_count, ret, err);
}

enum hd_status csr_rows_init(struct csr_rows *rows, uint32_t node_count, uint64_t edge_count,
			     struct hd_error *err)
{
	*rows = (struct csr_rows){ .node_count = node_count, .edge_count = edge_count };
	rows->ends = bitmap_alloc(node_count + edge_count);
	rows->targets = pages_alloc(edge_count, sizeof(*rows->targets));
	if (rows->ends && rows->targets)
		return HD_OK;
	csr_rows_deinit(rows);
	return fail_nomem(err);
}

void csr_rows_deinit(struct csr_rows *rows)
{
	bitmap_free(rows->ends, rows->node_count + rows->edge_count);
	pages_free(rows->targets, rows->edge_count, sizeof(*rows->targets));
	*rows = (struct csr_rows){ 0 };
}

enum hd_status csr_reverse_rows(struct csr_rows *rows, struct job *job, struct csr *ret,
				struct hd_error *err)
{
	struct reversing reversing = {
		.rows = rows, .targets = rows->targets, .edge_count = rows->edge_count, .job = job
	};
	reversing.passed = mem_calloc(slab_count(rows), sizeof(*reversing.passed));
	TRY_MEMORY(reversing.passed, err);
	enum hd_status status = reverse(&reversing, rows->node_count, ret, err);
	mem_free(reversing.passed);
	return status;
}
