/* SPDX-License-Identifier: MIT */
/* Numbers the types and fields of the framework that answers know: framework/fact_table.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "framework/fact_table.h"

/** Where check_framework.py finds an assembly. */
enum assembly_origin {
	FROM_PACK,             /**< it is in the shared framework of each release */
	FROM_PACKAGE,          /**< it is only in a NuGet package */
	FROM_PACK_AND_PACKAGE, /**< both: programs may have another version than their release */
};

enum framework_assembly {
#define X(id, name, origin) ASSEMBLY_##id,
	FRAMEWORK_ASSEMBLIES(X)
#undef X
	ASSEMBLIES
};

/** A type of the framework: NET_TASK. */
enum net_type {
#define X(id, name, assembly, first, last) NET_##id,
	FRAMEWORK_TYPES(X)
#undef X
	NET_TYPES
};

/** A field of one of these types, or the path to one: FACT_TASK_FLAGS. */
enum fact {
#define X(id, type, path, first, last) FACT_##id,
	FRAMEWORK_FIELDS(X)
#undef X
	FACTS
};

/** The releases that have something: see fact_table.h. */
struct net_releases {
	uint8_t first, last;
};

struct net_assembly_row {
	const char *name;
	enum assembly_origin origin;
};

struct net_type_row {
	const char *name; /**< as in metadata: "System.Lazy`1", "Outer`1+Inner" */
	enum framework_assembly assembly;
	struct net_releases releases;
};

struct fact_row {
	const char *path; /**< as member_of() takes it */
	enum net_type type;
	struct net_releases releases;
};

const struct net_assembly_row *net_assembly_row(enum framework_assembly assembly);
const struct net_type_row *net_type_row(enum net_type type);
const struct fact_row *fact_row(enum fact fact);

/** The row that @p type or @p fact is an alternative of; else itself. */
enum net_type net_type_main(enum net_type type);
enum fact fact_main(enum fact fact);

/** The name of a type, as in metadata. */
const char *net_type_name(enum net_type type);

/**
 * Is @p name the name of that type, as the runtime or a dump file spells it, with any type
 * arguments ("System.Lazy<A>"), or as in metadata ("System.Lazy`1")?
 */
bool net_type_is(enum net_type type, const char *name, size_t size);
