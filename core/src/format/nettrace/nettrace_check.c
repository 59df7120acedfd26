/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace_check.h"

#include "format/nettrace/nettrace_heap.h"
#include "mem/mapped_file.h"
#include "util/alloc.h"
#include "util/fuzzed.h"

/* Types that were looked up last, by address. */
#define RECENT_NAMES_BITS FUZZED(12u, 4u)
#define RECENT_NAMES      (1u << RECENT_NAMES_BITS)

enum naming {
	NAMING_UNKNOWN, /* not looked up */
	NAMING_NAMED,
	NAMING_UNNAMED
};

struct recent_name {
	uint64_t id;
	enum naming naming;
};

/* Finds out which types have a name in the trace. */
struct names {
	struct type_table table;
	uint32_t count; /* types with an index below have a name */
	struct recent_name *recent;
};

static bool add_type_names(struct names *names, const struct nt_item *item)
{
	uint32_t count;
	struct nt_bytes at = nt_types_begin(item, &count);
	struct nt_type type;
	for (uint32_t i = 0; i < count && nt_type_next(&at, &type); i++) {
		uint32_t index = type_table_add(&names->table, 0, type.id, names->count);
		if (index == UINT32_MAX)
			return false;
		names->count += index == names->count;
	}
	return true;
}

static bool type_is_named(struct names *names, uint64_t id, bool *ret_nomem)
{
	struct recent_name *recent =
		&names->recent[id * 0x9e3779b97f4a7c15u >> (64 - RECENT_NAMES_BITS)];
	if (recent->naming == NAMING_UNKNOWN || recent->id != id) {
		uint32_t index = type_table_add(&names->table, 0, id, UINT32_MAX - 1);
		*ret_nomem = index == UINT32_MAX;
		*recent = (struct recent_name){ id, index < names->count ? NAMING_NAMED
									 : NAMING_UNNAMED };
	}
	return recent->naming == NAMING_NAMED;
}

/* Count the objects that have all their references. */
static enum hd_status count_whole_objects(struct nt_heap *heap, struct names *names,
					  struct nettrace_check *ret)
{
	const size_t size = NT_NODE_SIZE(heap->pointer_size);
	uint64_t available = heap->edges.total, used = 0;
	struct nt_cursor keys = { .keys = heap->pairs.keys, .count = heap->pairs.count };
	size_t first;
	bool nomem = false, is_over = false;
	for (size_t i = 0; i < heap->nodes.rows_count && !is_over; i++) {
		const struct nt_rows *rows = &heap->nodes.rows[i];
		for (uint32_t row = 0; row < rows->count; row++) {
			struct nt_node node = nt_node(rows->at + size * row, heap->pointer_size);
			is_over = node.edges > available - used;
			if (is_over)
				break;
			used += node.edges;
			/* As the graph has them: also from keys of weak tables to their values. */
			ret->references +=
				node.edges + nt_cursor_equal(&keys, node.address, &first);
			ret->objects++;
			ret->unnamed += !type_is_named(names, node.type, &nomem);
			if (nomem)
				return fail_nomem(heap->err);
		}
		TRY(job_check(heap->job, rows->count, heap->err));
	}
	ret->is_whole = ret->objects && !is_over && used == available && !heap->nodes.left &&
			!heap->edges.left && !nt_snapshot_is_cut(heap->trace, heap->snapshot);
	return HD_OK;
}

static enum hd_status check_snapshot(const struct nt_trace *trace,
				     const struct nt_snapshot *snapshot, struct job *job,
				     struct nettrace_check *ret, struct hd_error *err)
{
	struct nt_heap heap = { .trace = trace,
				.snapshot = snapshot,
				.job = job,
				.err = err,
				.pointer_size = trace->stream.about.pointer_size == 4 ? 4 : 8 };
	struct names names = { .recent = mem_calloc(RECENT_NAMES, sizeof(*names.recent)) };
	bool made = names.recent;
	for (size_t i = snapshot->process_first; made && i < snapshot->process_end; i++) {
		if (trace->items[i].kind == NT_TYPES)
			made = add_type_names(&names, &trace->items[i]);
	}
	enum hd_status status = made ? nt_heap_blocks(&heap) : fail_nomem(err);
	if (status == HD_OK)
		status = nt_heap_pairs(&heap);
	if (status == HD_OK)
		status = count_whole_objects(&heap, &names, ret);
	pages_free(heap.nodes.rows, heap.nodes.rows_capacity, sizeof(*heap.nodes.rows));
	pages_free(heap.edges.rows, heap.edges.rows_capacity, sizeof(*heap.edges.rows));
	nt_pairs_deinit(&heap.pairs);
	type_table_deinit(&names.table);
	mem_free(names.recent);
	return status;
}

static bool is_good(const struct nettrace_check *check)
{
	return check->is_whole && !check->unnamed;
}

static bool is_better_snapshot(const struct nettrace_check *a, const struct nettrace_check *b)
{
	if (a->is_whole != b->is_whole)
		return a->is_whole;
	if (is_good(a) != is_good(b))
		return is_good(a);
	return a->objects > b->objects;
}

static enum hd_status check_all_snapshots(const struct nt_trace *trace, struct job *job,
					  struct nettrace_check *ret, struct hd_error *err)
{
	for (size_t i = 0; i < trace->snapshots_count && !is_good(ret); i++) {
		struct nettrace_check check = { .snapshot = (uint32_t)i + 1 };
		TRY(check_snapshot(trace, &trace->snapshots[i], job, &check, err));
		if (check.objects && (!ret->snapshot || is_better_snapshot(&check, ret)))
			*ret = check;
	}
	return HD_OK;
}

enum hd_status nettrace_check(int fd, const char *path, struct job *job, struct nettrace_check *ret,
			      struct hd_error *err)
{
	*ret = (struct nettrace_check){ 0 };
	struct mapped_file file = { .fd = -1 };
	TRY(mapped_file_of(fd, path, &file, err));
	mapped_files_guard_begin();
	struct nt_trace trace = { 0 };
	enum hd_status status = nt_trace_read(file.bytes, file.size, path, job, &trace, err);
	if (status == HD_OK)
		status = check_all_snapshots(&trace, job, ret, err);
	nt_trace_deinit(&trace);
	mapped_files_guard_end();
	mapped_file_close(&file);
	return status;
}
