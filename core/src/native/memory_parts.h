/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of memory_account.c. */
#include "native/memory_account.h"

struct process_residency;

/** An account while it is made. */
struct memory_making {
	struct memory_account *account;
	struct target *target;
	struct heap *heap; /**< NULL: no runtime can be read */
	struct memory *memory;
	const struct address_space *space;         /**< of the target's processor */
	const struct process_residency *residency; /**< NULL: a core */
	bool is_outline; /**< only what can be known without reading much memory */
	struct job *job;
	uint64_t gc_lowest, gc_highest; /**< the range of the GC, once it is known */
};

/**
 * A new row, or for @p owner NULL the row of the kind.
 *
 * @param owner copied
 */
HD_NODISCARD enum hd_status memory_row_of(struct memory_making *making, enum memory_kind kind,
					  const char *owner, uint32_t *ret, struct hd_error *err);

/** Claim [@p start, @p end) for @p row. */
HD_NODISCARD enum hd_status memory_claim_for(struct memory_making *making, uint32_t row,
					     uint64_t start, uint64_t end, struct hd_error *err);

/** The same with another priority than that of its kind. */
HD_NODISCARD enum hd_status memory_claim_late(struct memory_making *making,
					      const struct memory_claim *claim,
					      struct hd_error *err);

/** Claim it for the row of a kind. */
HD_NODISCARD enum hd_status memory_claim_kind(struct memory_making *making, enum memory_kind kind,
					      uint64_t start, uint64_t end, struct hd_error *err);

/** Is all that a core has of [@p start, @p end) zero? */
HD_NODISCARD enum hd_status memory_is_zero(struct memory_making *making, uint64_t start,
					   uint64_t end, bool *ret, struct hd_error *err);

/** Read the mappings of the target. */
HD_NODISCARD enum hd_status memory_read_mappings(struct memory_making *making,
						 struct hd_error *err);

/** Claim what each part knows. */
HD_NODISCARD enum hd_status memory_claim_mappings(struct memory_making *making,
						  struct hd_error *err);
HD_NODISCARD enum hd_status memory_claim_gc(struct memory_making *making, struct hd_error *err);
HD_NODISCARD enum hd_status memory_claim_stacks(struct memory_making *making, struct hd_error *err);

HD_NODISCARD enum hd_status memory_claim_loader(struct memory_making *making, struct hd_error *err);
HD_NODISCARD enum hd_status memory_claim_malloc(struct memory_making *making, struct hd_error *err);
HD_NODISCARD enum hd_status memory_claim_linker(struct memory_making *making, struct hd_error *err);

/** Sweep the claims, and count the bytes of each row, with which all mappings are given away. */
HD_NODISCARD enum hd_status memory_count(struct memory_making *making, struct hd_error *err);
