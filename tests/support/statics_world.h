/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/nettrace_graph.h"

/* Traces with statics, and the files of the modules that declare them, as a test says. */

/* Ids of types whose objects statics hold. */
enum {
	OBJECT = 0x100,
	STRING = 0x200,
	STRUCT = 0x300,
	STRINGS = 0x400, /* String[] */
	FIRST = 0x500,   /* the first type of module 1 */
	HANDLER = 0x600, /* a delegate */
	NOBODY = 0x700   /* not defined */
};

#define WORLD_MODULES 4u
#define WORLD_ROWS    16u
#define WORLD_MODULE  0x7000u /* and 0x100 for each more */
#define WORLD_PATH    40u

/*
 * Fields are words of a kind and a name: o object, s string, A string[], n int, v Space.Struct by a
 * TypeRef, e an enum by a TypeDef, c its own class, h System.Handler by a TypeRef; o with another
 * letter after it is l literal, r with an RVA, i of an instance, t of a thread.
 */
struct type_spec {
	const char *space, *name, *fields;
	uint32_t outer; /* TypeDef */
	bool is_generic;
};

struct module_spec {
	struct type_spec types[6];
	uint8_t pdb, other_pdb; /* other_pdb: what the file has */
	bool is_missing, is_dynamic, is_unlisted;
	const char *path;
};

struct row {
	uint64_t slot, type;
	const char *field, *expected;
};

struct world {
	struct module_spec modules[WORLD_MODULES];
	struct row rows[WORLD_ROWS];
	bool has_no_end, has_no_rundown, has_loss;
	struct format_options options;
};

/** Types of the objects: what module 0 is in every world. */
extern const struct module_spec world_base;

/** The file of a module, for free(): TypeDefs 1 and 2 are <Module> and an enum, then its own. */
uint8_t *world_image(const struct module_spec *spec, uint32_t *ret_size);
/** Make the files and the trace. */
void world_make(const struct world *world, struct nettrace_maker *trace, char paths[][WORLD_PATH]);
void world_delete(char paths[][WORLD_PATH]);

/** Parts of the trace. */
void world_put_types(struct nettrace_maker *trace);
void world_put_heap(struct nettrace_maker *trace, const struct world *world);

size_t world_rows(const struct world *world);
/** Address of the object of a row. */
uint64_t world_object(size_t row);
