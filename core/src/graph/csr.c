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

enum hd_status csr_offsets_from_degrees(struct csr *csr, struct hd_error *err)
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
		csr->offsets[node] = (uint32_t)(total - base);
		total += degree;
	}
	return HD_OK;
}

static bool count_targets(const struct csr *csr, struct job *job, uint32_t *counts)
{
	const uint32_t *targets = csr->targets;
	for (uint64_t done = 0; done < csr->edge_count; done += JOB_STRIDE) {
		uint64_t end =
			csr->edge_count - done > JOB_STRIDE ? done + JOB_STRIDE : csr->edge_count;
		for (uint64_t i = done; i < end; i++) {
			if (i + AHEAD < end)
				__builtin_prefetch(&counts[targets[i + AHEAD]], 1);
			counts[targets[i]]++;
		}
		if (!job_step(job, 0, end - done))
			return false;
	}
	return true;
}

/*
 * Each offset starts at the end of its row (the start of the next) and moves down to its start:
 * with the sources taken in descending order, rows ascend and no second array of cursors is needed.
 */
static bool fill_sources(const struct csr *csr, struct job *job, struct csr *ret)
{
	uint64_t since = 0;
	for (uint32_t node = csr->node_count; node-- > 0;) {
		uint64_t begin = csr_begin(csr, node), end = csr_begin(csr, node + 1);
		for (uint64_t i = end; i-- > begin;) {
			if (i >= AHEAD)
				__builtin_prefetch(&ret->offsets[csr->targets[i - AHEAD]], 1);
			if (i >= AHEAD / 2) {
				uint32_t soon = csr->targets[i - AHEAD / 2];
				__builtin_prefetch(&ret->targets[csr_begin(ret, soon)], 1);
			}
			uint32_t target = csr->targets[i];
			uint64_t place =
				ret->bases[target >> CSR_BLOCK_SHIFT] + --ret->offsets[target];
			ret->targets[place] = node;
		}
		since += end - begin + 1;
		if (since >= JOB_STRIDE) {
			if (!job_step(job, 0, since))
				return false;
			since = 0;
		}
	}
	return true;
}

/* Move every offset from the start of its row to its end, within its block's base. */
static void offsets_to_ends(struct csr *csr)
{
	for (uint32_t node = 0; node < csr->node_count; node++) {
		uint64_t end = csr_begin(csr, node + 1);
		csr->offsets[node] = (uint32_t)(end - csr->bases[node >> CSR_BLOCK_SHIFT]);
	}
}

enum hd_status csr_reverse(const struct csr *csr, struct job *job, struct csr *ret,
			   struct hd_error *err)
{
	struct csr reverse;
	TRY(csr_init(&reverse, csr->node_count, csr->edge_count, err));
	job_begin(job, "Reversing references", 2 * csr->edge_count);
	enum hd_status status = HD_OK;
	if (!count_targets(csr, job, reverse.offsets))
		status = fail_cancelled(err);
	if (status == HD_OK)
		status = csr_offsets_from_degrees(&reverse, err);
	if (status == HD_OK) {
		offsets_to_ends(&reverse);
		if (!fill_sources(csr, job, &reverse))
			status = fail_cancelled(err);
	}
	if (status != HD_OK) {
		csr_deinit(&reverse);
		return status;
	}
	*ret = reverse;
	return HD_OK;
}
