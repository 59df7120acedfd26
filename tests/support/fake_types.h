/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_clr.h"

/*
 * Names and fields for the types of a fake runtime: the metadata of its module, and FieldDescs.
 *
 *	struct fake_types *types = fake_types_create(fake);
 *	uint64_t node = fake_class(types, &(struct fake_class){ .name = "Node", ... });
 *	fake_types_attach(types);
 *	... fake_heap(fake) ...
 *	fake_types_destroy(types);
 */
struct fake_types;

struct fake_field {
	const char *name; /**< NULL ends a list */
	uint64_t type;    /**< MethodTable of fake_class() in the signature; 0: the element alone */
	uint64_t constant;
	uint32_t offset;
	uint8_t element; /**< enum element_type of the storage */
	bool is_static;
	bool is_literal; /**< a constant of an enum: in the metadata alone */
};

struct fake_class {
	const char *space, *name;        /**< NULL counts as "" */
	const struct fake_field *fields; /**< may be NULL */
	uint32_t inherited;              /**< instance fields of its base classes */
	struct fake_type type;           /**< its token is given by the class */
	uint32_t inline_length;          /**< the argument of its [InlineArray]; 0: it has none */
};

/** Object and String get their names; call it before any other type is made. */
struct fake_types *fake_types_create(struct fake_clr *fake);
void fake_types_destroy(struct fake_types *types);
/** Make a type; returns its MethodTable. */
uint64_t fake_class(struct fake_types *types, const struct fake_class *class);
/** Give the metadata to the module: after the last class, before names are asked for. */
void fake_types_attach(struct fake_types *types);
/** Put the metadata into the target instead: for a runtime that runtime_open() is to find. */
void fake_types_export(struct fake_types *types);
