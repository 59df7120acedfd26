/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_PERMIT_H
#define HEAPDUMP_CLI_PERMIT_H

#include <stdbool.h>

#include <heapdump/command.h>

/** Which module files may be read. */
struct permit_files {
	const char *sysroot; /**< the folder that they are below; "" = anywhere */
	bool are_off;        /**< none */
	bool are_trusted;    /**< files that are not images of code, too */
};

/**
 * What a worker may have opened while it runs one command: what the user's words name, and what those commands
 * need by their nature.  A worker that its target has taken over can ask for anything; it gets this.
 */
struct permit {
	const char *target;            /**< what is open, as the user wrote it; or NULL */
	const char *sysroot;           /**< the setting; "" = none */
	struct hd_command_names names; /**< what the words of the command name */
	struct permit_files now;       /**< by the settings and the options of this command */
	struct permit_files then;      /**< by those of the command that opened what is open */
	bool is_collecting;            /**< ps, collect */
	bool may_make_name;            /**< collect, which makes a name where the user gave none */
	char made_name[64];            /**< the one that it has made; "" = none yet */
};

/** May @p path be opened as @p as (an enum hd_open_as), below the folder @p below ("" = /)? */
bool permit_open(const struct permit *permit, int as, const char *path, const char *below);

/**
 * May a file be made, or replaced?  What the user named; or a new file with a name such as collect makes: the
 * first that is asked for, and no other.
 */
bool permit_create(struct permit *permit, const char *path);

/** May a process be stopped and read? */
bool permit_attach(const struct permit *permit, int pid);

#endif
