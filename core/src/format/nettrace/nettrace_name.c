/* SPDX-License-Identifier: MIT */
/*
 * Converts names of types from the form that the runtime sends (typestring.cpp) to that of the
 * heap.
 */
#include <string.h>

#include "format/nettrace/nettrace_types.h"
#include "util/alloc.h"
#include "util/text.h"

/* Most pieces of a name that wait; limits the cost of a hostile name. */
#define PIECES_MAX     4096u
#define NAME_ARITY_MAX 1024u

static size_t encode_utf8(uint32_t code, char *buf)
{
	if (code < 0x80) {
		buf[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		buf[0] = (char)(0xc0 | code >> 6);
		buf[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		buf[0] = (char)(0xe0 | code >> 12);
		buf[1] = (char)(0x80 | (code >> 6 & 0x3f));
		buf[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	buf[0] = (char)(0xf0 | code >> 18);
	buf[1] = (char)(0x80 | (code >> 12 & 0x3f));
	buf[2] = (char)(0x80 | (code >> 6 & 0x3f));
	buf[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

void nt_append_utf8(struct text *text, const struct nt_utf16 *utf16)
{
	char buf[256];
	size_t used = 0;
	for (uint32_t i = 0; i < utf16->units; i++) {
		uint32_t code = nt_unit(utf16, i);
		if (code >= 0xd800 && code < 0xdc00 && i + 1 < utf16->units) {
			uint32_t low = nt_unit(utf16, i + 1);
			if (low >= 0xdc00 && low < 0xe000) {
				code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
				i++;
			}
		}
		if (code >= 0xd800 && code < 0xe000)
			code = 0xfffd;
		if (used + 4 > sizeof(buf)) {
			text_append(text, buf, used);
			used = 0;
		}
		used += encode_utf8(code, buf + used);
	}
	text_append(text, buf, used);
}

/* A part of a name: written unchanged, or a name itself. */
struct piece {
	const char *bytes;
	size_t size;
	bool is_name;
};

struct piece_writer {
	struct text *text;
	struct piece *pieces;
	size_t pieces_count, pieces_capacity;
	bool is_full;
};

static void push_piece(struct piece_writer *writer, const char *bytes, size_t size, bool is_name)
{
	if (writer->pieces_count >= PIECES_MAX) {
		writer->is_full = true;
		return;
	}
	if (!PAGES_RESERVE(writer, pieces)) {
		writer->text->failed = true;
		return;
	}
	writer->pieces[writer->pieces_count++] =
		(struct piece){ .bytes = bytes, .size = size, .is_name = is_name };
}

/* Position of the first of @p stops in [at, size) outside of brackets, or size; '\' escapes. */
static size_t find_outside(const char *bytes, size_t at, size_t size, const char *stops)
{
	unsigned int depth = 0;
	for (; at < size; at++) {
		char c = bytes[at];
		if (!depth && c && strchr(stops, c))
			return at;
		if (c == '\\') {
			at++;
		} else if (c == '[') {
			depth++;
		} else if (c == ']' && depth) {
			depth--;
		}
	}
	return size;
}

/* Does "[" at @p at begin type arguments?  "[]", "[,]" and "[*]" are of arrays. */
static bool begins_arguments(const char *bytes, size_t at, size_t size)
{
	return at + 1 < size && !strchr("],*", bytes[at + 1]);
}

/*
 * Number after the last ` of a segment, 0: none; *ret_size becomes the length of what is before it.
 */
static size_t arity_of(const char *bytes, size_t *ret_size)
{
	size_t digits = *ret_size, arity = 0;
	while (digits && bytes[digits - 1] >= '0' && bytes[digits - 1] <= '9')
		digits--;
	if (digits == *ret_size || !digits || bytes[digits - 1] != '`' || *ret_size - digits > 4)
		return 0;
	for (size_t i = digits; i < *ret_size; i++)
		arity = arity * 10 + (size_t)(bytes[i] - '0');
	*ret_size = digits - 1;
	return arity <= NAME_ARITY_MAX ? arity : NAME_ARITY_MAX;
}

/* Push "<A, B>" of up to @p arity arguments, beginning at *at, in order; the caller reverses it. */
static void push_argument_pieces(struct piece_writer *writer, const char *bytes, size_t *at,
				 size_t end, size_t arity)
{
	push_piece(writer, "<", 1, false);
	for (size_t i = 0; i < arity && *at < end; i++) {
		size_t stop = find_outside(bytes, *at, end, ",");
		if (i)
			push_piece(writer, ", ", 2, false);
		push_piece(writer, bytes + *at, stop - *at, true);
		*at = stop + 1;
	}
	push_piece(writer, ">", 1, false);
}

/* A name with arguments [begin, end): each segment takes as many as its arity, the last the rest. */
static void push_segments(struct piece_writer *writer, const char *bytes, size_t head, size_t begin,
			  size_t end)
{
	for (size_t at = 0; at <= head;) {
		size_t stop = find_outside(bytes, at, head, "+"), size = stop - at;
		size_t arity = arity_of(bytes + at, &size);
		if (stop == head)
			arity = NAME_ARITY_MAX;
		push_piece(writer, bytes + at, size, false);
		if (arity && begin < end)
			push_argument_pieces(writer, bytes, &begin, end, arity);
		if (stop < head)
			push_piece(writer, "+", 1, false);
		at = stop + 1;
	}
}

/* Take a name apart. */
static void push_name(struct piece_writer *writer, const char *bytes, size_t size)
{
	size_t base = writer->pieces_count;
	size_t head = find_outside(bytes, 0, size, "[");
	if (head < size && begins_arguments(bytes, head, size)) {
		/* find_outside() takes what the bracket holds as a whole. */
		size_t end = find_outside(bytes, head + 1, size, "]");
		push_segments(writer, bytes, head, head + 1, end);
		if (end < size)
			push_piece(writer, bytes + end + 1, size - end - 1, false);
	} else {
		push_piece(writer, bytes, size, false);
	}
	/* The first piece has to be taken first. */
	for (size_t i = base, j = writer->pieces_count; i + 1 < j; i++) {
		struct piece piece = writer->pieces[i];
		writer->pieces[i] = writer->pieces[--j];
		writer->pieces[j] = piece;
	}
}

/* Append without the '\' before special characters (TypeNameBuilder::EscapeName). */
static void append_plain(struct text *text, const char *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		const char *escape = memchr(bytes + at, '\\', size - at);
		size_t end = escape ? (size_t)(escape - bytes) : size;
		text_append(text, bytes + at, end - at);
		if (escape && end + 1 < size)
			text_append(text, bytes + end + 1, 1);
		at = end + 2;
	}
}

void nt_append_type_name(struct text *text, const char *name, size_t size)
{
	struct piece_writer writer = { .text = text };
	push_piece(&writer, name, size, true);
	while (writer.pieces_count && !text->failed) {
		struct piece piece = writer.pieces[--writer.pieces_count];
		if (piece.is_name) {
			push_name(&writer, piece.bytes, piece.size);
		} else {
			append_plain(text, piece.bytes, piece.size);
		}
	}
	if (writer.is_full)
		text_puts(text, "...");
	pages_free(writer.pieces, writer.pieces_capacity, sizeof(*writer.pieces));
}
