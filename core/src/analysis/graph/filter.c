/* SPDX-License-Identifier: MIT */
#include "analysis/graph/filter.h"

#include <string.h>

#include "util/bitmap.h"
#include "util/text.h"

/* Above the arity of any type (ECMA-335 II.22.20: two bytes). */
#define ARITY_LIMIT 65536u

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of the type arguments that @p name begins with, "<A, B<C>>", or 0; how many they are. */
static size_t arguments_of(const char *name, size_t size, uint64_t *ret_count)
{
	size_t depth = 0;
	*ret_count = 1;
	for (size_t i = 0; i < size; i++) {
		switch (name[i]) {
		case '<':
		case '[':
			depth++;
			break;
		case '>':
		case ']':
			if (--depth == 0)
				return i + 1;
			break;
		case ',':
			*ret_count += depth == 1;
			break;
		default:
			break;
		}
	}
	return 0;
}

/*
 * An arity at *@p part, with its backtick or, as LLDB passes it on, without: step over it if the name
 * goes on with as many arguments; what they take.
 */
static size_t skip_arity(const char *name, size_t size, const char **part)
{
	const char *at = *part;
	while (*at == '`')
		at++;
	if (!size || *name != '<' || !is_digit(*at))
		return 0;
	uint64_t arity = 0, count;
	for (; is_digit(*at) && arity < ARITY_LIMIT; at++)
		arity = arity * 10 + (uint64_t)(*at - '0');
	size_t taken = arguments_of(name, size, &count);
	if (!taken || count != arity)
		return 0;
	*part = at;
	/* They may be in the part too. */
	return *at == '<' ? 0 : taken;
}

/*
 * Step over the character at @p name and over its escape at @p part, which begins with a backslash;
 * its bytes, or 0 when that is something else.
 */
static size_t skip_escape(const char *name, size_t size, const char **part)
{
	char escape[ESCAPED_SIZE];
	size_t length = escape_write(name, size, escape), written = strlen(escape);
	if (!written || strncmp(*part, escape, written) != 0)
		return 0;
	*part += written;
	return length;
}

/* Does @p name, from its start, begin with @p part? */
static bool name_has_prefix(const char *name, size_t size, const char *part)
{
	for (;;) {
		size_t taken = skip_arity(name, size, &part);
		name += taken;
		size -= taken;
		while (*part == '`')
			part++;
		while (size && *name == '`') {
			name++;
			size--;
		}
		if (!*part)
			return true;
		size_t escaped = size && *part == '\\' ? skip_escape(name, size, &part) : 0;
		if (!escaped && (!size || *name != *part))
			return false;
		part += !escaped;
		name += escaped ? escaped : 1;
		size -= escaped ? escaped : 1;
	}
}

bool name_matches(const char *name, size_t size, const char *part)
{
	for (size_t i = 0; i <= size; i++) {
		if (name_has_prefix(name + i, size - i, part))
			return true;
	}
	return false;
}

enum hd_status filter_prepare(struct filter *filter, const struct hd_graph *graph,
			      struct hd_error *err)
{
	filter->types = bitmap_alloc(graph->type_count);
	if (!filter->types)
		return fail_nomem(err);
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		bool passes = !filter->has_mt || type->id == filter->mt;
		if (passes && filter->type_part) {
			passes = type->name &&
				 name_matches(type->name, type->name_size, filter->type_part);
		}
		if (passes)
			(void)bitmap_add(filter->types, i);
	}
	filter->first = graph_lower_bound(graph, filter->begin);
	filter->last = filter->end ? graph_lower_bound(graph, filter->end) : graph->object_count;
	if (filter->last < filter->first)
		filter->last = filter->first;
	return HD_OK;
}

void filter_deinit(struct filter *filter, const struct hd_graph *graph)
{
	if (filter->types)
		bitmap_free(filter->types, graph->type_count);
	filter->types = NULL;
}

static bool filter_passes(const struct filter *filter, const struct hd_graph *graph, uint32_t node)
{
	if (!bitmap_has(filter->types, graph->node_types[node]))
		return false;
	if (filter->min || filter->has_max) {
		uint64_t size = graph_size(graph, node);
		if (size < filter->min || (filter->has_max && size > filter->max))
			return false;
	}
	if (filter->has_generation &&
	    graph->places.generation(graph->places.arg, node) != filter->generation)
		return false;
	return !filter->live || bitmap_has(filter->live->bitmap, node) != filter->dead;
}

uint32_t filter_next(const struct filter *filter, const struct hd_graph *graph, uint32_t node)
{
	while (node < filter->last && !filter_passes(filter, graph, node))
		node++;
	return node;
}
