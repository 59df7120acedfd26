/* SPDX-License-Identifier: MIT */
/* Items in the slots of an array: lists, rings, hash tables with entries, pairs of arrays. */
#include "analysis/collections/collection_walk.h"

/* The arrays of a part, and which of their slots may have items. */
struct slots {
	const struct collection_layout *layout;
	struct array_info items, other;
	uint64_t items_address;
	uint64_t start, used;
};

static bool read_arrays(struct collection_walk *walk, const struct collection_part *part,
			struct slots *ret)
{
	const struct collection_layout *layout = part->layout;
	struct member items = holder_member(walk->members, &part->holder, layout->items);
	ret->items_address = items.bits;
	if (!holder_array(walk, &part->holder, layout->items, &ret->items))
		return false;
	return !layout->other || holder_array(walk, &part->holder, layout->other, &ret->other);
}

/* The counts of a part; those that cannot be right are not used: the array's own length is. */
static bool read_counts(struct collection_walk *walk, const struct collection_part *part,
			struct slots *slots)
{
	const struct collection_layout *layout = part->layout;
	uint64_t length = slots->items.length, used = length, spare = 0;
	if (layout->count && !holder_count(walk, &part->holder, layout->count, &used))
		return false;
	if (layout->slots.spare && !holder_count(walk, &part->holder, layout->slots.spare, &spare))
		return false;
	if (layout->start && !holder_count(walk, &part->holder, layout->start, &slots->start))
		return false;
	walk_add_count(walk, used >= spare ? used - spare : 0);
	if (layout->has_room)
		walk_add_capacity(walk, length);
	slots->used = layout->test == SLOTS_KEY ? length : used;
	if (layout->other && slots->other.length < length)
		length = slots->other.length;
	bool is_sound =
		used >= spare && slots->used <= length && (slots->start < length || !slots->start);
	if (slots->used > length)
		slots->used = length;
	return is_sound;
}

/* Does a slot have an item?  false also when it cannot be read: then the walk is broken. */
static bool slot_is_live(struct collection_walk *walk, const struct slots *slots, uint64_t index)
{
	const struct collection_layout *layout = slots->layout;
	const struct array_info *items = &slots->items;
	if (layout->test == SLOTS_ALL)
		return true;
	const char *field = layout->test == SLOTS_NEXT ? layout->slots.live : layout->item.key;
	struct member member = { .state = MEMBER_ABSENT };
	if (items->element) {
		member = member_of_struct(walk->members, items->element,
					  items->data + index * items->element_size, field);
	}
	if (member.state != MEMBER_READ) {
		walk_broken(walk);
		return false;
	}
	if (layout->test == SLOTS_NEXT)
		return member_signed(&member) >= -1;
	return member.bits && member.bits != slots->items_address;
}

static bool emit_slot(struct collection_walk *walk, const struct slots *slots, uint64_t index)
{
	const struct item_fields *fields = &slots->layout->item;
	struct collection_item item = { .value = element_value(walk, &slots->items, index,
							       fields->value) };
	if (slots->layout->other)
		item.key = element_value(walk, &slots->other, index, NULL);
	if (fields->key)
		item.key = element_value(walk, &slots->items, index, fields->key);
	bool needs_key = fields->key || slots->layout->other;
	if (!item.value.element_type || (needs_key && !item.key.element_type)) {
		walk_broken(walk);
		return false;
	}
	return walk_item(walk, &item);
}

void walk_array(struct collection_walk *walk, const struct collection_part *part)
{
	struct slots slots = { .layout = part->layout };
	if (!read_arrays(walk, part, &slots)) {
		walk_broken(walk);
		return;
	}
	bool is_sound = read_counts(walk, part, &slots);
	bool is_reversed = part->is_reversed != part->layout->is_reversed;
	uint64_t length = slots.items.length;
	for (uint64_t i = 0; i < slots.used && !walk_has_ended(walk); i++) {
		uint64_t index = is_reversed ? slots.used - 1 - i : i;
		if (slots.start < length)
			index = (slots.start + index) % length;
		if (!walk_step(walk, slots.items.element_size))
			return;
		if (slot_is_live(walk, &slots, index) && !emit_slot(walk, &slots, index))
			return;
	}
	walk->facts.is_broken |= !is_sound;
}
