/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/layout.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"

#define SERIES_COUNT 4u

static const struct {
	const char *type, *field;
	int32_t series[SERIES_COUNT]; /* 8, 9, 10, 11 */
} fields[L_COUNT] = {
#define X(id, type, field, v8, v9, v10, v11) [L_##id] = { type, field, { v8, v9, v10, v11 } },
	LAYOUT_FIELDS(X)
#undef X
};

static const struct {
	enum layout_field field;
	const char *name;
} renamed[] = {
#define X(id, name, release) { L_##id, #name },
	LAYOUT_RENAMED(X)
#undef X
};

static const char *const origin_names[] = {
	[ORIGIN_NONE] = "none",     [ORIGIN_DESCRIPTOR] = "descriptor", [ORIGIN_BUILD] = "build",
	[ORIGIN_SERIES] = "series", [ORIGIN_CALIBRATED] = "calibrated",
};

/*
 * Microsoft's builds for linux-x64, linux-musl-x64 and linux-arm64 whose descriptor and heap were compared with the table and
 * other tools, the newest first.
 */
static const struct layout_build builds[] = {
	{ "2e5299ab22fd653a381ea8fe12c9b89646056681", "11.0.0", 11, &arch_x86_64, false },
	{ "a44470e1693c65783b6ea573e9a3dca1147f611e", "11.0.0", 11, &arch_x86_64,
	  false }, /* singlefilehost */
	{ "d609bd1f4c20ae911f631467801d5e309bd5c130", "11.0.0", 11, &arch_x86_64, true },
	{ "8bf288ace59ee1c481cac272feef856d80cd0c3c", "11.0.0", 11, &arch_arm64, false },
	{ "c75d55af618b5f1a0769385ed23079bbe267be0d", "10.0.15", 10, &arch_x86_64, false },
	{ "6eef9fc6928b43c5f2fe37864a91199a2e57d047", "10.0.15", 10, &arch_x86_64,
	  false }, /* singlefilehost */
	{ "3a7bd6333d734a3574f0f8f187fe6c19a2c7bc5a", "10.0.15", 10, &arch_x86_64, true },
	{ "95c8b37b2fe3bb76eee1b50c478b70475b3a6bb3", "10.0.15", 10, &arch_arm64, false },
	{ "79945f51fb2612f13b7667a10a8fd29122664791", "10.0.12", 10, &arch_x86_64, false },
	{ "c36ad71424f1fa2ffd952574ab64dd0d952b101a", "10.0.12", 10, &arch_x86_64,
	  false }, /* singlefilehost */
	{ "ea2417846f6e65e39f48c6d7442f409cc97a7f36", "9.0.23", 9, &arch_x86_64, false },
	{ "1d7d74546b4c822bea094156ebb244703a41ce97", "9.0.23", 9, &arch_x86_64,
	  false }, /* singlefilehost */
	{ "d87b5d0133d3c0a3b21c0f399e6b5c6ba7fd0865", "9.0.20", 9, &arch_x86_64, false },
	{ "d2529b38862d9b522a8367dd2c7ad146ba135ec8", "8.0.34", 8, &arch_x86_64, false },
	{ "3791e1686d0a011b6f37325b7febb5003cad6433", "8.0.34", 8, &arch_x86_64,
	  false }, /* singlefilehost */
	{ "d801f62275c8d68cbc395038ef78dce6ee3ed9ea", "8.0.34", 8, &arch_x86_64, true },
	{ "0da63843bf6011305b4d9ed2f178448acb81f223", "8.0.31", 8, &arch_x86_64, false },
	{ "cc3a8daf4e1ef3852205bdfec28d2f295cf5dc0b", "8.0.31", 8, &arch_x86_64,
	  false }, /* singlefilehost */
};

void layout_name(enum layout_field field, const char **ret_type, const char **ret_field)
{
	*ret_type = fields[field].type;
	*ret_field = fields[field].field;
}

const char *layout_renamed(size_t index, enum layout_field *ret)
{
	if (index >= sizeof(renamed) / sizeof(renamed[0]))
		return NULL;
	*ret = renamed[index].field;
	return renamed[index].name;
}

const char *layout_origin_name(enum layout_origin origin)
{
	return origin_names[origin];
}

void layout_init(struct layout *layout)
{
	for (size_t i = 0; i < L_COUNT; i++) {
		layout->offsets[i] = NO;
		layout->origins[i] = ORIGIN_NONE;
	}
}

void layout_set(struct layout *layout, enum layout_field field, int64_t offset,
		enum layout_origin origin)
{
	if (offset < 0 || offset >= LAYOUT_OFFSET_LIMIT)
		return;
	layout->offsets[field] = (int32_t)offset;
	layout->origins[field] = (uint8_t)origin;
}

void layout_fill(struct layout *layout, unsigned int major, enum layout_origin origin)
{
	if (major < 8 || major - 8 >= SERIES_COUNT)
		return;
	for (size_t i = 0; i < L_COUNT; i++) {
		if (layout->origins[i] == ORIGIN_NONE) {
			layout_set(layout, (enum layout_field)i, fields[i].series[major - 8],
				   origin);
		}
	}
}

static int32_t value_in(const struct layout_difference *difference, unsigned int major)
{
	return major == 9 ? difference->v9 : major == 10 ? difference->v10 : difference->v11;
}

void layout_fill_but(struct layout *layout, unsigned int major,
		     const struct layout_difference *differences, size_t count)
{
	struct layout filled = *layout;
	if (major < 9)
		return;
	layout_fill(&filled, major, ORIGIN_SERIES);
	for (size_t i = 0; i < count; i++) {
		enum layout_field field = differences[i].field;
		if (layout->origins[field] != ORIGIN_NONE)
			continue;
		filled.offsets[field] = NO;
		filled.origins[field] = ORIGIN_NONE;
		layout_set(&filled, field, value_in(&differences[i], major), ORIGIN_SERIES);
	}
	*layout = filled;
}

const struct layout_build *layout_build_find(const char *build_id)
{
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		if (strcmp(builds[i].build_id, build_id) == 0)
			return &builds[i];
	}
	return NULL;
}

void layout_build_versions(const struct arch *arch, bool is_musl, char *buf, size_t size)
{
	const char *last = "";
	size_t used = 0;
	*buf = '\0';
	/* The newest come first. */
	for (size_t i = sizeof(builds) / sizeof(builds[0]); i-- > 0 && used < size;) {
		if (builds[i].arch != arch || builds[i].is_musl != is_musl ||
		    strcmp(builds[i].version, last) == 0)
			continue;
		last = builds[i].version;
		int more = snprintf(buf + used, size - used, "%s%s", used ? ", " : "", last);
		used += more > 0 ? (size_t)more : 0;
	}
}
