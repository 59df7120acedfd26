/* SPDX-License-Identifier: MIT */
#include "analysis/async/task_state.h"

#include "inspect/value.h"

/* Bits of Task.m_stateFlags (Task.cs, TASK_STATE_...). */
#define STATE_STARTED          0x00010000u
#define STATE_INVOKED          0x00020000u
#define STATE_FAULTED          0x00200000u
#define STATE_CANCELED         0x00400000u
#define STATE_WAITING_CHILDREN 0x00800000u
#define STATE_RAN              0x01000000u
#define STATE_WAITING          0x02000000u

const char *const task_status_names[TASK_STATUSES + 1] = {
	[TASK_CREATED] = "Created",
	[TASK_WAITING_FOR_ACTIVATION] = "WaitingForActivation",
	[TASK_WAITING_TO_RUN] = "WaitingToRun",
	[TASK_RUNNING] = "Running",
	[TASK_WAITING_FOR_CHILDREN] = "WaitingForChildrenToComplete",
	[TASK_RAN_TO_COMPLETION] = "RanToCompletion",
	[TASK_CANCELED] = "Canceled",
	[TASK_FAULTED] = "Faulted",
};

const char *const task_option_names[TASK_OPTIONS + 1] = {
	"PreferFairness",  "LongRunning",   "AttachedToParent",
	"DenyChildAttach", "HideScheduler", "RunContinuationsAsynchronously",
};

/* Their bits (TaskCreationOptions). */
static const uint32_t option_bits[TASK_OPTIONS] = { 1, 2, 4, 8, 0x10, 0x40 };

const char *task_status_name(enum task_status status)
{
	return task_status_names[status];
}

enum task_status task_status_of(uint32_t flags)
{
	/* In the order of Task.Status: the first bit that is set decides. */
	static const struct {
		uint32_t bit;
		enum task_status status;
	} bits[] = {
		{ STATE_FAULTED, TASK_FAULTED },
		{ STATE_CANCELED, TASK_CANCELED },
		{ STATE_RAN, TASK_RAN_TO_COMPLETION },
		{ STATE_WAITING_CHILDREN, TASK_WAITING_FOR_CHILDREN },
		{ STATE_INVOKED, TASK_RUNNING },
		{ STATE_STARTED, TASK_WAITING_TO_RUN },
		{ STATE_WAITING, TASK_WAITING_FOR_ACTIVATION },
	};
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (flags & bits[i].bit)
			return bits[i].status;
	}
	return TASK_CREATED;
}

uint32_t task_options_of(uint32_t flags)
{
	uint32_t options = 0;
	for (uint32_t i = 0; i < TASK_OPTIONS; i++)
		options |= flags & option_bits[i] ? 1u << i : 0;
	return options;
}

bool task_is_complete(struct members *members, const struct object *task)
{
	struct member flags = fact_of(members, task, FACT_TASK_FLAGS);
	return flags.state == MEMBER_READ &&
	       task_status_of((uint32_t)flags.bits) >= TASK_RAN_TO_COMPLETION;
}

static uint64_t first_exception(struct heap *heap, struct members *members,
				const struct object *task)
{
	struct array_info array;
	if (!array_at(heap, members, fact_of(members, task, FACT_TASK_EXCEPTIONS).bits, &array))
		return 0;
	return fact_at(members, array_reference(heap, &array, 0), FACT_DISPATCH_INFO_EXCEPTION)
		.bits;
}

bool task_state_read(struct heap *heap, struct members *members, const struct object *task,
		     struct task_state *ret)
{
	struct member flags = fact_of(members, task, FACT_TASK_FLAGS);
	if (flags.state != MEMBER_READ)
		return false;
	uint32_t bits = (uint32_t)flags.bits;
	struct member next = fact_of(members, task, FACT_TASK_NEXT);
	*ret = (struct task_state){ .flags = bits, .status = task_status_of(bits) };
	if (ret->status == TASK_FAULTED)
		ret->exception = first_exception(heap, members, task);
	if (ret->status < TASK_RAN_TO_COMPLETION && next.state == MEMBER_READ)
		ret->continuation = next.bits;
	return true;
}
