/* SPDX-License-Identifier: MIT */
/* Finds once what all rules of a report ask for: doc/report.md 3. */
#pragma once

#include <string.h>

#include "analysis/graph/root_paths.h"
#include "framework/facts.h"
#include "graph/dominators.h"

struct async_graph;
struct heap;
struct member;
struct members;
struct object;
struct root_set;
struct text;

#define MEGABYTE ((uint64_t)1 << 20)

/** From which roots an object is reached, the strongest first: each excludes the next. */
enum root_class {
	CLASS_PROCESS,   /**< statics, handles, the finalizer queue: as long as the process */
	CLASS_SCHEDULED, /**< queues of the thread pool and of timers: what is going to run */
	CLASS_THREAD,    /**< stacks and statics of threads */
	CLASS_COUNT,
	CLASS_DEAD = CLASS_COUNT, /**< no strong root */
};

/** Generations as graph_places.generation has them: 0, 1, 2, large, pinned, frozen, not known. */
#define FACT_GENERATIONS   7u
#define GENERATION_UNKNOWN 6u

/** Objects from @c first on are in @c generation, up to the next of these. */
struct generation_run {
	uint32_t first;
	uint32_t generation;
	uint32_t young_before; /**< objects of generation 0 in all runs before this one */
};

/** Generation 0 in so many parts, with as many objects each. */
#define YOUNG_PARTS 64u

/** Bytes of a heap. */
struct heap_sums {
	uint64_t live[FACT_GENERATIONS], dead[FACT_GENERATIONS];
	uint64_t all_live, all_dead; /**< the sums of both */
	uint64_t live_objects, dead_objects;
	uint64_t young_objects; /**< of generation 0, live and dead */
	uint64_t
		recent; /**< bytes of generation 0, live and dead: allocated since the last collection */
	bool has_recent; /**< it is known: not for a dump file, which lacks what is dead */
	uint64_t free_soh, free_loh; /**< bytes of Free blocks; 0 for a dump file */
};

struct compared_with;
struct counted_type;
struct memory_share;

/** The facts.  Members that are pointers to const are borrowed. */
struct report_facts {
	struct hd_graph *graph;
	struct heap *heap;            /**< NULL: a dump file, where no fields can be read */
	const struct root_set *roots; /**< NULL likewise */
	struct members *members;      /**< NULL likewise */
	const struct dominators *dominators;
	const struct memory_share *native; /**< NULL: it is not known */
	struct async_graph
		*async; /**< the async methods that are not done; NULL: they were not read */
	struct job *job;
	bool is_complete; /**< no roots, references or objects are missing */
	bool has_generations;
	struct root_paths paths;
	uint8_t *classes; /**< by node: enum root_class */
	struct generation_run *runs;
	size_t runs_count, runs_capacity;
	struct heap_sums sums;
	uint32_t *
		type_begin; /**< by type, and one more: where its live objects begin in type_nodes */
	uint32_t *type_nodes;
	uint64_t *claimed;            /**< bitmap: a finding has explained the object */
	struct counted_type *counted; /**< by type: see counted.h; NULL until then */
};

/** The arguments of facts_init(). */
struct facts_of {
	struct hd_graph *graph; /**< with references */
	struct heap *heap;
	const struct root_set *roots;
	const struct dominators *dominators;
	/** Another heap, whose inventory must outlive the report; NULL: nothing is compared. */
	const struct compared_with *with;
	const struct memory_share *native; /**< or NULL */
	struct async_graph *async;         /**< or NULL: the rules read it if they need it */
	bool is_complete;
	bool is_reversed; /**< the rules of each turn run in reverse: a test asks whether that matters */
};

/**
 * Find them out: two passes over the live objects.
 *
 * @param[out] ret To be given to facts_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status facts_init(struct report_facts *ret, const struct facts_of *of,
				       struct job *job, struct hd_error *err);
void facts_deinit(struct report_facts *facts);

static inline bool facts_is_live(const struct report_facts *facts, uint32_t node)
{
	return facts->classes[node] != CLASS_DEAD;
}

/** Generation of a node, GENERATION_UNKNOWN if it is not known. */
unsigned int facts_generation(const struct report_facts *facts, uint32_t node);

/** The part of generation 0 that a node of it is in, by its address: less than YOUNG_PARTS. */
unsigned int facts_young_part(const struct report_facts *facts, uint32_t node);

static inline const struct graph_type *facts_type(const struct report_facts *facts, uint32_t node)
{
	static const struct graph_type none = { .name = "?", .name_size = 1 };
	uint32_t type =
		node < facts->graph->object_count ? facts->graph->node_types[node] : HD_NONE;
	return type < facts->graph->type_count ? &facts->graph->types[type] : &none;
}

/** How many live objects a type has; they are facts->type_nodes[facts->type_begin[type]] and on. */
static inline uint32_t facts_live_count(const struct report_facts *facts, uint32_t type)
{
	return facts->type_begin[type + 1] - facts->type_begin[type];
}

/** Does the name begin with @p prefix?  Names of dump files do not end with NUL. */
static inline bool type_begins(const struct graph_type *type, const char *prefix)
{
	size_t size = strlen(prefix);
	return type->name && type->name_size >= size && memcmp(type->name, prefix, size) == 0;
}
/** Is it the class @p name of the framework, with any type arguments? */
bool type_is_class(const struct graph_type *type, const char *name);
/** Is @p part anywhere in the name? */
bool type_contains(const struct graph_type *type, const char *part);
static inline bool type_is_array(const struct graph_type *type)
{
	return type->name && type->name_size && type->name[type->name_size - 1] == ']';
}
/** Does the type belong to the program, and not to the framework? */
bool type_is_own(const struct graph_type *type);
/** The same for the full name of a type, a method or a static field. */
bool facts_name_is_own(const struct report_facts *facts, const char *name, size_t size);
/** How many types with objects have neither a module that tells whose they are, nor its file: their names decide. */
uint32_t facts_types_by_name(const struct report_facts *facts);

/** The object of a node; false: there is none, or this is a dump file. */
bool facts_object(const struct report_facts *facts, uint32_t node, struct object *ret);
/** A field of it, see fact_of(). */
struct member facts_fact(const struct report_facts *facts, uint32_t node, enum fact fact);
/** The node of the object at @p address; HD_NONE: there is none. */
uint32_t facts_node(const struct report_facts *facts, uint64_t address);
/** The node that such a field refers to; HD_NONE: none. */
uint32_t facts_fact_node(const struct report_facts *facts, uint32_t node, enum fact fact);

/** Note that a finding explains the object. */
void facts_claim(struct report_facts *facts, uint32_t node);
/** Is it explained, or is one of the objects that dominate it, up to @p levels of them? */
bool facts_is_claimed(const struct report_facts *facts, uint32_t node, unsigned int levels);

/** The object that dominates a node; HD_NONE: none does. */
static inline uint32_t facts_idom(const struct report_facts *facts, uint32_t node)
{
	return node < facts->dominators->node_count ? facts->dominators->idom[node] : HD_NONE;
}

static inline uint64_t facts_retained(const struct report_facts *facts, uint32_t node)
{
	return dominators_size(facts->dominators, node);
}

/** The bytes that a finding needs at least: doc/report.md 4.1. */
uint64_t facts_limit(const struct report_facts *facts);

/** @p bytes as a part of what is alive, which is 1; for people: format_share(). */
static inline double facts_share(const struct report_facts *facts, uint64_t bytes)
{
	return facts->sums.all_live ? (double)bytes / (double)facts->sums.all_live : 0;
}
/** The same in tenths of a percent, rounded down: for comparing with a threshold. */
static inline uint64_t facts_permille(const struct report_facts *facts, uint64_t bytes)
{
	return facts->sums.all_live
		       ? (uint64_t)((double)bytes * 1000 / (double)facts->sums.all_live)
		       : 0;
}
