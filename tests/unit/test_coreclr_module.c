/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/modules/module.h"
#include "runtime/type.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/alloc.h"

static void fill(struct metadata_maker *maker)
{
	maker_init(maker);
	maker_type(maker, "", "<Module>");
	maker_type(maker, "System", "Object");
	maker_field(maker, 0, "field", "\x08", 1);
	maker_method(maker, "Method");
	MAKER_ROW(maker, MD_ASSEMBLY, 0, 0, 0, 0, 0, 0, 0, maker_string(maker, "Some.Library"), 0);
}

static void set_path(struct fake_clr *fake, uint64_t module, const uint16_t *units, size_t count)
{
	uint64_t string = fake_alloc(&fake->memory, 2 * (uint64_t)count);
	fake_poke(&fake->memory, string, units, 2 * count);
	fake_poke_u64(&fake->memory, module + FAKE_MODULE_PATH, string);
}

static void check_image(const struct image_kind *kind)
{
	static const uint16_t path[] = { '/', 'l', 0xe9, 0x20ac, 0xd83d, 0xde00, 0xd800, 'x', 0 };
	struct fake_clr *fake = fake_clr_create(NULL);
	struct metadata_maker maker;
	fill(&maker);
	uint64_t base = fake_image(fake, fake->module, &maker, kind, NULL);
	set_path(fake, fake->module, path, sizeof(path) / sizeof(path[0]));
	struct runtime *runtime = fake_runtime(fake);
	const struct module *module = module_find(runtime, fake->module);
	REQUIRE(module);
	REQUIRE(module->metadata);
	ASSERT_UINT(module->image_base, base);
	ASSERT_UINT(module->is_mapped, kind->is_mapped);
	CU_ASSERT(!module->is_dynamic && !module->is_from_file && !module->missing);
	ASSERT_TEXT(module->name, "Some.Library");
	ASSERT_TEXT(module->path, "/l\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx");
	CU_ASSERT(module_find(runtime, fake->module) == module);
	ASSERT_UINT(module_rva(runtime, module, 0x2004), base + (kind->is_mapped ? 0x2004 : 0x404));
	ASSERT_UINT(module_rva(runtime, module, 0x7fffffff), 0);
	ASSERT_UINT(fake->target.findings.count, 0);
	maker_deinit(&maker);
	fake_clr_destroy(fake);
}

TEST(test_images)
{
	check_image(&(struct image_kind){ .is_mapped = true });
	check_image(&(struct image_kind){ .is_mapped = false });
}

/* The way of 9: Module.Base alone, which does not say how the image lies. */
TEST(test_base_alone)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct metadata_maker maker;
	fill(&maker);
	fake_image(fake, fake->module, &maker, &(struct image_kind){ .is_mapped = false }, NULL);
	fake_poke_u64(&fake->memory, fake->module + FAKE_MODULE_PE_ASSEMBLY, 0);
	const struct module *module = module_find(fake_runtime(fake), fake->module);
	REQUIRE(module);
	CU_ASSERT(module->metadata && !module->is_mapped);
	maker_deinit(&maker);
	fake_clr_destroy(fake);
}

TEST(test_dynamic)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct metadata_maker maker;
	fill(&maker);
	fake_metadata(fake, fake->module, &maker);
	const struct module *module = module_find(fake_runtime(fake), fake->module);
	REQUIRE(module);
	REQUIRE(module->metadata);
	CU_ASSERT(module->is_dynamic && !module->path);
	ASSERT_TEXT(module->name, "Some.Library");
	/* one whose metadata is damaged, and one without any */
	uint64_t damaged = fake_module(fake), none = fake_module(fake);
	fake_metadata(fake, damaged, &maker);
	fake_poke_u32(&fake->memory,
		      fake_peek_u64(&fake->memory, damaged + FAKE_MODULE_DYNAMIC_METADATA) + 4, 0);
	module = module_find(fake->runtime, damaged);
	REQUIRE(module);
	CU_ASSERT(module->is_dynamic && !module->metadata);
	ASSERT_TEXT(module->missing, "metadata of a module without a file is damaged: no metadata "
				     "root (BSJB) here");
	module = module_find(fake->runtime, none);
	REQUIRE(module);
	CU_ASSERT(module->is_dynamic && !module->metadata && module->missing);
	ASSERT_UINT(fake->target.findings.count, 1);
	maker_deinit(&maker);
	fake_clr_destroy(fake);
}

/* A target whose own memory lacks the image, which a file beside it has. */
struct with_file {
	struct fake_clr *fake;
	struct fake_memory file; /* all that a reader sees; the target's own pieces too */
	uint64_t base;
};

static size_t read_both(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	struct with_file *both = (void *)((char *)memory - offsetof(struct with_file, file));
	size_t done = memory_prefix(&both->fake->memory.memory, address, buf, size);
	if (done)
		return done;
	struct memory_ops ops = *both->fake->memory.memory.ops;
	return ops.read(memory, address, buf, size);
}

static void set_up_file(struct with_file *both, const struct metadata_maker *maker,
			unsigned int release)
{
	static struct memory_ops ops;
	both->fake = fake_clr_create(&(struct fake_options){ .release = release });
	fake_memory_init(&both->file);
	both->base = fake_image(both->fake, both->fake->module, maker,
				&(struct image_kind){ .is_mapped = true }, &both->file);
	ops = *both->file.memory.ops;
	ops.read = read_both;
	ops.run = NULL;
	both->file.memory.ops = &ops;
	struct runtime *runtime = fake_runtime(both->fake);
	runtime->memory = &both->file.memory;
	both->fake->target.memory = &both->file.memory;
}

static void tear_down_file(struct with_file *both)
{
	fake_clr_destroy(both->fake);
	fake_memory_deinit(&both->file);
}

static void set_map_counts(struct fake_clr *fake, uint32_t types, uint32_t methods, uint32_t fields)
{
	uint64_t module = fake->module;
	fake_poke_u32(&fake->memory, fake_at(fake, module, L_MODULE_TYPE_DEF_MAP) + 16, types);
	fake_poke_u32(&fake->memory, fake_at(fake, module, L_MODULE_METHOD_MAP) + 16, methods);
	fake_poke_u32(&fake->memory, fake_at(fake, module, L_MODULE_FIELD_MAP) + 16, fields);
}

/* Types, methods and fields are counted by the runtime's maps, from RID 0 on. */
TEST(test_file)
{
	for (unsigned int release = 9; release <= 11; release++) {
		struct metadata_maker maker;
		struct with_file both;
		fill(&maker);
		set_up_file(&both, &maker, release);
		set_map_counts(both.fake, 3, 2, 2);
		const struct module *module = module_find(both.fake->runtime, both.fake->module);
		REQUIRE(module);
		CU_ASSERT(module->metadata && module->is_from_file && !module->missing);
		ASSERT_UINT(both.fake->target.findings.count, 0);
		tear_down_file(&both);
		maker_deinit(&maker);
	}
}

static void check_other_file(unsigned int release, uint32_t types, uint32_t methods,
			     uint32_t fields)
{
	struct metadata_maker maker;
	struct with_file both;
	fill(&maker);
	set_up_file(&both, &maker, release);
	set_map_counts(both.fake, types, methods, fields);
	const struct module *module = module_find(both.fake->runtime, both.fake->module);
	REQUIRE(module);
	CU_ASSERT(!module->metadata);
	REQUIRE(module->missing);
	CU_ASSERT(strstr(module->missing, "is not the file that the process had loaded") != NULL);
	CU_ASSERT(findings_has(&both.fake->target.findings, FINDING_MODULE_METADATA));
	tear_down_file(&both);
	maker_deinit(&maker);
}

TEST(test_other_file)
{
	for (unsigned int release = 9; release <= 11; release++) {
		check_other_file(release, 4, 2, 2);
		check_other_file(release, 3, 1, 2);
		check_other_file(release, 3, 2, 700);
	}
}

TEST(test_missing)
{
	struct metadata_maker maker;
	fill(&maker);
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t base = fake_image(fake, fake->module, &maker,
				   &(struct image_kind){ .is_mapped = true }, NULL);
	static const uint16_t path[] = { '/', 'a', '.', 'd', 'l', 'l', 0 };
	set_path(fake, fake->module, path, sizeof(path) / sizeof(path[0]));
	fake_unmap(&fake->memory, base);
	const struct module *module = module_find(fake_runtime(fake), fake->module);
	REQUIRE(module);
	CU_ASSERT(!module->metadata);
	ASSERT_TEXT(module->missing, "metadata of /a.dll is not in the target");
	ASSERT_UINT_FATAL(fake->target.findings.count, 1);
	ASSERT_TEXT(finding_name(fake->target.findings.rows[0].kind), "module-metadata");
	ASSERT_TEXT(fake->target.findings.rows[0].detail,
		    "metadata of /a.dll is not in the target: type and field names of that module "
		    "are missing");
	CU_ASSERT(strstr(fake->target.findings.rows[0].advice, "--sysroot DIR") != NULL);
	/* many of them do not fill the page */
	for (unsigned int i = 0; i < 50; i++) {
		uint64_t more = fake_module(fake);
		fake_poke_u64(&fake->memory, more + FAKE_MODULE_IMAGE, 0x1000 + i);
		module = module_find(fake->runtime, more);
		REQUIRE(module);
		set_path(fake, more, path, 2);
	}
	CU_ASSERT(fake->target.findings.count < 20);
	maker_deinit(&maker);
	fake_clr_destroy(fake);
}

/* Advice on a module whose metadata are missing. */
static const char *advice_on(struct fake_clr *fake, uint64_t module)
{
	findings_deinit(&fake->target.findings);
	CU_ASSERT_PTR_NOT_NULL(module_find(fake_runtime(fake), module));
	ASSERT_UINT_FATAL(fake->target.findings.count, 1);
	return fake->target.findings.rows[0].advice;
}

TEST(test_advice)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct target *target = &fake->target;
	uint64_t modules[6];
	for (size_t i = 0; i < 6; i++) {
		modules[i] = fake_module(fake);
		fake_poke_u64(&fake->memory,
			      modules[i] +
				      (i < 2 ? FAKE_MODULE_IMAGE : FAKE_MODULE_DYNAMIC_METADATA),
			      0x1000);
	}
	(void)fake_runtime(fake);
	target->options.no_files = true;
	CU_ASSERT(strstr(advice_on(fake, modules[0]), "leave --no-files away") != NULL);
	target->core.is_truncated = true;
	CU_ASSERT(strstr(advice_on(fake, modules[1]), "write it again") != NULL);
	/* a dynamic one is in no file */
	CU_ASSERT(strstr(advice_on(fake, modules[2]), "write it again") != NULL);
	target->core.is_truncated = false;
	CU_ASSERT_PTR_NULL(advice_on(fake, modules[3]));
	target->options.no_files = false;
	CU_ASSERT_PTR_NULL(advice_on(fake, modules[4]));
	target->core.content = CONTENT_MINI;
	ASSERT_TEXT(advice_on(fake, modules[5]),
		    "take a dump with the heap in it (createdump --withheap or --full, gcore)");
	fake_clr_destroy(fake);
}

/* @p count modules: blocks of the list, emptied slots. */
static void check_list(size_t count)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t addresses[40] = { 0 };
	size_t expected = 0, listed;
	for (size_t i = 0; i < count; i++) {
		addresses[i] = i % 7 == 3 ? 0 : fake_module(fake);
		expected += addresses[i] != 0;
	}
	struct runtime *runtime = fake_runtime(fake);
	fake_domain(fake, addresses, count);
	struct module *const *modules;
	ASSERT_UINT(module_list(runtime, &modules, &listed, NULL), HD_OK);
	ASSERT_UINT_FATAL(listed, expected);
	for (size_t i = 0, k = 0; i < count; i++) {
		if (addresses[i])
			ASSERT_UINT(modules[k++]->address, addresses[i]);
	}
	struct module *const *again;
	ASSERT_UINT(module_list(runtime, &again, &listed, NULL), HD_OK);
	CU_ASSERT(again == modules);
	fake_clr_destroy(fake);
}

TEST(test_list)
{
	check_list(1);
	check_list(5);
	check_list(6);
	check_list(16);
	check_list(40);
}

TEST(test_bad_list)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t addresses[] = { fake_module(fake), fake_module(fake) };
	struct runtime *runtime = fake_runtime(fake);
	struct module *const *modules;
	size_t count;
	struct hd_error err = { 0 };
	fake_domain(fake, addresses, 2);
	uint64_t list = coreclr_of(runtime)->globals.app_domain + 576;
	fake_poke_u32(&fake->memory, list, UINT32_MAX);
	ASSERT_UINT(module_list(runtime, &modules, &count, &err), HD_ERR_FORMAT);
	/* a list that goes round ends when it has seen as many as it has */
	fake_poke_u32(&fake->memory, list, 5000);
	fake_poke_u64(&fake->memory, list + 8, list + 8);
	/* one assembly whose module belongs to another */
	fake_poke_u64(&fake->memory, addresses[1] + FAKE_MODULE_ASSEMBLY, 0x1238);
	ASSERT_UINT(module_list(runtime, &modules, &count, &err), HD_OK);
	ASSERT_UINT_FATAL(count, 1);
	ASSERT_UINT(modules[0]->address, addresses[0]);
	fake_clr_destroy(fake);
	fake = fake_clr_create(NULL);
	runtime = fake_runtime(fake);
	fake_domain(fake, NULL, 0);
	ASSERT_UINT(module_list(runtime, &modules, &count, &err), HD_ERR_FORMAT);
	ASSERT_TEXT(err.message, "nothing on the list is an assembly");
	fake_clr_destroy(fake);
}

/* In 8 a MethodTable names the module it was loaded for; the canonical one leads home. */
TEST(test_home_of_8)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fake_type how = { .base_size = 24, .token = 5, .flags = 0x20 };
	uint64_t shared = fake_type(fake, &how), home = fake_module(fake);
	how.flags = 0x10;
	uint64_t exact = fake_type(fake, &how), loader = fake_module(fake);
	fake_poke_u64(&fake->memory, exact + 24, loader);
	fake_poke_u64(&fake->memory, exact + 40, shared | 1);
	struct runtime *runtime = fake_runtime(fake);
	const struct type *type = type_find(runtime, exact);
	REQUIRE(type);
	ASSERT_UINT(type_home_module(runtime, type), loader);
	coreclr_of(runtime)->major = 8;
	ASSERT_UINT(type_home_module(runtime, type), fake->module);
	/* a canonical one with a slot for it, where InterfaceMap would be; then after the vtable */
	struct type canonical = *type;
	canonical.links.canonical = canonical.method_table = shared;
	canonical.links.flags2 = 0x11;
	fake_poke_u64(&fake->memory, shared + 56, home);
	ASSERT_UINT(type_home_module(runtime, &canonical), home);
	canonical.links.flags2 = 0x17;
	uint16_t virtuals = 9;
	fake_poke(&fake->memory, shared + 12, &virtuals, 2);
	fake_poke_u64(&fake->memory, shared + 64 + (uint64_t)8 * (2 + 1), home + 8);
	ASSERT_UINT(type_home_module(runtime, &canonical), home + 8);
	fake_clr_destroy(fake);
}

TEST(test_no_memory)
{
	struct metadata_maker maker;
	fill(&maker);
	bool failed = true;
	for (uint64_t nth = 1; failed && nth < 200; nth++) {
		struct fake_clr *fake = fake_clr_create(NULL);
		fake_image(fake, fake->module, &maker, &(struct image_kind){ .is_mapped = true },
			   NULL);
		struct runtime *runtime = fake_runtime(fake);
		fake_domain(fake, &fake->module, 1);
		struct module *const *modules;
		size_t count;
		alloc_fail_at(nth);
		enum hd_status status = module_list(runtime, &modules, &count, NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		fake_clr_destroy(fake);
	}
	CU_ASSERT(!failed);
	maker_deinit(&maker);
}

SUITE(.name = "coreclr_module")
