/* SPDX-License-Identifier: MIT */
#include "analysis/collections/collection_walk.h"

#include "util/job.h"

/* How many items come between two looks at the job. */
#define STEP_STRIDE 4096u

void collection_walk_init(struct collection_walk *walk, struct heap *heap, struct members *members,
			  struct job *job)
{
	*walk = (struct collection_walk){ .heap = heap, .members = members, .job = job };
	for (size_t i = 0; i < heap->segment_count; i++)
		walk->bytes_left += heap->segments[i].end - heap->segments[i].begin;
}

bool walk_has_ended(const struct collection_walk *walk)
{
	return walk->facts.is_broken || walk->facts.is_stopped || walk->status != HD_OK;
}

bool walk_step(struct collection_walk *walk, uint32_t bytes)
{
	if (walk_has_ended(walk))
		return false;
	if (walk->bytes_left < bytes) {
		walk->facts.is_broken = true;
		return false;
	}
	walk->bytes_left -= bytes;
	if (++walk->steps % STEP_STRIDE == 0 && walk->job && !job_step(walk->job, 0, 0)) {
		walk->status = fail_cancelled(walk->err);
		return false;
	}
	return true;
}

void walk_broken(struct collection_walk *walk)
{
	walk->facts.is_broken = true;
}

void walk_add_count(struct collection_walk *walk, uint64_t count)
{
	walk->facts.has_count = true;
	walk->facts.count += count;
}

void walk_add_capacity(struct collection_walk *walk, uint64_t capacity)
{
	walk->facts.has_capacity = true;
	walk->facts.capacity += capacity;
}

/* Go from a value that is an object to a field in it. */
static bool look_within(struct collection_walk *walk, struct item_value *value)
{
	struct holder holder;
	uint64_t address;
	if (!memory_u64(walk->heap->memory, value->address, &address))
		return false;
	if (!holder_at(walk, address, &holder))
		return false;
	struct member member = holder_member(walk->members, &holder, walk->within);
	*value = member_value(&member);
	return value->element_type;
}

bool walk_item(struct collection_walk *walk, const struct collection_item *item)
{
	if (walk_has_ended(walk))
		return false;
	walk->facts.found++;
	walk->facts.has_keys |= item->key.element_type != 0;
	if (!walk->visitor)
		return true;
	struct collection_item shown = *item;
	if (walk->within && !look_within(walk, &shown.value)) {
		walk_broken(walk);
		return false;
	}
	walk->facts.is_stopped = !walk->visitor->visit(walk->visitor->arg, &shown);
	return !walk->facts.is_stopped;
}

bool holder_at(struct collection_walk *walk, uint64_t address, struct holder *ret)
{
	struct object object;
	if (!member_object(walk->members, address, &object))
		return false;
	*ret = (struct holder){ object.address, object.address + OBJECT_FIELDS, object.type };
	return true;
}

struct member holder_member(struct members *members, const struct holder *holder, const char *path)
{
	if (!path)
		return (struct member){ .state = MEMBER_ABSENT };
	return member_of_struct(members, holder->type, holder->fields, path);
}

struct member holder_fact(struct members *members, const struct holder *holder, enum fact fact)
{
	return fact_of_struct(members, holder->type, holder->fields, fact);
}

bool member_count(const struct member *member, uint64_t *ret)
{
	if (member->state == MEMBER_NULL) {
		*ret = 0;
		return true;
	}
	int64_t count = member_signed(member);
	if (member->state != MEMBER_READ || count < 0)
		return false;
	*ret = (uint64_t)count;
	return true;
}

bool holder_count(struct collection_walk *walk, const struct holder *holder, const char *path,
		  uint64_t *ret)
{
	struct member member = holder_member(walk->members, holder, path);
	return member_count(&member, ret);
}

bool member_array(struct collection_walk *walk, const struct member *member, struct array_info *ret)
{
	if (member->state == MEMBER_NULL || (member->state == MEMBER_READ && !member->bits)) {
		*ret = (struct array_info){ 0 };
		return true;
	}
	return array_at(walk->heap, walk->members, member->bits, ret);
}

bool holder_array(struct collection_walk *walk, const struct holder *holder, const char *path,
		  struct array_info *ret)
{
	if (path) {
		struct member member = holder_member(walk->members, holder, path);
		return member_array(walk, &member, ret);
	}
	return array_at(walk->heap, walk->members, holder->address, ret);
}

struct item_value member_value(const struct member *member)
{
	if (member->state != MEMBER_READ)
		return (struct item_value){ 0 };
	return (struct item_value){ .address = member->address,
				    .type = member->type,
				    .element_type = member->element_type };
}

struct item_value element_value(struct collection_walk *walk, const struct array_info *array,
				uint64_t index, const char *field)
{
	uint64_t address = array->data + index * array->element_size;
	if (!field) {
		return (struct item_value){ .address = address,
					    .type = array->element,
					    .element_type = array->element_type };
	}
	if (!array->element)
		return (struct item_value){ 0 };
	struct member member = member_of_struct(walk->members, array->element, address, field);
	return member_value(&member);
}

void link_chain_init(struct link_chain *chain, uint64_t first, const char *next)
{
	*chain = (struct link_chain){ .next = next, .at = first, .slow = first };
}

/* The object after the one at @p address; false: its field cannot be read. */
static bool next_link(struct collection_walk *walk, uint64_t address, const char *next,
		      uint64_t *ret)
{
	struct member member = member_at(walk->members, address, next);
	*ret = member.bits;
	return member.state == MEMBER_READ;
}

bool link_chain_next(struct collection_walk *walk, struct link_chain *chain, struct holder *ret)
{
	if (chain->is_circle)
		walk_broken(walk);
	if (!chain->at || !walk_step(walk, NODE_SIZE_MIN))
		return false;
	if (!holder_at(walk, chain->at, ret) ||
	    !next_link(walk, chain->at, chain->next, &chain->at)) {
		walk_broken(walk);
		return false;
	}
	/* A second pointer, half as fast, is met again only in a circle (Floyd). */
	if (++chain->count % 2 == 0 && !next_link(walk, chain->slow, chain->next, &chain->slow))
		chain->is_circle = true;
	chain->is_circle |= chain->at && chain->at == chain->slow;
	return true;
}

bool walk_node(struct collection_walk *walk, const struct holder *node,
	       const struct item_fields *fields)
{
	struct member key = holder_member(walk->members, node, fields->key);
	struct member value = holder_member(walk->members, node, fields->value);
	if (value.state != MEMBER_READ || (fields->key && key.state != MEMBER_READ)) {
		walk_broken(walk);
		return false;
	}
	const struct collection_item item = { member_value(&key), member_value(&value) };
	return walk_item(walk, &item);
}
