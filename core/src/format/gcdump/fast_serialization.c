/* SPDX-License-Identifier: MIT */
#include "format/gcdump/fast_serialization.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum hd_status fast_fail(const struct fast_reader *reader, uint64_t at, const char *format, ...)
{
	char what[200];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return fail(reader->err, HD_ERR_FORMAT, at, "%s: offset 0x%" PRIx64 ": %s", reader->path,
		    at, what);
}

static void run_out(const struct fast_reader *reader)
{
	if (reader->ran_out)
		*reader->ran_out = true;
}

static enum hd_status need(const struct fast_reader *reader, uint64_t size)
{
	if (size <= fast_left(reader))
		return HD_OK;
	run_out(reader);
	return fast_fail(reader, reader->at,
			 "the file ends here: it is cut short, or not a .gcdump");
}

enum hd_status fast_skip(struct fast_reader *reader, uint64_t size)
{
	TRY(need(reader, size));
	reader->at += size;
	return HD_OK;
}

enum hd_status fast_byte(struct fast_reader *reader, uint8_t *ret)
{
	TRY(need(reader, 1));
	*ret = reader->bytes[reader->at++];
	return HD_OK;
}

enum hd_status fast_i32(struct fast_reader *reader, int32_t *ret)
{
	TRY(need(reader, 4));
	*ret = (int32_t)load_u32(reader->bytes + reader->at);
	reader->at += 4;
	return HD_OK;
}

enum hd_status fast_i64(struct fast_reader *reader, int64_t *ret)
{
	TRY(need(reader, 8));
	*ret = (int64_t)load_u64(reader->bytes + reader->at);
	reader->at += 8;
	return HD_OK;
}

enum hd_status fast_float(struct fast_reader *reader, float *ret)
{
	TRY(need(reader, 4));
	memcpy(ret, reader->bytes + reader->at, 4);
	reader->at += 4;
	return HD_OK;
}

/*
 * The size of @p units units at @p bytes, which have 1 to 3 bytes each; UINT64_MAX: they do not
 * end.
 */
static uint64_t text_size(const uint8_t *bytes, uint64_t size, uint32_t units)
{
	uint64_t at = 0;
	for (; units; units--) {
		while (units >= 8 && at < size && size - at >= 8 &&
		       !(load_u64(bytes + at) & 0x8080808080808080u)) {
			at += 8;
			units -= 8;
		}
		if (!units)
			break;
		if (at >= size)
			return UINT64_MAX;
		at += bytes[at] < 0x80 ? 1 : bytes[at] < 0xe0 ? 2 : 3;
	}
	return at <= size ? at : UINT64_MAX;
}

enum hd_status fast_text(struct fast_reader *reader, struct gcdump_text *ret)
{
	uint64_t at = reader->at;
	int32_t units;
	TRY(fast_i32(reader, &units));
	*ret = (struct gcdump_text){ 0 };
	if (units == -1)
		return HD_OK;
	if (units < 0 || (uint32_t)units > fast_left(reader)) {
		run_out(reader);
		return fast_fail(reader, at, "a string cannot have %" PRId32 " characters", units);
	}
	uint64_t size = text_size(reader->bytes + reader->at, fast_left(reader), (uint32_t)units);
	if (size > UINT32_MAX) {
		run_out(reader);
		return fast_fail(reader, at, "a string does not end before the file does");
	}
	*ret = (struct gcdump_text){ .bytes = reader->bytes + reader->at,
				     .size = (uint32_t)size,
				     .units = (uint32_t)units };
	reader->at += size;
	return HD_OK;
}

enum hd_status fast_count(struct fast_reader *reader, bool is_wide, uint64_t each, const char *what,
			  uint32_t *ret)
{
	uint64_t at = reader->at;
	int64_t count;
	if (is_wide) {
		TRY(fast_i64(reader, &count));
	} else {
		int32_t narrow;
		TRY(fast_i32(reader, &narrow));
		count = narrow;
	}
	if (count < 0 || count > INT32_MAX || (uint64_t)count > fast_left(reader) / each) {
		run_out(reader);
		return fast_fail(reader, at, "there cannot be %" PRId64 " %s in %" PRIu64 " bytes",
				 count, what, fast_left(reader));
	}
	*ret = (uint32_t)count;
	return HD_OK;
}

enum hd_status fast_forward(const struct fast_reader *reader, int32_t index, uint64_t *ret)
{
	struct fast_reader at = *reader;
	at.at = reader->size < 4 ? reader->size : reader->size - 4;
	for (unsigned int step = 0; step < 2; step++) {
		int32_t label;
		TRY(fast_i32(&at, &label));
		if ((uint32_t)label >= at.size) {
			return fast_fail(&at, at.at - 4,
					 "the table of forward references is not in the file");
		}
		at.at = (uint32_t)label;
	}
	uint32_t count = 0;
	TRY(fast_count(&at, false, 4, "forward references", &count));
	if (index < 0 || (uint32_t)index >= count) {
		return fast_fail(reader, reader->at, "there is no forward reference %" PRId32,
				 index);
	}
	*ret = load_u32(at.bytes + at.at + 4 * (uint64_t)index);
	if (*ret >= at.size)
		return fast_fail(reader, reader->at, "a forward reference leads out of the file");
	return HD_OK;
}

/* A type that is written out, after its first tag. */
static enum hd_status read_type_at(struct fast_reader *reader, struct fast_type *ret)
{
	uint64_t at = reader->at;
	uint8_t of = 0, end = 0;
	TRY(fast_byte(reader, &of));
	TRY(fast_i32(reader, &ret->version));
	TRY(fast_i32(reader, &ret->min_reader));
	TRY(fast_text(reader, &ret->name));
	TRY(fast_byte(reader, &end));
	if (of != FAST_NULL || end != FAST_END_OBJECT || !ret->name.bytes)
		return fast_fail(reader, at, "a type should be here");
	return HD_OK;
}

static bool is_begin(uint8_t tag)
{
	return tag == FAST_BEGIN_OBJECT || tag == FAST_BEGIN_PRIVATE_OBJECT;
}

/* The type of an object: written out, or the label of one that is. */
static enum hd_status read_type(struct fast_reader *reader, struct fast_type *ret)
{
	uint64_t at = reader->at;
	uint8_t tag = 0;
	TRY(fast_byte(reader, &tag));
	if (is_begin(tag))
		return read_type_at(reader, ret);
	if (tag != FAST_OBJECT_REFERENCE)
		return fast_fail(reader, at, "tag %u where a type should begin", tag);
	int32_t label = 0;
	TRY(fast_i32(reader, &label));
	struct fast_reader there = *reader;
	there.at = (uint32_t)label;
	if (there.at >= there.size || !is_begin(there.bytes[there.at]))
		return fast_fail(reader, at, "there is no type at 0x%" PRIx32, (uint32_t)label);
	there.at++;
	return read_type_at(&there, ret);
}

static enum hd_status skip_item(struct fast_reader *reader, uint8_t tag)
{
	static const uint8_t sizes[] = {
		[FAST_OBJECT_REFERENCE] = 4,
		[FAST_FORWARD_REFERENCE] = 4,
		[FAST_FORWARD_DEFINITION] = 4,
		[FAST_BYTE] = 1,
		[FAST_INT16] = 2,
		[FAST_INT32] = 4,
		[FAST_INT64] = 8,
	};
	uint64_t at = reader->at - 1;
	if (tag < sizeof(sizes) && sizes[tag])
		return fast_skip(reader, sizes[tag]);
	if (tag == FAST_NULL)
		return HD_OK;
	if (tag == FAST_STRING) {
		struct gcdump_text text;
		return fast_text(reader, &text);
	}
	if (tag == FAST_BLOB) {
		uint32_t size = 0;
		TRY(fast_count(reader, false, 1, "bytes", &size));
		return fast_skip(reader, size);
	}
	if (tag != FAST_SKIP_REGION)
		return fast_fail(reader, at, "tag %u where an object should end", tag);
	int32_t forward = 0;
	uint64_t end = 0;
	TRY(fast_i32(reader, &forward));
	TRY(fast_forward(reader, forward, &end));
	if (end < reader->at)
		return fast_fail(reader, at, "a region ends before it begins");
	reader->at = end;
	return HD_OK;
}

enum hd_status fast_end(struct fast_reader *reader, const struct fast_object *object)
{
	if (object->is_null)
		return HD_OK;
	for (;;) {
		uint8_t tag;
		TRY(fast_byte(reader, &tag));
		if (tag == FAST_END_OBJECT)
			break;
		TRY(skip_item(reader, tag));
	}
	if (object->resume)
		reader->at = object->resume;
	return HD_OK;
}

/* Go to the object that a reference with @p tag means; the tag is read. */
static enum hd_status follow_reference(struct fast_reader *reader, uint8_t tag,
				       struct fast_object *ret)
{
	uint64_t at = reader->at - 1, to = 0;
	int32_t number = 0;
	TRY(fast_i32(reader, &number));
	if (tag == FAST_OBJECT_REFERENCE) {
		to = (uint32_t)number;
	} else {
		struct fast_type type;
		TRY(fast_forward(reader, number, &to));
		TRY(read_type(reader, &type));
	}
	ret->resume = reader->at;
	if (to >= reader->size)
		return fast_fail(reader, at, "a reference leads out of the file");
	reader->at = to;
	return HD_OK;
}

/* The first tag that is not that of a blob; blobs may come before any object. */
static enum hd_status first_tag(struct fast_reader *reader, uint8_t *ret)
{
	TRY(fast_byte(reader, ret));
	while (*ret == FAST_BLOB) {
		TRY(skip_item(reader, *ret));
		TRY(fast_byte(reader, ret));
	}
	return HD_OK;
}

/* An object that is written here. */
static enum hd_status begin_here(struct fast_reader *reader, uint8_t tag, struct fast_type *ret)
{
	uint64_t at = reader->at - 1;
	if (tag == FAST_FORWARD_DEFINITION) {
		TRY(fast_skip(reader, 4));
		TRY(fast_byte(reader, &tag));
	}
	if (!is_begin(tag))
		return fast_fail(reader, at, "tag %u where an object should begin", tag);
	return read_type(reader, ret);
}

enum hd_status fast_begin(struct fast_reader *reader, struct fast_object *ret)
{
	*ret = (struct fast_object){ 0 };
	uint8_t tag;
	TRY(first_tag(reader, &tag));
	if (tag == FAST_NULL) {
		ret->is_null = true;
		return HD_OK;
	}
	/* A reference means an object, never another reference: so this ends. */
	if (tag == FAST_OBJECT_REFERENCE || tag == FAST_FORWARD_REFERENCE) {
		TRY(follow_reference(reader, tag, ret));
		TRY(fast_byte(reader, &tag));
	}
	return begin_here(reader, tag, &ret->type);
}

bool fast_text_is(const struct gcdump_text *text, const char *string)
{
	size_t size = strlen(string);
	return text->bytes && text->size == size && memcmp(text->bytes, string, size) == 0;
}

enum hd_status fast_begin_as(struct fast_reader *reader, const char *name, int32_t version,
			     struct fast_object *ret)
{
	uint64_t at = reader->at;
	TRY(fast_begin(reader, ret));
	if (ret->is_null)
		return HD_OK;
	if (!fast_text_is(&ret->type.name, name)) {
		return fast_fail(reader, at, "a %s should be here, not an object of another class",
				 name);
	}
	if (ret->type.min_reader > version) {
		return fail(reader->err, HD_ERR_UNSUPPORTED, at,
			    "%s: offset 0x%" PRIx64 ": a %s for readers of version %" PRId32
			    " or later; this one is of version %" PRId32,
			    reader->path, at, name, ret->type.min_reader, version);
	}
	return HD_OK;
}
