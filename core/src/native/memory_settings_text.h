/* SPDX-License-Identifier: MIT */
/* Settings in words, for advice and findings. */
#pragma once

#include "native/memory_settings.h"

struct text;

/** "DOTNET_GCConserveMemory is 5 in its environment". */
void memory_setting_append(struct text *text, const struct memory_settings *settings,
			   enum memory_setting_name name);
/** Which settings make the heap smaller, what they are here, and the limits that the GC has made of them. */
void memory_settings_append_gc(struct text *text, const struct memory_settings *settings);
