/* SPDX-License-Identifier: MIT */
/* The user's own files: where they are (XDG Base Directory Specification), and which are safe to read. */
#pragma once

#include "cli.h"

/** Most bytes of a file of this kind. */
#define OWN_SIZE_MAX (4 << 20)

/**
 * Open one of the user's files.  Root may have somebody else's HOME, so it must belong to the caller or to root, and
 * nobody else may be able to change it; a link is not followed.
 *
 * @return a descriptor, to be closed; -1: it does not exist, or must not be used
 */
int own_file_open(const char *path);

/**
 * Where the prompt's history is kept: $XDG_STATE_HOME/heapdump/history, else ~/.local/state/heapdump/history.
 *
 * @return to be freed; NULL: nowhere
 */
char *own_history_path(void);

/** Make the folders of @p path that are missing, for the caller alone, if the first that is there is the caller's. */
void own_folders_make(const char *path);

/**
 * Take the settings of $XDG_CONFIG_HOME/heapdump/config, else ~/.config/heapdump/config: on each line the name of a
 * setting and its value, as after "set".  A # at the beginning or after a blank begins a comment; a value may begin with ~/.
 * A line that is none of this is told as a warning, and the others count; so is a file that must not be used.
 */
void own_settings_take(struct cli *cli);
