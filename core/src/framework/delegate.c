/* SPDX-License-Identifier: MIT */
#include "framework/delegate.h"

#include "mem/memory.h"

/* The fields that NativeAOT has in place of CoreCLR's, by release: doc/nativeaot.md 7.3. */
struct compiled_fields {
	const char *target, *code, *extra, *helper;
};
static const struct compiled_fields compiled[] = {
	{ "m_firstParameter", "m_functionPointer", "m_extraFunctionPointerOrData",
	  "m_helperObject" }, /* 8 */
	{ "_firstParameter", "_functionPointer", "_extraFunctionPointerOrData",
	  "_helperObject" },                                                         /* 9, 10 */
	{ "_target", "_methodPtr", "_extraFunctionPointerOrData", "_helperObject" }, /* 11 */
};

static bool read_word(struct heap *heap, const struct object *object,
		      const struct field_list *fields, const char *name, uint64_t *ret)
{
	const struct field *field = field_by_name(fields, name);
	return field &&
	       memory_u64(heap->memory, object->address + OBJECT_FIELDS + field->offset, ret);
}

/* The same in a program that was compiled ahead of time. */
static bool read_compiled(struct heap *heap, const struct object *object,
			  const struct field_list *fields, struct delegate_words *ret)
{
	for (size_t i = 0; i < sizeof(compiled) / sizeof(compiled[0]); i++) {
		const struct compiled_fields *names = &compiled[i];
		struct delegate_words words = { 0 };
		if (!read_word(heap, object, fields, names->extra, &words.count) ||
		    !read_word(heap, object, fields, names->target, &words.target) ||
		    !read_word(heap, object, fields, names->code, &words.code) ||
		    !read_word(heap, object, fields, names->helper, &words.handlers))
			continue;
		words.code_aux = words.count;
		*ret = words;
		return true;
	}
	return false;
}

bool delegate_words_read(struct heap *heap, const struct object *object,
			 const struct field_list *fields, struct delegate_words *ret)
{
	if (read_compiled(heap, object, fields, ret))
		return true;
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

/* The same in a program that was compiled ahead of time. */
static bool read_compiled_handlers(struct members *members, const struct object *object,
				   struct delegate_words *ret)
{
	for (size_t i = 0; i < sizeof(compiled) / sizeof(compiled[0]); i++) {
		struct member extra = member_of(members, object, compiled[i].extra),
			      helper = member_of(members, object, compiled[i].helper);
		if (extra.state != MEMBER_READ ||
		    (helper.state != MEMBER_READ && helper.state != MEMBER_NULL))
			continue;
		*ret = (struct delegate_words){ .handlers = helper.bits, .count = extra.bits };
		return true;
	}
	return false;
}

bool delegate_handlers_read(struct members *members, const struct object *object,
			    struct delegate_words *ret)
{
	if (read_compiled_handlers(members, object, ret))
		return true;
	struct member handlers = fact_of(members, object, FACT_DELEGATE_LIST),
		      count = fact_of(members, object, FACT_DELEGATE_COUNT);
	if (handlers.state == MEMBER_ABSENT)
		handlers = fact_of(members, object, FACT_DELEGATE_HELPER);
	if (count.state == MEMBER_ABSENT)
		count = fact_of(members, object, FACT_DELEGATE_EXTRA);
	*ret = (struct delegate_words){ .handlers = handlers.bits, .count = count.bits };
	return handlers.state == MEMBER_READ && count.state == MEMBER_READ;
}

struct member delegate_target(struct members *members, const struct object *object)
{
	for (size_t i = 0; i < sizeof(compiled) / sizeof(compiled[0]); i++) {
		if (member_of(members, object, compiled[i].extra).state != MEMBER_ABSENT)
			return member_of(members, object, compiled[i].target);
	}
	return fact_of(members, object, FACT_DELEGATE_TARGET);
}

bool delegate_handlers_check(const struct object *array, uint64_t count)
{
	return array->type->category == CATEGORY_SZ_ARRAY && array->type->has_pointers &&
	       array->type->component_size == sizeof(uint64_t) && array->length >= count;
}
