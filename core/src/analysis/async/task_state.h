/* SPDX-License-Identifier: MIT */
/* The state of a System.Threading.Tasks.Task. */
#pragma once

#include "framework/member.h"

/** System.Threading.Tasks.TaskStatus, with its numbers. */
enum task_status {
	TASK_CREATED,
	TASK_WAITING_FOR_ACTIVATION,
	TASK_WAITING_TO_RUN,
	TASK_RUNNING,
	TASK_WAITING_FOR_CHILDREN,
	TASK_RAN_TO_COMPLETION,
	TASK_CANCELED,
	TASK_FAULTED,
	TASK_STATUSES
};

/** The name that TaskStatus has for it, such as "WaitingToRun"; static. */
const char *task_status_name(enum task_status status);
/** All names, and NULL. */
extern const char *const task_status_names[TASK_STATUSES + 1];

/** The status that the bits of Task.m_stateFlags tell (Task.cs, Status). */
enum task_status task_status_of(uint32_t flags);

/**
 * Names of System.Threading.Tasks.TaskCreationOptions, and of RunContinuationsAsynchronously: bit i
 * of task_options_of() is the one at i.
 */
#define TASK_OPTIONS 6u
extern const char *const task_option_names[TASK_OPTIONS + 1]; /**< ends with NULL */
uint32_t task_options_of(uint32_t flags);

/** Has @p task ended, well or not?  false: no, or it is not a task. */
bool task_is_complete(struct members *members, const struct object *task);

struct task_state {
	uint32_t flags; /**< Task.m_stateFlags */
	enum task_status status;
	uint64_t exception;    /**< TASK_FAULTED: the first exception, or 0: not known */
	uint64_t continuation; /**< what goes on after it; 0: nothing, or it is complete */
};

/**
 * Read the state of a task.
 *
 * @return false when it is not a task: it has no m_stateFlags
 */
bool task_state_read(struct heap *heap, struct members *members, const struct object *task,
		     struct task_state *ret);
