/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_GCDUMP_ENCODE_H
#define HEAPDUMP_SRC_FORMAT_GCDUMP_ENCODE_H

#include "format/gcdump/gcdump.h"

/** A node as gcdump_encode() asks for it. */
struct gcdump_node {
	uint32_t index; /**< of the node */
	uint32_t type;
	int32_t size;
	bool is_given_size; /**< true: has_size is as in @p has_size; false: only if it differs from the type's */
	bool has_size;
	uint32_t child_count;
	const uint32_t *children; /**< indexes of nodes; valid until the next call */
};

/**
 * What a .gcdump is made of: the file is written in one pass, after one over the nodes that finds out
 * where their records will lie.  4 bytes per node while it runs.
 */
struct gcdump_source {
	const struct gcdump_about *about;
	uint32_t root, type_count, node_count;
	const uint8_t *deferred; /**< as in struct gcdump */
	uint64_t deferred_size;
	uint64_t deferred_at; /**< where its file has it: it holds labels, so it must stay there */
	bool has_wide_counts;
	/** Name, module and size of a type; size -1: it takes that of its first node. */
	void (*type)(void *arg, uint32_t type, struct gcdump_type *ret);
	/** Begin with the first record of the blob (again). */
	void (*rewind)(void *arg);
	/** The next record of the blob; false: no more.  Nodes that never come are undefined. */
	bool (*next)(void *arg, struct gcdump_node *ret);
	uint64_t (*address)(void *arg, uint32_t node);
	/** Behind the last record, once for each pass: what failed on the way.  NULL: nothing can. */
	enum hd_status (*finish)(void *arg, struct hd_error *err);
	const int64_t *total_size; /**< NULL: the sum of the sizes */
	void *arg;
};

/**
 * Write a .gcdump.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED it would pass a limit of the format: 2^31 bytes of records, 4 GiB
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status gcdump_encode(const struct gcdump_source *source, struct job *job,
					  format_write_fn write, void *arg, struct hd_error *err);

/**
 * Turn UTF-8 (any other byte becomes U+FFFD) into a text of the format, in @p arena; NULL @p text gives
 * a null string.
 */
HD_NODISCARD bool gcdump_text_of(struct arena *arena, const char *text, size_t size,
				 struct gcdump_text *ret);

#endif
