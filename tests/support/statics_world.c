/* SPDX-License-Identifier: MIT */
#include "support/statics_world.h"

#include <unistd.h>

#include "format/nettrace/nettrace_types.h"
#include "support/assert_more.h"
#include "support/metadata_maker.h"

/* TypeRefs and TypeDefs that all modules have. */
enum {
	REF_STRUCT = 1,
	REF_THREAD_STATIC,
	REF_ENUM,
	REF_HANDLER,
	DEF_ENUM = 2
};

static void add_field(struct metadata_maker *maker, uint32_t type, const char *word)
{
	char kind = word[0], more = word[1] == ':' ? '\0' : word[1];
	const char *name = strchr(word, ':') + 1;
	uint16_t flags = more == 'i' ? 0 : 0x10;
	flags = (uint16_t)(flags | (more == 'l' ? 0x40 : more == 'r' ? 0x100 : 0));
	const uint8_t object[] = { 0x1c }, string[] = { 0x0e }, strings[] = { 0x1d, 0x0e },
		      number[] = { 0x08 }, value[] = { 0x11, REF_STRUCT << 2 | 1 },
		      enumeration[] = { 0x11, DEF_ENUM << 2 },
		      self[] = { 0x12, (uint8_t)(type << 2) },
		      handler[] = { 0x12, REF_HANDLER << 2 | 1 };
	uint32_t field;
	switch (kind) {
	case 's':
		field = maker_field(maker, flags, name, string, sizeof(string));
		break;
	case 'A':
		field = maker_field(maker, flags, name, strings, sizeof(strings));
		break;
	case 'n':
		field = maker_field(maker, flags, name, number, sizeof(number));
		break;
	case 'v':
		field = maker_field(maker, flags, name, value, sizeof(value));
		break;
	case 'e':
		field = maker_field(maker, flags, name, enumeration, sizeof(enumeration));
		break;
	case 'c':
		field = maker_field(maker, flags, name, self, sizeof(self));
		break;
	case 'h':
		field = maker_field(maker, flags, name, handler, sizeof(handler));
		break;
	default:
		field = maker_field(maker, flags, name, object, sizeof(object));
		break;
	}
	if (more == 't')
		MAKER_ROW(maker, 0x0c, field << 5 | 1, 1 << 3 | 3, 0);
}

static void add_type(struct metadata_maker *maker, const struct type_spec *spec)
{
	uint32_t type = maker_type(maker, spec->space, spec->name);
	char words[256];
	(void)snprintf(words, sizeof(words), "%s", spec->fields);
	char *rest = words;
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		add_field(maker, type, word);
	if (spec->is_generic)
		MAKER_ROW(maker, 0x2a, 0, 0, type << 1, maker_string(maker, "T"));
	if (spec->outer)
		maker_nest(maker, type, spec->outer);
}

uint8_t *world_image(const struct module_spec *spec, uint32_t *ret_size)
{
	struct metadata_maker maker;
	maker_init(&maker);
	maker_type_ref(&maker, "Space", "Struct");
	maker_type_ref(&maker, "System", "ThreadStaticAttribute");
	maker_type_ref(&maker, "System", "Enum");
	maker_type_ref(&maker, "System", "Handler");
	MAKER_ROW(&maker, 0x0a, REF_THREAD_STATIC << 3 | 1, maker_string(&maker, ".ctor"), 0);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "Space", "Enum");
	maker.tables[0x02].cells[6 + 3] = REF_ENUM << 2 | 1; /* what it extends */
	for (size_t i = 0; i < 6 && spec->types[i].name; i++)
		add_type(&maker, &spec->types[i]);
	uint32_t size;
	uint8_t *bytes = maker_finish(&maker, &size);
	uint8_t pdb = spec->other_pdb ? spec->other_pdb : spec->pdb;
	uint8_t *image = maker_image(&(struct image_kind){ .pdb = pdb }, bytes, size, ret_size);
	free(bytes);
	maker_deinit(&maker);
	return image;
}

const struct module_spec world_base = { .types = { { "System", "Object", "", 0, false },
						   { "System", "String", "", 0, false },
						   { "Space", "Struct", "", 0, false },
						   { "System", "Handler", "", 0, false } },
					.pdb = 0xb0 };

void world_put_types(struct nettrace_maker *trace)
{
	nettrace_type(trace, OBJECT, WORLD_MODULE, 0x2000003, 0, "System.Object");
	nettrace_type(trace, STRING, WORLD_MODULE, 0x2000004, 0, "System.String");
	nettrace_type(trace, STRUCT, WORLD_MODULE, 0x2000005, 0, "Space.Struct");
	nettrace_parameter(trace, STRING);
	nettrace_type(trace, STRINGS, WORLD_MODULE, 0x2000000, NT_TYPE_ARRAY, "System.String[]");
	nettrace_type(trace, HANDLER, WORLD_MODULE, 0x2000006, NT_TYPE_DELEGATE, "System.Handler");
}

size_t world_rows(const struct world *world)
{
	size_t count = 0;
	while (count < WORLD_ROWS && world->rows[count].field)
		count++;
	return count;
}

uint64_t world_object(size_t row)
{
	return 0x1000 + 0x20 * (uint64_t)row;
}

void world_put_heap(struct nettrace_maker *trace, const struct world *world)
{
	size_t count = world_rows(world);
	nettrace_gc_start(trace, 1);
	for (size_t i = 0; i < count; i++) {
		nettrace_static_at(trace, world->rows[i].slot, world_object(i), world->rows[i].type,
				   0, world->rows[i].field);
	}
	struct nt_node nodes[WORLD_ROWS];
	for (size_t i = 0; i < count; i++)
		nodes[i] = (struct nt_node){ world_object(i), 24, world->rows[i].type, 0 };
	nettrace_nodes(trace, 0, nodes, (uint32_t)count);
	nettrace_gc_end(trace, 1);
}

static void put_rundown(struct nettrace_maker *trace, const struct world *world,
			char paths[][WORLD_PATH])
{
	for (uint32_t i = 0; i < WORLD_MODULES; i++) {
		const struct module_spec *spec = &world->modules[i];
		const char *path = spec->path ? spec->path : paths[i];
		if (!i || spec->is_missing || spec->is_dynamic || spec->types[0].name) {
			if (!spec->is_unlisted) {
				nettrace_module_rundown(trace, WORLD_MODULE + 0x100 * (uint64_t)i,
							spec->is_dynamic ? 12 : 8, path,
							i ? spec->pdb : world_base.pdb);
			}
		}
	}
	if (world->has_loss)
		nettrace_lose(trace, 3);
	if (!world->has_no_end)
		nettrace_event(trace, true, 146, "", 0);
}

static void write_file(char *path, const uint8_t *bytes, size_t size)
{
	(void)snprintf(path, WORLD_PATH, "/tmp/hd_statics_XXXXXX");
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, bytes, size) == (ssize_t)size && !close(fd));
}

void world_make(const struct world *world, struct nettrace_maker *trace, char paths[][WORLD_PATH])
{
	for (uint32_t i = 0; i < WORLD_MODULES; i++) {
		const struct module_spec *spec = i ? &world->modules[i] : &world_base;
		uint32_t size;
		(void)snprintf(paths[i], WORLD_PATH, "/nowhere/%u.dll", i);
		if (!spec->types[0].name || world->modules[i].is_missing)
			continue;
		uint8_t *image = world_image(spec, &size);
		write_file(paths[i], image, size);
		free(image);
	}
	nettrace_begin(trace);
	world_put_types(trace);
	const struct type_spec *first = &world->modules[1].types[0];
	char name[64];
	(void)snprintf(name, sizeof(name), "%s%s%s", first->name ? first->space : "",
		       first->name && *first->space ? "." : "", first->name ? first->name : "none");
	nettrace_type(trace, FIRST, WORLD_MODULE + 0x100, 0x2000003, 0, name);
	world_put_heap(trace, world);
	if (!world->has_no_rundown)
		put_rundown(trace, world, paths);
	nettrace_end(trace);
}

void world_delete(char paths[][WORLD_PATH])
{
	for (uint32_t i = 0; i < WORLD_MODULES; i++)
		(void)unlink(paths[i]);
}
