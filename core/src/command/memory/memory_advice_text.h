/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "native/memory_advice.h"
#include "native/memory_settings.h"
#include "targets/process/cgroup_memory.h"

/** Advice is made of these facts. */
struct advice_facts {
	struct memory_evidence evidence;
	struct memory_settings settings;
	bool has_group;             /**< a process in a cgroup that can be read */
	struct cgroup_memory group; /**< what it points to is borrowed */
};

/** Answer with the advice for which there is evidence; in text nothing if there is none. */
void memory_write_advice(struct call *call, const struct advice_facts *facts);

/** Data has what the process was given, and what the GC has made of it. */
void memory_write_settings(struct call *call, const struct memory_settings *settings);
