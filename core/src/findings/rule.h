/* SPDX-License-Identifier: MIT */
/* Rules are made of these functions. */
#pragma once

#include "findings/report.h"

/** So many levels of objects that dominate one are asked whether a finding explains it. */
#define EXPLAINED_LEVELS 16u

/** Add a finding of the running rule. */
HD_NODISCARD enum hd_status finding_add(struct report *report, const struct report_finding *finding,
					struct hd_error *err);

/**
 * Does a finding of a rule before tell of something that grows, and that @p node is inside of?  However many findings
 * there are.
 */
bool report_is_growing(const struct report *report, uint32_t node);
/** The finding of something that grows, and that @p node is inside of; NULL: none. */
const struct report_finding *report_growing(const struct report *report, uint32_t node);

/** Text in the report's arena; "?" when memory is exhausted: then report_make() fails. */
const char *report_text(struct report *report, const char *format, ...) HD_PRINTF(2, 3);

/** Name of a type, cut in its middle if it is very long; in the report's arena. */
const char *report_type_name(struct report *report, uint32_t type);
/** The same without namespace and type arguments: "Dictionary", "ShopSession". */
const char *report_short_name(struct report *report, uint32_t type);
/** Such a name of a name. */
const char *report_name(struct report *report, const char *name, size_t size);
/** "12,000", in the report's arena: numbers in titles and sentences. */
const char *report_number(struct report *report, uint64_t number);
/** "1.5 MB", in the report's arena. */
const char *report_bytes(struct report *report, uint64_t bytes);
/** "12.3 %" of what is alive. */
const char *report_share(struct report *report, uint64_t bytes);

/** Add a number that the finding rests on, and an object. */
void finding_count(struct report_finding *finding, const char *what, uint64_t value);
void finding_sample(struct report_finding *finding, uint32_t node);

/** Note the largest value that the running rule has met, and that its limit of work was met. */
void rule_met(struct report *report, uint64_t value);
void rule_limited(struct report *report);

static inline enum confidence confidence_less(enum confidence confidence)
{
	return confidence < CONFIDENCE_LOW ? (enum confidence)(confidence + 1) : CONFIDENCE_LOW;
}

/** Fill in holder: the path to @p node, and the field that is to blame.  Names are in the arena. */
void holder_find(struct report *report, uint32_t node, struct held_by *ret);
/**
 * The root that an object is reached from; HD_NONE: it is dead, or *@p steps, which counts down the objects of all
 * paths that may still be gone through, is 0.
 */
uint32_t holder_root(const struct report *report, uint32_t node, uint64_t *steps);
/** "static Type.field", "handle to Type", "stack Method": the same for roots that are alike. */
const char *holder_root_label(struct report *report, uint32_t root);
