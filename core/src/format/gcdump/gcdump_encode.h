/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/gcdump/gcdump.h"

/** A node as gcdump_encode() asks for it. */
struct gcdump_node {
	uint32_t index; /**< the node's index */
	uint32_t type;
	int32_t size;
	bool is_given_size; /**< true: has_size says whether the record has a size; false: it has
			     * one only if it differs from the type's */
	bool has_size;
	uint32_t child_count;
	const uint32_t *children; /**< indexes of nodes; valid until the next call */
};

/**
 * The source of a .gcdump.  A first pass over the nodes finds out where their records will lie, the
 * second one writes the file. 4 bytes per node while it runs.
 */
struct gcdump_source {
	const struct gcdump_about *about;
	uint32_t root, type_count, node_count;
	const uint8_t *deferred; /**< as in struct gcdump */
	uint64_t deferred_size;
	uint64_t deferred_at; /**< its offset in the original file: it contains labels, so it must
			       * keep it */
	bool has_wide_counts;
	/** Name, module and size of a type; size -1: it gets the size of its first node. */
	void (*type)(void *arg, uint32_t type, struct gcdump_type *ret);
	/** Go (back) to the first record of the blob. */
	void (*rewind)(void *arg);
	/**
	 * The next record of the blob; false: there are no more.  Nodes without a record are
	 * undefined.
	 */
	bool (*next)(void *arg, struct gcdump_node *ret);
	uint64_t (*address)(void *arg, uint32_t node);
	/**
	 * Called after the last record of each pass: what failed on the way.  NULL: nothing can
	 * fail.
	 */
	enum hd_status (*finish)(void *arg, struct hd_error *err);
	const int64_t *total_size; /**< NULL: the sum of the sizes */
	void *arg;
};

/**
 * Write a .gcdump.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED it would exceed a limit of the format: 2^31 bytes of records, 4 GiB in
 * all
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status gcdump_encode(const struct gcdump_source *source, struct job *job,
					  format_write_fn write, void *arg, struct hd_error *err);

/**
 * Turn UTF-8 (every invalid byte becomes U+FFFD) into a text of the format, in @p arena; NULL
 * @p text gives a null string.
 */
HD_NODISCARD bool gcdump_text_of(struct arena *arena, const char *text, size_t size,
				 struct gcdump_text *ret);
