/* SPDX-License-Identifier: MIT */
#include "graph/csr.h"

#include "util/alloc.h"

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

/* Turn degrees into the begin or end of each row, and bases. */
static enum hd_status sum_degrees(struct csr *csr, bool to_ends, struct hd_error *err)
{
	uint64_t total = 0, base = 0;
	for (uint64_t node = 0; node <= csr->node_count; node++) {
		if ((node & ((1u << CSR_BLOCK_SHIFT) - 1)) == 0) {
			base = total;
			csr->bases[node >> CSR_BLOCK_SHIFT] = base;
		}
		uint32_t degree = csr->offsets[node];
		/* The end of the last row of a block is also relative to the block's base. */
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

enum hd_status csr_ends_from_degrees(struct csr *csr, struct hd_error *err)
{
	return sum_degrees(csr, true, err);
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
