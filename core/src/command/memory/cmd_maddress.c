/* SPDX-License-Identifier: MIT */
/* maddress: the address space, with who has each part of it. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/name_match.h"
#include "command/memory/memory_call.h"
#include "command/table.h"
#include "native/memory_regions.h"
#include "util/alloc.h"
#include "util/sink.h"
#include "util/text.h"

#define MADDRESS_OPTIONS(X)                                                                        \
	X(OPT_SUMMARY, "summary", VALUE_NONE, NULL, "only the sums of each kind", NULL)            \
	X(OPT_LIST, "list", VALUE_TEXT, "KINDS",                                                   \
	  "only these, separated by commas: parts of kinds and owners, or SOS's names", NULL)      \
	X(OPT_IMAGES, "images", VALUE_NONE, NULL, "also the sums of each mapped file", NULL)       \
	X(OPT_RESERVE, "reserve", VALUE_NONE, NULL,                                                \
	  "also addresses that are only reserved, without memory", NULL)                           \
	X(OPT_RESERVE_HEURISTIC, "reserveHeuristic", VALUE_NONE, NULL,                             \
	  "with -reserve: guess who has reserved them", NULL)                                      \
	X(OPT_ORDER_BY_SIZE, "orderBySize", VALUE_NONE, NULL, "the largest first, not by address", \
	  NULL)                                                                                    \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "the same as -summary", NULL)                        \
	X(OPT_FORCE_HANDLE_TABLE, "forceHandleTable", VALUE_NONE, NULL,                            \
	  "find handle tables, as is always done here", NULL)

OPTIONS(maddress, MADDRESS_OPTIONS);

#define REGION_LIST(X)                                                                             \
	X(REGION_KIND, "kind", NULL, KIND_TEXT, 0, 0, "who has it: gen0, malloc-used, ...")        \
	X(REGION_TEXT_KIND, NULL, "Memory Kind", KIND_TEXT, 44, LOOK_LEFT, NULL)                   \
	X(REGION_START, "start", "StartAddr", KIND_ADDRESS, 12, LOOK_ADDRESS, "its first address") \
	X(REGION_LAST, "last", "EndAddr-1", KIND_ADDRESS, 12, 0, "its last address")               \
	X(REGION_SIZE, "size", NULL, KIND_BYTES, 0, 0, "bytes of its addresses")                   \
	X(REGION_SIZE_TEXT, NULL, "Size", KIND_TEXT, 8, 0, NULL)                                   \
	X(REGION_TYPE, "type", "Type", KIND_TEXT, 11, LOOK_LEFT,                                   \
	  "MEM_IMAGE, MEM_MAPPED: of a file or shared; MEM_PRIVATE")                               \
	X(REGION_STATE, "state", "State", KIND_TEXT, 11, LOOK_LEFT, "MEM_COMMIT or MEM_RESERVE")   \
	X(REGION_PROTECTION, "protection", NULL, KIND_TEXT, 0, 0,                                  \
	  "what the program may do with it: r, w, x")                                              \
	X(REGION_PROTECTION_NAME, NULL, "Protect", KIND_TEXT, 17, LOOK_LEFT, NULL)                 \
	X(REGION_OWNER, "owner", "Image", KIND_TEXT, 0, LOOK_LEFT | LOOK_LEAVE_OUT,                \
	  "the file, thread, context or table")

COLUMNS(region, REGION_COLUMNS, REGION_LIST);

SCHEMA(region, .name = "regions", .is_main = true);

enum sum_column {
	SUM_NAME,
	SUM_TEXT,
	SUM_COUNT,
	SUM_SIZE_TEXT,
	SUM_SIZE,
	SUM_COLUMNS
};

/* Both tables of sums have the same columns but for their first one. */
#define SUM_COLUMNS_OF(name, name_help, heading)                                                \
	[SUM_NAME] = { name, NULL, KIND_TEXT, 0, 0, name_help },                                \
	[SUM_TEXT] = { NULL, heading, KIND_TEXT, 44, LOOK_LEFT, NULL },                         \
	[SUM_COUNT] = { "count", "Count", KIND_NUMBER, 9, LOOK_THOUSANDS, "how many regions" }, \
	[SUM_SIZE_TEXT] = { NULL, "Size", KIND_TEXT, 10, 0, NULL },                             \
	[SUM_SIZE] = { "size", "Size (bytes)", KIND_BYTES,                                      \
		       18,     LOOK_THOUSANDS, "bytes of their addresses" }

static const struct column kind_columns[SUM_COLUMNS] = {
	SUM_COLUMNS_OF("kind", "who has them", "Memory Type"),
};

SCHEMA(kind, .name = "kinds", .is_main = true);

static const struct column image_columns[SUM_COLUMNS] = {
	SUM_COLUMNS_OF("image", "path of the file", "Image"),
};

SCHEMA(image, .name = "images");

struct region_sum {
	enum memory_kind kind;
	bool is_blamed;
	const char *owner; /* of a table of images; else NULL */
	uint64_t count, size;
};

static bool is_image(enum memory_kind kind)
{
	return kind == MEMORY_IMAGE_MANAGED || kind == MEMORY_IMAGE_NATIVE;
}

static const char *type_of(const struct memory_region *region)
{
	if (is_image(region->kind))
		return "MEM_IMAGE";
	return region->mapping->is_shared || *region->mapping->path == '/' ? "MEM_MAPPED"
									   : "MEM_PRIVATE";
}

static void region_row(struct call *call, const struct memory_region *region)
{
	const struct memory_mapping *mapping = region->mapping;
	char text[MEMORY_REGION_TEXT], word[MEMORY_REGION_TEXT], size[32];
	const char protection[] = { mapping->flags & PF_R ? 'r' : '-',
				    mapping->flags & PF_W ? 'w' : '-',
				    mapping->flags & PF_X ? 'x' : '-', '\0' };
	const struct cell cells[REGION_COLUMNS] = {
		[REGION_KIND] =
			cell_string(memory_region_word(region->kind, region->is_blamed, word)),
		[REGION_TEXT_KIND] =
			cell_string(memory_region_text(region->kind, region->is_blamed, text)),
		[REGION_START] = cell_number(region->start),
		[REGION_LAST] = cell_number(region->end - 1),
		[REGION_SIZE] = cell_number(region->end - region->start),
		[REGION_SIZE_TEXT] = cell_string(format_bytes(region->end - region->start, size)),
		[REGION_TYPE] = cell_string(type_of(region)),
		[REGION_STATE] = cell_string(region->is_reserved ? "MEM_RESERVE" : "MEM_COMMIT"),
		[REGION_PROTECTION] = cell_string(protection),
		[REGION_PROTECTION_NAME] = cell_string(memory_protection_name(mapping->flags)),
		[REGION_OWNER] = cell_string(region->owner),
	};
	answer_row(&call->answer, cells);
}

/* Is it one of what a word of -list names? */
static bool is_listed(const struct memory_region *region, const char *part)
{
	char text[MEMORY_REGION_TEXT], word[MEMORY_REGION_TEXT];
	const char *sos = memory_region_sos_name(region);
	(void)memory_region_word(region->kind, region->is_blamed, word);
	(void)memory_region_text(region->kind, region->is_blamed, text);
	return name_matches(word, strlen(word), part) || name_matches(text, strlen(text), part) ||
	       (region->owner && name_matches(region->owner, strlen(region->owner), part)) ||
	       strcasecmp(sos ? sos : memory_protection_name(region->mapping->flags), part) == 0;
}

/* The words of -list: the next one at *@p at, without spaces around it. */
static bool next_word(const char **at, struct text *word)
{
	const char *from = *at + strspn(*at, ", ");
	size_t size = strcspn(from, ",");
	*at = from + size;
	while (size && from[size - 1] == ' ')
		size--;
	word->size = 0;
	text_append(word, from, size);
	return size != 0;
}

/* Without -reserve, what is only reserved is left out, whoever has it. */
static bool is_shown(const struct call *call, const struct memory_region *region)
{
	return !region->is_reserved || call->options[OPT_RESERVE].given;
}

/* A word that names no region that is shown is a mistake, mostly. */
static void warn_of_word(struct call *call, const char *word, bool is_reserved)
{
	char message[128];
	(void)snprintf(message, sizeof(message), "no region matches \"%.60s\"%s", word,
		       is_reserved ? " but reserved ones: -reserve shows them" : "");
	sink_warn(call->sink, message);
}

/* Mark the regions that the words name. */
static enum hd_status choose_listed(struct call *call, const struct memory_regions *regions,
				    bool *chosen)
{
	const char *at = call->options[OPT_LIST].text;
	HD_CLEANUP(text) struct text word = { 0 };
	while (next_word(&at, &word) && !word.failed) {
		bool is_found = false, is_hidden = false;
		for (size_t i = 0; i < regions->rows_count; i++) {
			const struct memory_region *region = &regions->rows[i];
			if (!is_listed(region, word.bytes))
				continue;
			chosen[i] = true;
			is_found |= is_shown(call, region);
			is_hidden |= !is_shown(call, region);
		}
		if (!is_found)
			warn_of_word(call, word.bytes, is_hidden);
	}
	TRY_MEMORY(!word.failed, call->err);
	return HD_OK;
}

/* Keep the wanted ones. */
static enum hd_status choose_regions(struct call *call, struct memory_regions *regions)
{
	size_t kept = 0;
	HD_FREE bool *chosen = mem_calloc(regions->rows_count + 1, sizeof(*chosen));
	TRY_MEMORY(chosen, call->err);
	if (call->options[OPT_LIST].given)
		TRY(choose_listed(call, regions, chosen));
	for (size_t i = 0; i < regions->rows_count; i++) {
		const struct memory_region *region = &regions->rows[i];
		if (is_shown(call, region) && (chosen[i] || !call->options[OPT_LIST].given))
			regions->rows[kept++] = *region;
	}
	regions->rows_count = kept;
	return HD_OK;
}

static int compare_region_sizes(const void *a, const void *b)
{
	const struct memory_region *left = a, *right = b;
	uint64_t mine = left->end - left->start, other = right->end - right->start;
	if (mine != other)
		return mine > other ? -1 : 1;
	return (left->start > right->start) - (left->start < right->start);
}

static void write_regions(struct call *call, const struct memory_regions *regions)
{
	uint64_t bytes = 0;
	char size[32], number[NUMBER_SIZE], count[COUNT_SIZE];
	answer_table(&call->answer, &region_schema, NULL);
	for (size_t i = 0; i < regions->rows_count && !answer_is_stopped(&call->answer); i++) {
		region_row(call, &regions->rows[i]);
		bytes += regions->rows[i].end - regions->rows[i].start;
	}
	(void)answer_table_end(&call->answer);
	if (call->options[OPT_LIST].given) {
		answer_remark(&call->answer, "%s bytes (%s) in %s\n",
			      format_thousands(bytes, number), format_bytes(bytes, size),
			      format_count(regions->rows_count, "memory region", count));
	}
	answer_remark(&call->answer, "\n");
}

static void sum_row(struct call *call, const char *name, const char *text,
		    const struct region_sum *sum)
{
	char size[32];
	const struct cell cells[SUM_COLUMNS] = {
		[SUM_NAME] = cell_string(name),
		[SUM_TEXT] = cell_string(text),
		[SUM_COUNT] = cell_number(sum->count),
		[SUM_SIZE_TEXT] = cell_string(format_bytes(sum->size, size)),
		[SUM_SIZE] = cell_number(sum->size),
	};
	answer_row(&call->answer, cells);
}

static int compare_region_sums(const void *a, const void *b)
{
	const struct region_sum *left = a, *right = b;
	if (left->size != right->size)
		return left->size > right->size ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->is_blamed != right->is_blamed)
		return left->is_blamed ? 1 : -1;
	return left->owner && right->owner ? strcmp(left->owner, right->owner) : 0;
}

/* The largest first, then in text their total. */
static void write_sums(struct call *call, const struct schema *schema, struct region_sum *sums,
		       size_t count)
{
	struct region_sum total = { 0 };
	if (count)
		qsort(sums, count, sizeof(*sums), compare_region_sums);
	answer_table(&call->answer, schema, NULL);
	for (size_t i = 0; i < count && !answer_is_stopped(&call->answer); i++) {
		const struct region_sum *sum = &sums[i];
		char text[MEMORY_REGION_TEXT], word[MEMORY_REGION_TEXT];
		if (!sum->count)
			continue;
		if (sum->owner) {
			sum_row(call, sum->owner, sum->owner, sum);
		} else {
			sum_row(call, memory_region_word(sum->kind, sum->is_blamed, word),
				memory_region_text(sum->kind, sum->is_blamed, text), sum);
		}
		total.count += sum->count;
		total.size += sum->size;
	}
	if (answer_is_text(&call->answer))
		sum_row(call, NULL, "[TOTAL]", &total);
	(void)answer_table_end(&call->answer);
}

static void write_kind_sums(struct call *call, const struct memory_regions *regions)
{
	struct region_sum sums[2 * MEMORY_KINDS] = { 0 };
	for (unsigned int i = 0; i < 2 * MEMORY_KINDS; i++) {
		sums[i].kind = (enum memory_kind)(i / 2);
		sums[i].is_blamed = i % 2;
	}
	for (size_t i = 0; i < regions->rows_count; i++) {
		const struct memory_region *region = &regions->rows[i];
		struct region_sum *sum = &sums[2 * (size_t)region->kind + region->is_blamed];
		sum->count++;
		sum->size += region->end - region->start;
	}
	write_sums(call, &kind_schema, sums, (size_t)2 * MEMORY_KINDS);
}

static int compare_region_owners(const void *a, const void *b)
{
	const struct region_sum *left = a, *right = b;
	return strcmp(left->owner, right->owner);
}

/* Each file once. */
static enum hd_status write_image_sums(struct call *call, const struct memory_regions *regions)
{
	HD_FREE struct region_sum *sums = mem_calloc(regions->rows_count, sizeof(*sums));
	size_t count = 0, kept = 0;
	TRY_MEMORY(sums, call->err);
	for (size_t i = 0; i < regions->rows_count; i++) {
		const struct memory_region *region = &regions->rows[i];
		if (is_image(region->kind) && region->owner) {
			sums[count++] = (struct region_sum){ region->kind, false, region->owner, 1,
							     region->end - region->start };
		}
	}
	if (count)
		qsort(sums, count, sizeof(*sums), compare_region_owners);
	for (size_t i = 0; i < count; i++) {
		if (kept && strcmp(sums[kept - 1].owner, sums[i].owner) == 0) {
			sums[kept - 1].count++;
			sums[kept - 1].size += sums[i].size;
		} else {
			sums[kept++] = sums[i];
		}
	}
	write_sums(call, &image_schema, sums, kept);
	answer_remark(&call->answer, "\n");
	return HD_OK;
}

static enum hd_status write_maddress(struct call *call, struct memory_regions *regions)
{
	const struct value *options = call->options;
	bool is_list = options[OPT_LIST].given;
	bool is_summary = options[OPT_SUMMARY].given || options[OPT_STAT].given;
	if (options[OPT_RESERVE_HEURISTIC].given)
		memory_regions_blame(regions);
	TRY(choose_regions(call, regions));
	if ((options[OPT_ORDER_BY_SIZE].given || is_list) && regions->rows_count) {
		qsort(regions->rows, regions->rows_count, sizeof(*regions->rows),
		      compare_region_sizes);
	}
	if (!is_summary || is_list)
		write_regions(call, regions);
	if (options[OPT_IMAGES].given)
		TRY(write_image_sums(call, regions));
	if (!is_list || is_summary)
		write_kind_sums(call, regions);
	return HD_OK;
}

static enum hd_status run_maddress(struct call *call)
{
	HD_CLEANUP(memory_account) struct memory_account *account = NULL;
	HD_CLEANUP(memory_regions) struct memory_regions regions = { 0 };
	if (call->options[OPT_RESERVE_HEURISTIC].given && !call->options[OPT_RESERVE].given) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "-reserveHeuristic is about what -reserve shows: give both");
	}
	TRY(make_call_account(call, call->session, &account));
	TRY(memory_regions_read(account, &regions, call->err));
	return write_maddress(call, &regions);
}

COMMAND(maddress, .has_rows = true, .top_level = TOP_LEVEL_ALWAYS,
	.summary = "list the address space with who has each part",
	.description =
		"Every mapping, cut where its owner changes, and the sums of each kind. Sizes are of\n"
		"addresses; memory shows how much of them is in memory, or in the core.\n",
	.example = "maddress -summary", .needs = NEEDS_ACCOUNT, .options = maddress_options);
