/* SPDX-License-Identifier: MIT */
#include "analysis/name_match.h"

#include <stdint.h>
#include <string.h>

#include "util/text.h"

/* Above the arity of any type (ECMA-335 II.22.20: two bytes). */
#define ARITY_LIMIT 65536u

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of the type arguments that @p name begins with, "<A, B<C>>", or 0; how many they are. */
static size_t arguments_of(const char *name, size_t size, uint64_t *ret_count)
{
	size_t depth = 0;
	*ret_count = 1;
	for (size_t i = 0; i < size; i++) {
		switch (name[i]) {
		case '<':
		case '[':
			depth++;
			break;
		case '>':
		case ']':
			if (--depth == 0)
				return i + 1;
			break;
		case ',':
			*ret_count += depth == 1;
			break;
		default:
			break;
		}
	}
	return 0;
}

/*
 * Is there an arity at *@p part, with its backtick or (as LLDB passes it) without?  If the name
 * goes on with as many arguments, skip it; returns the bytes of these.
 */
static size_t skip_arity(const char *name, size_t size, const char **part)
{
	const char *at = *part;
	while (*at == '`')
		at++;
	if (!size || *name != '<' || !is_digit(*at))
		return 0;
	uint64_t arity = 0, count;
	for (; is_digit(*at) && arity < ARITY_LIMIT; at++)
		arity = arity * 10 + (uint64_t)(*at - '0');
	size_t taken = arguments_of(name, size, &count);
	if (!taken || count != arity)
		return 0;
	*part = at;
	/* The part may have them, too. */
	return *at == '<' ? 0 : taken;
}

/*
 * Skip the character at @p name and its escape at @p part, which begins with a backslash; returns
 * the character's bytes, or 0 when they do not match.
 */
static size_t skip_escape(const char *name, size_t size, const char **part)
{
	char escape[ESCAPED_SIZE];
	size_t length = escape_write(name, size, escape), written = strlen(escape);
	if (!written || strncmp(*part, escape, written) != 0)
		return 0;
	*part += written;
	return length;
}

/* The elements of a part for comparing. */
struct name_part {
	const char *text; /* up to a star, a $ that is the last character, or the end */
	bool ignores_case;
	bool is_at_end; /* it must end where the name ends */
};

static bool ends_part(const char *part)
{
	return !*part || *part == '*' || (*part == '$' && !part[1]);
}

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Does @p name, from its start, begin with @p wanted?  What comes after both is @p rest and @p ret_next. */
static bool name_has_prefix(const char *name, size_t size, const struct name_part *wanted,
			    size_t *ret_rest, const char **ret_next)
{
	const char *part = wanted->text;
	for (;;) {
		size_t taken = skip_arity(name, size, &part);
		name += taken;
		size -= taken;
		while (*part == '`')
			part++;
		while (size && *name == '`') {
			name++;
			size--;
		}
		if (ends_part(part)) {
			*ret_rest = size;
			*ret_next = part;
			return !wanted->is_at_end || !size;
		}
		size_t escaped = size && *part == '\\' ? skip_escape(name, size, &part) : 0;
		if (!escaped &&
		    (!size || (*name != *part && !(wanted->ignores_case && lower(*name) == *part))))
			return false;
		part += !escaped;
		name += escaped ? escaped : 1;
		size -= escaped ? escaped : 1;
	}
}

/* The first place in @p name where @p wanted is; only the first of all when @p is_at_begin. */
static bool find_part(const char *name, size_t size, const struct name_part *wanted,
		      bool is_at_begin, size_t *ret_rest, const char **ret_next)
{
	for (size_t i = 0; i <= (is_at_begin ? 0 : size); i++) {
		if (name_has_prefix(name + i, size - i, wanted, ret_rest, ret_next))
			return true;
	}
	return false;
}

static bool has_capital(const char *part)
{
	for (; *part; part++) {
		if (*part >= 'A' && *part <= 'Z')
			return true;
	}
	return false;
}

bool name_matches(const char *name, size_t size, const char *part)
{
	struct name_part wanted = { .ignores_case = !has_capital(part) };
	bool is_at_begin = *part == '^';
	for (const char *next = part + is_at_begin;; next++) {
		size_t rest, length = strcspn(next, "*");
		wanted.text = next;
		wanted.is_at_end = !next[length] && length && next[length - 1] == '$';
		if (!find_part(name, size, &wanted, is_at_begin, &rest, &next))
			return false;
		/*
		 * A star matches what is between; the earliest place leaves the most for the
		 * following parts.
		 */
		if (*next != '*')
			return true;
		name += size - rest;
		size = rest;
		is_at_begin = false;
	}
}

bool name_is(const char *name, size_t size, const char *wanted)
{
	if (strpbrk(wanted, "*^$"))
		return name_matches(name, size, wanted);
	return strlen(wanted) == size && memcmp(name, wanted, size) == 0;
}
