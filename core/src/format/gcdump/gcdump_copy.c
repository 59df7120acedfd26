/* SPDX-License-Identifier: MIT */
/* Copies a .gcdump unchanged, by decoding and encoding all of it. */
#include <inttypes.h>
#include <string.h>

#include "format/gcdump/gcdump_cint.h"
#include "format/gcdump/gcdump_encode.h"
#include "format/nettrace/nettrace.h"
#include "mem/mapped_file.h"
#include "util/alloc.h"
#include "util/sort.h"

/* How many bytes are enough to tell what a file is. */
#define COPY_DETECT_SIZE ((size_t)512)

struct copier {
	const struct gcdump *gcdump;
	uint32_t *order;    /* pages, node_count: nodes in the order of their records */
	uint32_t count;     /* how many of them have a record */
	uint32_t *children; /* pages, children_capacity */
	size_t children_capacity;
	uint32_t at; /* in order */
	bool no_memory;
	uint32_t bad; /* a node whose record is invalid, or HD_NONE */
};

static uint32_t load_le32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static uint32_t offset_of(const struct gcdump *gcdump, uint32_t node)
{
	return load_le32(gcdump->offsets + (size_t)node * 4);
}

/* Does an offset of 0 say that a node was never defined? */
static bool has_undefined_record(const struct gcdump *gcdump)
{
	return gcdump->blob_size >= 2 && gcdump->blob[0] == 0 && gcdump->blob[1] == 0;
}

static void copy_type(void *arg, uint32_t type, struct gcdump_type *ret)
{
	const struct copier *copier = arg;
	*ret = copier->gcdump->types[type];
	/* The region of deferred types has it again. */
	if (ret->has_deferred_name)
		ret->name = (struct gcdump_text){ 0 };
	if (ret->has_deferred_module)
		ret->module = (struct gcdump_text){ 0 };
}

static uint64_t copy_address(void *arg, uint32_t node)
{
	const struct copier *copier = arg;
	const uint8_t *bytes = copier->gcdump->addresses + (size_t)node * 8;
	return load_le32(bytes) | (uint64_t)load_le32(bytes + 4) << 32;
}

static void copy_begin_pass(void *arg)
{
	struct copier *copier = arg;
	copier->at = 0;
}

static bool reserve_children(struct copier *copier, uint32_t count)
{
	if (count <= copier->children_capacity)
		return true;
	size_t capacity = copier->children_capacity + copier->children_capacity / 2;
	if (capacity < count)
		capacity = count;
	uint32_t *children = pages_resize(copier->children, copier->children_capacity, capacity,
					  sizeof(*children));
	if (!children)
		return false;
	copier->children = children;
	copier->children_capacity = capacity;
	return true;
}

static bool take_children(struct copier *copier, const struct gcdump_record *record, uint32_t node)
{
	const uint8_t *at = record->children;
	for (uint32_t i = 0; i < record->child_count; i++) {
		int32_t difference = 0;
		at = gcdump_cint(at, record->end, &difference);
		if (!at)
			return false;
		copier->children[i] = node + (uint32_t)difference;
		if (copier->children[i] >= copier->gcdump->node_count)
			return false;
	}
	return true;
}

static bool next_record(void *arg, struct gcdump_node *ret)
{
	struct copier *copier = arg;
	const struct gcdump *gcdump = copier->gcdump;
	if (copier->at == copier->count)
		return false;
	uint32_t node = copier->order[copier->at++];
	struct gcdump_record record;
	if (!gcdump_record(gcdump, offset_of(gcdump, node), &record)) {
		copier->bad = node;
		return false;
	}
	if (!reserve_children(copier, record.child_count)) {
		copier->no_memory = true;
		return false;
	}
	if (!take_children(copier, &record, node)) {
		copier->bad = node;
		return false;
	}
	*ret = (struct gcdump_node){
		.index = node,
		.type = record.type,
		.size = record.size,
		.is_given_size = true,
		.has_size = record.has_size,
		.child_count = record.child_count,
		.children = copier->children,
	};
	return true;
}

static enum hd_status copy_finish_pass(void *arg, struct hd_error *err)
{
	const struct copier *copier = arg;
	const struct gcdump *gcdump = copier->gcdump;
	if (copier->no_memory)
		return fail_nomem(err);
	if (copier->bad == HD_NONE)
		return HD_OK;
	uint64_t offset = (uint64_t)(gcdump->blob - gcdump->bytes) + offset_of(gcdump, copier->bad);
	return fail(err, HD_ERR_FORMAT, offset,
		    "%s: offset 0x%" PRIx64 ": the record of node %" PRIu32
		    " is damaged; write the dump again",
		    gcdump->path, offset, copier->bad);
}

/* Sort nodes by the offsets of their records; mostly only the first few are not in order. */
static enum hd_status make_order(struct copier *copier, struct hd_error *err)
{
	const struct gcdump *gcdump = copier->gcdump;
	uint32_t count = gcdump->node_count;
	bool has_undefined = has_undefined_record(gcdump);
	uint64_t *keys = pages_alloc(count, sizeof(*keys));
	copier->order = pages_alloc(count, sizeof(*copier->order));
	bool done = keys && copier->order;
	if (done) {
		for (uint32_t i = 0; i < count; i++) {
			uint32_t offset = offset_of(gcdump, i);
			bool is_undefined = has_undefined && !offset;
			keys[i] = is_undefined ? UINT64_MAX : offset;
			copier->count += !is_undefined;
		}
		done = sort_keys(keys, copier->order, count);
	}
	pages_free(keys, count, sizeof(*keys));
	return done ? HD_OK : fail_nomem(err);
}

static enum hd_status copy_parsed(const struct gcdump *gcdump, struct job *job,
				  format_write_fn write, void *arg, struct hd_error *err)
{
	struct copier copier = { .gcdump = gcdump, .bad = HD_NONE };
	const struct gcdump_source source = {
		.about = &gcdump->about,
		.root = gcdump->root,
		.type_count = gcdump->type_count,
		.node_count = gcdump->node_count,
		.deferred = gcdump->deferred,
		.deferred_size = gcdump->deferred_size,
		.deferred_at = gcdump->deferred ? (uint64_t)(gcdump->deferred - gcdump->bytes) : 0,
		.has_wide_counts = gcdump->has_wide_counts,
		.type = copy_type,
		.rewind = copy_begin_pass,
		.next = next_record,
		.address = copy_address,
		.finish = copy_finish_pass,
		.total_size = &gcdump->total_size,
		.arg = &copier,
	};
	enum hd_status status = make_order(&copier, err);
	if (status == HD_OK)
		status = gcdump_encode(&source, job, write, arg, err);
	pages_free(copier.order, gcdump->node_count, sizeof(*copier.order));
	pages_free(copier.children, copier.children_capacity, sizeof(*copier.children));
	return status;
}

static enum hd_status copy_bytes(const struct dump_input *input,
				 const struct format_options *options, struct job *job,
				 format_write_fn write, void *arg, struct hd_error *err)
{
	const char *bytes = (const char *)input->bytes;
	size_t head = input->size < COPY_DETECT_SIZE ? (size_t)input->size : COPY_DETECT_SIZE;
	if (head && nettrace_detect(bytes, head))
		return nettrace_to_gcdump(input, options, job, write, arg, err);
	if (!head || !gcdump_detect(bytes, head)) {
		return fail(err, HD_ERR_UNSUPPORTED, 0, "%s: neither a .gcdump nor a .nettrace",
			    input->path);
	}
	HD_CLEANUP(gcdump) struct gcdump gcdump = { 0 };
	TRY(gcdump_parse(input->bytes, input->size, input->path, &gcdump, err));
	return copy_parsed(&gcdump, job, write, arg, err);
}

enum hd_status gcdump_copy(const struct dump_input *input, const struct format_options *options,
			   struct job *job, format_write_fn write, void *arg, struct hd_error *err)
{
	struct mapped_file file = { .fd = -1 };
	TRY(input->fd >= 0 ? mapped_file_of(input->fd, input->path, &file, err)
			   : mapped_file_open(input->path, &file, err));
	struct stat info;
	bool is_known = fstat(file.fd, &info) == 0;
	const struct dump_input mapped = { .path = input->path,
					   .bytes = file.bytes,
					   .size = file.size };
	enum hd_status status = copy_bytes(&mapped, options, job, write, arg, err);
	if (status == HD_OK && is_known && file_was_written(file.fd, &info)) {
		status = fail(err, HD_ERR_OS, 0, "%s: the file was changed while it was read",
			      input->path);
	}
	mapped_file_close(&file);
	return status;
}
