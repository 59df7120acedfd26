/* SPDX-License-Identifier: MIT */
#include "hangs/wait_process.h"

/* Is there a reader of the stream that was never used?  Process.StreamReadMode.Undefined is 0 (Process.cs). */
static bool is_unread(const struct waits *waits, const struct object *process, enum fact stream,
		      enum fact mode)
{
	struct member reader = fact_of(waits->members, process, stream);
	struct member used = fact_of(waits->members, process, mode);
	return reader.bits && used.state == MEMBER_READ && !used.bits;
}

bool wait_process_read(const struct waits *waits, const struct thread_wait *wait,
		       struct wait_process *ret)
{
	const struct object *process = &wait->object;
	if (wait->kind != WAIT_PROCESS || !process->type)
		return false;
	struct member id = fact_of(waits->members, process, FACT_PROCESS_ID);
	if (id.state != MEMBER_READ)
		return false;
	struct member start = fact_of(waits->members, process, FACT_PROCESS_STARTED_WITH);
	*ret = (struct wait_process){
		.pid = member_signed(&id),
		.file = start.bits ? fact_at(waits->members, start.bits, FACT_PROCESS_FILE).bits
				   : 0,
		.is_unread =
			is_unread(waits, process, FACT_PROCESS_OUTPUT, FACT_PROCESS_OUTPUT_MODE) ||
			is_unread(waits, process, FACT_PROCESS_ERROR, FACT_PROCESS_ERROR_MODE),
	};
	return true;
}
