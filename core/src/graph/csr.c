/* SPDX-License-Identifier: MIT */
#include "graph/csr.h"

#include "util/alloc.h"
#include "util/job.h"

/* Edges ahead of which memory is asked for while counting and filling at random places. */
#define AHEAD 24u

enum hd_status csr_init(struct csr *csr, uint32_t node_count, uint64_t edge_count,
			struct hd_error *err)
{
	*csr = (struct csr){ .node_count = node_count, .edge_count = edge_count };
	csr->offsets = pages_alloc((size_t)node_count + 1, sizeof(*csr->offsets));
	csr->bases = pages_alloc(csr_block_count(node_count), sizeof(*csr->bases));
	csr->targets = pages_alloc(edge_count, sizeof(*csr->targets));
	if (csr->offsets && csr->bases && csr->targets)
		return HD_OK;
	csr_deinit(csr);
	return fail_nomem(err);
}

void csr_deinit(struct csr *csr)
{
	pages_free(csr->offsets, (size_t)csr->node_count + 1, sizeof(*csr->offsets));
	pages_free(csr->bases, csr_block_count(csr->node_count), sizeof(*csr->bases));
	pages_free(csr->targets, csr->edge_count, sizeof(*csr->targets));
	*csr = (struct csr){ 0 };
}

/* Turn degrees into where each row begins, or ends, and bases. */
static enum hd_status sum_degrees(struct csr *csr, bool to_ends, struct hd_error *err)
{
	uint64_t total = 0, base = 0;
	for (uint64_t node = 0; node <= csr->node_count; node++) {
		if ((node & ((1u << CSR_BLOCK_SHIFT) - 1)) == 0) {
			base = total;
			csr->bases[node >> CSR_BLOCK_SHIFT] = base;
		}
		uint32_t degree = csr->offsets[node];
		/* The end of the last row of a block counts from the block's base too. */
		if (total + degree - base > UINT32_MAX) {
			return fail(err, HD_ERR_UNSUPPORTED, node,
				    "over 4,294,967,295 references at neighbouring objects");
		}
		csr->offsets[node] = (uint32_t)(total + (to_ends ? degree : 0) - base);
		total += degree;
	}
	return HD_OK;
}

enum hd_status csr_offsets_from_degrees(struct csr *csr, struct hd_error *err)
{
	return sum_degrees(csr, false, err);
}

bool csr_is_sound(const struct csr *csr)
{
	uint64_t begin = csr_begin(csr, 0);
	for (uint32_t node = 0; node < csr->node_count; node++) {
		uint64_t end = csr_begin(csr, node + 1);
		if (end < begin)
			return false;
		begin = end;
	}
	return begin <= csr->edge_count;
}

/*
 * One step of a reversal, shared by its workers.  Each goes over all edges and takes those whose
 * target is in its own part of the nodes: neighbours mostly refer to neighbours, so that what a
 * worker passes over costs little, and none writes where another does.
 */
struct reversing {
	const struct csr *rows;
	uint32_t first; /* node of row 0 */
	struct csr *ret;
	struct job *job;
	unsigned int workers;
	_Atomic bool cancelled;
};

/* More would spend their time on passing over edges. */
#define WORKERS_MAX 8u

struct range {
	uint32_t begin, size;
};

static struct range range_of(const struct reversing *reversing, unsigned int worker)
{
	uint64_t blocks = csr_block_count(reversing->ret->node_count);
	uint64_t count = reversing->ret->node_count;
	uint64_t begin = blocks * worker / reversing->workers << CSR_BLOCK_SHIFT;
	uint64_t end = blocks * (worker + 1) / reversing->workers << CSR_BLOCK_SHIFT;
	begin = begin < count ? begin : count;
	end = end < count ? end : count;
	return (struct range){ .begin = (uint32_t)begin, .size = (uint32_t)(end - begin) };
}

static bool is_in(struct range range, uint32_t node)
{
	return node - range.begin < range.size;
}

/* Count @p units of all that the workers go over; false when the work must end. */
static bool step(struct reversing *reversing, unsigned int worker, uint64_t units)
{
	if (!job_step(reversing->job, worker, units / reversing->workers))
		reversing->cancelled = true;
	return !reversing->cancelled;
}

static void count_targets(void *arg, unsigned int worker)
{
	struct reversing *reversing = arg;
	const uint32_t *targets = reversing->rows->targets;
	uint32_t *counts = reversing->ret->offsets;
	uint64_t edges = reversing->rows->edge_count;
	struct range range = range_of(reversing, worker);
	for (uint64_t done = 0; done < edges; done += JOB_STRIDE) {
		uint64_t end = edges - done > JOB_STRIDE ? done + JOB_STRIDE : edges;
		for (uint64_t i = done; i < end; i++) {
			if (i + AHEAD < end && is_in(range, targets[i + AHEAD]))
				__builtin_prefetch(&counts[targets[i + AHEAD]], 1);
			if (is_in(range, targets[i]))
				counts[targets[i]]++;
		}
		if (!step(reversing, worker, end - done))
			return;
	}
}

/* Ask for what some edges further down will write to. */
static void prefetch_places(const struct reversing *reversing, struct range range, uint64_t edge)
{
	const uint32_t *targets = reversing->rows->targets;
	const struct csr *ret = reversing->ret;
	if (edge >= AHEAD && is_in(range, targets[edge - AHEAD]))
		__builtin_prefetch(&ret->offsets[targets[edge - AHEAD]], 1);
	if (edge >= AHEAD / 2 && is_in(range, targets[edge - AHEAD / 2]))
		__builtin_prefetch(&ret->targets[csr_begin(ret, targets[edge - AHEAD / 2])], 1);
}

/*
 * Each offset starts at the end of its row and moves down to its start: with the sources taken in
 * descending order, rows ascend and no second array of cursors is needed.
 */
static void fill_sources(void *arg, unsigned int worker)
{
	struct reversing *reversing = arg;
	const struct csr *rows = reversing->rows;
	struct csr *ret = reversing->ret;
	struct range range = range_of(reversing, worker);
	uint64_t since = 0;
	for (uint32_t node = rows->node_count; node-- > 0;) {
		uint64_t begin = csr_begin(rows, node), end = csr_begin(rows, node + 1);
		for (uint64_t i = end; i-- > begin;) {
			uint32_t target = rows->targets[i];
			prefetch_places(reversing, range, i);
			if (!is_in(range, target))
				continue;
			uint64_t place =
				ret->bases[target >> CSR_BLOCK_SHIFT] + --ret->offsets[target];
			/* Always, unless it was not counted. */
			if (place < ret->edge_count)
				ret->targets[place] = reversing->first + node;
		}
		since += end - begin + 1;
		if (since >= JOB_STRIDE) {
			if (!step(reversing, worker, since))
				return;
			since = 0;
		}
	}
}

static enum hd_status run(struct reversing *reversing, void (*fn)(void *arg, unsigned int worker),
			  struct hd_error *err)
{
	unsigned int workers = job_workers(reversing->job);
	reversing->workers = workers < WORKERS_MAX ? workers : WORKERS_MAX;
	if (reversing->rows->edge_count < 4 * (uint64_t)JOB_STRIDE)
		reversing->workers = 1;
	job_begin(reversing->job, "Reversing references", reversing->rows->edge_count);
	run_parallel(reversing->workers, fn, reversing);
	return reversing->cancelled ? fail_cancelled(err) : HD_OK;
}

enum hd_status csr_reverse_begin(uint32_t node_count, struct csr *ret, struct hd_error *err)
{
	return csr_init(ret, node_count, 0, err);
}

enum hd_status csr_reverse_count(const struct csr *rows, struct job *job, struct csr *ret,
				 struct hd_error *err)
{
	struct reversing reversing = { .rows = rows, .ret = ret, .job = job };
	return run(&reversing, count_targets, err);
}

enum hd_status csr_reverse_allocate(struct csr *ret, struct hd_error *err)
{
	TRY(sum_degrees(ret, true, err));
	uint64_t edges = csr_begin(ret, ret->node_count);
	uint32_t *targets = pages_alloc(edges, sizeof(*ret->targets));
	if (!targets)
		return fail_nomem(err);
	pages_free(ret->targets, ret->edge_count, sizeof(*ret->targets));
	ret->targets = targets;
	ret->edge_count = edges;
	return HD_OK;
}

enum hd_status csr_reverse_fill(const struct csr *rows, uint32_t first, struct job *job,
				struct csr *ret, struct hd_error *err)
{
	struct reversing reversing = { .rows = rows, .first = first, .ret = ret, .job = job };
	return run(&reversing, fill_sources, err);
}

enum hd_status csr_reverse(const struct csr *csr, struct job *job, struct csr *ret,
			   struct hd_error *err)
{
	struct csr reverse;
	TRY(csr_reverse_begin(csr->node_count, &reverse, err));
	enum hd_status status = csr_reverse_count(csr, job, &reverse, err);
	if (status == HD_OK)
		status = csr_reverse_allocate(&reverse, err);
	if (status == HD_OK)
		status = csr_reverse_fill(csr, 0, job, &reverse, err);
	if (status != HD_OK) {
		csr_deinit(&reverse);
		return status;
	}
	*ret = reverse;
	return HD_OK;
}
