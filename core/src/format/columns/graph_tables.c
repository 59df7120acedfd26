/* SPDX-License-Identifier: MIT */
#include "format/columns/graph_tables.h"

#include "util/alloc.h"
#include "util/bitmap.h"

#define IDS_ASKED 1024u
/* The path of a module is not longer in Linux; what else is written there is cut. */
#define MODULE_MAX 4096u
/* Objects outside all ranges are the frozen ones, which belong to no generation. */
#define GENERATION_OUTSIDE 5u
#define GENERATIONS        6u
/* So many rows of types, whose modules take at most 64 MB then. */
#define TYPES_AT_ONCE (1u << 14)

static const struct field_text generation_texts[GENERATIONS] = {
	{ "0", 1 }, { "1", 1 }, { "2", 1 }, { "loh", 3 }, { "poh", 3 }, { "nongc", 5 },
};
static const struct field_dictionary generations = { .texts = generation_texts,
						     .count = GENERATIONS };

const char *graph_table_name(enum graph_table which)
{
	static const char *const names[GRAPH_TABLES] = { "objects", "refs", "types" };
	return names[which];
}

/* Ask for the ids of all objects, faster than one by one. */
static enum hd_status ask_ids(struct graph_tables *tables)
{
	const struct hd_graph *graph = tables->graph;
	const struct graph_places *places = &graph->places;
	if (graph->ids) {
		tables->ids = graph->ids;
		return HD_OK;
	}
	size_t size = sizeof(*tables->ids);
	TRY(job_check_memory(tables->job, (uint64_t)graph->node_count * size, tables->err));
	tables->ids = pages_alloc((size_t)graph->node_count + 1, size);
	TRY_MEMORY(tables->ids, tables->err);
	for (uint32_t i = 0, count; i < graph->node_count; i += count) {
		uint32_t left = graph->node_count - i;
		count = left < IDS_ASKED ? left : IDS_ASKED;
		if (places->ids) {
			places->ids(places->arg, i, tables->ids + i, count);
		} else {
			for (uint32_t k = 0; k < count; k++)
				tables->ids[i + k] = graph_id(graph, i + k);
		}
		if (i / JOB_STRIDE != (i + count) / JOB_STRIDE)
			TRY(job_check(tables->job, 0, tables->err));
	}
	return HD_OK;
}

/* The names of types one after the other; then, when the text does not move any more, their places. */
static enum hd_status keep_names(struct graph_tables *tables)
{
	const struct hd_graph *graph = tables->graph;
	size_t count = (size_t)graph->type_count + 1, at = 0;
	tables->types = pages_alloc(count, sizeof(*tables->types));
	tables->type_ids = pages_alloc(count, sizeof(*tables->type_ids));
	TRY_MEMORY(tables->types && tables->type_ids, tables->err);
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		size_t before = tables->names.size;
		if (type->name)
			text_valid(&tables->names, type->name, type->name_size);
		tables->types[i].size = tables->names.size - before;
		tables->type_ids[i] = type->id;
	}
	TRY_MEMORY(!tables->names.failed, tables->err);
	for (uint32_t i = 0; i < graph->type_count; i++) {
		tables->types[i].bytes = tables->names.bytes + at;
		at += tables->types[i].size;
	}
	tables->type_names =
		(struct field_dictionary){ .texts = tables->types, .count = graph->type_count };
	tables->type_numbers = (struct field_dictionary){ .numbers = tables->type_ids,
							  .count = graph->type_count };
	return HD_OK;
}

static enum hd_status keep_domains(struct graph_tables *tables)
{
	const struct graph_domains *domains = &tables->graph->domains;
	size_t at = 0;
	tables->domains = pages_alloc((size_t)domains->count + 1, sizeof(*tables->domains));
	TRY_MEMORY(tables->domains, tables->err);
	for (uint32_t i = 0; i < domains->count; i++) {
		size_t before = tables->domain_text.size;
		if (domains->rows[i].name) {
			text_valid(&tables->domain_text, domains->rows[i].name,
				   domains->rows[i].name_size);
		}
		tables->domains[i].size = tables->domain_text.size - before;
	}
	TRY_MEMORY(!tables->domain_text.failed, tables->err);
	for (uint32_t i = 0; i < domains->count; i++) {
		tables->domains[i].bytes = tables->domain_text.bytes + at;
		at += tables->domains[i].size;
	}
	tables->domain_names =
		(struct field_dictionary){ .texts = tables->domains, .count = domains->count };
	return HD_OK;
}

enum hd_status graph_tables_prepare(struct graph_tables *tables)
{
	TRY(ask_ids(tables));
	TRY(keep_names(tables));
	return keep_domains(tables);
}

void graph_tables_deinit(struct graph_tables *tables)
{
	size_t nodes = tables->graph ? (size_t)tables->graph->node_count + 1 : 0;
	size_t types = tables->graph ? (size_t)tables->graph->type_count + 1 : 0;
	if (tables->graph && tables->ids != tables->graph->ids)
		pages_free(tables->ids, nodes, sizeof(*tables->ids));
	pages_free(tables->types, types, sizeof(*tables->types));
	pages_free(tables->type_ids, types, sizeof(*tables->type_ids));
	pages_free(tables->domains, tables->graph ? (size_t)tables->graph->domains.count + 1 : 0,
		   sizeof(*tables->domains));
	text_deinit(&tables->names);
	text_deinit(&tables->domain_text);
	*tables = (struct graph_tables){ 0 };
}

/* The arrays of the rows that are collected. */
struct rooms {
	uint64_t *words[3];
	uint32_t *indices[2];
	uint8_t *validities[2]; /* of the indices */
	uint32_t null_counts[2];
	uint32_t rows, capacity;
	struct text text; /* of the only column whose texts are no dictionary's */
	int32_t *ends;
	uint8_t *text_validity;
	uint32_t text_null_count;
};

/* Room for so many rows, which begin with nothing in it. */
static bool rooms_init(struct rooms *rooms, uint64_t rows)
{
	uint32_t capacity = rows < FIELD_ROWS_MAX ? (uint32_t)rows + 1 : FIELD_ROWS_MAX;
	bool is_made = true;
	rooms->capacity = capacity;
	for (size_t i = 0; i < 3; i++) {
		rooms->words[i] = mem_alloc(capacity, sizeof(**rooms->words));
		is_made = is_made && rooms->words[i];
	}
	for (size_t i = 0; i < 2; i++) {
		rooms->indices[i] = mem_alloc(capacity, sizeof(**rooms->indices));
		rooms->validities[i] = mem_alloc(capacity / 8 + 1, 1);
		is_made = is_made && rooms->indices[i] && rooms->validities[i];
	}
	rooms->ends = mem_alloc((size_t)capacity + 1, sizeof(*rooms->ends));
	rooms->text_validity = mem_alloc(capacity / 8 + 1, 1);
	return is_made && rooms->ends && rooms->text_validity;
}

static void rooms_deinit(struct rooms *rooms)
{
	for (size_t i = 0; i < 3; i++) {
		mem_free(rooms->words[i]);
	}
	for (size_t i = 0; i < 2; i++) {
		mem_free(rooms->indices[i]);
		mem_free(rooms->validities[i]);
	}
	mem_free(rooms->ends);
	mem_free(rooms->text_validity);
	text_deinit(&rooms->text);
}

static void rooms_empty(struct rooms *rooms)
{
	rooms->rows = rooms->text_null_count = 0;
	rooms->null_counts[0] = rooms->null_counts[1] = 0;
	rooms->text.size = 0;
}

/* Say of a row whether it has a value; rows come one after the other. */
static inline void take_bit(uint8_t *validity, uint32_t *null_count, uint32_t row, bool is_there)
{
	if (row % 8 == 0)
		validity[row / 8] = 0;
	validity[row / 8] |= (uint8_t)((is_there ? 1u : 0u) << row % 8);
	*null_count += !is_there;
}

static inline void take_index(struct rooms *rooms, size_t column, uint32_t index, bool is_there)
{
	uint32_t row = rooms->rows;
	rooms->indices[column][row] = is_there ? index : 0;
	take_bit(rooms->validities[column], &rooms->null_counts[column], row, is_there);
}

static struct field_values index_values(const struct rooms *rooms, size_t column)
{
	return (struct field_values){ .indices = rooms->indices[column],
				      .validity = rooms->validities[column],
				      .null_count = rooms->null_counts[column] };
}

enum object_field {
	OBJECT_ADDRESS,
	OBJECT_MT,
	OBJECT_TYPE,
	OBJECT_SIZE,
	OBJECT_GENERATION,
	OBJECT_LIVE,
	OBJECT_FIELDS
};

static enum hd_status flush_objects(struct field_writer *writer, struct rooms *rooms)
{
	const struct field_values values[OBJECT_FIELDS] = {
		[OBJECT_ADDRESS] = { .words = rooms->words[0] },
		[OBJECT_MT] = { .indices = rooms->indices[0] },
		[OBJECT_TYPE] = index_values(rooms, 0),
		[OBJECT_SIZE] = { .words = rooms->words[1] },
		[OBJECT_GENERATION] = index_values(rooms, 1),
		[OBJECT_LIVE] = { .words = rooms->words[2] },
	};
	TRY(field_writer_rows(writer, values, rooms->rows));
	rooms_empty(rooms);
	return HD_OK;
}

/* The generation of an object whose id is not less than before, when *@p range was left so. */
static unsigned int next_generation(const struct hd_graph *graph, uint64_t id, size_t *range)
{
	const struct graph_info *info = &graph->info;
	while (*range < info->range_count && info->ranges[*range].end <= id)
		++*range;
	if (!graph->places.generation)
		return GENERATIONS;
	bool is_in = *range < info->range_count && info->ranges[*range].start <= id;
	return is_in ? info->ranges[*range].generation : GENERATION_OUTSIDE;
}

static void take_object(const struct graph_tables *tables, struct rooms *rooms, uint32_t node,
			unsigned int generation)
{
	const struct hd_graph *graph = tables->graph;
	uint32_t type = graph->node_types[node];
	rooms->words[0][rooms->rows] = tables->ids[node];
	rooms->words[1][rooms->rows] = graph_size(graph, node);
	rooms->words[2][rooms->rows] = bitmap_has(tables->live, node);
	take_bit(rooms->validities[0], &rooms->null_counts[0], rooms->rows,
		 graph->types[type].name);
	rooms->indices[0][rooms->rows] = type;
	take_index(rooms, 1, generation, generation < GENERATIONS);
	rooms->rows++;
}

static enum hd_status put_objects(const struct graph_tables *tables, struct field_writer *writer,
				  struct rooms *rooms)
{
	size_t range = 0;
	for (uint32_t i = 0; i < tables->graph->object_count; i++) {
		unsigned int generation = next_generation(tables->graph, tables->ids[i], &range);
		take_object(tables, rooms, i, generation);
		if (rooms->rows == rooms->capacity) {
			TRY(flush_objects(writer, rooms));
		}
	}
	return flush_objects(writer, rooms);
}

static enum hd_status flush_refs(struct field_writer *writer, struct rooms *rooms)
{
	const struct field_values values[] = {
		{ .words = rooms->words[0] },
		{ .words = rooms->words[1] },
	};
	TRY(field_writer_rows(writer, values, rooms->rows));
	rooms_empty(rooms);
	return HD_OK;
}

static enum hd_status put_refs(const struct graph_tables *tables, struct field_writer *writer,
			       struct rooms *rooms)
{
	const struct csr *csr = &tables->graph->forward;
	for (uint32_t node = 0; node < csr->node_count; node++) {
		uint64_t end = csr_begin(csr, node + 1);
		for (uint64_t i = csr_begin(csr, node); i < end; i++) {
			rooms->words[0][rooms->rows] = tables->ids[node];
			rooms->words[1][rooms->rows] = tables->ids[csr->targets[i]];
			if (++rooms->rows == rooms->capacity)
				TRY(flush_refs(writer, rooms));
		}
	}
	return flush_refs(writer, rooms);
}

enum type_field {
	TYPE_MT,
	TYPE_NAME,
	TYPE_COUNT,
	TYPE_SIZE,
	TYPE_MODULE,
	TYPE_DOMAIN,
	TYPE_FIELDS
};

static void take_module(struct rooms *rooms, const char *module)
{
	uint32_t row = rooms->rows;
	rooms->ends[row] = (int32_t)rooms->text.size;
	if (module)
		text_valid(&rooms->text, module, strnlen(module, MODULE_MAX));
	rooms->ends[row + 1] = (int32_t)rooms->text.size;
	take_bit(rooms->text_validity, &rooms->text_null_count, row, module);
}

static void take_type(const struct graph_tables *tables, uint32_t index, struct rooms *rooms)
{
	const struct hd_graph *graph = tables->graph;
	const struct graph_type *type = &graph->types[index];
	const struct graph_domains *domains = &graph->domains;
	rooms->words[0][rooms->rows] = type->id;
	rooms->words[1][rooms->rows] = type->count;
	rooms->words[2][rooms->rows] = type->size;
	take_index(rooms, 0, index, type->name);
	take_index(rooms, 1, type->domain,
		   type->domain < domains->count && domains->rows[type->domain].name);
	take_module(rooms, type->module);
	rooms->rows++;
}

static enum hd_status flush_types(const struct graph_tables *tables, struct field_writer *writer,
				  struct rooms *rooms)
{
	TRY_MEMORY(!rooms->text.failed, tables->err);
	const struct field_values values[TYPE_FIELDS] = {
		[TYPE_MT] = { .words = rooms->words[0] },
		[TYPE_NAME] = index_values(rooms, 0),
		[TYPE_COUNT] = { .words = rooms->words[1] },
		[TYPE_SIZE] = { .words = rooms->words[2] },
		[TYPE_MODULE] = { .ends = rooms->ends,
				  .text = rooms->text.bytes,
				  .validity = rooms->text_validity,
				  .null_count = rooms->text_null_count },
		[TYPE_DOMAIN] = index_values(rooms, 1),
	};
	TRY(field_writer_rows(writer, values, rooms->rows));
	rooms_empty(rooms);
	return HD_OK;
}

/* A row for each type that has objects. */
static enum hd_status put_types(const struct graph_tables *tables, struct field_writer *writer,
				struct rooms *rooms)
{
	for (uint32_t i = 0; i < tables->graph->type_count; i++) {
		if (!tables->graph->types[i].count)
			continue;
		take_type(tables, i, rooms);
		if (rooms->rows == rooms->capacity || rooms->rows == TYPES_AT_ONCE)
			TRY(flush_types(tables, writer, rooms));
	}
	return flush_types(tables, writer, rooms);
}

/* Each table: its fields, and how it is filled. */
struct recipe {
	const struct field *fields;
	size_t count;
	uint64_t rows; /* or fewer */
	enum hd_status (*put)(const struct graph_tables *tables, struct field_writer *writer,
			      struct rooms *rooms);
};

static enum hd_status write_recipe(const struct graph_tables *tables, const struct recipe *recipe,
				   const char *name, enum field_format format,
				   const struct field_target *target)
{
	const struct field_table table = {
		.name = name,
		.fields = recipe->fields,
		.count = recipe->count,
		.command = "export",
		.lacks = tables->lacks,
	};
	struct field_writer writer;
	struct rooms rooms = { .rows = 0 };
	TRY(field_writer_begin(&writer, format, &table, target));
	enum hd_status status = rooms_init(&rooms, recipe->rows) ? HD_OK : fail_nomem(tables->err);
	if (status == HD_OK)
		status = recipe->put(tables, &writer, &rooms);
	rooms_deinit(&rooms);
	return field_writer_end(&writer, status);
}

#define NUMBERS(field_name, near)                                               \
	{                                                                       \
		.name = (field_name), .type = FIELD_UNSIGNED, .is_near = (near) \
	}
#define CHOICES(field_name, field_type, optional, values)                              \
	{                                                                              \
		.name = (field_name), .type = (field_type), .is_optional = (optional), \
		.dictionary = &tables->values                                          \
	}

enum hd_status graph_tables_write(const struct graph_tables *tables, enum graph_table which,
				  enum field_format format, const struct field_target *target)
{
	const struct hd_graph *graph = tables->graph;
	const struct field types[TYPE_FIELDS] = {
		[TYPE_MT] = NUMBERS("mt", false),
		[TYPE_NAME] = CHOICES("name", FIELD_TEXT, true, type_names),
		[TYPE_COUNT] = NUMBERS("count", false),
		[TYPE_SIZE] = NUMBERS("size", false),
		[TYPE_MODULE] = { .name = "module", .type = FIELD_TEXT, .is_optional = true },
		[TYPE_DOMAIN] = CHOICES("domain", FIELD_TEXT, true, domain_names),
	};
	const struct field objects[OBJECT_FIELDS] = {
		[OBJECT_ADDRESS] = NUMBERS("address", true),
		[OBJECT_MT] = CHOICES("mt", FIELD_UNSIGNED, false, type_numbers),
		[OBJECT_TYPE] = CHOICES("type", FIELD_TEXT, true, type_names),
		[OBJECT_SIZE] = NUMBERS("size", false),
		[OBJECT_GENERATION] = { .name = "generation",
					.type = FIELD_TEXT,
					.is_optional = true,
					.dictionary = &generations },
		[OBJECT_LIVE] = { .name = "live", .type = FIELD_BOOL },
	};
	const struct field refs[] = { NUMBERS("from", true), NUMBERS("to", true) };
	const struct recipe recipes[GRAPH_TABLES] = {
		[GRAPH_TYPES] = { types, TYPE_FIELDS, graph->type_count, put_types },
		[GRAPH_OBJECTS] = { objects, OBJECT_FIELDS, graph->object_count, put_objects },
		[GRAPH_REFS] = { refs, 2, graph->forward.edge_count, put_refs },
	};
	return write_recipe(tables, &recipes[which], graph_table_name(which), format, target);
}
