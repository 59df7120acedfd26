/* SPDX-License-Identifier: MIT */
/* Rules are made of these functions. */
#pragma once

#include "findings/report.h"
#include "findings/typed.h"
#include "framework/member.h"
#include "inspect/variables_of.h"

/** So many levels of objects that dominate one are asked whether a finding explains it. */
#define EXPLAINED_LEVELS 16u

/** The id of the fact that connections are open. */
#define OF_CONNECTIONS "connections"

/** So much must there be of a finding; 0: that does not count. */
struct least {
	uint64_t objects, bytes;
	uint32_t permille;    /**< of what is alive */
	uint32_t half_limits; /**< halves of facts_limit() */
};

/**
 * How findings of one kind are told.  In the words, a {place} stands for a part of the finding: {objects}, {bytes} and
 * {share}; {type}, the short name of its member_type, and {full}, the whole; {holder}, {method}; {count0}, ... and
 * {size0}, ...: its counts, the latter in bytes; {0}, ...: the texts that are given to finding_tell().
 */
struct telling {
	struct least least[SEVERITY_INFO + 1]; /**< by severity; all zeros: it never is so severe */
	const char *id, *title, *sentence, *look_at, *next;
	const char *title_of_one, *sentence_of_one; /**< if it has one object; NULL: the same */
};

/** Set the severity: the worst of which there is enough.  False: of none, it is not to be told. */
HD_NODISCARD bool finding_weigh(const struct report *report, const struct telling *telling,
				struct report_finding *finding);
/** Fill in the words, and add the finding. */
HD_NODISCARD enum hd_status finding_tell(struct report *report, struct report_finding *finding,
					 const struct telling *telling, const char *const *texts,
					 struct hd_error *err);

/** Add a finding of the running rule that has its words. */
HD_NODISCARD enum hd_status finding_add(struct report *report, const struct report_finding *finding,
					struct hd_error *err);

/**
 * Does a finding of a rule before tell of something that grows, and that @p node is inside of?  However many findings
 * there are.
 */
bool report_is_growing(const struct report *report, uint32_t node);
/** The finding of something that grows, and that @p node is inside of; NULL: none. */
const struct report_finding *report_growing(const struct report *report, uint32_t node);

/** Is @p node the object that a finding is about, or does that one dominate it, over a few levels? */
bool finding_is_around(const struct report_finding *finding, const struct report_facts *facts,
		       uint32_t node);

/** Text in the report's arena; "?" when memory is exhausted: then report_make() fails. */
const char *report_text(struct report *report, const char *format, ...) HD_PRINTF(2, 3);

/** Name of a type, cut in its middle if it is very long; in the report's arena. */
const char *report_type_name(struct report *report, uint32_t type);
/**
 * The same without namespace and type arguments: "Dictionary", "ShopSession"; of variables with their method:
 * "Cart.Load.lambda", "Cart.Load.call".
 */
const char *report_short_name(struct report *report, uint32_t type);
/**
 * The method whose variables the objects of a type have, and whether they are those of a call or of its lambdas; "" and
 * VARIABLES_NONE: of none.  In the arena.
 */
const char *report_variables_of(struct report *report, uint32_t type, enum variables_kind *ret);
/** The name of a method, with or without its signature; of a lambda or local function "Shop.Cart.Load.lambda". */
const char *report_method_name(struct report *report, const char *name, size_t size);
/** Such a name of a name. */
const char *report_name(struct report *report, const char *name, size_t size);
/** "12,000", in the report's arena: numbers in titles and sentences. */
const char *report_number(struct report *report, uint64_t number);
/** "1.5 MB", in the report's arena. */
const char *report_bytes(struct report *report, uint64_t bytes);
/** "12.3 %" of what is alive. */
const char *report_share(struct report *report, uint64_t bytes);

/** Say who holds what it is about, by the path to @p held; and that it is about objects as @p sample, which is shown. */
void finding_about(struct report *report, struct report_finding *finding, uint32_t held,
		   uint32_t sample);
/** Add a number that the finding rests on, and an object. */
void finding_count(struct report_finding *finding, const char *what, uint64_t value);
void finding_sample(struct report_finding *finding, uint32_t node);

/** Note the largest value that the running rule has met, and that its limit of work was met. */
void rule_met(struct report *report, uint64_t value);
void rule_limited(struct report *report);
/** Note why the running rule could not run; @p reason is static. */
void rule_lacks(struct report *report, const char *reason);

static inline enum confidence confidence_less(enum confidence confidence)
{
	return confidence < CONFIDENCE_LOW ? (enum confidence)(confidence + 1) : CONFIDENCE_LOW;
}

/** Fill in holder: the path to @p node, and the field that is to blame.  Names are in the arena. */
void holder_find(struct report *report, uint32_t node, struct held_by *ret);
/** Find the field that is to blame, and the name that tells most of who holds it, on a path whose steps are known. */
void holder_name(struct report *report, struct held_by *ret);
/**
 * The root that an object is reached from; HD_NONE: it is dead, or *@p steps, which counts down the objects of all
 * paths that may still be gone through, is 0.
 */
uint32_t holder_root(const struct report *report, uint32_t node, uint64_t *steps);
/** "static Type.field", "handle to Type", "stack Method": the same for roots that are alike. */
const char *holder_root_label(struct report *report, uint32_t root);

/* Slots of arrays and collections that are empty, by type and by what holds them. */

/** Arrays or collections of one type that objects of one type hold. */
struct waste {
	uint32_t holder; /**< a type, or HD_NONE */
	uint32_t type, sample;
	uint64_t count, used, room, bytes;
};

struct wastes {
	struct waste *rows;
	size_t rows_count, rows_capacity;
};

/**
 * Count one: into the row of its holder and type among the rows from @p begin on.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wastes_add(struct wastes *wastes, size_t begin, const struct waste *one,
				       struct hd_error *err);
/**
 * Has another finding explained the object, or summed it with others?  That something grows does not explain that most of it is waste: that counts
 * first, and waste_is_told() is asked for the sum.
 */
bool waste_is_explained(const struct report *report, uint32_t node);
/** Is the waste a smaller part of something that grows, which a finding tells, and not much for itself? */
bool waste_is_told(const struct report *report, uint32_t sample, uint64_t bytes);

/** Bytes of a collection, and of the arrays that only it has, without what its elements refer to. */
uint64_t waste_own_bytes(const struct report_facts *facts, uint32_t node);

void wastes_deinit(struct wastes *wastes);

/** How a rule tells of rows. */
struct waste_telling {
	struct telling telling;
	const char *counts[3]; /**< names of a row's count, used and room */
	bool has_blamed;       /**< only what a field of the program holds is told */
	bool is_met_in_bytes;  /**< its threshold is in megabytes, and no share of the heap */
};

/**
 * Make findings of the rows of which there is enough.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wastes_tell(struct report *report, const struct wastes *wastes,
					const struct waste_telling *how, struct hd_error *err);

/** The rows of the table in rules.c, each in a file of its own. */
extern const struct report_rule accumulation_rule, events_rule, cancellation_rule, container_rule,
	finalizers_rule, finished_rule, timers_rule, caches_rule, async_rule, weak_references_rule,
	collections_rule, duplicates_rule, fragmentation_rule, dead_rule, load_contexts_rule,
	handles_rule, undisposed_rule, sparse_arrays_rule, known_types_rule, closures_rule,
	pools_rule, threads_rule, interned_rule, native_memory_rule, gc_memory_rule,
	started_threads_rule, slices_rule, assemblies_rule, empty_fields_rule;
