/* SPDX-License-Identifier: MIT */
/* Writes a graph as a text log: one section per domain, written while the graph is walked. */
#include <string.h>

#include "format/rpm/rpm_name.h"
#include "format/rpm/rpm_reader.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/fuzzed.h"

#define RPM_FLUSH_SIZE ((size_t)FUZZED(256 << 10, 512))

/* The executable that runs other programs. */
#define HOST "dotnet"

struct rpm_writer {
	const struct hd_graph *graph;
	const uint64_t *live; /* only nodes with a bit are written; NULL: all */
	struct job *job;
	format_write_fn write;
	void *arg;
	struct hd_error *err;
	struct text text;
	uint64_t units; /* since the last check for cancellation */
};

static enum hd_status rpm_flush(struct rpm_writer *writer)
{
	if (writer->text.failed)
		return fail_nomem(writer->err);
	if (writer->text.size && !writer->write(writer->arg, writer->text.bytes, writer->text.size))
		return fail_cancelled(writer->err);
	writer->text.size = 0;
	TRY(job_check(writer->job, writer->units, writer->err));
	writer->units = 0;
	return HD_OK;
}

static enum hd_status end_line(struct rpm_writer *writer)
{
	text_append(&writer->text, "\n", 1);
	writer->units++;
	return writer->text.size >= RPM_FLUSH_SIZE || writer->text.failed ? rpm_flush(writer)
									  : HD_OK;
}

/* Much faster than printf: nearly all bytes of a file are written here. */
static void put_hex(struct text *text, char before, uint64_t value)
{
	char buf[18];
	size_t at = sizeof(buf);
	do {
		buf[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	buf[--at] = before;
	text_append(text, buf + at, sizeof(buf) - at);
}

static bool rpm_writes_node(const struct rpm_writer *writer, uint32_t node)
{
	return !writer->live || bitmap_has(writer->live, node);
}

/* All that a live object refers to is live. */
static enum hd_status write_object_line(struct rpm_writer *writer, uint32_t node)
{
	const struct hd_graph *graph = writer->graph;
	if (!rpm_writes_node(writer, node))
		return HD_OK;
	struct text *text = &writer->text;
	text_append(text, "o", 1);
	put_hex(text, ' ', graph_id(graph, node));
	put_hex(text, ' ', graph->types[graph->node_types[node]].id);
	put_hex(text, ' ', graph_size(graph, node));
	uint64_t end = csr_begin(&graph->forward, node + 1);
	for (uint64_t i = csr_begin(&graph->forward, node); i < end; i++)
		put_hex(text, ' ', graph_id(graph, graph->forward.targets[i]));
	return end_line(writer);
}

static enum hd_status write_type_lines(struct rpm_writer *writer, uint32_t begin, uint32_t end)
{
	for (uint32_t i = begin; i < end; i++) {
		const struct graph_type *type = &writer->graph->types[i];
		if (!type->name)
			continue;
		text_append(&writer->text, "t", 1);
		put_hex(&writer->text, ' ', type->id);
		text_append(&writer->text, " ", 1);
		rpm_name_write(&writer->text, type->name, type->name_size, true);
		TRY(end_line(writer));
	}
	return HD_OK;
}

/* Kinds and flags that the format has no numbers for become those that mean the same. */
static enum hd_status write_root_line(struct rpm_writer *writer, const struct graph_root *root)
{
	struct text *text = &writer->text;
	if (!rpm_writes_node(writer, root->node))
		return HD_OK;
	bool is_static = root->kind == HD_ROOT_STATIC || root->kind == HD_ROOT_THREAD_STATIC;
	bool has_container = root->container != HD_NONE;
	uint8_t kind = is_static ? HD_ROOT_STATIC : root->kind;
	uint8_t flags = root->flags & (HD_ROOT_PINNED | HD_ROOT_WEAK | HD_ROOT_INTERIOR);
	/* A static variable must have a container. */
	if (is_static && !has_container)
		kind = HD_ROOT_INTERNAL;
	if (root->flags & HD_ROOT_CONSERVATIVE)
		flags |= HD_ROOT_PINNED;
	text_append(text, "r", 1);
	put_hex(text, ' ', graph_id(writer->graph, root->node));
	put_hex(text, ' ', kind);
	put_hex(text, ' ', flags);
	if (has_container)
		put_hex(text, ' ', writer->graph->types[root->container].id);
	return end_line(writer);
}

/*
 * When the records of a domain begin or end, in milliseconds since the machine's start; false: not known.  A
 * core does not say when it was written: for it the time is 0, so that every export is the same.
 */
static bool domain_time(const struct hd_graph *graph, const struct graph_domain *domain, bool start,
			uint64_t *ret)
{
	const bool is_there = start ? domain->has_start : domain->has_end;
	*ret = is_there ? (start ? domain->start : domain->end) : 0;
	return is_there || graph_is_heap(graph);
}

/* The name of the program, if that of its host does not hide it. */
static const char *program_of(const struct hd_graph *graph)
{
	const char *process = graph_is_heap(graph) ? NULL : graph->info.process;
	if (graph->info.program)
		return graph->info.program;
	return process && process[0] && strcmp(process, HOST) != 0 ? process : NULL;
}

/* A dump of one process is named after its program; a text log names its domains. */
static void put_domain(struct rpm_writer *writer, const struct graph_domain *domain, bool start)
{
	struct text *text = &writer->text;
	const char *program = program_of(writer->graph);
	uint64_t time;
	bool has_time = domain_time(writer->graph, domain, start, &time);
	text_puts(text, start ? "a 2 " : "c ");
	if (program) {
		rpm_name_write(text, program, strlen(program), has_time);
	} else if (!domain->name) {
		text_puts(text, "clrhost"); /* most programs have only one domain, with this name */
	} else if (domain->name_size) {
		rpm_name_write(text, domain->name, domain->name_size, has_time);
	} else {
		text_puts(text, "?");
	}
	if (has_time)
		put_hex(text, ' ', time);
}

/* Nodes, types and roots by domain: counting sorts of indices, made only for several domains. */
struct by_domain {
	uint32_t *order;
	uint32_t *starts; /* domain_count + 1 */
	uint32_t count, domains;
};

static uint32_t domain_of_node(const struct hd_graph *graph, uint32_t node)
{
	return graph->types[graph->node_types[node]].domain;
}

static uint32_t domain_of_type(const struct hd_graph *graph, uint32_t type)
{
	return graph->types[type].domain;
}

static uint32_t domain_of_root(const struct hd_graph *graph, uint32_t root)
{
	return graph->roots[root].domain;
}

static void by_domain_deinit(struct by_domain *by)
{
	pages_free(by->order, by->count, sizeof(*by->order));
	pages_free(by->starts, (size_t)by->domains + 1, sizeof(*by->starts));
	*by = (struct by_domain){ 0 };
}

static enum hd_status by_domain_init(struct by_domain *by, const struct hd_graph *graph,
				     uint32_t count,
				     uint32_t (*domain_of)(const struct hd_graph *, uint32_t),
				     struct hd_error *err)
{
	*by = (struct by_domain){ .count = count, .domains = graph->domains.count };
	by->starts = pages_alloc((size_t)by->domains + 1, sizeof(*by->starts));
	if (by->domains > 1)
		by->order = pages_alloc(count, sizeof(*by->order));
	if (!by->starts || (by->domains > 1 && !by->order)) {
		by_domain_deinit(by);
		return fail_nomem(err);
	}
	if (by->domains <= 1) {
		by->starts[by->domains] = count;
		return HD_OK;
	}
	for (uint32_t i = 0; i < count; i++)
		by->starts[domain_of(graph, i)]++;
	uint32_t sum = 0;
	for (uint32_t d = 0; d <= by->domains; d++) {
		sum += by->starts[d];
		by->starts[d] = sum;
	}
	for (uint32_t i = count; i-- > 0;)
		by->order[--by->starts[domain_of(graph, i)]] = i;
	by->starts[by->domains] = count;
	return HD_OK;
}

static uint32_t by_domain_at(const struct by_domain *by, uint32_t index)
{
	return by->order ? by->order[index] : index;
}

static enum hd_status write_domain(struct rpm_writer *writer, uint32_t domain,
				   const struct by_domain *types, const struct by_domain *nodes,
				   const struct by_domain *roots)
{
	put_domain(writer, &writer->graph->domains.rows[domain], true);
	TRY(end_line(writer));
	for (uint32_t i = types->starts[domain]; i < types->starts[domain + 1]; i++) {
		uint32_t type = by_domain_at(types, i);
		TRY(write_type_lines(writer, type, type + 1));
	}
	for (uint32_t i = nodes->starts[domain]; i < nodes->starts[domain + 1]; i++)
		TRY(write_object_line(writer, by_domain_at(nodes, i)));
	for (uint32_t i = roots->starts[domain]; i < roots->starts[domain + 1]; i++) {
		const struct graph_root *root = &writer->graph->roots[by_domain_at(roots, i)];
		/* Equal records are written each. */
		if (!root->repeated)
			TRY(write_root_line(writer, root));
	}
	put_domain(writer, &writer->graph->domains.rows[domain], false);
	return end_line(writer);
}

static enum hd_status write_all_domains(struct rpm_writer *writer, const struct by_domain *types,
					const struct by_domain *nodes,
					const struct by_domain *roots)
{
	for (uint32_t domain = 0; domain < writer->graph->domains.count; domain++)
		TRY(write_domain(writer, domain, types, nodes, roots));
	return rpm_flush(writer);
}

enum hd_status rpm_write(const struct hd_graph *graph, const struct write_options *options,
			 struct job *job, format_write_fn write, void *arg, struct hd_error *err)
{
	struct rpm_writer writer = {
		.graph = graph,
		.live = options && options->live_only ? options->live : NULL,
		.job = job,
		.write = write,
		.arg = arg,
		.err = err,
	};
	HD_CLEANUP(by_domain) struct by_domain types = { 0 }, nodes = { 0 }, roots = { 0 };
	job_begin(job, "Writing objects", graph->object_count);
	TRY(by_domain_init(&types, graph, graph->type_count, domain_of_type, err));
	TRY(by_domain_init(&nodes, graph, graph->object_count, domain_of_node, err));
	TRY(by_domain_init(&roots, graph, graph->root_count, domain_of_root, err));
	enum hd_status status = write_all_domains(&writer, &types, &nodes, &roots);
	text_deinit(&writer.text);
	return status;
}
