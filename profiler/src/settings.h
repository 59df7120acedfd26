/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "when.h"

#define SETTING_SIZE        512u
#define SETTINGS_FILE       "heapdump.profiler.json"
#define SETTINGS_FILE_LIMIT 65536u

/** The settings, by number. */
enum setting {
	SETTING_WHEN,
	SETTING_OUT,
	SETTING_WAY,
	SETTING_KEEP,
	SETTING_FREE,
	SETTING_RATE,
	SETTING_LIVE,
	SETTING_HOLD,
	SETTING_REPORT,
	SETTINGS
};

/** The user's text for each setting; "": none. */
struct setting_texts {
	char text[SETTINGS][SETTING_SIZE];
};

/** The name of a setting in the file, such as "when"; its variable is HEAPDUMP_WHEN. */
const char *setting_name(enum setting setting);

/** How the runtime is asked for a walk over the heap. */
enum way {
	WAY_ANY,    /**< the first of these that is possible */
	WAY_SOCKET, /**< over its diagnostics socket, as the command collect does */
	WAY_EVENTS, /**< by a session of events that are delivered to the profiler */
	WAY_WALK    /**< by a forced collection, about which the runtime tells profilers */
};

/** The settings as they were understood. */
struct settings {
	struct when when;       /**< what leads to a snapshot */
	enum way way;           /**< how the runtime is asked */
	char out[SETTING_SIZE]; /**< the pattern of the file's name (out_path.h) */
	unsigned keep;          /**< how many files stay, the newest ones; 0: all */
	uint64_t free;          /**< bytes that the disk must have free; 0: does not matter */
	unsigned rate;          /**< seconds from one snapshot to the next; 0: does not matter */
	bool is_live;           /**< without what no root keeps alive */
	bool is_held;           /**< the program stands still until the file is written */
	bool has_report;        /**< with a page next to the file */
};

/**
 * Read the texts of all settings; the first that is wrong is said on standard error.
 *
 * @return false when nothing is asked for, or something is wrong
 */
bool settings_parse(const struct setting_texts *texts, struct settings *ret);

/** Is each text of heapdump.profiler.json right?  The first that is wrong is said on standard error. */
bool settings_check_file(const struct setting_texts *texts);

/**
 * Read the variables HEAPDUMP_..., or what they do not say from heapdump.profiler.json in the working folder.
 *
 * @param[out] ret_signal The signal that one of these texts asks for, also when they do not count; 0: none.
 * @return false when nothing is asked for, or something is wrong; this is then said in one line on standard error
 */
bool settings_read(struct settings *ret, int *ret_signal);
