/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/statics/static.h"
#include "runtime/statics.h"

/**
 * .NET 10: check that every used slot of the AppDomain's arrays of statics has a name
 * (doc/coreclr.md 10.5).  A slot without one is a finding "statics".
 */
void static_slots_check(struct runtime *runtime, const struct static_slots *slots);
