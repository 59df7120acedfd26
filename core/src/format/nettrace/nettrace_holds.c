/* SPDX-License-Identifier: MIT */
/* Can a field hold an object?  By the field's signature (ECMA-335 II.23.2.4) and the object's type. */
#include <string.h>

#include "format/nettrace/nettrace_fields.h"

#define SIGNATURE_FIELD 0x06u
#define MODIFIERS_MAX   16u
#define BASES_MAX       64u

#define FIELD_SIGNATURE  2u
#define TYPE_DEF_FLAGS   0u
#define TYPE_DEF_EXTENDS 3u
#define TYPE_SPEC_BLOB   0u
#define TYPE_INTERFACE   0x20u
#define TYPE_SEALED      0x100u

/* The tables that a TypeDefOrRef can name (II.24.2.6). */
#define TAG_DEF  0u
#define TAG_REF  1u
#define TAG_SPEC 2u

uint8_t nt_field_element(const struct metadata *metadata, uint32_t rid, const uint8_t **ret_at,
			 const uint8_t **ret_end)
{
	uint32_t size, modifier;
	const uint8_t *at = metadata_blob(
		metadata, metadata_column(metadata, MD_FIELD, rid, FIELD_SIGNATURE), &size);
	if (!at || size < 2 || *at != SIGNATURE_FIELD)
		return 0;
	const uint8_t *end = at + size;
	at++;
	for (unsigned int i = 0; at < end && i < MODIFIERS_MAX; i++) {
		uint8_t element = *at++;
		if (element != NT_ELEMENT_CMOD_REQD && element != NT_ELEMENT_CMOD_OPT) {
			*ret_at = at;
			*ret_end = end;
			return element;
		}
		if (!metadata_compressed(&at, end, &modifier))
			return 0;
	}
	return 0;
}

/* A type that a signature names. */
struct named {
	const struct metadata *metadata;
	uint32_t assembly, tag, rid;
};

static bool class_is_called(const struct named *named, const char *name)
{
	return nt_row_is_named(named->metadata, named->tag == TAG_REF ? MD_TYPE_REF : MD_TYPE_DEF,
			       named->rid, name);
}

static bool is_one_of(const struct named *named, const char *const *names)
{
	while (*names && !class_is_called(named, *names))
		names++;
	return *names;
}

/* Is the object of that type itself? */
static bool is_exactly(const struct named *named, const struct nt_object *object)
{
	if (named->tag == TAG_DEF)
		return object->assembly == named->assembly && object->type_def == named->rid;
	return object->type_def && class_is_called(named, object->name);
}

static bool is_array(const struct nt_type *type)
{
	return type->flags & NT_TYPE_ARRAY;
}

static bool is_string(const struct nt_object *object)
{
	return object->type->element_type == NT_ELEMENT_STRING;
}

/* Is it a type whose objects are not boxed values? */
static bool is_reference(const struct nt_type *type)
{
	switch (type->element_type) {
	case NT_ELEMENT_STRING:
	case NT_ELEMENT_CLASS:
	case NT_ELEMENT_ARRAY:
	case NT_ELEMENT_OBJECT:
	case NT_ELEMENT_SZ_ARRAY:
		return true;
	default:
		return is_array(type);
	}
}

/*
 * The TypeDef from which @p rid of the same metadata is derived; 0: it is in another module, or
 * there is none.
 */
static uint32_t base_of(const struct metadata *metadata, uint32_t rid)
{
	uint32_t coded = metadata_column(metadata, MD_TYPE_DEF, rid, TYPE_DEF_EXTENDS), size;
	if ((coded & 3) != TAG_SPEC)
		return (coded & 3) == TAG_DEF ? coded >> 2 : 0;
	/* An instance: GENERICINST CLASS TypeDefOrRef ... */
	const uint8_t *at = metadata_blob(
		metadata, metadata_column(metadata, MD_TYPE_SPEC, coded >> 2, TYPE_SPEC_BLOB),
		&size);
	if (!at || size < 3 || at[0] != NT_ELEMENT_GENERIC_INST || at[1] != NT_ELEMENT_CLASS)
		return 0;
	const uint8_t *next = at + 2;
	if (!metadata_compressed(&next, at + size, &coded))
		return 0;
	return (coded & 3) == TAG_DEF ? coded >> 2 : 0;
}

/* Is the object of that class, which is in the object's own module, or of one derived from it? */
static bool is_derived(const struct named *named, const struct nt_object *object)
{
	uint32_t rid = object->type_def;
	for (unsigned int i = 0; rid && i < BASES_MAX; i++) {
		if (rid == named->rid)
			return true;
		rid = base_of(named->metadata, rid);
	}
	return rid; /* deeper than the limit: not known */
}

/* Can a field of a class or interface hold it? */
static bool class_holds(const struct named *named, const struct nt_object *object)
{
	static const char *const arrays[] = { "System.Array",
					      "System.Object",
					      "System.ICloneable",
					      "System.Collections.IList",
					      "System.Collections.ICollection",
					      "System.Collections.IEnumerable",
					      "System.Collections.IStructuralComparable",
					      "System.Collections.IStructuralEquatable",
					      "System.Collections.Generic.IList`1",
					      "System.Collections.Generic.ICollection`1",
					      "System.Collections.Generic.IEnumerable`1",
					      "System.Collections.Generic.IReadOnlyList`1",
					      "System.Collections.Generic.IReadOnlyCollection`1",
					      NULL };
	static const char *const delegates[] = { "System.Delegate",
						 "System.MulticastDelegate",
						 "System.Object",
						 "System.ICloneable",
						 "System.Runtime.Serialization.ISerializable",
						 NULL };
	if (named->tag != TAG_DEF && named->tag != TAG_REF)
		return true;
	if (is_array(object->type))
		return is_one_of(named, arrays);
	if (is_exactly(named, object))
		return true;
	if (object->type->flags & NT_TYPE_DELEGATE)
		return is_one_of(named, delegates);
	if (named->tag == TAG_REF)
		return true;
	uint32_t flags = metadata_column(named->metadata, MD_TYPE_DEF, named->rid, TYPE_DEF_FLAGS);
	if (flags & TYPE_SEALED)
		return false;
	if (flags & TYPE_INTERFACE || class_is_called(named, "System.Object"))
		return true;
	if (!is_reference(object->type)) {
		return class_is_called(named, "System.ValueType") ||
		       class_is_called(named, "System.Enum");
	}
	if (is_string(object))
		return false;
	/* Bases in another module are not followed. */
	return object->assembly != named->assembly || is_derived(named, object);
}

/* Can a vector whose elements' type begins there be that object? */
static bool vector_holds(struct nt_types *types, const uint8_t *at, const uint8_t *end,
			 const struct nt_object *object)
{
	if (!is_array(object->type) || object->type->element_type == NT_ELEMENT_ARRAY)
		return false;
	uint32_t row = nt_types_known(types, object->type->parameter);
	if (at == end || row == UINT32_MAX)
		return true;
	/* For elements that are not references, an enum may also have the place of its integer. */
	const struct nt_type *element = &types->rows[row];
	bool is_generic = *at == NT_ELEMENT_GENERIC_INST;
	if (is_generic && at + 1 == end)
		return true;
	switch (is_generic ? at[1] : *at) {
	case NT_ELEMENT_STRING:
		return element->element_type == NT_ELEMENT_STRING;
	case NT_ELEMENT_CLASS:
	case NT_ELEMENT_ARRAY:
	case NT_ELEMENT_OBJECT:
	case NT_ELEMENT_SZ_ARRAY:
		return is_reference(element);
	default:
		return !is_reference(element);
	}
}

bool nt_field_holds(struct nt_types *types, const struct nt_field *field,
		    const struct nt_object *object)
{
	if (!object->type)
		return true;
	struct named named = { .metadata = nt_module_metadata(types, field->assembly),
			       .assembly = field->assembly };
	const uint8_t *at, *end;
	uint32_t coded;
	uint8_t element = nt_field_element(named.metadata, field->rid, &at, &end);
	switch (element) {
	case NT_ELEMENT_STRING:
		return is_string(object);
	case NT_ELEMENT_SZ_ARRAY:
		return vector_holds(types, at, end, object);
	case NT_ELEMENT_ARRAY:
		return is_array(object->type) && object->type->element_type != NT_ELEMENT_SZ_ARRAY;
	case NT_ELEMENT_GENERIC_INST:
		if (at == end)
			return false;
		element = *at++;
		break;
	case NT_ELEMENT_CLASS:
	case NT_ELEMENT_VALUE:
		break;
	default:
		return element == NT_ELEMENT_OBJECT;
	}
	if (!metadata_compressed(&at, end, &coded))
		return false;
	named.tag = coded & 3;
	named.rid = coded >> 2;
	if (element != NT_ELEMENT_VALUE)
		return class_holds(&named, object);
	return !is_reference(object->type) && (named.tag > TAG_REF || is_exactly(&named, object));
}
