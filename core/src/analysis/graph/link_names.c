/* SPDX-License-Identifier: MIT */
#include "analysis/graph/link_names.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/*
 * If an object has this many references or more, not every link is looked up, because each needs a
 * search.
 */
#define MANY_REFERENCES 256u
/* Links of one type that are looked up then. */
#define SAMPLES 16u
/* How many references may be skipped for one object. */
#define WORK_MAX ((uint64_t)1 << 26)

enum {
	NAME_NONE = LINK_NONE,
	NAME_ELEMENT,
};

struct link_name_key {
	const struct link_names *names;
	const char *text;
};

static bool is_name(const void *arg, uint32_t index)
{
	const struct link_name_key *key = arg;
	return strcmp(link_name(key->names, index), key->text) == 0;
}

enum hd_status link_names_add(struct link_names *names, const char *text, uint32_t *ret,
			      struct hd_error *err)
{
	const struct link_name_key key = { names, text ? text : "" };
	size_t size = strlen(key.text);
	uint64_t hash = 0;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)key.text[i]) * 0x100000001b3u;
	uint32_t fresh = (uint32_t)names->names_count;
	if (fresh == UINT32_MAX || !PAGES_RESERVE(names, names))
		return fail_nomem(err);
	uint32_t index = hash_index_add(&names->index, hash_mix(0, hash), fresh, is_name, &key);
	if (index == fresh) {
		names->names[names->names_count++] = names->text.size;
		text_append(&names->text, key.text, size + 1);
	}
	if (index == UINT32_MAX || names->text.failed)
		return fail_nomem(err);
	*ret = index;
	return HD_OK;
}

enum hd_status link_names_init(struct link_names *names, const struct hd_graph *graph,
			       struct hd_error *err)
{
	uint32_t unused;
	*names = (struct link_names){ .graph = graph };
	enum hd_status status = link_names_add(names, "", &unused, err);
	if (status == HD_OK)
		status = link_names_add(names, "[]", &unused, err);
	if (status != HD_OK)
		link_names_deinit(names);
	return status;
}

void link_names_deinit(struct link_names *names)
{
	text_deinit(&names->text);
	text_deinit(&names->scratch);
	hash_index_deinit(&names->index);
	pages_free(names->names, names->names_capacity, sizeof(*names->names));
	*names = (struct link_names){ 0 };
}

/* Change "[17].items[0,3]" to "[].items[]", in place. */
static void drop_indices(char *text)
{
	char *to = text;
	bool inside = false;
	for (const char *at = text; *at; at++) {
		bool is_index = (*at >= '0' && *at <= '9') || *at == ',' || *at == '-';
		if (!inside || !is_index)
			*to++ = *at;
		inside = *at == '[' || (inside && is_index);
	}
	*to = '\0';
}

/* The name of one link. */
static enum hd_status look_up_link(struct link_names *names, uint32_t from, uint32_t to,
				   uint32_t *ret, struct hd_error *err)
{
	const struct graph_places *places = &names->graph->places;
	struct text *text = &names->scratch;
	text->size = 0;
	places->link(places->arg, from, to, text);
	if (text->failed)
		return fail_nomem(err);
	*ret = NAME_NONE;
	if (!text->size)
		return HD_OK;
	drop_indices(text->bytes);
	return link_names_add(names, text->bytes + (text->bytes[0] == ' '), ret, err);
}

static uint32_t link_node_type(const struct hd_graph *graph, uint32_t node)
{
	return graph_is_missing(graph, node) ? HD_NONE : graph->node_types[node];
}

static int compare_link_types(const void *a, const void *b, void *arg)
{
	const struct hd_graph *graph = ((const struct link_names *)arg)->graph;
	uint32_t x = ((const struct named_link *)a)->node, y = ((const struct named_link *)b)->node;
	uint32_t p = link_node_type(graph, x), q = link_node_type(graph, y);
	if (p != q)
		return p < q ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Links of one object to more than SAMPLES objects of one type. */
struct samples {
	uint32_t name;
	bool is_one;       /* all had the same name */
	bool are_elements; /* all were elements of an array */
};

static enum hd_status take_samples(struct link_names *names, uint32_t from,
				   const struct named_link *links, size_t count,
				   struct samples *ret, struct hd_error *err)
{
	uint64_t degree = csr_degree(&names->graph->forward, from);
	size_t step = count / SAMPLES;
	*ret = (struct samples){ .name = NAME_NONE };
	for (size_t i = 0; i < SAMPLES && names->work < WORK_MAX; i++, names->work += degree) {
		uint32_t name;
		/* Not at a regular distance: keys and values may alternate. */
		size_t at = i * step + (size_t)(hash_mix(0, i) % step);
		TRY(look_up_link(names, from, links[at].node, &name, err));
		bool is_element = link_name(names, name)[0] == '[';
		ret->is_one = i == 0 || (ret->is_one && name == ret->name);
		ret->are_elements = is_element && (i == 0 || ret->are_elements);
		ret->name = name;
	}
	return HD_OK;
}

/* Look up every one, as far as that is not too expensive. */
static enum hd_status name_each(struct link_names *names, uint32_t from, struct named_link *links,
				size_t count, struct hd_error *err)
{
	uint64_t degree = csr_degree(&names->graph->forward, from);
	for (size_t i = 0; i < count; i++) {
		links[i].name = NAME_NONE;
		if (names->work >= WORK_MAX)
			continue;
		TRY(look_up_link(names, from, links[i].node, &links[i].name, err));
		names->work += degree;
	}
	return HD_OK;
}

static enum hd_status name_group(struct link_names *names, uint32_t from, struct named_link *links,
				 size_t count, struct hd_error *err)
{
	if (count <= SAMPLES)
		return name_each(names, from, links, count, err);
	struct samples samples;
	TRY(take_samples(names, from, links, count, &samples, err));
	if (!samples.is_one && !samples.are_elements)
		return name_each(names, from, links, count, err);
	for (size_t i = 0; i < count; i++)
		links[i].name = samples.is_one ? samples.name : NAME_ELEMENT;
	return HD_OK;
}

enum hd_status link_names_one(struct link_names *names, uint32_t from, uint32_t to, uint32_t *ret,
			      struct hd_error *err)
{
	*ret = NAME_NONE;
	return names->graph->places.link ? look_up_link(names, from, to, ret, err) : HD_OK;
}

enum hd_status link_names_of(struct link_names *names, uint32_t from, struct named_link *links,
			     size_t count, struct hd_error *err)
{
	const struct hd_graph *graph = names->graph;
	names->work = 0;
	if (!graph->places.link) {
		for (size_t i = 0; i < count; i++)
			links[i].name = NAME_NONE;
		return HD_OK;
	}
	if (csr_degree(&graph->forward, from) < MANY_REFERENCES)
		return name_each(names, from, links, count, err);
	qsort_r(links, count, sizeof(*links), compare_link_types, names);
	for (size_t begin = 0, end; begin < count; begin = end) {
		uint32_t type = link_node_type(graph, links[begin].node);
		for (end = begin; end < count && link_node_type(graph, links[end].node) == type;)
			end++;
		TRY(name_group(names, from, links + begin, end - begin, err));
	}
	return HD_OK;
}
