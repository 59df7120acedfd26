/* SPDX-License-Identifier: MIT */
#include "analysis/graph/retained_set.h"
#include "command/chosen_objects.h"
#include "command/completeness.h"
#include "command/table.h"
#include "graph/heap_graph.h"
#include "util/job.h"

/* As graph_places.generation() has it. */
#define FROZEN 5u

#define RETAINED_OPTIONS(X)                                                    \
	X(OPT_TYPE, "type", VALUE_TYPE, "TEXT",                                \
	  "all objects of types whose names contain TEXT, together", NULL)     \
	X(OPT_MT, "mt", VALUE_TYPE_ID, "ID",                                   \
	  "all objects of that type (MethodTable or type id), together", NULL) \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,          \
	  "treat every word on a stack as a reference", NULL)

OPTIONS(retained, RETAINED_OPTIONS);

/* Objects of the frozen heap live as long as the process. */
static bool is_frozen(const struct hd_graph *graph, uint32_t node)
{
	const struct graph_places *places = &graph->places;
	return places->generation && places->generation(places->arg, node) == FROZEN;
}

#define RETAINED_LIST(X)                                                                \
	X(RETAINED_OBJECT, "object", NULL, KIND_ADDRESS, 0, 0, "the object")            \
	X(RETAINED_ALIVE, "alive", NULL, KIND_FLAG, 0, 0, "does a root keep it alive?") \
	X(RETAINED_COUNT, "count", NULL, KIND_NUMBER, 0, 0,                             \
	  "objects that would be freed with it, and itself")                            \
	X(RETAINED_SIZE, "size", NULL, KIND_BYTES, 0, 0, "their bytes")                 \
	X(RETAINED_DOMINATOR, "dominator", NULL, KIND_ADDRESS, 0, 0,                    \
	  "the object that retains it; null: no single one does")                       \
	X(RETAINED_TYPE, NULL, "type", KIND_TYPE, 0, 0, NULL)                           \
	X(RETAINED_DOMINATOR_TYPE, NULL, "dominator_type", KIND_TYPE, 0, 0, NULL)       \
	X(RETAINED_EFFECT, NULL, "effect", KIND_TEXT, 0, 0, NULL)                       \
	X(RETAINED_COMPLETE, NULL, "complete", KIND_FLAG, 0, 0, NULL)

COLUMNS(retained, RETAINED_COLUMNS, RETAINED_LIST);

SCHEMA(retained,
       .lines = "{object:a} ({type})[?count  retains {count:*object}, {size:*byte}: {effect}.\n"
		"[=dominator It is itself retained by {dominator:a} ({dominator_type}).|No "
		"single object keeps it alive.]|[?complete  is dead: no root keeps it alive, it "
		"retains nothing.|: nothing was found that keeps it alive.]]\n");

static struct cell retained_type_cell(const struct hd_graph *graph, uint32_t node)
{
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	return cell_type(type->name, type->name_size, type->id);
}

/* Say what is missing: some of what is asked about is alive, or nothing is. */
static void write_completeness(struct call *call, bool is_alive, const char *perhaps)
{
	if (is_alive) {
		completeness_json(call);
		completeness_write(call, RETAINED_ROUGHLY);
	} else {
		dead_completeness_json(call);
		dead_completeness_write(call, perhaps);
	}
}

static void write_retained(struct call *call, const struct dominators *dominators, uint32_t node)
{
	const struct hd_graph *graph = call->graph;
	uint32_t idom = dominators->idom[node];
	bool is_alive = dominators->retained_count[node];
	struct cell cells[RETAINED_COLUMNS] = {
		[RETAINED_OBJECT] = cell_number(graph_id(graph, node)),
		[RETAINED_ALIVE] = cell_flag(is_alive),
		[RETAINED_COUNT] = cell_number(dominators->retained_count[node]),
		[RETAINED_SIZE] = cell_number(dominators_size(dominators, node)),
		[RETAINED_TYPE] = retained_type_cell(graph, node),
		[RETAINED_EFFECT] = cell_string(
			is_frozen(graph, node)                  ? "it is frozen, and never freed"
			: dominators->retained_count[node] == 1 ? "only itself"
								: "they would be freed with it"),
		[RETAINED_COMPLETE] = cell_flag(call_knows_dead(call)),
	};
	if (idom != HD_NONE) {
		cells[RETAINED_DOMINATOR] = cell_number(graph_id(graph, idom));
		cells[RETAINED_DOMINATOR_TYPE] = retained_type_cell(graph, idom);
	}
	answer_record(&call->answer, &retained_schema, cells);
	write_completeness(call, is_alive, "it may still be alive");
}

#define SET_LIST(X)                                                                             \
	X(SET_OF, "of", NULL, KIND_NUMBER, 0, 0, "the objects that are asked about")            \
	X(SET_ALIVE, "alive", NULL, KIND_NUMBER, 0, 0, "objects of them that roots keep alive") \
	X(SET_COUNT, "count", NULL, KIND_NUMBER, 0, 0,                                          \
	  "objects that would be freed with them, and themselves")                              \
	X(SET_SIZE, "size", NULL, KIND_BYTES, 0, 0, "their bytes")                              \
	X(SET_TYPE, NULL, "type", KIND_TYPE, 0, 0, NULL)                                        \
	X(SET_PART, NULL, "part", KIND_TEXT, 0, 0, NULL)

COLUMNS(set, SET_COLUMNS, SET_LIST);

SCHEMA(set,
       .lines = "{of:*object} of [=part types with \"{part}\"|{type}], {alive:,} of them alive, "
		"retain {count:*object}, {size:*byte}: these would be freed with them.\n");

static enum hd_status run_retained_set(struct call *call)
{
	HD_CLEANUP(chosen_objects) struct chosen_objects objects = { 0 };
	struct retained_set set;
	TRY(chosen_objects_init(call, &call->options[OPT_MT], &call->options[OPT_TYPE], &objects));
	const struct graph_type *type = &call->graph->types[objects.type];
	const char *part = objects.part;
	size_t count = objects.nodes_count;
	enum hd_status status =
		retained_set_count(call->graph, objects.nodes, count, &call->job, &set, call->err);
	TRY(status);
	job_end(&call->job);
	call->findings = !set.alive;
	answer_record(&call->answer, &set_schema,
		      (const struct cell[SET_COLUMNS]){
			      [SET_OF] = cell_number(count),
			      [SET_ALIVE] = cell_number(set.alive),
			      [SET_COUNT] = cell_number(set.count),
			      [SET_SIZE] = cell_number(set.size),
			      [SET_TYPE] = cell_type(type->name, type->name_size, type->id),
			      [SET_PART] = cell_string(part) });
	write_completeness(call, set.alive, "they may still be alive");
	return HD_OK;
}

static enum hd_status check_retained(struct call *call)
{
	int given =
		call->words[0].given + call->options[OPT_TYPE].given + call->options[OPT_MT].given;
	if (given > 1) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "retained is about one of ID, -type and -mt, not several");
	}
	return given ? HD_OK : call_usage(call, "an id is missing (or -type TEXT, or -mt ID)");
}

static enum hd_status run_retained(struct call *call)
{
	if (!call->words[0].given || call->words[0].is_type)
		return run_retained_set(call);
	uint32_t node;
	TRY(call_object(call, 0, &node));
	const struct dominators *dominators;
	TRY(session_dominators(call->session, &call->job, &dominators, call->err));
	job_end(&call->job);
	call->findings = !dominators->retained_count[node];
	write_retained(call, dominators, node);
	return HD_OK;
}

COMMAND(retained, .summary = "count what would be freed if an object went away",
	.description =
		"These are the objects that every strong path from the roots reaches through this one,\n"
		"and the object itself: its dominator subtree. With -type, -mt or the name of a type in\n"
		"place of ID: what all such objects retain together.\n",
	.example = "retained 1ce056", .needs = NEEDS_GRAPH, .options = retained_options,
	.words = { { "ID", VALUE_OBJECT, true } }, .check = check_retained);
