/* SPDX-License-Identifier: MIT */
/* ephrefs: what old objects refer to in younger generations; ephtoloh: young and large objects. */

#include "analysis/heap/crossings.h"
#include "analysis/heap/type_counts.h"
#include "answer/tables.h"
#include "command/heap/heap_call.h"
#include "command/table.h"

#define EPHREFS_OPTIONS(X)                                                                      \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "only how many objects of each type refer", NULL) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N rows of each kind (0 = all)", NULL)

OPTIONS(ephrefs, EPHREFS_OPTIONS);

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

struct crossing_writer {
	struct call *call;
	struct window window;
	uint64_t limit; /* rows of each kind */
	bool is_cut;    /* there were more of one */
};

static struct crossing_writer make_writer(struct call *call)
{
	return (struct crossing_writer){ .call = call,
					 .window = { .memory = call->heap->memory },
					 .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
}

/* Say that the list which was written is not whole; data says it once, at the end. */
static void note_cut(struct crossing_writer *writer)
{
	char number[NUMBER_SIZE];
	writer->is_cut = true;
	answer_remark(&writer->call->answer, "(the first %s; -limit 0 lists all)\n",
		      format_thousands(writer->limit, number));
}

/* The objects that refer, each once, by type; only of the group of @p first, unless that is NULL. */
static enum hd_status write_crossing_types(struct crossing_writer *writer,
					   const struct crossing_finder *found,
					   const struct crossing *first)
{
	struct call *call = writer->call;
	HD_CLEANUP(type_counts) struct type_counts counts = { 0 };
	struct statistics statistics;
	TRY(crossings_count(&counts, call->heap, found, first, &call->job, call->err));
	TRY(type_counts_statistics(&counts, call->heap->runtime, NULL, &statistics, call->err));
	statistics_sort(&statistics, false, false);
	statistics.limit = call_statistics_limit(call, OPT_STAT, OPT_LIMIT);
	statistics_table(&call->answer, &statistics);
	statistics_deinit(&statistics);
	return HD_OK;
}

#define CROSSING_LIST(X)                                                                  \
	X(CROSSING_ADDRESS, "address", "Object", KIND_ADDRESS, 16, LOOK_ADDRESS,          \
	  "the older object")                                                             \
	X(CROSSING_MT, "mt", "MethodTable", KIND_ADDRESS, 16, 0, "its MethodTable")       \
	X(CROSSING_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")               \
	X(CROSSING_SIZE, "size", "Size", KIND_BYTES, 14, LOOK_THOUSANDS, "its own bytes") \
	X(CROSSING_FROM, "generation", "Obj Gen", KIND_TEXT, 11, LOOK_LEFT,               \
	  "where it is: 0, 1, 2, loh, poh or nongc")                                      \
	X(CROSSING_TO, "to_generation", "Ref Gen", KIND_TEXT, 11, LOOK_LEFT,              \
	  "where the younger objects are")                                                \
	X(CROSSING_COUNT, "count", "Obj Count", KIND_NUMBER, 14, LOOK_THOUSANDS,          \
	  "its references there")                                                         \
	X(CROSSING_BYTES, "referenced_size", "Obj Size", KIND_BYTES, 14, LOOK_THOUSANDS,  \
	  "bytes of what they refer to")                                                  \
	X(CROSSING_CLASS, NULL, "Type", KIND_TYPE, 0, 0, NULL)

COLUMNS(crossing, CROSSING_COLUMNS, CROSSING_LIST);

SCHEMA(crossing, .name = "objects", .is_main = true);
/* Text has the headings of each group. */
static const struct schema headings_schema = { SCHEMA_COLUMNS(crossing_columns) };

static void write_crossing(struct crossing_writer *writer, const struct crossing *row,
			   const struct object *object)
{
	size_t size;
	const char *name = type_name(writer->call->heap->runtime, object->type, &size);
	const struct cell type = cell_type(name, size, object->type->method_table);
	const char *from = generation_name((enum generation)row->from_generation);
	const char *to = generation_name((enum generation)row->to_generation);
	const struct cell cells[CROSSING_COLUMNS] = {
		[CROSSING_ADDRESS] = cell_number(row->from),
		[CROSSING_MT] = cell_number(object->type->method_table),
		[CROSSING_TYPE] = type,
		[CROSSING_SIZE] = cell_number(object->size),
		[CROSSING_FROM] =
			cell_shown(cell_string(from), sos_generation(row->from_generation)),
		[CROSSING_TO] = cell_shown(cell_string(to), sos_generation(row->to_generation)),
		[CROSSING_COUNT] = cell_number(row->count),
		[CROSSING_BYTES] = cell_number(row->size),
		[CROSSING_CLASS] = type,
	};
	answer_row(&writer->call->answer, cells);
}

static void group_header(struct call *call, const struct crossing *row, bool is_first)
{
	const char *from = sos_generation(row->from_generation);
	const char *to = sos_generation(row->to_generation);
	answer_remark(&call->answer, "%sReferences from %c%s to %c%s:\n\n", is_first ? "" : "\n",
		      from[0] | 0x20, from + 1, to[0] | 0x20, to + 1);
	if (call->options[OPT_STAT].given)
		return;
	answer_table(&call->answer, &headings_schema, NULL);
	(void)answer_table_end(&call->answer);
}

static enum hd_status write_crossing_rows(struct crossing_writer *writer,
					  const struct crossing_finder *found,
					  const struct crossing *first)
{
	uint64_t listed = 0;
	for (size_t i = (size_t)(first - found->rows); i < found->rows_count; i++) {
		const struct crossing *row = &found->rows[i];
		struct object object;
		if (!crossing_is_like(row, first))
			continue;
		if (listed++ == writer->limit) {
			note_cut(writer);
			break;
		}
		/* The walk has met it. */
		if (object_read(writer->call->heap, &writer->window, row->from, &object))
			write_crossing(writer, row, &object);
		TRY(call_check(writer->call));
	}
	return HD_OK;
}

static const struct column group_columns[] = {
	{ "generation", NULL, KIND_TEXT, 0, 0, "generation of the objects that refer" },
	{ "to_generation", NULL, KIND_TEXT, 0, 0, "generation of what they refer to" },
};
SCHEMA(group, .name = "groups", .is_main = true);

static enum hd_status group_types(struct crossing_writer *writer,
				  const struct crossing_finder *found, const struct crossing *first)
{
	const struct cell cells[] = {
		cell_string(generation_name((enum generation)first->from_generation)),
		cell_string(generation_name((enum generation)first->to_generation)),
	};
	answer_row_begin(&writer->call->answer, cells);
	TRY(write_crossing_types(writer, found, first));
	answer_row_end(&writer->call->answer);
	return HD_OK;
}

/* Group by the two generations, in the order in which they are first met. */
static enum hd_status write_groups(struct crossing_writer *writer,
				   const struct crossing_finder *found)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	bool is_stat = writer->call->options[OPT_STAT].given;
	uint64_t done = 0;
	answer_table(&writer->call->answer, is_stat ? &group_schema : &crossing_schema, &options);
	for (size_t i = 0; i < found->rows_count; i++) {
		const struct crossing *first = &found->rows[i];
		unsigned int group = first->from_generation * 8u + first->to_generation;
		if (done >> group & 1)
			continue;
		group_header(writer->call, first, !done);
		done |= (uint64_t)1 << group;
		TRY(is_stat ? group_types(writer, found, first)
			    : write_crossing_rows(writer, found, first));
	}
	(void)answer_table_end(&writer->call->answer);
	return HD_OK;
}

#define REFERENCED_LIST(X)                                                                  \
	X(REFERENCED_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "younger objects, each once") \
	X(REFERENCED_SIZE, "size", NULL, KIND_BYTES, 0, 0, "their bytes")                   \
	X(REFERENCED_FROM, NULL, "from", KIND_NUMBER, 0, 0, NULL)

COLUMNS(referenced, REFERENCED_COLUMNS, REFERENCED_LIST);

SCHEMA(referenced, .name = "referenced",
       .lines = "\n"
		"{from:,} older generation objects referenced {count:,} younger objects "
		"({size:,} bytes)\n");

static enum hd_status write_ephrefs(struct call *call, struct crossing_finder *found)
{
	struct crossing_writer writer = make_writer(call);
	enum hd_status status = write_groups(&writer, found);
	window_deinit(&writer.window);
	TRY(status);
	if (writer.is_cut)
		answer_truncated(&call->answer);
	const struct cell cells[REFERENCED_COLUMNS] = {
		[REFERENCED_COUNT] = cell_number(found->count),
		[REFERENCED_SIZE] = cell_number(found->size),
		[REFERENCED_FROM] = cell_number(found->rows_count),
	};
	answer_record(&call->answer, &referenced_schema, cells);
	gaps_report(call, &found->gaps);
	return HD_OK;
}

static enum hd_status run_ephrefs(struct call *call)
{
	HD_CLEANUP(marks) struct marks marks = { .heap = call->heap };
	TRY(marks_init(&marks, &call->job, call->err));
	HD_CLEANUP(crossing_finder)
	struct crossing_finder found = { .test = is_old_to_young, .marks = &marks };
	TRY(find_crossings(call->heap, &call->job, &found, call->err));
	return write_ephrefs(call, &found);
}

/* A pair, or three objects in a row; as wide as SOS has it. */
enum pair_column {
	PAIR_FROM,
	PAIR_FROM_TYPE,
	PAIR_TO,
	PAIR_TO_TYPE,
	PAIR_COLUMNS
};

static const struct column to_large_columns[PAIR_COLUMNS] = {
	[PAIR_FROM] = { "from.address", "Ephemeral", KIND_ADDRESS, 16, LOOK_ADDRESS,
			"an object of generation 0 or 1" },
	[PAIR_FROM_TYPE] = { "from.type", "Ephemeral Type", KIND_TYPE, 64, LOOK_LEFT,
			     "name of its type" },
	[PAIR_TO] = { "to.address", "Large Object", KIND_ADDRESS, 16, LOOK_ADDRESS,
		      "the large object that it refers to" },
	[PAIR_TO_TYPE] = { "to.type", "Large Object Type", KIND_TYPE, 0, LOOK_LEFT,
			   "name of its type" },
};

static const struct column from_large_columns[PAIR_COLUMNS] = {
	[PAIR_FROM] = { "from.address", "Large Object", KIND_ADDRESS, 16, LOOK_ADDRESS,
			"a large object" },
	[PAIR_FROM_TYPE] = { "from.type", "Large Object Type", KIND_TYPE, 64, LOOK_LEFT,
			     "name of its type" },
	[PAIR_TO] = { "to.address", "Ephemeral", KIND_ADDRESS, 16, LOOK_ADDRESS,
		      "the object of generation 0 or 1 that it refers to" },
	[PAIR_TO_TYPE] = { "to.type", "Ephemeral Type", KIND_TYPE, 0, LOOK_LEFT,
			   "name of its type" },
};

#define CHAIN_LIST(X)                                                                        \
	X(CHAIN_FROM, "from.address", "Ephemeral", KIND_ADDRESS, 16, LOOK_ADDRESS,           \
	  "an object of generation 0 or 1")                                                  \
	X(CHAIN_FROM_TYPE, "from.type", "Ephemeral Type", KIND_TYPE, 64, LOOK_LEFT,          \
	  "name of its type")                                                                \
	X(CHAIN_THROUGH, "through.address", "Large Object", KIND_ADDRESS, 16, LOOK_ADDRESS,  \
	  "the large object that it refers to")                                              \
	X(CHAIN_THROUGH_TYPE, "through.type", "Large Object Type", KIND_TYPE, 64, LOOK_LEFT, \
	  "name of its type")                                                                \
	X(CHAIN_TO, "to.address", "Ephemeral", KIND_ADDRESS, 16, LOOK_ADDRESS,               \
	  "the object of generation 0 or 1 that this one refers to")                         \
	X(CHAIN_TO_TYPE, "to.type", "Ephemeral Type", KIND_TYPE, 0, LOOK_LEFT, "name of its type")

COLUMNS(chain, CHAIN_COLUMNS, CHAIN_LIST);

SCHEMA(to_large, .name = "to_large", .is_main = true);
SCHEMA(from_large, .name = "from_large");
SCHEMA(chain, .name = "through_large");

/* The cells of one object: where it is, and its type. */
static void object_cells(struct crossing_writer *writer, uint64_t address, struct cell *cells)
{
	struct runtime *runtime = writer->call->heap->runtime;
	struct object object;
	cells[0] = cell_number(address);
	cells[1] = cell_type(NULL, 0, 0);
	if (object_read(writer->call->heap, &writer->window, address, &object)) {
		size_t size;
		const char *name = type_name(runtime, object.type, &size);
		cells[1] = cell_type(name, size, 0);
	}
}

static enum hd_status list_pairs(struct crossing_writer *writer,
				 const struct crossing_finder *found, const struct schema *schema)
{
	struct answer *answer = &writer->call->answer;
	const struct table_options options = { .limit = writer->limit,
					       .no_heading = !found->rows_count };
	answer_table(answer, schema, &options);
	for (size_t i = 0; i < found->rows_count && answer_wants_row(answer); i++) {
		struct cell cells[PAIR_COLUMNS];
		object_cells(writer, found->rows[i].from, &cells[PAIR_FROM]);
		object_cells(writer, found->rows[i].to, &cells[PAIR_TO]);
		answer_row(answer, cells);
		TRY(call_check(writer->call));
	}
	if (answer_table_end(answer))
		note_cut(writer);
	return HD_OK;
}

static enum hd_status write_pairs(struct crossing_writer *writer,
				  const struct crossing_finder *found, const struct schema *schema,
				  const char *what)
{
	struct answer *answer = &writer->call->answer;
	if (found->rows_count) {
		answer_remark(answer, "%s:\n\n", what);
	} else {
		answer_remark(answer, "No %s.\n", what);
	}
	if (!writer->call->options[OPT_STAT].given) {
		TRY(list_pairs(writer, found, schema));
	} else if (found->rows_count || answer_is_data(answer)) {
		answer_object(answer, schema->name);
		TRY(write_crossing_types(writer, found, NULL));
		answer_object_end(answer);
	}
	answer_remark(answer, found->rows_count ? "\n" : "");
	return HD_OK;
}

/* Young objects that refer to large ones that refer to young ones: the first of these. */
static enum hd_status write_through(struct crossing_writer *writer,
				    const struct crossing_finder *to_large,
				    const struct crossing_finder *from_large)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	struct answer *answer = &writer->call->answer;
	uint64_t listed = 0;
	answer_table(answer, &chain_schema, &options);
	for (size_t i = 0; i < to_large->rows_count; i++) {
		const struct crossing *row = &to_large->rows[i];
		struct cell cells[CHAIN_COLUMNS];
		size_t next = crossings_from(from_large, row->to);
		if (next == from_large->rows_count)
			continue;
		if (!listed) {
			answer_remark(answer, "Ephemeral objects which point to Large objects "
					      "which point to Ephemeral objects:\n\n");
		}
		if (listed++ == writer->limit) {
			note_cut(writer);
			break;
		}
		object_cells(writer, row->from, &cells[CHAIN_FROM]);
		object_cells(writer, row->to, &cells[CHAIN_THROUGH]);
		object_cells(writer, from_large->rows[next].to, &cells[CHAIN_TO]);
		answer_row(answer, cells);
		TRY(call_check(writer->call));
	}
	(void)answer_table_end(answer);
	if (!listed && to_large->rows_count && from_large->rows_count) {
		answer_remark(answer, "No Ephemeral objects which point to Large objects which "
				      "point to Ephemeral objects.\n");
	}
	return HD_OK;
}

static enum hd_status run_ephtoloh(struct call *call)
{
	HD_CLEANUP(crossing_finder)
	struct crossing_finder to_large = { .test = is_young_to_large, .is_single = true };
	HD_CLEANUP(crossing_finder)
	struct crossing_finder from_large = { .test = is_large_to_young, .is_single = true };
	TRY(find_crossings(call->heap, &call->job, &to_large, call->err));
	TRY(find_crossings(call->heap, &call->job, &from_large, call->err));
	gaps_merge(&to_large.gaps, &from_large.gaps);
	struct crossing_writer writer = make_writer(call);
	enum hd_status status = write_pairs(&writer, &to_large, &to_large_schema,
					    "Ephemeral objects pointing to the Large objects");
	if (status == HD_OK) {
		status = write_pairs(&writer, &from_large, &from_large_schema,
				     "Large objects pointing to Ephemeral objects");
	}
	if (status == HD_OK && !call->options[OPT_STAT].given)
		status = write_through(&writer, &to_large, &from_large);
	if (status == HD_OK && writer.is_cut)
		answer_truncated(&call->answer);
	window_deinit(&writer.window);
	if (status == HD_OK)
		gaps_report(call, &to_large.gaps);
	return status;
}

COMMAND(ephrefs, .has_rows = true, .summary = "list old objects that refer to younger ones",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP, .options = ephrefs_options);

COMMAND(ephtoloh, .has_rows = true, .summary = "list young objects that refer to large ones",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP, .options = ephrefs_options);
