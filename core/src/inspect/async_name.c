/* SPDX-License-Identifier: MIT */
#include "inspect/async_name.h"

#include <string.h>

#include "runtime/coreclr/code/method.h"
#include "util/text.h"

/* Longer names of methods are cut. */
#define NAME_SIZE 1024u

static const char *const boxes[] = {
	"+AsyncStateMachineBox<",
	"+DebugFinalizableAsyncStateMachineBox<",
	"+StateMachineBox<",
};

static bool ends_like(const char *text, const char *end, const char *suffix)
{
	size_t size = strlen(suffix);
	return (size_t)(end - text) >= size && memcmp(end - size, suffix, size) == 0;
}

const char *async_box_machine(const char *name, size_t size, size_t *ret_size)
{
	if (size < 2 || name[size - 1] != '>')
		return NULL;
	/* The last argument begins after the comma, or the bracket, that is in no other bracket. */
	const char *end = name + size - 1, *at = end;
	size_t depth = 0;
	for (; at > name; at--) {
		char c = at[-1];
		if (c == '>' || c == ']') {
			depth++;
		} else if ((c == '<' || c == '[') && depth) {
			depth--;
		} else if (c == '<' || (c == ',' && !depth)) {
			break;
		}
	}
	const char *open = at;
	/* With several arguments, those before belong to the builder around the box. */
	while (open > name && open[-1] == ',')
		open--;
	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		if (ends_like(name, open, boxes[i])) {
			*ret_size = (size_t)(end - at);
			return at;
		}
	}
	return NULL;
}

/* The bracket that closes the one at @p at; @p end if none does. */
static const char *closing_bracket(const char *at, const char *end)
{
	size_t depth = 0;
	for (; at < end; at++) {
		depth += *at == '<';
		if (*at == '>' && !--depth)
			break;
	}
	return at;
}

/* Where the compiler's name begins in "Type<Arguments>+<Name>d__5", outside of all arguments. */
static const char *find_made_name(const char *name, const char *end)
{
	for (const char *at = name; at < end; at++) {
		if (*at != '<')
			continue;
		if (at > name && (at[-1] == '+' || at[-1] == '.') && at + 1 < end && at[1] != '>')
			return at;
		at = closing_bracket(at, end);
		if (at == end)
			break;
	}
	return NULL;
}

/* Leave out the classes that the compiler made for lambdas: "+<>c", "+<>c__DisplayClass3_0". */
static size_t without_closures(const char *name, size_t size)
{
	for (;;) {
		size_t at = size;
		while (at > 0 && name[at - 1] != '+')
			at--;
		if (!at || size - at < 3 || memcmp(name + at, "<>c", 3) != 0)
			return size;
		size = at - 1;
	}
}

static void append_dotted(struct text *text, const char *name, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text_append(text, name[i] == '+' ? "." : name + i, 1);
}

/* "<Place>b__0" and "<Place>g__Inner|0_0", between the brackets of "<...>d". */
static void append_inner(struct text *text, const char *name, size_t size)
{
	const char *end = name + size;
	const char *close = closing_bracket(name, end);
	bool is_local = end - close > 4 && memcmp(close, ">g__", 4) == 0;
	if (!is_local && (end - close < 4 || memcmp(close, ">b__", 4) != 0)) {
		text_append(text, name, size);
		return;
	}
	text_append(text, name + 1, (size_t)(close - name) - 1);
	if (is_local) {
		const char *inner = close + 4;
		const char *bar = memchr(inner, '|', (size_t)(end - inner));
		text_puts(text, ".");
		text_append(text, inner, (size_t)((bar ? bar : end) - inner));
	} else {
		text_puts(text, ".lambda");
	}
}

void async_member_append(struct text *text, const char *owner, size_t owner_size,
			 const char *method)
{
	append_dotted(text, owner, without_closures(owner, owner_size));
	text_puts(text, ".");
	append_inner(text, method, strlen(method));
}

/* The bracket that opens the one before @p close; @p name: none does. */
static const char *opening_bracket(const char *name, const char *close)
{
	size_t depth = 0;
	const char *at = close;
	for (; at > name; at--) {
		depth += *at == '>';
		if (*at == '<' && !--depth)
			break;
	}
	return at;
}

bool async_lambda_append(struct text *text, const char *name, size_t size)
{
	const char *end = memchr(name, '(', size);
	size = end ? (size_t)(end - name) : size;
	const char *close = memmem(name, size, ">b__", 4);
	close = close ? close : memmem(name, size, ">g__", 4);
	const char *made = close ? opening_bracket(name, close) : name;
	if (made < name + 2 || made[-1] != '.')
		return false;
	size_t owner = (size_t)(made - name) - 1;
	append_dotted(text, name, without_closures(name, owner));
	text_puts(text, ".");
	append_inner(text, made, size - owner - 1);
	return true;
}

/* "Shop.Orders+PlaceAsync@11" and "Shop.Orders+PlaceAsync@12-1<T>": the compiler of F# adds the line. */
static bool append_of_fsharp(struct text *text, const char *name, size_t size)
{
	const char *bracket = memchr(name, '<', size);
	size = bracket ? (size_t)(bracket - name) : size;
	const char *at = memrchr(name, '@', size), *plus = memrchr(name, '+', size);
	if (!at || !plus || at <= plus + 1 || at + 1 == name + size)
		return false;
	for (const char *digit = at + 1; digit < name + size; digit++) {
		if ((*digit < '0' || *digit > '9') && *digit != '-')
			return false;
	}
	append_dotted(text, name, (size_t)(at - name));
	return true;
}

bool async_method_append(struct text *text, const char *name, size_t size)
{
	const char *end = name + size;
	const char *made = find_made_name(name, end);
	if (!made)
		return append_of_fsharp(text, name, size);
	const char *close = closing_bracket(made, end);
	if (end - close < 2 || close[1] != 'd')
		return false;
	append_dotted(text, name, without_closures(name, (size_t)(made - name) - 1));
	text_puts(text, ".");
	append_inner(text, made + 1, (size_t)(close - made) - 1);
	return true;
}

/* Where the name of the method begins in "Type<Arguments>.Method", ".ctor" with its dot; @p name: there is no type. */
static const char *find_member(const char *name, const char *end)
{
	const char *found = name;
	for (const char *at = name; at < end; at++) {
		if (*at == '<' || *at == '[') {
			at = *at == '<' ? closing_bracket(at, end) : at;
			if (at == end)
				break;
		} else if (*at == '.' && at + 1 < end) {
			found = at + 1;
			at += at[1] == '.'; /* "Type..ctor" */
		}
	}
	return found;
}

/* Where a method is known by its name alone: of a runtime that keeps no MethodDescs. */
static bool append_of_name(struct text *text, struct runtime *runtime, uint64_t method_desc)
{
	char name[NAME_SIZE];
	if (!runtime_method_name(runtime, method_desc, name, sizeof(name), NULL))
		return false;
	const char *member = find_member(name, name + strlen(name));
	if (member == name) {
		text_puts(text, name);
		return true;
	}
	size_t owner = (size_t)(member - name) - 1;
	if (strcmp(member, "MoveNext") != 0 || !async_method_append(text, name, owner))
		async_member_append(text, name, owner, member);
	return true;
}

bool method_user_append(struct text *text, struct runtime *runtime, uint64_t method_desc)
{
	struct method method;
	size_t size;
	if (!method_read(runtime, method_desc, &method))
		return append_of_name(text, runtime, method_desc);
	const char *owner = method_owner_name(runtime, &method, &size);
	bool is_body = method.rid && strcmp(method.name, "MoveNext") == 0;
	if (is_body && async_method_append(text, owner, size))
		return true;
	async_member_append(text, owner, size, method.rid ? method.name : method.dynamic_name);
	return true;
}
