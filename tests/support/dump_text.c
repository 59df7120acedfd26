/* SPDX-License-Identifier: MIT */
#include "support/dump_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/assert_more.h"

void dump_file_make(struct dump_file *file, const char *bytes, size_t size)
{
	file->fd = memfd_create("dump", MFD_CLOEXEC);
	CU_ASSERT_FATAL(file->fd >= 0);
	while (size) {
		ssize_t wrote = write(file->fd, bytes, size);
		CU_ASSERT_FATAL(wrote > 0);
		bytes += wrote;
		size -= (size_t)wrote;
	}
	(void)snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
}

void dump_file_close(struct dump_file *file)
{
	(void)close(file->fd);
}

enum hd_status dump_open(const char *bytes, size_t size, const struct dump_reading *how,
			 struct hd_graph **ret, struct hd_error *err)
{
	struct dump_file file;
	dump_file_make(&file, bytes, size);
	const struct format_options options = { .lenient = how->lenient, .exact = how->exact };
	struct job job = { .workers = how->workers, .max_mem = how->max_mem };
	enum hd_status status = format_open(file.path, &options, &job, ret, NULL, err);
	dump_file_close(&file);
	return status;
}

static struct hd_graph *graph_of(const char *string, const struct dump_reading *how)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	(void)dump_open(string, strlen(string), how, &graph, &err);
	ASSERT_TEXT(err.message, "");
	REQUIRE(graph);
	return graph;
}

struct hd_graph *dump_graph(const char *string)
{
	return graph_of(string, &(struct dump_reading){ 0 });
}

struct hd_graph *dump_graph_lenient(const char *string)
{
	return graph_of(string, &(struct dump_reading){ .lenient = true });
}

struct text dump_source_file(const char *name)
{
	char path[512], block[4096];
	(void)snprintf(path, sizeof(path), HD_SOURCE_DIR "/%s", name);
	FILE *file = fopen(path, "rb");
	REQUIRE(file);
	struct text text = { 0 };
	for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;)
		text_append(&text, block, got);
	(void)fclose(file);
	CU_ASSERT_FATAL(text.size > 0);
	return text;
}

static bool append(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

struct text dump_written(const struct hd_graph *graph)
{
	struct text text = { 0 };
	ASSERT_UINT_FATAL(rpm_format.write(graph, NULL, NULL, append, &text, NULL), HD_OK);
	CU_ASSERT_FATAL(!text.failed);
	return text;
}

const struct graph_finding *dump_finding(const struct hd_graph *graph, const char *kind)
{
	for (size_t i = 0; i < graph->findings.count; i++) {
		if (strcmp(finding_name(graph->findings.rows[i].kind), kind) == 0)
			return &graph->findings.rows[i];
	}
	return NULL;
}

/* Two graphs and the first thing that differs. */
struct comparison {
	const struct hd_graph *a, *b;
	enum graph_extent extent;
	char difference[400];
};

static HD_PRINTF(2, 3) bool differ(struct comparison *by, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	(void)vsnprintf(by->difference, sizeof(by->difference), format, args);
	va_end(args);
	return false;
}

static bool same_number(struct comparison *by, const char *what, uint64_t at, uint64_t a,
			uint64_t b)
{
	if (a == b)
		return true;
	return differ(by, "%s (at %" PRIx64 "): 0x%" PRIx64 ", expected 0x%" PRIx64, what, at, a,
		      b);
}

struct piece {
	const char *bytes;
	size_t size;
};

static bool same_bytes(struct comparison *by, const char *what, uint64_t at, struct piece a,
		       struct piece b)
{
	if (!a.bytes == !b.bytes && a.size == b.size &&
	    (!a.bytes || memcmp(a.bytes, b.bytes, a.size) == 0))
		return true;
	return differ(by, "%s (at %" PRIx64 "): \"%.*s\", expected \"%.*s\"", what, at,
		      (int)(a.size < 99 ? a.size : 99), a.bytes ? a.bytes : "",
		      (int)(b.size < 99 ? b.size : 99), b.bytes ? b.bytes : "");
}

static bool same_domains(struct comparison *by)
{
	if (!same_number(by, "domain count", 0, by->a->domains.count, by->b->domains.count))
		return false;
	for (uint32_t i = 0; i < by->a->domains.count; i++) {
		const struct graph_domain *a = &by->a->domains.rows[i],
					  *b = &by->b->domains.rows[i];
		if (!same_bytes(by, "domain", i, (struct piece){ a->name, a->name_size },
				(struct piece){ b->name, b->name_size }) ||
		    !same_number(by, "version", i, a->version, b->version) ||
		    !same_number(by, "has start", i, a->has_start, b->has_start) ||
		    !same_number(by, "has end", i, a->has_end, b->has_end) ||
		    !same_number(by, "start", i, a->start, b->start) ||
		    !same_number(by, "end", i, a->end, b->end))
			return false;
	}
	return true;
}

static bool same_type(struct comparison *by, uint32_t i, uint32_t k)
{
	const struct graph_type *a = &by->a->types[i], *b = &by->b->types[k];
	return same_number(by, "type id", i, a->id, b->id) &&
	       same_number(by, "domain of type", a->id, a->domain, b->domain) &&
	       same_bytes(by, "type", a->id, (struct piece){ a->name, a->name_size },
			  (struct piece){ b->name, b->name_size }) &&
	       same_number(by, "objects of type", a->id, a->count, b->count) &&
	       same_number(by, "bytes of type", a->id, a->size, b->size);
}

/* Types are compared by this. */
struct type_order {
	const struct hd_graph *graph;
};

static int compare_types(const void *a, const void *b, void *arg)
{
	const struct hd_graph *graph = ((const struct type_order *)arg)->graph;
	const struct graph_type *x = &graph->types[*(const uint32_t *)a];
	const struct graph_type *y = &graph->types[*(const uint32_t *)b];
	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Indices of the types by domain and id, or as they stand; to be freed. */
static uint32_t *ordered_types(const struct hd_graph *graph, enum graph_extent extent)
{
	uint32_t *order = calloc((size_t)graph->type_count + 1, sizeof(*order));
	REQUIRE(order);
	for (uint32_t i = 0; i < graph->type_count; i++)
		order[i] = i;
	struct type_order by = { .graph = graph };
	if (extent == GRAPH_CONTENT)
		qsort_r(order, graph->type_count, sizeof(*order), compare_types, &by);
	return order;
}

static bool same_types(struct comparison *by)
{
	if (!same_number(by, "type count", 0, by->a->type_count, by->b->type_count))
		return false;
	uint32_t *a = ordered_types(by->a, by->extent), *b = ordered_types(by->b, by->extent);
	bool same = true;
	for (uint32_t i = 0; same && i < by->a->type_count; i++)
		same = same_type(by, a[i], b[i]);
	free(a);
	free(b);
	return same;
}

static bool same_node(struct comparison *by, uint32_t node)
{
	const struct hd_graph *a = by->a, *b = by->b;
	uint64_t id = a->ids[node], degree = csr_degree(&a->forward, node);
	if (!same_number(by, "id", node, id, b->ids[node]) ||
	    !same_number(by, "size", id, graph_size(a, node), graph_size(b, node)) ||
	    !same_number(by, "found node", id, hd_graph_find(a, id), node) ||
	    !same_number(by, "references", id, degree, csr_degree(&b->forward, node)))
		return false;
	const uint32_t *x = a->forward.targets + csr_begin(&a->forward, node);
	const uint32_t *y = b->forward.targets + csr_begin(&b->forward, node);
	for (uint64_t i = 0; i < degree; i++) {
		if (!same_number(by, "target", id, a->ids[x[i]], b->ids[y[i]]))
			return false;
	}
	return graph_is_missing(a, node) || same_type(by, a->node_types[node], b->node_types[node]);
}

static bool same_nodes(struct comparison *by)
{
	if (!same_number(by, "object count", 0, by->a->object_count, by->b->object_count) ||
	    !same_number(by, "node count", 0, by->a->node_count, by->b->node_count) ||
	    !same_number(by, "edge count", 0, by->a->forward.edge_count,
			 by->b->forward.edge_count) ||
	    !same_number(by, "total size", 0, by->a->total_size, by->b->total_size))
		return false;
	for (uint32_t node = 0; node < by->a->node_count; node++) {
		if (!same_node(by, node))
			return false;
	}
	return true;
}

static bool same_roots(struct comparison *by)
{
	if (!same_number(by, "root count", 0, by->a->root_count, by->b->root_count))
		return false;
	for (uint32_t i = 0; i < by->a->root_count; i++) {
		const struct graph_root *a = &by->a->roots[i], *b = &by->b->roots[i];
		if (!same_number(by, "root node", i, a->node, b->node) ||
		    !same_number(by, "root domain", i, a->domain, b->domain) ||
		    !same_number(by, "root kind", i, a->kind, b->kind) ||
		    !same_number(by, "root flags", i, a->flags, b->flags) ||
		    !same_number(by, "repeated root", i, a->repeated, b->repeated) ||
		    !same_number(by, "root container", i, a->container != HD_NONE,
				 b->container != HD_NONE))
			return false;
		if (a->container != HD_NONE && !same_type(by, a->container, b->container))
			return false;
	}
	return true;
}

static bool same_findings(struct comparison *by)
{
	if (by->extent == GRAPH_CONTENT)
		return true;
	if (!same_number(by, "finding count", 0, by->a->findings.count, by->b->findings.count))
		return false;
	for (size_t i = 0; i < by->a->findings.count; i++) {
		const struct graph_finding *a = &by->a->findings.rows[i],
					   *b = &by->b->findings.rows[i];
		const char *kind = finding_name(a->kind), *other = finding_name(b->kind);
		if (!same_bytes(by, "finding", i, (struct piece){ kind, strlen(kind) },
				(struct piece){ other, strlen(other) }) ||
		    !same_number(by, "finding's count", i, a->count, b->count) ||
		    !same_number(by, "finding's line", i, a->line, b->line) ||
		    !same_bytes(by, "finding's text", i,
				(struct piece){ a->detail, strlen(a->detail) },
				(struct piece){ b->detail, strlen(b->detail) }))
			return false;
	}
	return true;
}

void graphs_equal_at(const struct hd_graph *got, const struct hd_graph *expected,
		     enum graph_extent extent, const char *file, unsigned int line)
{
	struct comparison by = { .a = got, .b = expected, .extent = extent };
	if (!same_domains(&by) || !same_types(&by) || !same_nodes(&by) || !same_roots(&by) ||
	    !same_findings(&by))
		(void)CU_assertImplementation(CU_FALSE, line, by.difference, file, "", CU_FALSE);
}
