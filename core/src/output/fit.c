/* SPDX-License-Identifier: MIT */
/* Lines that fit into a terminal: names of types and methods give way, and nothing else. */
#include "output/fit.h"

#include <string.h>

/* Names of a line that may be shortened; those after them stay as they are. */
#define PARTS_MAX 8u
/* A name is not cut to fewer columns than this. */
#define PART_COLUMNS_MIN 12u
#define ELLIPSIS         "\xe2\x80\xa6"

/* Does a name that may be shortened begin after this? */
static bool is_begin(char c)
{
	return c == FIT_TYPE || c == FIT_METHOD || c == FIT_PATH;
}

static bool is_mark(char c)
{
	return is_begin(c) || c == FIT_END || c == FIT_WRAP;
}

/* Bytes of the colour code or mark at @p line, or 0. */
static size_t unseen_length(const char *line, size_t size)
{
	if (is_mark(*line))
		return 1;
	if (*line != '\033')
		return 0;
	const char *end = memchr(line, 'm', size);
	return end ? (size_t)(end - line) + 1 : size;
}

static size_t character_length(const char *line, size_t size)
{
	size_t length = utf8_length(line, size);
	return length ? length : 1;
}

size_t fit_columns(const char *line, size_t size)
{
	size_t columns = 0;
	for (size_t i = 0; i < size;) {
		size_t unseen = unseen_length(line + i, size - i);
		columns += !unseen;
		i += unseen ? unseen : character_length(line + i, size - i);
	}
	return columns;
}

static bool is_decimal(char c)
{
	return c >= '0' && c <= '9';
}

/* Is it a character of a name with its namespace and outer classes? */
static bool is_of_path(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_decimal(c) ||
	       (c && strchr("._+`$|-", c)) || (unsigned char)c >= 0x80;
}

/* Where what the compiler named, as <Main>g__Sum|0_0, has its closing bracket; @p size: nowhere. */
static size_t end_of_bracket(const char *name, size_t size)
{
	size_t depth = 0;
	for (size_t i = 0; i < size; i++) {
		depth += name[i] == '<';
		if (name[i] == '>' && --depth == 0)
			return i;
	}
	return size;
}

/* A name with its namespace and outer classes, and where its parts begin. */
struct name_path {
	size_t size;
	size_t space; /* after the last dot outside of brackets */
	size_t owner; /* after the dot before that one */
	size_t inner; /* after the last + outside of brackets, or dot */
};

/*
 * Read the path at the beginning of @p name: up to type arguments, parameters or what is not of a name.  Where a part
 * begins, as @p is_part says of the first, a bracket is of a name that the compiler made.
 */
static struct name_path path_read(const char *name, size_t size, bool is_part)
{
	struct name_path path = { 0 };
	while (path.size < size) {
		char c = name[path.size];
		if (c == '<' && is_part) {
			size_t end = end_of_bracket(name + path.size, size - path.size);
			path.size += end == size - path.size ? end : end + 1;
			is_part = false;
			continue;
		}
		if (!is_of_path(c))
			break;
		/* The first of the two dots of "A.B..ctor" ends the class. */
		bool is_dot = c == '.' && path.size && name[path.size - 1] != '.';
		path.size++;
		is_part = c == '.' || c == '+';
		if (is_dot) {
			path.owner = path.space;
			path.space = path.size;
		}
		if (is_part)
			path.inner = path.size;
	}
	return path;
}

/* Find the method that a state machine runs: Handle in "<Handle>d__5".  False: it is not one. */
static bool state_machine(const char *name, size_t size, size_t *ret_size)
{
	size_t end = size && *name == '<' ? end_of_bracket(name, size) : size;
	if (end < 2 || end + 4 >= size || memcmp(name + end, ">d__", 4) != 0)
		return false;
	*ret_size = end - 1;
	return true;
}

static void put_argument(struct text *ret, const char *name, const struct name_path *path)
{
	const char *begin = name + path->inner;
	size_t size = path->size - path->inner, method;
	if (state_machine(begin, size, &method)) {
		text_append(ret, begin + 1, method);
	} else {
		text_append(ret, begin, size);
	}
}

/* Where the type of interest begins: the box of an async method is named by the method that it runs. */
static size_t skip_builder(const char *name, size_t size)
{
	static const char box[] = "+AsyncStateMachineBox<";
	const char *at = memmem(name, size, box, sizeof(box) - 1);
	return at ? (size_t)(at - name) + 1 : 0;
}

/* The name of a file without its folders, of this system or of Windows. */
static void put_file(struct text *ret, const char *path, size_t size)
{
	size_t begin = size;
	while (begin && path[begin - 1] != '/' && path[begin - 1] != '\\')
		begin--;
	text_append(ret, path + begin, size - begin);
}

void fit_name(struct text *ret, const char *name, size_t size, char kind, bool whole)
{
	if (kind == FIT_PATH) {
		put_file(ret, name, size);
		return;
	}
	size_t depth = 0, i = whole && kind == FIT_TYPE ? skip_builder(name, size) : 0;
	bool is_first = true, is_part = true;
	while (i < size) {
		struct name_path path = path_read(name + i, size - i, is_part);
		bool is_continued = name[i] == '+' || name[i] == '.' || is_decimal(name[i]);
		if (!path.size) {
			depth += name[i] == '<' || name[i] == '(' || name[i] == '[';
			if (depth && (name[i] == '>' || name[i] == ')' || name[i] == ']'))
				depth--;
			text_append(ret, name + i, 1);
			is_part = !strchr(">)]", name[i]);
			i++;
			continue;
		}
		if (depth && !is_continued) {
			put_argument(ret, name + i, &path);
		} else if (is_first && whole) {
			size_t from = kind == FIT_METHOD ? path.owner : path.space;
			text_append(ret, name + i + from, path.size - from);
		} else {
			text_append(ret, name + i, path.size);
		}
		is_first = is_part = false;
		i += path.size;
	}
}

/* A marked name of a line, in its present shape. */
struct part {
	size_t begin, size; /* in the line, without its marks */
	char kind;
	struct text name; /* when it was shortened */
	size_t columns;
};

struct line_parts {
	const char *line;
	size_t size, count, columns;
	struct part parts[PARTS_MAX];
};

static void find_parts(struct line_parts *found)
{
	const char *at = found->line, *end = at + found->size;
	found->count = 0;
	for (; at < end && found->count < PARTS_MAX; at++) {
		if (!is_begin(*at))
			continue;
		const char *stop = memchr(at, FIT_END, (size_t)(end - at));
		if (!stop)
			return;
		struct part *part = &found->parts[found->count++];
		*part = (struct part){ .begin = (size_t)(at + 1 - found->line),
				       .size = (size_t)(stop - at - 1),
				       .kind = *at };
		part->columns = fit_columns(at + 1, part->size);
		at = stop;
	}
}

static void shorten_parts(struct line_parts *found, bool whole)
{
	for (size_t i = 0; i < found->count; i++) {
		struct part *part = &found->parts[i];
		part->name.size = 0;
		fit_name(&part->name, found->line + part->begin, part->size, part->kind, whole);
		size_t columns = fit_columns(part->name.bytes, part->name.size);
		found->columns -= part->columns - columns;
		part->columns = columns;
	}
}

/* Bytes of the first @p columns characters. */
static size_t bytes_of(const char *bytes, size_t size, size_t columns)
{
	size_t i = 0;
	while (i < size && columns--)
		i += character_length(bytes + i, size - i);
	return i < size ? i : size;
}

void fit_text(struct text *ret, const char *text, size_t size, size_t columns)
{
	text_append(ret, text, bytes_of(text, size, columns - 1));
	text_puts(ret, ELLIPSIS);
}

/* Cut the middle out of a name, so that @p columns are left; its end tells more than its beginning. */
static void cut_part(struct part *part, size_t columns)
{
	struct text cut = { 0 };
	size_t head = (columns - 1) * 2 / 5, tail = columns - 1 - head;
	size_t skip = bytes_of(part->name.bytes, part->name.size, part->columns - tail);
	text_append(&cut, part->name.bytes, bytes_of(part->name.bytes, part->name.size, head));
	text_puts(&cut, ELLIPSIS);
	text_append(&cut, part->name.bytes + skip, part->name.size - skip);
	text_deinit(&part->name);
	part->name = cut;
	part->columns = columns;
}

/* Cut the longest names first, until the line fits or none can give more. */
static void cut_parts(struct line_parts *found, uint32_t width)
{
	for (size_t left = found->count; left && found->columns > width; left--) {
		struct part *longest = &found->parts[0];
		for (size_t i = 1; i < found->count; i++) {
			if (found->parts[i].columns > longest->columns)
				longest = &found->parts[i];
		}
		if (longest->columns <= PART_COLUMNS_MIN)
			return;
		size_t surplus = found->columns - width, most = longest->columns - PART_COLUMNS_MIN;
		size_t less = surplus < most ? surplus : most;
		cut_part(longest, longest->columns - less);
		found->columns -= less;
	}
}

/* @p line without its marks. */
static void put_unmarked(struct text *ret, const char *line, size_t size)
{
	size_t begin = 0;
	for (size_t i = 0; i < size; i++) {
		if (!is_mark(line[i]))
			continue;
		text_append(ret, line + begin, i - begin);
		begin = i + 1;
	}
	text_append(ret, line + begin, size - begin);
}

/* Bytes of the text at @p text that go into @p columns: up to a blank, or up to its first one if that comes later. */
static size_t bytes_of_words(const char *text, size_t size, size_t columns)
{
	size_t used = 0, fits = 0, i = 0;
	while (i < size) {
		if (text[i] == ' ' && (used <= columns || !fits))
			fits = i;
		if (used > columns && fits)
			return fits;
		size_t unseen = unseen_length(text + i, size - i);
		used += !unseen;
		i += unseen ? unseen : character_length(text + i, size - i);
	}
	return used <= columns || !fits ? size : fits;
}

/* Break the sentence behind @p mark into lines. */
static void wrap_line(struct text *ret, const char *line, size_t size, const char *mark,
		      uint32_t width)
{
	size_t at = (size_t)(mark - line), indent = fit_columns(line, at);
	size_t columns = width > indent ? width - indent : 1;
	put_unmarked(ret, line, at);
	while (at < size) {
		size_t count = bytes_of_words(line + at, size - at, columns);
		size_t seen = count;
		while (seen && line[at + seen - 1] == ' ')
			seen--;
		put_unmarked(ret, line + at, seen);
		at += count;
		while (at < size && line[at] == ' ')
			at++;
		if (at < size)
			text_printf(ret, "\n%*s", (int)indent, "");
	}
}

void fit_line(struct text *ret, const char *line, size_t size, uint32_t width)
{
	struct line_parts found = { .line = line, .size = size };
	found.columns = width ? fit_columns(line, size) : 0;
	if (found.columns <= width) {
		put_unmarked(ret, line, size);
		return;
	}
	const char *mark = memchr(line, FIT_WRAP, size);
	if (mark) {
		wrap_line(ret, line, size, mark, width);
		return;
	}
	find_parts(&found);
	shorten_parts(&found, false);
	if (found.columns > width)
		shorten_parts(&found, true);
	cut_parts(&found, width);
	size_t at = 0;
	for (size_t i = 0; i < found.count; i++) {
		struct part *part = &found.parts[i];
		put_unmarked(ret, line + at, part->begin - at);
		text_append(ret, part->name.bytes, part->name.size);
		ret->failed |= part->name.failed;
		at = part->begin + part->size;
		text_deinit(&part->name);
	}
	put_unmarked(ret, line + at, size - at);
}
