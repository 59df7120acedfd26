/* SPDX-License-Identifier: MIT */
#include "analysis/graph/referrer_counts.h"
#include "answer/tables.h"
#include "command/chosen_objects.h"
#include "command/completeness.h"
#include "command/graph/referrers.h"
#include "command/table.h"
#include "util/field_label.h"

#define REFERRERS_OPTIONS(X)                                                     \
	X(OPT_MT, "mt", VALUE_TYPE_ID, "ID",                                     \
	  "to all objects of that type (MethodTable or type id) together", NULL) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "at most N rows (0 = all)", NULL)

OPTIONS(referrers, REFERRERS_OPTIONS);

#define REFERRER_LIST(X)                                                                     \
	X(REFERRER_COUNT, "count", "References", KIND_NUMBER, 10, LOOK_THOUSANDS,            \
	  "references from objects of the type by the field")                                \
	X(REFERRER_OBJECTS, "objects", "Objects", KIND_NUMBER, 9, LOOK_THOUSANDS,            \
	  "objects that have them")                                                          \
	X(REFERRER_SIZE, "size", "TotalSize", KIND_BYTES, 14, LOOK_THOUSANDS, "their bytes") \
	X(REFERRER_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "MethodTable, or the dump's type id") \
	X(REFERRER_TYPE, "type", "Class Name", KIND_TYPE, 0, 0, "name of their type")        \
	X(REFERRER_FIELD, "field", "Field", KIND_TEXT, 0, 0,                                 \
	  "the field, as \".next\", or \"[]\" of an array; null: not known")

COLUMNS(referrer, REFERRER_COLUMNS, REFERRER_LIST);

static const struct schema referrers_schema = {
	.name = "referrers",
	SCHEMA_COLUMNS(referrer_columns),
	.is_main = true,
};

#define REFERRED_LIST(X)                                                                   \
	X(REFERRED_OBJECTS, "to", NULL, KIND_NUMBER, 0, 0, "objects that are asked about") \
	X(REFERRED_REFERENCES, "count", NULL, KIND_NUMBER, 0, 0, "references to them")     \
	X(REFERRED_ROOTS, "roots", NULL, KIND_NUMBER, 0, 0, "roots that refer to them")

COLUMNS(referred, REFERRED_COLUMNS, REFERRED_LIST);

SCHEMA(referred,
       .lines =
	       "{count:*reference} to {to:*object}[?roots , and {roots:*root}; gcroot shows them].\n");

/* The field as the code has it, if that is another name; text shows it in place of that of metadata. */
static const char *label_of(const char *field, struct text *text)
{
	HD_CLEANUP(text) struct text label = { 0 };
	field_labels_append(&label, field, strlen(field));
	if (!label.size || strcmp(label.bytes, field) == 0)
		return NULL;
	text->size = 0;
	text_escape(text, label.bytes, label.size);
	return text->failed ? NULL : text->bytes;
}

static void write_counts(struct call *call, const struct referrer_counts *counts, uint64_t limit)
{
	struct answer *answer = &call->answer;
	HD_CLEANUP(text) struct text label = { 0 };
	answer_table(answer, &referrers_schema,
		     &(const struct table_options){ .limit = limit, .late_heading = true });
	for (size_t i = 0; i < counts->rows_count; i++) {
		const struct referrer_count *row = &counts->rows[i];
		const struct graph_type *type = &call->graph->types[row->type];
		const char *field = link_name(&counts->names, row->name);
		if (!answer_wants_row(answer))
			continue;
		const struct cell name = cell_string(*field ? field : NULL);
		answer_row(
			answer,
			(const struct cell[REFERRER_COLUMNS]){
				[REFERRER_COUNT] = cell_number(row->references),
				[REFERRER_OBJECTS] = cell_number(row->objects),
				[REFERRER_SIZE] = cell_number(row->size),
				[REFERRER_MT] = cell_number(type->id),
				[REFERRER_TYPE] = cell_type(type->name, type->name_size, type->id),
				[REFERRER_FIELD] = cell_shown(name, label_of(field, &label)) });
	}
	if (answer_table_end(answer))
		answer_cut(answer, limit);
}

static enum hd_status check_referrers(struct call *call)
{
	bool has_object = call->words[0].given, has_mt = call->options[OPT_MT].given;
	if (has_object && has_mt) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "referrers is about one object (ID) or about a type (-mt), not both");
	}
	return has_object || has_mt ? HD_OK : call_usage(call, "an id is missing (or -mt ID)");
}

enum hd_status referrers_write(struct call *call, const uint32_t *nodes, size_t count,
			       uint64_t limit)
{
	HD_CLEANUP(referrer_counts) struct referrer_counts counts = { 0 };
	TRY(referrer_counts_init(call->graph, nodes, count, &call->job, &counts, call->err));
	job_end(&call->job);
	write_counts(call, &counts, limit);
	answer_record(&call->answer, &referred_schema,
		      (const struct cell[REFERRED_COLUMNS]){
			      [REFERRED_OBJECTS] = cell_number(count),
			      [REFERRED_REFERENCES] = cell_number(counts.references),
			      [REFERRED_ROOTS] = cell_number(counts.roots) });
	links_completeness_json(call);
	links_completeness_write(call, "more may refer to it");
	return HD_OK;
}

static enum hd_status run_referrers(struct call *call)
{
	HD_CLEANUP(chosen_objects) struct chosen_objects objects = { 0 };
	TRY(chosen_objects_init(call, &call->options[OPT_MT], NULL, &objects));
	return referrers_write(call, objects.nodes, objects.nodes_count,
			       call_limit(call, OPT_LIMIT, UINT64_MAX));
}

COMMAND(referrers, .has_rows = true,
	.summary = "count who refers directly to an object, by type and field",
	.description =
		"With the name of a type in place of ID, or -mt: to all objects of the type. Dead\n"
		"objects count too. Roots are only counted: gcroot shows them.\n",
	.example = "referrers 1ce056", .needs = NEEDS_GRAPH, .options = referrers_options,
	.words = { { "ID", VALUE_OBJECT, true } }, .check = check_referrers);
