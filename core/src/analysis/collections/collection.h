/* SPDX-License-Identifier: MIT */
/* The items of the framework's collections. */
#pragma once

#include "framework/member.h"

/** Where the key or the value of an item lies. */
struct item_value {
	uint64_t address;        /**< of its bytes; 0: it is a reference that lies in no object */
	uint64_t reference;      /**< that one */
	const struct type *type; /**< declared type; NULL: not known */
	uint8_t element_type;    /**< enum element_type of what is stored; 0: there is no value */
};

struct collection_item {
	struct item_value key; /**< of a PriorityQueue the priority; element_type 0: it has none */
	struct item_value value;
};

/** Gets the items one by one; returns false when it wants no more. */
struct item_visitor {
	bool (*visit)(void *arg, const struct collection_item *item);
	void *arg;
};

struct collection_layout;

/** A class of the framework and where the fields of an object of it begin. */
struct holder {
	uint64_t address;        /**< of the object */
	uint64_t fields;         /**< address of its first field */
	const struct type *type; /**< the class that has the fields: its own or a base class */
};

/** Where items are: in the object itself, or in another one that it refers to. */
struct collection_part {
	struct holder holder;
	const struct collection_layout *layout;
	bool is_reversed;   /**< its items come in the other order */
	const char *within; /**< its values are objects, in whose field this is; or NULL */
};

/** A collection that was found out: see collection_open(). */
struct collection {
	struct heap *heap;
	struct members *members;
	struct holder holder;
	const struct collection_layout *layout; /**< its own */
	struct collection_part parts[2];
	unsigned int part_count;
	uint64_t unknown; /**< COLLECTION_INNER_UNKNOWN: the address of the object inside it */
};

/** The result of looking at an object. */
enum collection_state {
	COLLECTION_KNOWN,
	COLLECTION_NONE, /**< its class, and its base classes, are not collections that are known */
	COLLECTION_UNKNOWN,       /**< a collection, but its fields are not those that are known */
	COLLECTION_INNER_UNKNOWN, /**< it keeps its items in another object, which is not known */
};

/**
 * Find out what collection @p object is.  Classes that derive from one count as it; what only
 * wraps another collection (BlockingCollection, Channel, ReadOnlyCollection) has its items.
 *
 * @param members Borrowed while @p ret is used.
 * @param[out] ret Valid when the result is COLLECTION_KNOWN.
 * Fields by name: doc/coreclr.md 18 (metadata of System.Private.CoreLib, System.Collections.* and
 * System.Threading.Channels of .NET 8, 9 and 10).
 */
enum collection_state collection_open(struct heap *heap, struct members *members,
				      const struct object *object, struct collection *ret);

/** "ConcurrentDictionary", the class of the framework without its namespace. */
const char *collection_class(const struct collection *collection);

/** The collection's own count, and what the walk found. */
struct collection_facts {
	uint64_t found;    /**< items that were visited, or were to be */
	uint64_t count;    /**< as the collection says */
	uint64_t capacity; /**< items that it has room for */
	bool has_count, has_capacity;
	bool has_keys;   /**< one of the items that were found has a key */
	bool is_broken;  /**< it could not be read to its end */
	bool is_stopped; /**< the visitor wanted no more: found is how many it got */
};

/**
 * Visit the items, in the order in which the collection lists them.
 *
 * @param job May be NULL.
 * @param visitor NULL: only count.
 * @retval HD_OK also when it is broken
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: at most linear in the bytes of the heap, usually in its items.
 */
HD_NODISCARD enum hd_status collection_visit(const struct collection *collection, struct job *job,
					     const struct item_visitor *visitor,
					     struct collection_facts *ret, struct hd_error *err);
