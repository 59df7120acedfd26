/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"
#include "targets/target.h"

/** The registers of a thread as it stopped. */
void registers_of_thread(const struct arch *arch, const struct target_thread *thread,
			 struct registers *ret);
