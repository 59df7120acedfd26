/* SPDX-License-Identifier: MIT */
/* Which types and fields that answers use are not in the framework of a runtime: doc/coreclr.md 20. */
#pragma once

#include "framework/facts.h"
#include "runtime/runtime.h"

/**
 * Rows of the table that this release should have, in the metadata of the loaded assemblies.  An
 * assembly that is not loaded, or has no metadata here, says nothing.
 */
struct framework_survey {
	size_t asked;   /**< types and fields that could be looked for */
	size_t missing; /**< of them, without an alternative */
	bool type_is_missing[NET_TYPES];
	bool fact_is_missing[FACTS]; /**< also those of a type that is missing */
};

/**
 * @retval HD_OK
 * @retval HD_ERR_NOMEM, HD_ERR_FAULT: see module_list()
 */
HD_NODISCARD enum hd_status framework_survey_make(struct runtime *runtime,
						  struct framework_survey *ret,
						  struct hd_error *err);

struct module;
/** The same for some modules. */
void framework_survey_modules(struct runtime *runtime, struct module *const *modules, size_t count,
			      struct framework_survey *ret);

/** Add a finding that says what is missing, if anything is. */
void framework_survey_report(struct runtime *runtime, const struct framework_survey *survey);
