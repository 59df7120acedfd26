/* SPDX-License-Identifier: MIT */
/* ephrefs: what old objects refer to in younger generations; ephtoloh: young and large objects. */
#include <inttypes.h>
#include <stdio.h>

#include "command/crossings.h"
#include "command/type_counts.h"

enum {
	OPT_STAT,
	OPT_LIMIT
};

const struct option ephrefs_options[] = {
	[OPT_STAT] = { "stat", VALUE_NONE, NULL, "only how many objects of each type refer", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N rows of each kind (0 = all)",
			NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* Width of the first type of a pair, as SOS has it. */
#define TYPE_WIDTH 64u

/* Is it older, and not frozen?  Large and pinned objects count as generation 2. */
static bool is_old_to_young(uint8_t from, uint8_t to)
{
	if (from == GENERATION_0 || from == GENERATION_NONGC)
		return false;
	return to == GENERATION_0 || (to == GENERATION_1 && from != GENERATION_1);
}

static bool is_young_to_large(uint8_t from, uint8_t to)
{
	return generation_is_young(from) && to == GENERATION_LOH;
}

static bool is_large_to_young(uint8_t from, uint8_t to)
{
	return from == GENERATION_LOH && generation_is_young(to);
}

static const char *sos_generation(uint8_t generation)
{
	static const char *const names[GENERATION_COUNT] = {
		[GENERATION_0] = "Generation0", [GENERATION_1] = "Generation1",
		[GENERATION_2] = "Generation2", [GENERATION_LOH] = "Large",
		[GENERATION_POH] = "Pinned",    [GENERATION_NONGC] = "Frozen",
	};
	return generation < GENERATION_COUNT && names[generation] ? names[generation] : "Unknown";
}

struct writer {
	struct call *call;
	struct window window;
	uint64_t limit; /* rows of each kind */
	bool is_cut;    /* there were more of one */
};

static struct writer make_writer(struct call *call)
{
	return (struct writer){ .call = call,
				.window = { .memory = call->heap->memory },
				.limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
}

/* Say that the list which was written is not whole. */
static void note_cut(struct writer *writer)
{
	char number[27];
	writer->is_cut = true;
	if (!writer->call->as_json) {
		out_printf(&writer->call->out, "(the first %s; -limit 0 lists all)\n",
			   format_thousands(writer->limit, number));
	}
}

static bool is_of_group(const struct crossing *row, const struct crossing *first)
{
	return row->from_generation == first->from_generation &&
	       row->to_generation == first->to_generation;
}

/* The objects that refer, each once, by type; of the group of @p first alone unless NULL. */
static enum hd_status write_types(struct writer *writer, const struct finder *found,
				  const struct crossing *first)
{
	struct call *call = writer->call;
	struct type_counts counts = { 0 };
	struct statistics statistics;
	enum hd_status status = HD_OK;
	uint64_t last = 0;
	for (size_t i = 0; status == HD_OK && i < found->rows_count; i++) {
		const struct crossing *row = &found->rows[i];
		struct object object;
		if (row->from == last || (first && !is_of_group(row, first)))
			continue;
		last = row->from;
		bool is_object = object_read(call->heap, &writer->window, row->from, &object);
		if (is_object && !type_counts_add(&counts, &object))
			status = fail_nomem(call->err);
		if (status == HD_OK)
			status = call_check(call);
	}
	if (status == HD_OK) {
		status = type_counts_statistics(&counts, call->heap->clr, NULL, &statistics,
						call->err);
	}
	type_counts_deinit(&counts);
	TRY(status);
	statistics_sort(&statistics, false, false);
	statistics_table(&call->answer, &statistics);
	statistics_deinit(&statistics);
	return HD_OK;
}

static void crossing_json(struct writer *writer, const struct crossing *row,
			  const struct object *object)
{
	struct json *json = &writer->call->json;
	size_t size;
	const char *name = type_name(writer->call->heap->clr, object->type, &size);
	json_object(json, NULL);
	json_address(json, "address", row->from);
	json_address(json, "mt", object->type->method_table);
	json_text(json, "type", name, size);
	json_number(json, "size", object->size);
	json_string(json, "generation", generation_name((enum generation)row->from_generation));
	json_string(json, "to_generation", generation_name((enum generation)row->to_generation));
	json_number(json, "count", row->count);
	json_number(json, "referenced_size", row->size);
	json_end(json);
}

static void crossing_text(struct writer *writer, const struct crossing *row,
			  const struct object *object)
{
	struct out *out = &writer->call->out;
	char number[3][27];
	size_t size;
	const char *name = type_name(writer->call->heap->clr, object->type, &size);
	out_styled(out, STYLE_ADDRESS, "%16" PRIx64, row->from);
	out_printf(out, " %16" PRIx64 " %14s %-11s %-11s %14s %14s ", object->type->method_table,
		   format_thousands(object->size, number[0]), sos_generation(row->from_generation),
		   sos_generation(row->to_generation), format_thousands(row->count, number[1]),
		   format_thousands(row->size, number[2]));
	out_type(out, name, size, object->type->method_table);
	out_puts(out, "\n");
}

static void group_header(struct call *call, const struct crossing *row, bool is_first)
{
	struct out *out = &call->out;
	const char *from = sos_generation(row->from_generation);
	const char *to = sos_generation(row->to_generation);
	out_printf(out, "%sReferences from %c%s to %c%s:\n\n", is_first ? "" : "\n", from[0] | 0x20,
		   from + 1, to[0] | 0x20, to + 1);
	if (call->options[OPT_STAT].given)
		return;
	out_styled(out, STYLE_HEAD, "%16s %16s %14s %-11s %-11s %14s %14s %s", "Object",
		   "MethodTable", "Size", "Obj Gen", "Ref Gen", "Obj Count", "Obj Size", "Type");
	out_puts(out, "\n");
}

static enum hd_status write_crossing(struct writer *writer, const struct crossing *row)
{
	struct object object;
	/* The walk has met it. */
	if (!object_read(writer->call->heap, &writer->window, row->from, &object))
		return HD_OK;
	if (writer->call->as_json) {
		crossing_json(writer, row, &object);
	} else {
		crossing_text(writer, row, &object);
	}
	return call_check(writer->call);
}

static enum hd_status write_rows(struct writer *writer, const struct finder *found,
				 const struct crossing *first)
{
	uint64_t listed = 0;
	for (size_t i = (size_t)(first - found->rows); i < found->rows_count; i++) {
		if (!is_of_group(&found->rows[i], first))
			continue;
		if (listed++ == writer->limit) {
			note_cut(writer);
			break;
		}
		TRY(write_crossing(writer, &found->rows[i]));
	}
	return HD_OK;
}

static enum hd_status group_types(struct writer *writer, const struct finder *found,
				  const struct crossing *first)
{
	struct json *json = &writer->call->json;
	if (!writer->call->as_json)
		return write_types(writer, found, first);
	json_object(json, NULL);
	json_string(json, "generation", generation_name((enum generation)first->from_generation));
	json_string(json, "to_generation", generation_name((enum generation)first->to_generation));
	TRY(write_types(writer, found, first));
	json_end(json);
	return HD_OK;
}

/* Group by the two generations, in the order in which they are first met. */
static enum hd_status write_groups(struct writer *writer, const struct finder *found)
{
	bool is_stat = writer->call->options[OPT_STAT].given;
	uint64_t done = 0;
	for (size_t i = 0; i < found->rows_count; i++) {
		const struct crossing *first = &found->rows[i];
		unsigned int group = first->from_generation * 8u + first->to_generation;
		if (done >> group & 1)
			continue;
		if (!writer->call->as_json)
			group_header(writer->call, first, !done);
		done |= (uint64_t)1 << group;
		TRY(is_stat ? group_types(writer, found, first) : write_rows(writer, found, first));
	}
	return HD_OK;
}

static enum hd_status write_ephrefs(struct call *call, struct finder *found)
{
	struct writer writer = make_writer(call);
	char number[3][27];
	if (call->as_json)
		json_array(&call->json, call->options[OPT_STAT].given ? "groups" : "objects");
	enum hd_status status = write_groups(&writer, found);
	window_deinit(&writer.window);
	TRY(status);
	if (call->as_json) {
		json_end(&call->json);
		if (writer.is_cut)
			json_bool(&call->json, "truncated", true);
		json_object(&call->json, "referenced");
		json_number(&call->json, "count", found->count);
		json_number(&call->json, "size", found->size);
		json_end(&call->json);
	} else {
		out_printf(&call->out,
			   "\n%s older generation objects referenced %s younger objects (%s "
			   "bytes)\n",
			   format_thousands(found->rows_count, number[0]),
			   format_thousands(found->count, number[1]),
			   format_thousands(found->size, number[2]));
	}
	gaps_report(call, &found->gaps);
	return HD_OK;
}

enum hd_status run_ephrefs(struct call *call)
{
	struct marks marks;
	TRY(marks_init(&marks, call));
	struct finder found = { .test = is_old_to_young, .marks = &marks };
	enum hd_status status = find_crossings(call, &found);
	if (status == HD_OK)
		status = write_ephrefs(call, &found);
	finder_deinit(&found);
	marks_deinit(&marks, call->heap);
	return status;
}

/* One end of a pair; text that more stands behind of is as wide as SOS's. */
static void write_end_of(struct writer *writer, const char *key, uint64_t address, bool is_last)
{
	struct call *call = writer->call;
	struct object object;
	size_t size = 0;
	const char *name = NULL;
	if (object_read(call->heap, &writer->window, address, &object))
		name = type_name(call->heap->clr, object.type, &size);
	if (call->as_json) {
		json_object(&call->json, key);
		json_address(&call->json, "address", address);
		json_text(&call->json, "type", name, size);
		json_end(&call->json);
		return;
	}
	out_styled(&call->out, STYLE_ADDRESS, "%16" PRIx64, address);
	out_puts(&call->out, " ");
	out_type(&call->out, name, size, 0);
	if (is_last) {
		out_puts(&call->out, "\n");
	} else {
		out_pad(&call->out, 1 + (size < TYPE_WIDTH ? TYPE_WIDTH - size : 0));
	}
}

/* A row from end to end; @p last 0: it has two. */
static enum hd_status write_pair(struct writer *writer, uint64_t from, uint64_t to, uint64_t last)
{
	struct call *call = writer->call;
	if (call->as_json)
		json_object(&call->json, NULL);
	write_end_of(writer, "from", from, false);
	write_end_of(writer, last ? "through" : "to", to, !last);
	if (last)
		write_end_of(writer, "to", last, true);
	if (call->as_json)
		json_end(&call->json);
	return call_check(call);
}

static void pairs_header(struct call *call, const char *what, const char *from, const char *to)
{
	char heads[2][32];
	(void)snprintf(heads[0], sizeof(heads[0]), "%s Type", from);
	(void)snprintf(heads[1], sizeof(heads[1]), "%s Type", to);
	out_printf(&call->out, "%s:\n\n", what);
	out_styled(&call->out, STYLE_HEAD, "%16s %-*s %16s %s", from, (int)TYPE_WIDTH, heads[0], to,
		   heads[1]);
	out_puts(&call->out, "\n");
}

static enum hd_status write_pair_types(struct writer *writer, const struct finder *found,
				       const char *key, const char *what)
{
	struct call *call = writer->call;
	if (call->as_json) {
		json_object(&call->json, key);
		TRY(write_types(writer, found, NULL));
		json_end(&call->json);
		return HD_OK;
	}
	if (!found->rows_count) {
		out_printf(&call->out, "No %s.\n", what);
		return HD_OK;
	}
	out_printf(&call->out, "%s:\n\n", what);
	TRY(write_types(writer, found, NULL));
	out_puts(&call->out, "\n");
	return HD_OK;
}

static enum hd_status write_pairs(struct writer *writer, const struct finder *found,
				  const char *key, const char *what, bool is_to_large)
{
	struct call *call = writer->call;
	if (call->options[OPT_STAT].given)
		return write_pair_types(writer, found, key, what);
	if (call->as_json) {
		json_array(&call->json, key);
	} else if (found->rows_count) {
		pairs_header(call, what, is_to_large ? "Ephemeral" : "Large Object",
			     is_to_large ? "Large Object" : "Ephemeral");
	} else {
		out_printf(&call->out, "No %s.\n", what);
	}
	for (size_t i = 0; i < found->rows_count && i < writer->limit; i++)
		TRY(write_pair(writer, found->rows[i].from, found->rows[i].to, 0));
	if (found->rows_count > writer->limit)
		note_cut(writer);
	if (call->as_json) {
		json_end(&call->json);
	} else if (found->rows_count) {
		out_puts(&call->out, "\n");
	}
	return HD_OK;
}

/* Index of the first row from @p address, or rows_count. */
static size_t first_from(const struct finder *found, uint64_t address)
{
	size_t low = 0, high = found->rows_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (found->rows[middle].from < address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < found->rows_count && found->rows[low].from == address ? low
									   : found->rows_count;
}

/* Young objects that refer to large ones that refer to young ones: the first of these. */
static enum hd_status write_through(struct writer *writer, const struct finder *to_large,
				    const struct finder *from_large)
{
	struct call *call = writer->call;
	bool any = false;
	uint64_t listed = 0;
	if (call->as_json)
		json_array(&call->json, "through_large");
	for (size_t i = 0; i < to_large->rows_count; i++) {
		const struct crossing *row = &to_large->rows[i];
		size_t next = first_from(from_large, row->to);
		if (next == from_large->rows_count)
			continue;
		if (!any && !call->as_json) {
			out_puts(&call->out, "Ephemeral objects which point to Large objects which "
					     "point to Ephemeral objects:\n\n");
		}
		any = true;
		if (listed++ == writer->limit) {
			note_cut(writer);
			break;
		}
		TRY(write_pair(writer, row->from, row->to, from_large->rows[next].to));
	}
	if (call->as_json) {
		json_end(&call->json);
	} else if (!any && to_large->rows_count && from_large->rows_count) {
		out_puts(&call->out,
			 "No Ephemeral objects which point to Large objects which point "
			 "to Ephemeral objects.\n");
	}
	return HD_OK;
}

static enum hd_status write_ephtoloh(struct call *call, struct finder *to_large,
				     struct finder *from_large)
{
	struct writer writer = make_writer(call);
	enum hd_status status =
		write_pairs(&writer, to_large, "to_large",
			    "Ephemeral objects pointing to the Large objects", true);
	if (status == HD_OK) {
		status = write_pairs(&writer, from_large, "from_large",
				     "Large objects pointing to Ephemeral objects", false);
	}
	if (status == HD_OK && !call->options[OPT_STAT].given)
		status = write_through(&writer, to_large, from_large);
	if (status == HD_OK && call->as_json && writer.is_cut)
		json_bool(&call->json, "truncated", true);
	window_deinit(&writer.window);
	if (status == HD_OK)
		gaps_report(call, &to_large->gaps);
	return status;
}

enum hd_status run_ephtoloh(struct call *call)
{
	struct finder to_large = { .test = is_young_to_large, .is_single = true };
	struct finder from_large = { .test = is_large_to_young, .is_single = true };
	enum hd_status status = find_crossings(call, &to_large);
	if (status == HD_OK)
		status = find_crossings(call, &from_large);
	if (status == HD_OK) {
		gaps_merge(&to_large.gaps, &from_large.gaps);
		status = write_ephtoloh(call, &to_large, &from_large);
	}
	finder_deinit(&to_large);
	finder_deinit(&from_large);
	return status;
}
