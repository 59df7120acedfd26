/* SPDX-License-Identifier: MIT */
/* Names of types where ids are wanted: dumpmt WebShop.Session. */
#include "command/type_words.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/name_match.h"
#include "analysis/name_similar.h"
#include "gc/heap.h"
#include "graph/heap_graph.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/type.h"
#include "util/text.h"

/* So many ids of one name, or names that are similar, a message has. */
#define SHOWN_MAX 3u

/* A search for a type, and what it found. */
struct type_search {
	const char *name;
	enum {
		SEARCH_IDS,  /* ids of a whole name */
		SEARCH_PART, /* is there a name with this part? */
		SEARCH_NAME, /* is there this name (name_is())? */
	} kind;
	size_t size;
	uint64_t ids[SHOWN_MAX];
	size_t id_count; /* of that name, those that are not in ids too */
	struct similar_name {
		const char *name;
		size_t size;
		unsigned int difference;
	} similar[SHOWN_MAX]; /* the nearest first, then the shortest */
	size_t similar_count;
	const struct heap *heap; /* NULL: types of a dump file */
};

bool word_is_type_name(const char *word)
{
	return *word && !strpbrk(word, "$(*&-") && strpbrk(word, ".<");
}

static bool is_found(const struct type_search *search, uint64_t id)
{
	for (size_t i = 0; i < search->id_count && i < SHOWN_MAX; i++) {
		if (search->ids[i] == id)
			return true;
	}
	return false;
}

/* The names are the graph's, or the runtime's: they stay as long as it is open. */
static void keep_similar(struct type_search *search, const char *name, size_t size,
			 unsigned int difference)
{
	struct similar_name *rows = search->similar;
	size_t at = search->similar_count;
	for (; at && (rows[at - 1].difference > difference ||
		      (rows[at - 1].difference == difference && rows[at - 1].size > size));
	     at--) {
		if (at < SHOWN_MAX)
			rows[at] = rows[at - 1];
	}
	if (at == SHOWN_MAX)
		return;
	rows[at] = (struct similar_name){ name, size, difference };
	search->similar_count += search->similar_count < SHOWN_MAX;
}

static void look_at_name(struct type_search *search, const char *name, size_t size, uint64_t id)
{
	if (search->kind != SEARCH_IDS) {
		search->id_count += search->kind == SEARCH_PART
					    ? name_matches(name, size, search->name)
					    : name_is(name, size, search->name);
		unsigned int difference = name_difference(name, size, search->name);
		if (difference < NAME_DIFFERS)
			keep_similar(search, name, size, difference);
	} else if (size == search->size && memcmp(name, search->name, size) == 0) {
		if (is_found(search, id))
			return; /* a dump file may have a type in several sections */
		if (search->id_count < SHOWN_MAX)
			search->ids[search->id_count] = id;
		search->id_count++;
	} else {
		bool matches = name_matches(name, size, search->name);
		unsigned int difference = matches ? 0 : name_difference(name, size, search->name);
		if (difference < NAME_DIFFERS)
			keep_similar(search, name, size, difference);
	}
}

static bool look_at_type(void *arg, const struct type *type)
{
	struct type_search *search = arg;
	size_t size;
	const char *name = type_name(search->heap->runtime, type, &size);
	if (name && !type->is_free)
		look_at_name(search, name, size, type->method_table);
	return search->kind == SEARCH_IDS || !search->id_count;
}

static enum hd_status look_at_all(const struct call *call, struct type_search *search)
{
	const struct hd_graph *graph = call->graph;
	if (call->heap) {
		search->heap = call->heap;
		return type_for_each(call->heap->runtime, look_at_type, search, call->err);
	}
	bool is_done = false;
	for (uint32_t i = 0; graph && i < graph->type_count && !is_done; i++) {
		const struct graph_type *type = &graph->types[i];
		if (type->name)
			look_at_name(search, type->name, type->name_size, type->id);
		is_done = search->kind != SEARCH_IDS && search->id_count;
	}
	return HD_OK;
}

static enum hd_status no_such_type(const struct call *call, const struct type_search *search)
{
	HD_CLEANUP(text) struct text similar = { 0 };
	for (size_t i = 0; i < search->similar_count; i++) {
		text_puts(&similar, i ? ", " : "; similar: ");
		text_escape(&similar, search->similar[i].name, search->similar[i].size);
	}
	if (similar.failed)
		return fail_nomem(call->err);
	const char *rest = search->similar_count ? similar.bytes : "; types lists the types";
	if (search->kind == SEARCH_PART) {
		return fail(call->err, HD_ERR_NOTFOUND, 0, "no type contains \"%.200s\"%.600s",
			    search->name, rest);
	}
	if (search->kind == SEARCH_NAME) {
		return fail(call->err, HD_ERR_NOTFOUND, 0, "no type is called \"%.200s\"%.600s",
			    search->name, rest);
	}
	return fail(call->err, HD_ERR_NOTFOUND, 0,
		    "\"%.200s\" is neither a hexadecimal id, such as 1ce056, nor the name "
		    "of a type%.600s",
		    search->name, rest);
}

static enum hd_status not_one_type(const struct call *call, const struct type_search *search)
{
	const char *name = search->name;
	if (!search->id_count)
		return no_such_type(call, search);
	return fail(call->err, HD_ERR_ARGUMENT, 0,
		    "%zu types are called %.200s; say which by its id: %" PRIx64 ", %" PRIx64 "%s",
		    search->id_count, name, search->ids[0], search->ids[1],
		    search->id_count > 2 ? ", ..." : "");
}

static enum hd_status find_type_of_word(const struct call *call, struct value *value)
{
	struct type_search search = { .name = value->text, .size = strlen(value->text) };
	TRY(look_at_all(call, &search));
	if (search.id_count != 1)
		return not_one_type(call, &search);
	value->number = search.ids[0];
	return HD_OK;
}

enum hd_status call_find_types(struct call *call)
{
	for (size_t i = 0; i < WORDS_MAX; i++) {
		if (call->words[i].is_type)
			TRY(find_type_of_word(call, &call->words[i]));
	}
	for (size_t i = 0; i < OPTIONS_MAX; i++) {
		if (call->options[i].is_type)
			TRY(find_type_of_word(call, &call->options[i]));
	}
	return HD_OK;
}

static enum hd_status check_search(const struct call *call, struct type_search *search)
{
	search->size = strlen(search->name);
	TRY(look_at_all(call, search));
	return search->id_count ? HD_OK : no_such_type(call, search);
}

enum hd_status call_check_pattern(const struct call *call, const char *part)
{
	struct type_search search = { .name = part, .kind = SEARCH_PART };
	return check_search(call, &search);
}

enum hd_status call_check_name(const struct call *call, const char *name)
{
	struct type_search search = { .name = name, .kind = SEARCH_NAME };
	return check_search(call, &search);
}

enum hd_status call_check_patterns(const struct call *call)
{
	const struct option *options = call->command->options;
	for (size_t i = 0; options && options[i].name; i++) {
		if (options[i].kind == VALUE_TYPE && call->options[i].given)
			TRY(call_check_pattern(call, call->options[i].text));
	}
	return HD_OK;
}
