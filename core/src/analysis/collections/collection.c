/* SPDX-License-Identifier: MIT */
#include "analysis/collections/collection.h"

#include <string.h>

#include "analysis/collections/collection_walk.h"

/* How many base classes, and how many collections one inside of the other, are looked at. */
#define BASES_MAX    64u
#define WRAPPERS_MAX 8u

/* Is @p name (of a class, with type arguments) that of the class @p wanted? */
static bool is_class(const char *name, size_t size, const char *wanted)
{
	unsigned int depth = 0;
	for (size_t i = 0; i < size; i++) {
		depth += name[i] == '<';
		if (!depth && *wanted++ != name[i])
			return false;
		depth -= depth && name[i] == '>';
	}
	return !*wanted;
}

/* Has the holder the fields that a layout cannot do without? */
static bool has_fields(struct members *members, const struct collection_layout *layout,
		       const struct holder *holder)
{
	const char *const paths[] = { layout->items, layout->other, layout->count };
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (paths[i] && holder_member(members, holder, paths[i]).state == MEMBER_ABSENT)
			return false;
	}
	return true;
}

/* Find the layout for the class of @p holder, which becomes the class that has the fields. */
static enum collection_state find_layout(struct heap *heap, struct members *members,
					 struct holder *holder,
					 const struct collection_layout **ret)
{
	const struct type *type = holder->type;
	if (type->category == CATEGORY_SZ_ARRAY) {
		*ret = &array_layout;
		return COLLECTION_KNOWN;
	}
	enum collection_state state = COLLECTION_NONE;
	for (unsigned int i = 0; type && i < BASES_MAX && state == COLLECTION_NONE; i++) {
		const struct collection_layout *layout;
		size_t size;
		const char *name = type_name(heap->runtime, type, &size);
		for (unsigned int row = 0; (layout = collection_layout_at(row)); row++) {
			struct holder as_type = *holder;
			if (!name || !is_class(name, size, layout->name))
				continue;
			if (!layout->is_own)
				as_type.type = type;
			state = COLLECTION_UNKNOWN;
			if (layout->shape != SHAPE_UNKNOWN &&
			    has_fields(members, layout, &as_type)) {
				*ret = layout;
				*holder = as_type;
				return COLLECTION_KNOWN;
			}
		}
		type = type->parent ? type_find(heap->runtime, type->parent) : NULL;
	}
	return state;
}

/* Add the collection that a field of @p part refers to; null is one without items. */
static enum collection_state add_part(struct collection *collection,
				      const struct collection_part *part, const char *path,
				      bool is_reversed)
{
	struct members *members = collection->members;
	struct member member = holder_member(members, &part->holder, path);
	struct object object;
	struct collection_part inner = { .is_reversed = is_reversed,
					 .within = part->layout->item.value };
	if (member.state == MEMBER_NULL || (member.state == MEMBER_READ && !member.bits))
		return COLLECTION_KNOWN;
	collection->unknown = member.bits;
	if (!member_object(members, member.bits, &object))
		return COLLECTION_INNER_UNKNOWN;
	inner.holder =
		(struct holder){ object.address, object.address + OBJECT_FIELDS, object.type };
	enum collection_state state =
		find_layout(collection->heap, members, &inner.holder, &inner.layout);
	if (state != COLLECTION_KNOWN)
		return COLLECTION_INNER_UNKNOWN;
	collection->parts[collection->part_count++] = inner;
	return COLLECTION_KNOWN;
}

/* Go from what only wraps collections to these. */
static enum collection_state unwrap(struct collection *collection)
{
	for (unsigned int i = 0; i < WRAPPERS_MAX; i++) {
		const struct collection_part part = collection->parts[0];
		if (!collection->part_count || part.layout->shape != SHAPE_PARTS)
			return COLLECTION_KNOWN;
		const struct collection_layout *layout = part.layout;
		collection->part_count = 0;
		enum collection_state state = add_part(collection, &part, layout->items, false);
		if (state == COLLECTION_KNOWN && layout->other)
			state = add_part(collection, &part, layout->other, layout->is_reversed);
		if (state != COLLECTION_KNOWN)
			return state;
		if (collection->part_count == 2 &&
		    (collection->parts[0].layout->shape == SHAPE_PARTS ||
		     collection->parts[1].layout->shape == SHAPE_PARTS))
			return COLLECTION_UNKNOWN;
	}
	return COLLECTION_UNKNOWN;
}

enum collection_state collection_open(struct heap *heap, struct members *members,
				      const struct object *object, struct collection *ret)
{
	struct collection collection = {
		.heap = heap,
		.members = members,
		.holder = { object->address, object->address + OBJECT_FIELDS, object->type },
	};
	enum collection_state state =
		find_layout(heap, members, &collection.holder, &collection.layout);
	if (state == COLLECTION_KNOWN) {
		collection.parts[0] = (struct collection_part){ .holder = collection.holder,
								.layout = collection.layout };
		collection.part_count = 1;
		state = unwrap(&collection);
	}
	*ret = collection;
	return state;
}

const char *collection_class(const struct collection *collection)
{
	const char *dot = strrchr(collection->layout->name, '.');
	return dot ? dot + 1 : collection->layout->name;
}

static void walk_part(struct collection_walk *walk, const struct collection_part *part)
{
	walk->within = part->within;
	switch (part->layout->shape) {
	case SHAPE_UNKNOWN:
	case SHAPE_PARTS:
		walk_broken(walk);
		break;
	case SHAPE_EMPTY:
		walk_add_count(walk, 0);
		break;
	case SHAPE_ARRAY:
		walk_array(walk, part);
		break;
	case SHAPE_LINKS:
		walk_links(walk, part);
		break;
	case SHAPE_CHAINS:
		walk_chains(walk, part);
		break;
	case SHAPE_TREE:
		walk_tree(walk, part);
		break;
	case SHAPE_SEGMENTS:
		walk_segments(walk, part);
		break;
	case SHAPE_RINGS:
		walk_rings(walk, part);
		break;
	case SHAPE_BAG:
		walk_bag(walk, part);
		break;
	case SHAPE_WEAK_TABLE:
		walk_weak_table(walk, part);
		break;
	}
}

/* A limit that was set is the capacity; a collection without one has the room of its array. */
static void read_limit(struct collection_walk *walk, const struct collection *collection)
{
	uint64_t limit;
	if (collection->layout->capacity &&
	    holder_count(walk, &collection->holder, collection->layout->capacity, &limit) &&
	    limit) {
		walk->facts.has_capacity = true;
		walk->facts.capacity = limit;
	}
}

enum hd_status collection_visit(const struct collection *collection, struct job *job,
				const struct item_visitor *visitor, struct collection_facts *ret,
				struct hd_error *err)
{
	struct collection_walk walk;
	collection_walk_init(&walk, collection->heap, collection->members, job);
	walk.visitor = visitor;
	walk.err = err;
	bool is_broken = false;
	for (unsigned int i = 0; i < collection->part_count; i++) {
		/* Damage in the first part says nothing about the second one. */
		walk.facts.is_broken = false;
		if (!walk_has_ended(&walk))
			walk_part(&walk, &collection->parts[i]);
		is_broken |= walk.facts.is_broken;
	}
	walk.facts.is_broken = is_broken;
	if (!collection->part_count)
		walk_add_count(&walk, 0);
	read_limit(&walk, collection);
	if (walk.status == HD_OK)
		*ret = walk.facts;
	return walk.status;
}
