/* SPDX-License-Identifier: MIT */
#include "stack/thread_call.h"

#include "targets/target.h"
#include "unwind/registers.h"

bool thread_waits_without_end(const struct target *target, uint64_t os_id)
{
	const struct target_thread *thread = target_thread(target, (int32_t)os_id);
	struct registers registers;
	if (!thread || !target->arch->ops->waits_without_end)
		return false;
	registers_of_thread(target->arch, thread, &registers);
	return target->arch->ops->waits_without_end(target->memory, &registers);
}
