/* SPDX-License-Identifier: MIT */
/* Which class declares a static of a trace: traces and assemblies as a test makes them. */
#include <string.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/statics_world.h"
#include "support/suite.h"
#include "util/alloc.h"

/* The static of a row; HD_NONE: there is none. */
static uint32_t root_of(const struct hd_graph *graph, size_t row)
{
	uint32_t node = hd_graph_find(graph, world_object(row));
	for (uint32_t i = 0; i < graph->root_count; i++) {
		if (graph->roots[i].node == node && graph->roots[i].kind == HD_ROOT_STATIC)
			return i;
	}
	return HD_NONE;
}

/* It is called as expected, and so is the type that holds it. */
static void check_static(const struct hd_graph *graph, const struct row *row, uint32_t root)
{
	ASSERT_UINT_FATAL(root < graph->root_count, true);
	ASSERT_TEXT(graph->origins.details[root].name, row->expected);
	ASSERT_UINT(graph->origins.details[root].address, row->slot);
	ASSERT_UINT_FATAL(graph->roots[root].container < graph->type_count, true);
	const struct graph_type *type = &graph->types[graph->roots[root].container];
	const char *dot = strrchr(row->expected, '.');
	ASSERT_UINT(type->name_size, (size_t)(dot - row->expected));
	CU_ASSERT(strncmp(type->name, row->expected, type->name_size) == 0);
}

/* All statics of a text log have the type that declares them. */
static void check_written(const struct hd_graph *graph, size_t statics)
{
	struct text text = dump_written(graph);
	struct hd_graph *again = dump_graph(text.bytes);
	size_t count = 0;
	for (uint32_t i = 0; i < again->root_count; i++)
		count += again->roots[i].kind == HD_ROOT_STATIC;
	ASSERT_UINT(count, statics);
	ASSERT_UINT(again->type_count, graph->type_count);
	graph_destroy(again);
	text_deinit(&text);
}

static void check(const struct world *world)
{
	struct nettrace_maker trace = { .version = 4, .pointer_size = 8 };
	char paths[WORLD_MODULES][WORLD_PATH];
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	world_make(world, &trace, paths);
	ASSERT_UINT(read_maker(&trace, &world->options, &graph, &err), HD_OK);
	REQUIRE(graph);
	for (size_t i = 0; i < world_rows(world); i++)
		check_static(graph, &world->rows[i], root_of(graph, i));
	check_written(graph, world_rows(world));
	graph_destroy(graph);
	world_delete(paths);
	nettrace_deinit(&trace);
}

/* clang-format off */
static const struct module_spec shop = { .pdb = 1, .types = {
	{ "Shop", "Basket", "o:first s:<Text>k__BackingField oi:instance ol:literal or:data n:number" },
	{ "", "Inner", "A:words", 3 },
	{ "Shop", "Open`1", "o:generic", 0, true },
	{ "Shop", "Threads", "ot:ofThread o:ofAll" } } };
/* clang-format on */

TEST(statics_are_named_by_the_class_that_declares_them)
{
	check(&(struct world){ .modules[1] = shop,
			       .rows = { { 0, OBJECT, "first", "Shop.Basket.first" },
					 { 0, STRING, "<Text>k__BackingField", "Shop.Basket.Text" },
					 { 0, STRINGS, "words", "Shop.Basket+Inner.words" },
					 { 0, NOBODY, "ofAll", "Shop.Threads.ofAll" } } });
}

TEST(what_has_no_slot_is_none_of_them)
{
	check(&(struct world){ .modules[1] = shop,
			       .rows = { { 0, OBJECT, "instance", "System.Object.instance" },
					 { 0, OBJECT, "literal", "System.Object.literal" },
					 { 0, OBJECT, "data", "System.Object.data" },
					 { 0, OBJECT, "number", "System.Object.number" },
					 { 0, OBJECT, "generic", "System.Object.generic" },
					 { 0, OBJECT, "ofThread", "System.Object.ofThread" },
					 { 0, OBJECT, "<P>k__BackingField", "System.Object.P" },
					 { 0, OBJECT, "first", "Shop.Basket.first" } } });
}

/* clang-format off */
static const struct module_spec kinds = { .pdb = 1, .types = {
	{ "K", "Self", "c:it" }, { "K", "Text", "s:it" }, { "K", "Words", "A:it" }, { "K", "Value", "v:it" } } };
static const struct module_spec handlers = { .pdb = 1, .types = {
	{ "K", "Handling", "h:it" }, { "K", "Self", "c:it" }, { "K", "Text", "s:it" }, { "K", "Value", "v:it" } } };
/* clang-format on */

TEST(the_type_of_the_object_tells_fields_of_one_name_apart)
{
	static const struct {
		uint64_t type;
		const char *expected;
	} rows[] = { { FIRST, "K.Self.it" },
		     { STRING, "K.Text.it" },
		     { STRINGS, "K.Words.it" },
		     { STRUCT, "K.Value.it" },
		     { NOBODY, "UNKNOWN 0x700.it" } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct world world = {
			.modules[1] = kinds, .rows = { { 0, rows[i].type, "it", rows[i].expected } }
		};
		check(&world);
	}
	check(&(struct world){ .modules[1] = handlers,
			       .rows = { { 0, HANDLER, "it", "K.Handling.it" } } });
	/* The TypeRef may name an interface. */
	check(&(struct world){ .modules[1] = handlers,
			       .rows = { { 0, STRUCT, "it", "Space.Struct.it" } } });
}

/* clang-format off */
static const struct module_spec alike = { .pdb = 1, .types = {
	{ "A", "One", "o:a o:same o:b" }, { "A", "Two", "o:c o:same" }, { "A", "Three", "o:same o:d" } } };
/* clang-format on */

TEST(their_order_tells_fields_of_one_name_apart)
{
	check(&(struct world){ .modules[1] = alike,
			       .rows = { { 0, OBJECT, "a", "A.One.a" },
					 { 0, OBJECT, "same", "A.One.same" },
					 { 0, OBJECT, "b", "A.One.b" },
					 { 0, OBJECT, "c", "A.Two.c" },
					 { 0, OBJECT, "same", "System.Object.same" },
					 { 0, OBJECT, "d", "A.Three.d" } } });
	/* Three in a row of three. */
	check(&(struct world){ .modules[1] = alike,
			       .rows = { { 0, OBJECT, "same", "A.One.same" },
					 { 0, OBJECT, "same", "A.Two.same" },
					 { 0, OBJECT, "same", "A.Three.same" } } });
	/* A static that cannot hold the object is not named. */
	check(&(struct world){ .modules[1] = alike,
			       .rows = { { 0, OBJECT, "d", "System.Object.d" },
					 { 0, OBJECT, "a", "System.Object.a" } } });
}

TEST(so_do_the_addresses_of_their_slots)
{
	/* It is at the right distance of Two's c; then it is not, and not among Two's slots. */
	check(&(struct world){ .modules[1] = alike,
			       .rows = { { 0x100, OBJECT, "c", "A.Two.c" },
					 { 0x108, OBJECT, "same", "A.Two.same" } } });
	check(&(struct world){ .modules[1] = alike,
			       .rows = { { 0x100, OBJECT, "c", "A.Two.c" },
					 { 0x110, OBJECT, "same", "A.Three.same" } } });
	/* One's slots end where b's lies. */
	check(&(struct world){ .modules[1] = alike,
			       .rows = { { 0x100, OBJECT, "a", "A.One.a" },
					 { 0x118, OBJECT, "same", "System.Object.same" } } });
}

/* clang-format off */
static const struct module_spec boxes = { .pdb = 1, .types = {
	{ "B", "One", "o:a v:b e:none v:c o:d" }, { "B", "Two", "v:c" }, { "B", "Three", "o:d" } } };
/* clang-format on */

TEST(boxed_structs_lie_before_references)
{
	/* b or more structs before c, which may be enums; none of them is an enum that is known. */
	check(&(struct world){ .modules[1] = boxes,
			       .rows = { { 0x110, OBJECT, "a", "B.One.a" },
					 { 0x100, STRUCT, "b", "B.One.b" },
					 { 0x108, STRUCT, "c", "B.One.c" },
					 { 0x118, OBJECT, "d", "B.One.d" } } });
	/* c may lie at once after the enums that are not known, but not after the references. */
	check(&(struct world){
		.modules[1] = boxes,
		.rows = { { 0x110, OBJECT, "a", "B.One.a" }, { 0x128, STRUCT, "c", "B.Two.c" } } });
}

/* clang-format off */
static const struct module_spec known = { .pdb = 1, .types = {
	{ "", "<>c", "c:<>9 h:<>9__0 h:<>9__1" }, { "C", "Pair", "o:left o:right" }, { "C", "Single", "o:alone" },
	{ "C", "Two", "o:left o:x" } } };
/* clang-format on */

static const struct module_spec dynamic = { .is_dynamic = true, .path = "made at run time" };

TEST(what_may_be_of_another_module_keeps_the_type_of_its_object)
{
	struct world world = { .modules = { [1] = known, [2] = dynamic },
			       .rows = { { 0x200, FIRST, "<>9", "<>c.<>9" },
					 { 0x208, HANDLER, "<>9__0", "<>c.<>9__0" },
					 { 0x210, HANDLER, "<>9__1", "<>c.<>9__1" },
					 { 0x100, OBJECT, "left", "C.Pair.left" },
					 { 0x108, OBJECT, "right", "C.Pair.right" },
					 { 0x300, OBJECT, "alone", "System.Object.alone" },
					 { 0x400, OBJECT, "unheard", "System.Object.unheard" } } };
	check(&world);
	/* When all modules are at hand, it can be nothing else. */
	world.modules[2] = (struct module_spec){ 0 };
	world.rows[5].expected = "C.Single.alone";
	check(&world);
	/* A pair at another distance is none. */
	world.modules[2] = dynamic;
	world.rows[5].expected = "System.Object.alone";
	world.rows[4].slot = 0x110;
	world.rows[3].expected = "System.Object.left";
	world.rows[4].expected = "System.Object.right";
	check(&world);
	/* Delegates of closures may be anybody's. */
	world.rows[0] = (struct row){ 0x200, OBJECT, "alone", "System.Object.alone" };
	world.rows[1].expected = "System.Handler.<>9__0";
	world.rows[2].expected = "System.Handler.<>9__1";
	check(&world);
}

TEST(dynamic_methods_have_no_statics)
{
	struct world world = { .modules = { [1] = known, [2] = dynamic },
			       .rows = { { 0x300, OBJECT, "alone", "C.Single.alone" } } };
	world.modules[2].path = "Anonymously Hosted DynamicMethods Assembly";
	check(&world);
	world.modules[2].is_dynamic = false;
	world.modules[2].is_missing = true;
	world.rows[0].expected = "System.Object.alone";
	check(&world);
}

/* The pair stays in front of what is not known. */
TEST(all_modules_must_be_known)
{
	const struct world whole = { .modules[1] = known,
				     .rows = { { 0x100, OBJECT, "left", "C.Pair.left" },
					       { 0x108, OBJECT, "right", "C.Pair.right" },
					       { 0x300, OBJECT, "alone", "C.Single.alone" } } };
	struct world world = whole;
	check(&world);
	world.rows[2].expected = "System.Object.alone";
	world.has_no_end = true;
	check(&world);
	world = whole;
	world.rows[2].expected = "System.Object.alone";
	world.has_loss = true;
	check(&world);
	world = whole;
	world.modules[2].is_missing = true;
	world.rows[2].expected = "System.Object.alone";
	check(&world);
	/* One of the objects' modules is none of those of the rundown. */
	world = whole;
	world.modules[0].is_unlisted = true;
	world.rows[2].expected = "System.Object.alone";
	check(&world);
}

TEST(only_files_that_were_loaded_count)
{
	const struct world whole = { .modules[1] = known,
				     .rows = { { 0x100, OBJECT, "left", "C.Pair.left" },
					       { 0x108, OBJECT, "right", "C.Pair.right" } } };
	struct world worlds[] = { whole, whole, whole, whole, whole };
	worlds[0].modules[1].other_pdb = 9;
	worlds[1].modules[1].is_missing = true;
	worlds[2].options.no_files = true;
	worlds[3].options.sysroot = "/proc/self/fdinfo";
	worlds[4].has_no_rundown = true;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		worlds[i].rows[0].expected = "System.Object.left";
		worlds[i].rows[1].expected = "System.Object.right";
		check(&worlds[i]);
	}
	/* Without a PDB nothing proves a file, and it is not read. */
	struct world world = worlds[0];
	world.modules[1].other_pdb = 0;
	world.modules[1].pdb = 0;
	check(&world);
	/* To who trusts it the names of types do, if there are any. */
	world = whole;
	world.modules[1].pdb = 0;
	world.options.trust_files = true;
	check(&world);
	world.modules[2] = shop;
	world.modules[2].pdb = 0;
	world.rows[2] = (struct row){ 0x500, OBJECT, "first", "System.Object.first" };
	check(&world);
	world.modules[2].pdb = 2;
	world.rows[2].expected = "Shop.Basket.first";
	check(&world);
}

TEST(copies_of_a_module_declare_the_same)
{
	struct nettrace_maker trace = { .version = 4, .pointer_size = 8 };
	const struct world world = { .modules[1] = known,
				     .rows = { { 0x300, OBJECT, "alone", "C.Single.alone" },
					       { 0x100, OBJECT, "left", "C.Pair.left" },
					       { 0x108, OBJECT, "right", "C.Pair.right" } } };
	char paths[WORLD_MODULES][WORLD_PATH];
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	world_make(&world, &trace, paths);
	nettrace_deinit(&trace);
	trace = (struct nettrace_maker){ .version = 6, .pointer_size = 8 };
	nettrace_begin(&trace);
	world_put_types(&trace);
	world_put_heap(&trace, &world);
	nettrace_module_rundown(&trace, WORLD_MODULE, 8, paths[0], world_base.pdb);
	nettrace_module_rundown(&trace, WORLD_MODULE + 0x100, 8, paths[1], 1);
	nettrace_module_rundown(&trace, WORLD_MODULE + 0x200, 8, paths[1], 1);
	nettrace_event(&trace, true, 146, "", 0);
	nettrace_end(&trace);
	ASSERT_UINT(read_maker(&trace, &world.options, &graph, &err), HD_OK);
	REQUIRE(graph);
	for (size_t i = 0; i < world_rows(&world); i++)
		check_static(graph, &world.rows[i], root_of(graph, i));
	graph_destroy(graph);
	world_delete(paths);
	nettrace_deinit(&trace);
}

/* Whatever a file holds, the graph has all roots, each with a name that ends with the field's. */
static void check_damaged(const struct nettrace_maker *trace, const struct world *world)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(read_maker(trace, &world->options, &graph, &err), HD_OK);
	REQUIRE(graph);
	for (size_t i = 0; i < world_rows(world); i++) {
		uint32_t root = root_of(graph, i);
		ASSERT_UINT_FATAL(root < graph->root_count, true);
		const char *name = graph->origins.details[root].name, *field = world->rows[i].field;
		REQUIRE(name);
		size_t size = strlen(name), length = strlen(field);
		CU_ASSERT(size > length && strcmp(name + size - length, field) == 0);
	}
	graph_destroy(graph);
}

/* clang-format off */
static const struct module_spec first_copy = { .pdb = 1, .types = { { "", "SR", "o:one" } } };
static const struct module_spec second_copy = { .pdb = 2, .types = { { "", "SR", "o:two" } } };
/* clang-format on */

TEST(classes_of_one_name_are_those_of_their_modules)
{
	struct nettrace_maker trace = { .version = 4, .pointer_size = 8 };
	const struct world world = { .modules = { [1] = first_copy, [2] = second_copy },
				     .rows = { { 0, OBJECT, "one", "SR.one" },
					       { 0, OBJECT, "two", "SR.two" } } };
	char paths[WORLD_MODULES][WORLD_PATH];
	world_make(&world, &trace, paths);
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(read_maker(&trace, &world.options, &graph, &err), HD_OK);
	REQUIRE(graph);
	const struct graph_type *types[2];
	for (size_t i = 0; i < 2; i++) {
		check_static(graph, &world.rows[i], root_of(graph, i));
		types[i] = &graph->types[graph->roots[root_of(graph, i)].container];
		/* Module 0 is that of the objects. */
		ASSERT_TEXT(types[i]->module, paths[1 + i]);
	}
	/* The first type of module 1 has a row of its own in the trace. */
	ASSERT_UINT(types[0]->id, FIRST);
	CU_ASSERT(types[1]->id != types[0]->id);
	graph_destroy(graph);
	world_delete(paths);
	nettrace_deinit(&trace);
}

TEST(any_byte_of_a_module_may_be_damaged)
{
	struct nettrace_maker trace = { .version = 4, .pointer_size = 8 };
	const struct world world = { .modules[1] = boxes,
				     .rows = { { 0x110, OBJECT, "a", NULL },
					       { 0x100, STRUCT, "b", NULL },
					       { 0x108, STRUCT, "c", NULL },
					       { 0x118, OBJECT, "d", NULL } } };
	char paths[WORLD_MODULES][WORLD_PATH];
	world_make(&world, &trace, paths);
	uint32_t size;
	uint8_t *image = world_image(&boxes, &size);
	FILE *file = fopen(paths[1], "r+");
	REQUIRE(file);
	for (uint32_t at = 0; at < size; at += image[at] ? 1 : 4) {
		for (unsigned int k = 0; k < 3; k++) {
			static const uint8_t masks[] = { 0x01, 0x80, 0xff };
			CU_ASSERT_FATAL(!fseek(file, (long)at, SEEK_SET) &&
					fputc(image[at] ^ masks[k], file) != EOF && !fflush(file));
			check_damaged(&trace, &world);
		}
		CU_ASSERT_FATAL(!fseek(file, (long)at, SEEK_SET) && fputc(image[at], file) != EOF);
	}
	for (uint32_t cut = size; cut > 0; cut -= cut < 16 ? cut : 16) {
		CU_ASSERT_FATAL(!fflush(file) && !ftruncate(fileno(file), (off_t)cut));
		check_damaged(&trace, &world);
	}
	CU_ASSERT(!fclose(file));
	free(image);
	world_delete(paths);
	nettrace_deinit(&trace);
}

TEST(memory_may_run_out_anywhere)
{
	struct nettrace_maker trace = { .version = 4, .pointer_size = 8 };
	const struct world world = { .modules = { [1] = known, [2] = dynamic },
				     .rows = { { 0x100, OBJECT, "left", "C.Pair.left" },
					       { 0x108, OBJECT, "right", "C.Pair.right" } } };
	char paths[WORLD_MODULES][WORLD_PATH];
	world_make(&world, &trace, paths);
	enum hd_status status = HD_ERR_NOMEM;
	for (uint64_t nth = 1; nth < 200; nth++) {
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		status = read_maker(&trace, &world.options, &graph, &err);
		alloc_fail_at(0);
		/* Without memory for an assembly's metadata names stay what they were. */
		if (status == HD_OK) {
			graph_destroy(graph);
		} else {
			ASSERT_UINT_FATAL(status, HD_ERR_NOMEM);
		}
	}
	ASSERT_UINT(status, HD_OK);
	world_delete(paths);
	nettrace_deinit(&trace);
}

SUITE(.name = "nettrace_statics")
