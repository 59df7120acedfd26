/* SPDX-License-Identifier: MIT */
/* Which class keeps its items how, and the names of its fields. */
#pragma once

#include <stdbool.h>

/** How a collection keeps its items. */
enum collection_shape {
	SHAPE_UNKNOWN,    /**< in a way that is not read here */
	SHAPE_EMPTY,      /**< it never has any */
	SHAPE_ARRAY,      /**< in the slots of an array, or of two */
	SHAPE_LINKS,      /**< in objects, each of which refers to the next */
	SHAPE_CHAINS,     /**< in an array of such chains */
	SHAPE_TREE,       /**< in a binary tree */
	SHAPE_SEGMENTS,   /**< ConcurrentQueue */
	SHAPE_RINGS,      /**< SingleProducerSingleConsumerQueue */
	SHAPE_BAG,        /**< ConcurrentBag */
	SHAPE_WEAK_TABLE, /**< ConditionalWeakTable */
	SHAPE_PARTS,      /**< in one or two other collections */
};

/** Which slots of an array have an item. */
enum slot_test {
	SLOTS_ALL,
	SLOTS_NEXT, /**< those whose field "live" is -1 or more: free ones have -2 and less */
	SLOTS_KEY,  /**< those whose key is neither null nor the array itself */
};

/** How a chain of objects ends. */
enum link_end {
	ENDS_WITH_NULL,
	ENDS_WITH_NONE,  /**< with an object that has no item */
	ENDS_WITH_FIRST, /**< the last one refers to the first one */
};

/** Where a slot or node has its item. */
struct item_fields {
	const char *key; /**< NULL: there are no keys */
	const char *value;
};

/** Where a node of a tree has its children. */
struct tree_fields {
	const char *left, *right;
	const char *height; /**< of trees that end with nodes of height 0; NULL: with null */
};

/** Where an array that holds more slots than items says how many. */
struct slot_fields {
	const char *used;  /**< how many slots may have items; NULL: as count */
	const char *spare; /**< how many of these are free */
	const char *live;  /**< in a slot, for SLOTS_NEXT */
};

/** Paths of fields, as member_of() takes them. */
struct collection_layout {
	const char *name; /**< full name of the class, without type arguments */
	enum collection_shape shape;
	const char *items; /**< the array, the first object, the root, the collection inside */
	const char *other; /**< the array of keys next to it; the second collection inside */
	const char *count; /**< what the collection says */
	struct slot_fields slots;
	const char *start; /**< where the ring begins in the array */
	const char *
		version; /**< counts insertions, and removals where they change the order; or NULL */
	const char *capacity;    /**< a limit that was set, if it is positive */
	struct item_fields item; /**< in a slot or node; value NULL: the slot itself */
	const char *next;        /**< of SHAPE_LINKS and SHAPE_CHAINS */
	struct tree_fields tree;
	const char *more; /**< in a node of a tree: the root of one with further items; or NULL */
	struct item_fields more_item; /**< in the nodes of that one */
	enum slot_test test;
	enum link_end end;
	bool is_reversed; /**< the last item comes first */
	bool is_own;      /**< the fields are in a class that derives from the named one */
	bool has_room; /**< the length of the array is the capacity; of SHAPE_CHAINS: the usual one */
	bool hides_changes; /**< the version does not count that a value took the place of another one */
};

/** Row @p index of the table, or NULL after the last; rows of one class are tried in their order. */
const struct collection_layout *collection_layout_at(unsigned int index);

/** The layout of an array that is the collection inside of another. */
extern const struct collection_layout array_layout;
