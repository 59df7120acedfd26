/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_PERMIT_H
#define HEAPDUMP_CLI_PERMIT_H

#include <stdbool.h>

/**
 * What a worker may have opened while it runs one command: what the user's words name, and what those commands
 * need by their nature.  A worker that its target has taken over can ask for anything; it gets this.
 */
struct permit {
	const char *target;  /**< what is open, as the user wrote it; or NULL */
	const char *sysroot; /**< the setting; "" = none */
	int argc;            /**< words of the command */
	const char *const *argv;
	bool trusts_files;  /**< files of the target's that are not images of code, too */
	bool is_collecting; /**< ps, collect */
	bool is_writing;    /**< export, collect */
};

/** May @p path be opened as @p as (an enum hd_open_as), below the folder @p below ("" = /)? */
bool permit_open(const struct permit *permit, int as, const char *path, const char *below);

/** May a file be made, or replaced? */
bool permit_create(const struct permit *permit, const char *path);

/** May a process be stopped and read? */
bool permit_attach(const struct permit *permit, int pid);

#endif
