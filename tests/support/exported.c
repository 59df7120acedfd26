/* SPDX-License-Identifier: MIT */
#include "support/exported.h"

#include <stdbool.h>
#include <stdio.h>

#include "support/assert_more.h"
#include "util/text.h"

#define NAME_SIZE 64

static struct text read_file(const char *name)
{
	struct text text = { 0 };
	char path[1000], buf[4096];
	(void)snprintf(path, sizeof(path), "%s/core/%s", HD_SOURCE_DIR, name);
	FILE *file = fopen(path, "r");
	REQUIRE(file);
	for (size_t got; (got = fread(buf, 1, sizeof(buf), file)) > 0;)
		text_append(&text, buf, got);
	(void)fclose(file);
	REQUIRE(text.bytes);
	return text;
}

static struct text read_header(const char *name)
{
	char path[100];
	(void)snprintf(path, sizeof(path), "include/heapdump/%s", name);
	return read_file(path);
}

/* The next hd_NAME from *@p at that is followed by @p end, after @p start; false: there is none. */
static bool next_name(const char **at, const char *start, char end, char ret[NAME_SIZE])
{
	const char *found = strstr(*at, start);
	if (!found)
		return false;
	found += strlen(start);
	const char *name = strstr(found, "hd_");
	size_t size = 0;
	/* The first one that is called or listed, not the name of a type. */
	while (name && name[size = strspn(name, "abcdefghijklmnopqrstuvwxyz_")] != end)
		name = strstr(name + size, "hd_");
	REQUIRE(name);
	(void)snprintf(ret, NAME_SIZE, "%.*s", (int)size, name);
	*at = found;
	return true;
}

static bool is_tried(const char *name, const struct attempt *attempts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(attempts[i].name, name) == 0)
			return true;
	}
	(void)printf("%s is not tried\n", name);
	return false;
}

size_t exported_check_header(const char *header, const struct attempt *attempts, size_t count)
{
	struct text text = read_header(header);
	const char *at = text.bytes;
	char name[NAME_SIZE];
	size_t declared = 0;
	for (; next_name(&at, "\nHD_API ", '(', name); declared++)
		CU_ASSERT(is_tried(name, attempts, count));
	text_deinit(&text);
	return declared;
}

static bool is_declared(const char *name, const char *const *headers)
{
	char wanted[NAME_SIZE + 1];
	bool found = false;
	(void)snprintf(wanted, sizeof(wanted), "%s(", name);
	for (; *headers && !found; headers++) {
		struct text text = read_header(*headers);
		found = strstr(text.bytes, wanted) != NULL;
		text_deinit(&text);
	}
	if (!found)
		(void)printf("%s is in no header\n", name);
	return found;
}

size_t exported_check_map(const char *const *headers)
{
	struct text map = read_file("heapdump.map");
	const char *at = map.bytes;
	char name[NAME_SIZE];
	size_t exported = 0;
	for (; next_name(&at, "\n\t\t", ';', name); exported++)
		CU_ASSERT(is_declared(name, headers));
	text_deinit(&map);
	return exported;
}
