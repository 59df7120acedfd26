/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/gc_limits.h"
#include "util/fail.h"

struct heap;
struct job;
struct target;

/** Who has set something; the first one that did counts. */
enum memory_setting_source {
	MEMORY_SET_NOWHERE,
	MEMORY_SET_IN_ENVIRONMENT,
	MEMORY_SET_IN_CONFIG, /**< runtimeconfig.json */
};

/** A setting that a program got when it began. */
struct memory_setting {
	const char *name; /**< as its source calls it; not set: as the environment does; static */
	enum memory_setting_source source;
	char value[32]; /**< printable; cut off where it is longer; "": it is set to nothing */
};

enum memory_setting_name {
	MEMORY_SETTING_ARENAS,
	MEMORY_SETTING_CONSERVE,
	MEMORY_SETTING_DATAS,
	MEMORY_SETTING_LIMIT,
	MEMORY_SETTING_LIMIT_PERCENT,
	MEMORY_SETTINGS
};

struct memory_settings {
	bool has_environment; /**< it was found, at the end of the first thread's stack */
	bool has_config;      /**< the settings that the runtime was given were found */
	struct memory_setting rows[MEMORY_SETTINGS];
	struct gc_limits limits; /**< what the GC has made of them */
};

/**
 * Read the settings that advice is about: the environment, and what runtimeconfig.json said, which
 * the runtime keeps in System.AppContext.
 *
 * @param heap NULL: only the environment is looked at.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status memory_settings_read(struct target *target, struct heap *heap,
						 struct job *job, struct memory_settings *ret,
						 struct hd_error *err);

/** Take what the block of an environment says. */
void memory_settings_take(struct memory_settings *settings, const uint8_t *bytes, size_t size);
