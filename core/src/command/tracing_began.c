/* SPDX-License-Identifier: MIT */
#include "command/tracing_began.h"

void tracing_began_write(struct call *call, bool began, const char *lead)
{
	static const struct column columns[] = {
		{ "tracing_began", NULL, KIND_FLAG, 0, 0,
		  "was the process traced between the two for the first time?" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	answer_data(&call->answer, &schema, (const struct cell[]){ cell_flag(began) });
	if (!began)
		return;
	answer_remark(&call->answer,
		      "%sBetween the two the process was traced for the first time, as collect "
		      "does: some 2,900 objects\n(230 KB) come from that. Among them are "
		      "objects of System.Reflection and strings, which cannot be\ntold from the "
		      "program's own: compare with a snapshot that was taken after the first.\n",
		      lead);
}
