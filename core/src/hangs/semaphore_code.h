/* SPDX-License-Identifier: MIT */
/* Reads the program's code for who takes places of a semaphore that is in a field, and who gives them back. */
#pragma once

#include "hangs/waits.h"
#include "runtime/coreclr/code/code_names.h"

/** Bytes of a name that is looked for, and names of one kind. */
#define SEMAPHORE_NAME_SIZE 192u
#define SEMAPHORE_NAMES_MAX 32u
/** Modules of the program that are read, and classes whose objects give places back. */
#define SEMAPHORE_MODULES_MAX 64u
#define SEMAPHORE_LEASES_MAX  4u

/** Names of members, without arguments of generic types. */
struct semaphore_names {
	char rows[SEMAPHORE_NAMES_MAX][SEMAPHORE_NAME_SIZE];
	bool are_called[SEMAPHORE_NAMES_MAX]; /**< by row: some code names it */
	size_t count;
};

/** A class whose objects have a place, and give it back in Dispose. */
struct semaphore_lease {
	const struct module *module;
	uint32_t class_row;                    /**< of TypeDef */
	char constructor[SEMAPHORE_NAME_SIZE]; /**< "Shop.Gate+Place..ctor" */
};

/** The ways in which code uses the semaphore, as bits. */
enum semaphore_use {
	SEMAPHORE_NAMED = 1,    /**< it has the semaphore from its field */
	SEMAPHORE_ENTERS = 2,   /**< it calls a method that takes a place */
	SEMAPHORE_RELEASES = 4, /**< it calls one that gives a place back */
};

struct semaphore_code {
	struct semaphore_names fields;    /**< in: "Shop.Gate.places"; read: also properties */
	const struct module *home;        /**< in: of the classes with these fields */
	struct semaphore_names enterers;  /**< methods that take a place, and give none back */
	struct semaphore_names releasers; /**< methods that give one back, and take none */
	struct semaphore_lease leases[SEMAPHORE_LEASES_MAX];
	size_t leases_count;
	/** A method that does both, or one of each: "Shop.Gate.Run". */
	char enters[SEMAPHORE_NAME_SIZE], releases[SEMAPHORE_NAME_SIZE];
	const struct module *modules[SEMAPHORE_MODULES_MAX]; /**< that may use the fields */
	size_t modules_count;
	/**
	 * All places are taken and given back by the same call of a method, or by calls of it, or with an object of one of the leases;
	 * false: not so, or not known.
	 */
	bool is_paired;
};

/**
 * Read the code; fields and home must be set, all else is zero.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the code of modules, a few times.
 */
HD_NODISCARD enum hd_status semaphore_code_read(struct runtime *runtime,
						struct semaphore_code *code, struct job *job,
						struct hd_error *err);

/** enum semaphore_use of a name in code; for struct code_search, whose arg is a semaphore_code. */
uint64_t semaphore_code_match(const void *arg, const char *name);

/** Is it one of code->modules? */
bool semaphore_code_has(const struct semaphore_code *code, uint64_t module);

/** Add "Shop.Gate.places"; false: it is too long, or there are too many. */
bool semaphore_names_add(struct semaphore_names *names, const char *type, const char *member);
