/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli.h"
#include "permit.h"

/** The exit status of a worker that has written itself why it cannot work. */
#define WORKER_HAS_SAID_WHY 70

/**
 * The process that reads one target and runs the commands about it.  It is forked from this
 * process, which never reads any target, and puts itself into a sandbox (sandbox.h) before it reads
 * a byte.  When it needs something opened, this process opens it, if the user's own words ask for
 * it.
 */
struct worker {
	pid_t pid;                 /**< 0: there is none */
	int channel;               /**< this process's end of the channel to it */
	char *target;              /**< the target that it has open, as the user wrote it; NULL:
				    * nothing */
	char *sysroot;             /**< the setting "sysroot" for module files */
	char *symbols;             /**< the setting "symbols" for PDBs */
	bool has_files;            /**< a command has run, and files are set */
	struct permit_files files; /**< which module files the open target may use */
	uint64_t own_size;         /**< bytes of address space that it began with */
	uint64_t handed;  /**< bytes of the files that were opened for it, each file once */
	uint64_t modules; /**< those of them that the user did not name */
	struct handed_file *handed_files; /**< those files (worker_limits.c) */
	size_t handed_count;
	uint64_t max_mem; /**< the limit "max-mem" of the command that it runs */
};

/** Fork it; false and errno if that fails. */
bool worker_start(struct cli *cli, struct worker *worker);

/**
 * End it and forget it; a process that it had stopped goes on.  Does nothing if there is no worker.
 */
void worker_end(struct worker *worker);

/** Let the next command open @p target, with that command's options. */
bool worker_defer(struct worker *worker, const char *target);

/**
 * Run a command in the worker; its answer goes to standard output and standard error of this
 * process.
 *
 * @param is_quiet The command is "open": only a failure is shown.
 * @return the exit status; if the worker died, HD_EXIT_INPUT after a line that says how
 */
int worker_run(struct cli *cli, struct worker *worker, int argc, const char *const *argv,
	       bool is_quiet);

/** hd_command_complete() in the worker. */
int worker_complete(struct cli *cli, int argc, const char *const *argv,
		    void (*add)(void *arg, const char *candidate), void *arg);

/** The forked process runs this until the other end of @p channel is closed. */
_Noreturn void worker_main(struct cli *cli, int channel);
