/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <heapdump/command.h>

/** Which module files may be read. */
struct permit_files {
	const char *sysroot; /**< the folder that contains them; "" = anywhere */
	const char *symbols; /**< a folder with PDBs; NULL or "" = none */
	bool are_off;        /**< none */
	bool are_trusted;    /**< also files that are not images of code */
};

/**
 * The files that a worker may have opened while it runs one command: those that the user's words
 * name, and those that the command needs in any case.  A worker that a hostile target has taken
 * over can ask for anything, but gets only this.
 */
struct permit {
	const char *target;            /**< what is open, as the user wrote it; or NULL */
	const char *sysroot;           /**< the setting; "" = none */
	const char *symbols;           /**< likewise */
	struct hd_command_names names; /**< what the words of the command name */
	int argc; /**< these words: they may name several files that are read */
	const char *const *argv;
	struct permit_files now;  /**< what the settings and the options of this command
				        * allow */
	struct permit_files then; /**< what those of the command that opened the target
				        * allowed */
	bool is_collecting;       /**< ps, collect */
	bool may_make_name;       /**< collect, which chooses a name if the user gave none */
	char made_name[64];       /**< the name that it has chosen; "" = none yet */
	bool has_folder;          /**< the name of the output is a folder, which was begun */
};

/** May @p path be opened as @p as (an enum hd_open_as), below the folder @p below ("" = /)? */
bool permit_open(const struct permit *permit, int as, const char *path, const char *below);

/**
 * May a file be made, or replaced?  Yes if the user named it, or if it is a new file with a name
 * such as collect chooses: only the first one that is asked for.  A path that ends with a slash is a
 * folder, which the user has named with or without it.
 */
bool permit_create(struct permit *permit, const char *path);

/** It was made: files may be made in it, if it is a folder. */
void permit_created(struct permit *permit, const char *path);

/** May a process be stopped and read? */
bool permit_attach(const struct permit *permit, int pid);
