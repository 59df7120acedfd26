/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/fail.h"
#include "verify/verify.h"

#define NO_FINDING UINT32_MAX

/** An object, or another address, that is wrong because of a finding. */
struct link {
	uint32_t finding;
	uint64_t object;
};

/** The place of a finding. */
struct finding_place {
	uint64_t address;
	uint32_t finding;
};

/** All findings so far, and their consequences. */
struct finding_list {
	struct verify_finding *rows; /**< kind NULL: withdrawn */
	size_t rows_count, rows_capacity;
	struct finding_place *places; /**< ascending by address; see finding_list_index() */
	size_t place_count;
	struct link *links;
	size_t links_count, links_capacity;
	uint64_t not_kept; /**< findings, or wrong references, that were not kept */
};

/** Free @p count findings, in an array of @p capacity. */
void verify_findings_free(struct verify_finding *rows, size_t count, size_t capacity);
void finding_list_deinit(struct finding_list *list);

/**
 * Add a finding; NO_FINDING in *@p ret when there are too many.
 *
 * @retval HD_OK  @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status finding_list_add(struct finding_list *list,
					     const struct verify_finding *finding, uint32_t *ret,
					     struct hd_error *err);
/** Replace the detail of a finding; lost when memory is exhausted. */
void verify_finding_detail(struct verify_finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** Make finding @p from a consequence of @p into.  Fails with HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status finding_list_merge(struct finding_list *list, uint32_t from,
					       uint32_t into, struct hd_error *err);
/** The finding into which finding @p index was merged in the end. */
uint32_t finding_list_final(const struct finding_list *list, uint32_t index);
/** Make an index of the findings so far.  Fails with HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status finding_list_index(struct finding_list *list, struct hd_error *err);
/**
 * Among the findings that finding_list_index() saw: the one about the block at @p address, or
 * NO_FINDING.
 */
uint32_t finding_list_at(const struct finding_list *list, uint64_t address);
/**
 * Make @p object a consequence of @p finding; does nothing for NO_FINDING.  Fails with
 * HD_ERR_NOMEM.
 */
HD_NODISCARD enum hd_status finding_list_link(struct finding_list *list, uint32_t finding,
					      uint64_t object, struct hd_error *err);
