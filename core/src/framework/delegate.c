/* SPDX-License-Identifier: MIT */
#include "framework/delegate.h"

#include "mem/memory.h"

bool delegate_words_read(struct heap *heap, const struct object *object,
			 const struct field_list *fields, struct delegate_words *ret)
{
	struct member target = fact_in_list(heap, object, fields, FACT_DELEGATE_TARGET),
		      code = fact_in_list(heap, object, fields, FACT_DELEGATE_CODE),
		      aux = fact_in_list(heap, object, fields, FACT_DELEGATE_CODE_AUX),
		      handlers = fact_in_list(heap, object, fields, FACT_DELEGATE_LIST),
		      count = fact_in_list(heap, object, fields, FACT_DELEGATE_COUNT);
	if (handlers.state == MEMBER_ABSENT)
		handlers = fact_in_list(heap, object, fields, FACT_DELEGATE_HELPER);
	if (count.state == MEMBER_ABSENT)
		count = fact_in_list(heap, object, fields, FACT_DELEGATE_EXTRA);
	*ret = (struct delegate_words){ .target = target.bits,
					.code = code.bits,
					.code_aux = aux.bits,
					.handlers = handlers.bits,
					.count = count.bits };
	return target.state != MEMBER_ABSENT && code.state != MEMBER_ABSENT;
}

bool delegate_handlers_read(struct members *members, const struct object *object,
			    struct delegate_words *ret)
{
	struct member handlers = fact_of(members, object, FACT_DELEGATE_LIST),
		      count = fact_of(members, object, FACT_DELEGATE_COUNT);
	if (handlers.state == MEMBER_ABSENT)
		handlers = fact_of(members, object, FACT_DELEGATE_HELPER);
	if (count.state == MEMBER_ABSENT)
		count = fact_of(members, object, FACT_DELEGATE_EXTRA);
	*ret = (struct delegate_words){ .handlers = handlers.bits, .count = count.bits };
	return handlers.state == MEMBER_READ && count.state == MEMBER_READ;
}

bool delegate_handlers_check(const struct object *array, uint64_t count)
{
	return array->type->category == CATEGORY_SZ_ARRAY && array->type->has_pointers &&
	       array->type->component_size == sizeof(uint64_t) && array->length >= count;
}
