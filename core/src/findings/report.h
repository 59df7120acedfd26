/* SPDX-License-Identifier: MIT */
/*
 * Findings of a heap, and the rules that make them: doc/report.md.
 *
 * Who may call whom in this folder: each file only those above it.
 *
 *	facts                           all that is found once, and which objects are explained already
 *	counted, growth, owners, typed  collections, what they have inside; tallies
 *	finding, holder_name, holder, waste  texts, words and severity; the path that keeps an object; empty slots
 *	inner_growth                    growth inside of members
 *	accumulation, field_piles, pile_parts, judged_pile  objects that pile up; piles that are one
 *	inventory, comparison, since    two heaps, and what they say of findings
 *	made_of                         the types of the program that piles are made of
 *	rule_NAME                       a rule each: it finds and counts, and calls no other one.  What others have
 *	                                found, it asks by facts_is_claimed() and report_growing()
 *	rules, report                   the table of them; it runs them, compares, sorts
 *
 * heap_map and type_rows are for the page of a report, and ask facts only.
 */
#pragma once

#include "findings/facts.h"
#include "util/arena.h"

enum severity {
	SEVERITY_HIGH,
	SEVERITY_MEDIUM,
	SEVERITY_LOW,
	SEVERITY_INFO,
};
/** "high", ...; static. */
const char *severity_name(enum severity severity);

enum confidence {
	CONFIDENCE_HIGH,
	CONFIDENCE_MEDIUM,
	CONFIDENCE_LOW,
};
const char *confidence_name(enum confidence confidence);

/** Does what a finding is about still grow? */
enum growth_state {
	GROWTH_NOT_ASKED,
	GROWTH_GROWS,   /**< nothing was ever removed, and young elements are there */
	GROWTH_TURNS,   /**< elements come and go */
	GROWTH_IDLE,    /**< much was allocated lately, and nothing of it is in there */
	GROWTH_UNKNOWN, /**< one dump cannot tell */
};
const char *growth_name(enum growth_state state);

struct since;

struct growth {
	enum growth_state state;
	const char *reason; /**< static */
	bool has_count, has_version;
	bool has_proof;            /**< a collection says that nothing was ever taken out of it */
	uint64_t count, version;   /**< as the collection says */
	uint64_t young, all;       /**< elements in the youngest generation, and in all */
	const struct since *since; /**< what became of it since another heap; NULL: there is none */
};

/** A step of a path: how the object before it, or the root, refers to it. */
struct path_step {
	uint32_t node;
	const char *link; /**< ".field", "[]"; of the first step the root; "": not known */
	bool is_blamed;   /**< its link is a field of the program's own type: the last such one */
};

#define FINDING_STEPS   24u
#define FINDING_SAMPLES 3u
#define FINDING_COUNTS  6u

/** A number that a finding rests on. */
struct evidence_count {
	const char *what;
	uint64_t value;
};

/** The path from the root, and what is named on it. */
struct held_by {
	struct path_step steps[FINDING_STEPS];
	size_t step_count;
	bool is_cut;              /**< steps in the middle were left out */
	const char *root_kind;    /**< "static", "stack", ...; static */
	const char *name;         /**< "Type.field" of the blamed edge, or of the root */
	const char *blamed_type;  /**< or NULL */
	const char *blamed_field; /**< or NULL */
	uint32_t subject;         /**< the object that the path leads to, or HD_NONE */
};

struct report_rule;

/** Ids of what a finding also explains. */
struct also_explained {
	const char *ids[4];
	size_t count;
};

/** Note one more; those that do not fit are left out. */
static inline void also_explains(struct also_explained *explained, const char *id)
{
	if (explained->count < sizeof(explained->ids) / sizeof(*explained->ids))
		explained->ids[explained->count++] = id;
}

#define MADE_OF 3u

/** The types of the program that parts of a pile belong to, most bytes first. */
struct made_of {
	struct {
		uint32_t type;
		uint64_t count, bytes; /**< its objects, and what belongs to them */
	} parts[MADE_OF];
	size_t count;
};

/** Something that is wrong, or large.  Texts are in the report's arena, or static. */
struct report_finding {
	const struct report_rule *rule;
	enum severity severity;
	enum confidence confidence;
	const char *id; /**< has no address: the same in two dumps of one program */
	const char *title, *sentence, *look_at, *next;
	uint64_t bytes, objects;
	uint32_t member_type; /**< type of what piles up, or HD_NONE */
	struct held_by holder;
	struct growth growth;
	uint32_t samples[FINDING_SAMPLES];
	size_t sample_count;
	struct evidence_count counts[FINDING_COUNTS];
	size_t count_count;
	struct also_explained explains;
	const char *method; /**< blamed method, or NULL */
	bool is_limited;
};

/** The outcome of a rule. */
struct rule_result {
	bool has_run;
	const char *reason; /**< static: why not */
	bool is_limited;    /**< its limit of work was met: it did not see everything */
	uint64_t met;       /**< what it measures, at most: compared with its threshold */
};

/** A live object that retains much and that no other dominates. */
struct large_holder {
	uint32_t node;
	uint64_t bytes;
	const char *
		name; /**< "Type.field" of what holds it, or the root; NULL: only its own type is known */
};

#define LARGE_HOLDERS 5u

struct report {
	struct report_facts facts;
	struct arena *arena;
	struct report_finding *findings; /**< most severe first */
	size_t findings_count, findings_capacity;
	struct made_of *made_of;            /**< by finding */
	struct rule_result *results;        /**< by rule */
	struct heap_comparison *comparison; /**< with another heap; NULL: there is none */
	const struct report_rule *running;
	struct rule_result *result; /**< of the running rule */
	uint64_t *
		growing; /**< bitmap: nodes that hold what grows, as findings of the rules before tell */
	uint64_t *
		wasted; /**< bitmap: collections and arrays that a finding of TURN_ROWS has summed */
	struct large_holder largest[LARGE_HOLDERS]; /**< most bytes first */
	size_t largest_count;
	bool lacks_text; /**< memory was exhausted when a text was made */
};

/** The data that a rule needs, and that not all dump files have. */
enum rule_needs {
	RULE_FIELDS = 1, /**< values of fields */
	RULE_ROOTS = 2,  /**< handles and finalizer queues */
	RULE_GENERATIONS = 4,
	RULE_MEMORY = 8, /**< what is in memory beside the heap */
};

/**
 * When a rule runs.  It may ask what the rules of the turns before have explained (facts_is_claimed()) and what they say
 * grows (report_growing()); rules of one turn know nothing of each other, and may run in any order.
 */
enum rule_turn {
	TURN_DEFECTS, /**< knows a kind of defect by its classes: what it explains is not told again */
	TURN_STATES,  /**< judges by what objects and the runtime's tables say of themselves */
	TURN_HANDLES, /**< judges what handles keep, unless it is told */
	TURN_PILES,   /**< judges what piles up, unless it is told */
	TURN_KINDS,   /**< adds what is known of a class to the pile that has its objects */
	TURN_ROWS,  /**< sums waste over the fields of a type: TURN_WASTE does not tell its parts */
	TURN_WASTE, /**< judges what takes more memory than it needs, in piles as well */
	TURN_COUNT
};

/** A row of the table of rules: a new rule is a file and a row; its limits and words are a struct telling (rule.h). */
struct report_rule {
	const char *name;
	enum rule_turn turn;
	const char *threshold; /**< in words */
	unsigned int needs;    /**< of enum rule_needs */
	bool is_outside; /**< the bytes of its findings are not of the heap: not a share of it */
	/**
	 * Its findings are more severe if there is more of something than in the heap before, and less
	 * if there is less; the findings of other rules rest on a defect, or on waste.
	 */
	bool rests_on_growth;
	enum hd_status (*find)(struct report *report, struct hd_error *err);
};

/** Rule @p index, or NULL past the last. */
const struct report_rule *report_rule_at(size_t index);
size_t report_rule_count(void);

/**
 * Find out the facts and run all rules.
 *
 * @param[out] ret To be given to report_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status report_make(struct report *ret, const struct facts_of *of,
					struct job *job, struct hd_error *err);
void report_deinit(struct report *report);

/** The types that the pile of a finding is made of; of other findings there are none. */
static inline const struct made_of *report_made_of(const struct report *report,
						   const struct report_finding *finding)
{
	return &report->made_of[finding - report->findings];
}

/** Does it have findings of that severity, or of a worse one? */
bool report_has(const struct report *report, enum severity severity);
