/* SPDX-License-Identifier: MIT */
#pragma once

/* Targets with several .NET runtimes: which one is meant, and which others there are. */

#include <stdbool.h>

#include "util/fail.h"

struct target;
struct target_module;

/** May the runtime that is meant be in @p module?  True unless options.runtime names another one. */
bool runtime_is_meant(const struct target *target, const struct target_module *module);

/** Fail because no runtime is in a module that options.runtime names; say which modules have one. */
HD_NODISCARD enum hd_status runtime_fail_name(const struct target *target, struct hd_error *err);
