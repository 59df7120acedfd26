/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "runtime/coreclr/layouts/exinfo.h"
#include "runtime/coreclr/stack/coreclr_stack.h"
#include "stack/walker.h"

bool coreclr_stack_is_filter(struct thread_walk *walk, const struct code_info *code)
{
	bool is_filter;
	if (coreclr_clauses_tell_filter(walk->runtime, code, &is_filter))
		return is_filter;
	const struct exception_record *record = exception_above(&walk->exceptions, walk_sp(walk));
	struct code_info handler;
	if (record && !record->is_known && exinfo_has_parts(walk->runtime)) {
		(void)walk_bad(walk,
			       "the exception at %" PRIx64 " does not say what its handler is for",
			       record->address);
	}
	return record && record->clause == 1 && record->handler &&
	       runtime_code_at(walk->runtime, record->handler, &handler) &&
	       handler.start == code->start;
}
