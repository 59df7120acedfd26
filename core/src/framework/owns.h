/* SPDX-License-Identifier: MIT */
/* Is it the framework's, or the program's?  doc/coreclr.md 22. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runtime;
struct type;

/** The owner of a type, as far as its module tells it. */
enum module_owner {
	OWNER_UNKNOWN, /**< nothing does: go by the name */
	OWNER_FRAMEWORK,
	OWNER_PROGRAM, /**< its own code, or a library that it brings */
};

/**
 * Who owns an assembly, by where its file is: a folder of a shared framework, which has nothing
 * else; a file elsewhere that is not called as one of the framework's assemblies.  NULL: not known.
 */
enum module_owner framework_owner_of_file(const char *path);

/** Whose code it is. */
enum code_owner {
	CODE_OF_FRAMEWORK,
	CODE_OF_LIBRARY, /**< one that the program brings */
	CODE_OF_PROGRAM, /**< its own */
};

/**
 * Whose type is it?  The assembly with Main is the program's, which the runtime loads as the first one after the
 * framework's CoreLib, and so is each whose name begins with the same word: "Shop.Web" and "Shop.Data".  What is not the
 * framework's, nor in an assembly that is known, counts as the program's.
 */
enum code_owner code_owner_of_type(struct runtime *runtime, const struct type *type);
/** The same of a method. */
enum code_owner code_owner_of_method(struct runtime *runtime, uint64_t method_desc);

struct module;
/** Is it one of the program's assemblies, as code_owner_of_type() says? */
bool program_owns_module(struct runtime *runtime, const struct module *module);

/** Does the framework own the type?  Its module decides, if anything is known of that. */
bool framework_owns_type(struct runtime *runtime, const struct type *type);

/**
 * Does the framework own what has that full name: a type, or a method or field of one?  The type's
 * module decides if a type of that name is loaded, else whole namespaces: "System.Text.Rope" is the
 * framework's, "SystemShop.Order" and "Microsoft.Contoso.Order" are not.
 *
 * @param runtime NULL: only the name is known, as in a dump file
 */
bool framework_owns(struct runtime *runtime, const char *name, size_t size);
