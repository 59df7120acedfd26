/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "targets/process/cgroup_memory.h"

/** Answer with what a process's cgroup has, and its limit. */
void memory_write_cgroup(struct call *call, const struct cgroup_memory *group);
