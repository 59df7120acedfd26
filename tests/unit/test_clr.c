/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"
#include "gc/layouts/gc_vars.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/method_table.h"
#include "runtime/thread_state.h"
#include "support/assert_more.h"
#include "support/fake_descriptor.h"
#include "support/fake_export.h"
#include "support/suite.h"
#include "util/alloc.h"

#define SELF_CONTAINED "/opt/app/libcoreclr.so"

/* Some threads, one of which allocates, and one that does not run. */
static struct fake_clr *make(const struct fake_options *how)
{
	struct fake_clr *fake = fake_clr_create(how);
	fake_segment(fake, 0, GENERATION_LOH, 0x1000);
	fake_object(fake, fake->object_array_type, 2);
	fake_thread(fake);
	fake_context(fake, 64);
	fake_thread(fake)->os_id = 0;
	return fake;
}

static struct runtime *open(struct fake_clr *fake)
{
	fake_set_global(fake, (enum fake_global)(FAKE_GC_VARS - 3), fake->threads[1].address);
	struct runtime *runtime = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(runtime_open(&fake->target, NULL, &runtime, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	REQUIRE(runtime);
	return runtime;
}

static void check_no_findings(const struct fake_clr *fake)
{
	ASSERT_UINT(fake->target.findings.count, 0);
}

static void check_findings(const struct fake_clr *fake, enum finding_kind kind)
{
	ASSERT_UINT(fake->target.findings.count, 1);
	CU_ASSERT_TRUE(findings_has(&fake->target.findings, kind));
}

static void check_objects(const struct fake_clr *fake, const struct runtime *runtime)
{
	ASSERT_UINT(runtime->tables.free, fake->free_type);
	ASSERT_UINT(runtime->tables.object, fake->object_type);
	ASSERT_UINT(coreclr_of(runtime)->globals.string_method_table, fake->string_type);
	ASSERT_UINT(runtime->tables.object_array, fake->object_array_type);
	ASSERT_UINT(runtime->tables.exception,
		    fake_peek_u64((struct fake_memory *)(uintptr_t)&fake->memory,
				  fake_global(FAKE_EXCEPTION)));
	ASSERT_UINT(runtime->alloc_context, fake_global(FAKE_ALLOC_CONTEXT) + 8);
	CU_ASSERT(coreclr_of(runtime)->globals.app_domain != 0);
	CU_ASSERT(coreclr_of(runtime)->globals.thread_store != 0);
	ASSERT_UINT_FATAL(runtime->threads.count, fake->thread_count);
	for (size_t i = 0; i < runtime->threads.count; i++) {
		ASSERT_UINT(runtime->threads.rows[i].address, fake->threads[i].address);
		ASSERT_UINT(runtime->threads.rows[i].id, i + 1);
		ASSERT_UINT(runtime->threads.rows[i].os_id, fake->threads[i].os_id);
		ASSERT_UINT(runtime->threads.rows[i].alloc_pointer, fake->threads[i].alloc_pointer);
		ASSERT_UINT(runtime->threads.rows[i].alloc_limit, fake->threads[i].alloc_limit);
	}
	ASSERT_UINT(runtime->threads.finalizer, fake->threads[1].address);
	ASSERT_UINT(runtime->threads.gc, 0);
	ASSERT_UINT((uint64_t)runtime->threads.pending, 0);
	CU_ASSERT_PTR_NOT_NULL(runtime->types);
	CU_ASSERT_PTR_NOT_NULL(coreclr_of(runtime)->modules);
}

/* No descriptor: all globals are found by their shape, all offsets are the series'. */
TEST(by_shape)
{
	for (unsigned int release = 10; release <= 11; release++) {
		struct fake_clr *fake = make(&(struct fake_options){ .release = release });
		fake_sync_block(fake, fake_object(fake, fake->object_type, 0));
		fake_export(fake, &(struct fake_export){ 0 });
		struct runtime *runtime = open(fake);
		check_objects(fake, runtime);
		ASSERT_UINT(coreclr_of(runtime)->globals.sync_table, fake->sync_table);
		ASSERT_UINT(coreclr_of(runtime)->globals.sync_count, 2);
		ASSERT_TEXT(runtime->version, release == 10 ? "10.0.3" : "11.0.3");
		ASSERT_UINT(coreclr_of(runtime)->major, release);
		ASSERT_TEXT(runtime->build_id, "");
		CU_ASSERT_FALSE(coreclr_of(runtime)->descriptor.is_read);
		CU_ASSERT_FALSE(runtime->is_single_file);
		ASSERT_UINT(coreclr_of(runtime)->layout.origins[L_MT_FLAGS], ORIGIN_SERIES);
		ASSERT_UINT(coreclr_of(runtime)->layout.origins[L_DOMAIN_ASSEMBLIES],
			    ORIGIN_SERIES);
		check_findings(fake, FINDING_UNKNOWN_BUILD);
		runtime_destroy(runtime);
		fake_clr_destroy(fake);
	}
}

/* With a descriptor that has everything. */
static void export_described(struct fake_clr *fake, const char *path)
{
	struct fake_descriptor descriptor = fake_descriptor_make(fake, NULL);
	fake_export(fake, &(struct fake_export){ .path = path,
						 .json = descriptor.json.bytes,
						 .pointers = descriptor.pointers,
						 .pointer_count = descriptor.pointer_count });
	fake_descriptor_free(&descriptor);
}

/* The descriptor of 11 has all offsets, some by other names, and the version. */
TEST(by_the_descriptor_of_11)
{
	struct fake_clr *fake = make(&(struct fake_options){ .release = 11 });
	export_described(fake, SELF_CONTAINED);
	struct runtime *runtime = open(fake);
	check_objects(fake, runtime);
	ASSERT_UINT(coreclr_of(runtime)->major, 11);
	ASSERT_TEXT(runtime->version, "11.0.0");
	ASSERT_UINT(coreclr_of(runtime)->gc_info_version, 5);
	ASSERT_UINT(coreclr_of(runtime)->layout.origins[L_DOMAIN_ASSEMBLIES], ORIGIN_DESCRIPTOR);
	ASSERT_UINT(coreclr_of(runtime)->layout.origins[L_LOADER_EXPOSED], ORIGIN_DESCRIPTOR);
	struct module *const *modules;
	size_t count = 0;
	ASSERT_UINT(module_list(runtime, &modules, &count, NULL), HD_OK);
	ASSERT_UINT_FATAL(count, 1);
	ASSERT_UINT(modules[0]->address, fake->module);
	check_no_findings(fake);
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

#define DESCRIPTOR                                                                           \
	"{\"types\":{\"MethodTable\":{\"MTFlags\":0},\"EEAllocContext\":{"                   \
	"\"GCAllocationContext\":8}},\"globals\":{\"AppDomain\":[[1],\"pointer\"],"          \
	"\"ThreadStore\":[[2],\"pointer\"],\"FreeObjectMethodTable\":[[3],\"pointer\"],"     \
	"\"ObjectMethodTable\":[[4],\"pointer\"],\"StringMethodTable\":[[5],\"pointer\"],"   \
	"\"ObjectArrayMethodTable\":[[6],\"pointer\"],\"ExceptionMethodTable\":[[7],\"p\"]," \
	"\"SyncTableEntries\":[[8],\"pointer\"],\"FinalizerThread\":[[9],\"pointer\"],"      \
	"\"GCThread\":[[10],\"pointer\"]}}"

static void export_named(struct fake_clr *fake, struct fake_export options)
{
	const uint64_t pointers[] = { 0,
				      fake_global(FAKE_APP_DOMAIN),
				      fake_global(FAKE_THREAD_STORE),
				      fake_global(FAKE_FREE),
				      fake_global(FAKE_OBJECT),
				      fake_global(FAKE_STRING),
				      fake_global(FAKE_OBJECT_ARRAY),
				      fake_global(FAKE_EXCEPTION),
				      fake_global(FAKE_SYNC_TABLE),
				      fake_global((enum fake_global)(FAKE_GC_VARS - 3)),
				      fake_global((enum fake_global)(FAKE_GC_VARS - 2)) };
	options.pointers = pointers;
	options.pointer_count = 11;
	if (!options.json)
		options.json = DESCRIPTOR;
	fake_export(fake, &options);
}

TEST(by_descriptor)
{
	for (unsigned int unrelocated = 0; unrelocated < 2; unrelocated++) {
		struct fake_clr *fake = make(NULL);
		export_named(fake, (struct fake_export){
					   .path = SELF_CONTAINED,
					   .unrelocated = unrelocated != 0,
					   .version = "@(#)Version 10.0.1226.42308 @Commit: 95" });
		struct runtime *runtime = open(fake);
		check_objects(fake, runtime);
		ASSERT_UINT(coreclr_of(runtime)->globals.sync_table, fake->sync_table);
		ASSERT_TEXT(runtime->version, "10.0.12");
		CU_ASSERT_TRUE(coreclr_of(runtime)->descriptor.is_read);
		ASSERT_UINT(coreclr_of(runtime)->layout.origins[L_MT_FLAGS], ORIGIN_DESCRIPTOR);
		ASSERT_UINT(coreclr_of(runtime)->layout.origins[L_MT_BASE_SIZE], ORIGIN_SERIES);
		check_no_findings(fake);
		runtime_destroy(runtime);
		fake_clr_destroy(fake);
	}
}

TEST(known_build)
{
	static const struct {
		const char *build_id, *version;
	} builds[] = { { "79945f51fb2612f13b7667a10a8fd29122664791", "10.0.12" },
		       { "2e5299ab22fd653a381ea8fe12c9b89646056681", "11.0.0" } };
	for (unsigned int i = 0; i < 2; i++) {
		struct fake_clr *fake = make(&(struct fake_options){ .release = 10 + i });
		fake_export(fake, &(struct fake_export){ .path = SELF_CONTAINED,
							 .build_id = builds[i].build_id });
		struct runtime *runtime = open(fake);
		check_objects(fake, runtime);
		ASSERT_TEXT(runtime->build_id, builds[i].build_id);
		ASSERT_TEXT(runtime->version, builds[i].version);
		ASSERT_UINT(coreclr_of(runtime)->layout.origins[L_MT_FLAGS], ORIGIN_BUILD);
		/* No object has a sync block yet; where the table is, is known of this build. */
		ASSERT_UINT(coreclr_of(runtime)->globals.sync_table, fake->sync_table);
		check_no_findings(fake);
		runtime_destroy(runtime);
		fake_clr_destroy(fake);
	}
}

/* The version is in no path and no string: by the number of entries, or types of the descriptor. */
TEST(version_by_shape)
{
	for (unsigned int release = 10; release <= 11; release++) {
		struct fake_clr *fake = make(&(struct fake_options){ .release = release });
		fake_export(fake, &(struct fake_export){ .path = SELF_CONTAINED,
							 .version = "@(#)Version 1" });
		struct runtime *runtime = open(fake);
		ASSERT_TEXT(runtime->version, release == 10 ? "10.0" : "11.0");
		ASSERT_UINT(coreclr_of(runtime)->major, release);
		runtime_destroy(runtime);
		fake_clr_destroy(fake);
	}
}

TEST(single_file)
{
	struct fake_clr *fake = make(NULL);
	export_named(fake, (struct fake_export){ .path = "" });
	struct runtime *runtime = open(fake);
	CU_ASSERT_TRUE(runtime->is_single_file);
	ASSERT_UINT(coreclr_of(runtime)->major, 10);
	check_objects(fake, runtime);
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

TEST(descriptor_is_broken)
{
	struct fake_clr *fake = make(NULL);
	export_named(fake, (struct fake_export){ .json = "{nonsense" });
	struct runtime *runtime = open(fake);
	CU_ASSERT_FALSE(coreclr_of(runtime)->descriptor.is_read);
	check_objects(fake, runtime);
	CU_ASSERT_TRUE(findings_has(&fake->target.findings, FINDING_BAD_DESCRIPTOR));
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

TEST(newer_runtime)
{
	struct fake_clr *fake = make(NULL);
	export_named(fake, (struct fake_export){
				   .path = "/x/Microsoft.NETCore.App/12.0.1/libcoreclr.so" });
	struct runtime *runtime = NULL;
	struct hd_error err = { 0 };
	/* Its descriptor does not tell what a MethodTable looks like. */
	ASSERT_UINT(runtime_open(&fake->target, NULL, &runtime, &err), HD_ERR_UNSUPPORTED);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "12.0.1"));
	fake_clr_destroy(fake);

	fake = make(NULL);
	export_named(fake,
		     (struct fake_export){
			     .path = "/x/Microsoft.NETCore.App/12.0.1/libcoreclr.so",
			     .json = "{\"types\":{\"MethodTable\":{\"MTFlags\":0,\"BaseSize\":4,"
				     "\"ParentMethodTable\":16,\"EEClassOrCanonMT\":40},"
				     "\"EEClass\":{\"MethodTable\":16}}}" });
	runtime = open(fake);
	ASSERT_UINT(coreclr_of(runtime)->major, 12);
	CU_ASSERT_TRUE(findings_has(&fake->target.findings, FINDING_NEWER_RUNTIME));
	ASSERT_UINT(runtime->threads.count, 0);
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

/* AppDomain's list of assemblies is somewhere else: it is found by its shape. */
TEST(calibration)
{
	struct fake_clr *fake = make(NULL);
	fake_export(fake, &(struct fake_export){ 0 });
	struct fake_memory *memory = &fake->memory;
	uint64_t domain = fake_peek_u64(memory, fake_global(FAKE_APP_DOMAIN));
	uint8_t list[32];
	CU_ASSERT_TRUE(memory_read(&memory->memory, domain + 576, list, sizeof(list)));
	fake_poke(memory, domain + 1200, list, sizeof(list));
	fake_poke(memory, domain + 576, (uint8_t[32]){ 0 }, 32);
	struct runtime *runtime = open(fake);
	ASSERT_UINT(coreclr_of(runtime)->globals.app_domain, domain);
	ASSERT_UINT((uint64_t)coreclr_of(runtime)->layout.offsets[L_DOMAIN_ASSEMBLIES], 1200);
	ASSERT_UINT(coreclr_of(runtime)->layout.origins[L_DOMAIN_ASSEMBLIES], ORIGIN_CALIBRATED);
	runtime_destroy(runtime);
	/* It is nowhere. */
	fake_poke(memory, domain + 1200, (uint8_t[32]){ 0 }, 32);
	runtime = open(fake);
	ASSERT_UINT(coreclr_of(runtime)->globals.app_domain, 0);
	CU_ASSERT_TRUE(findings_has(&fake->target.findings, FINDING_MISSING_SYMBOLS));
	CU_ASSERT_FALSE(findings_has(&fake->target.findings, FINDING_NO_THREADS));
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

static void check_refused(struct fake_clr *fake, enum hd_status expected, const char *part)
{
	struct runtime *runtime = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(runtime_open(&fake->target, NULL, &runtime, &err), expected);
	CU_ASSERT_PTR_NULL(runtime);
	if (!strstr(err.message, part))
		ASSERT_TEXT(err.message, part);
	fake_clr_destroy(fake);
}

/* .NET Core 3.1 has libcoreclr.so without g_dacTable; of .NET 5 to 7 no offsets are known. */
TEST(old_releases)
{
	static const char *const paths[] = {
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/3.1.3/libcoreclr.so",
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/7.0.20/libcoreclr.so",
	};
	struct fake_clr *fake = make(NULL);
	fake_export(fake, &(struct fake_export){ .path = paths[0], .no_table = true });
	check_refused(fake, HD_ERR_UNSUPPORTED,
		      "this is .NET 3.1.3, whose heap is not read (heapdump reads .NET 8 to 11)");
	fake = make(NULL);
	fake_export(fake, &(struct fake_export){ .path = "/x/libcoreclr.so", .no_table = true });
	check_refused(fake, HD_ERR_UNSUPPORTED,
		      "this is probably a .NET Core older than .NET 5, whose");
	fake = make(NULL);
	fake_export(fake, &(struct fake_export){ .path = paths[1] });
	check_refused(fake, HD_ERR_UNSUPPORTED, "this is .NET 7.0.20, whose heap is not read");
	fake = make(NULL);
	fake_export(fake, &(struct fake_export){ .path = "/x/libcoreclr.so",
						 .no_table = true,
						 .symbol = "mono_jit_exec" });
	check_refused(fake, HD_ERR_UNSUPPORTED, "a program of Mono (/x/libcoreclr.so)");
}

/* The tables of one processor would be taken for the runtime of another. */
TEST(runtimes_for_another_processor)
{
	struct fake_clr *fake = make(NULL);
	fake_export(fake, &(struct fake_export){ 0 });
	fake->target.arch = &arch_arm64;
	check_refused(fake, HD_ERR_UNSUPPORTED,
		      "is for ELF machine 62, but the target says that it is of arm64 (183)");
}

TEST(no_runtime)
{
	struct fake_clr *fake = make(NULL);
	fake_export(fake, &(struct fake_export){ .path = "/bin/cat", .no_table = true });
	check_refused(fake, HD_ERR_UNSUPPORTED,
		      "no CoreCLR here: no libcoreclr.so among 1 modules, "
		      "and /bin/cat exports no runtime");
	fake = make(NULL);
	fake_export(fake, &(struct fake_export){ .path = "/opt/aot",
						 .no_table = true,
						 .symbol = "DotNetRuntimeDebugHeader" });
	check_refused(fake, HD_ERR_FAULT,
		      "/opt/aot is a NativeAOT program, but its DotNetRuntimeDebugHeader");
	fake = make(NULL);
	fake_export(fake, &(struct fake_export){ .path = "/usr/bin/mono-sgen", .no_table = true });
	check_refused(fake, HD_ERR_UNSUPPORTED, "a program of Mono (/usr/bin/mono-sgen)");
	fake = make(NULL);
	fake_export(fake, &(struct fake_export){ .path = "", .no_table = true });
	fake->target.modules[0].dynamic = 0;
	check_refused(fake, HD_ERR_UNSUPPORTED, "the symbols of the executable are not in");
	fake = make(NULL);
	fake->target.memory = fake->target.own = &fake->memory.memory;
	check_refused(fake, HD_ERR_UNSUPPORTED, "the list of loaded modules cannot be read");
}

TEST(no_symbols)
{
	struct fake_clr *fake = make(NULL);
	fake_export(fake, &(struct fake_export){
				  .build_id = "0123456789abcdef0123456789abcdef01234567" });
	/* The first entry ends .dynamic: it names no tables. */
	fake_poke_u64(&fake->memory, FAKE_MODULE_BASE + FAKE_PLACE_DYNAMIC, 0);
	check_refused(fake, HD_ERR_FAULT, "10.0.3/libcoreclr.so (build-id 0123456789abcdef");
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		fake = make(NULL);
		fake_export(fake, &(struct fake_export){ 0 });
		fake_poke_u64(&fake->memory, FAKE_MODULE_BASE + FAKE_PLACE_DYNAMIC, 0);
		fake->target.options.no_files = true;
		fake->target.core.is_truncated = is_cut;
		check_refused(fake, HD_ERR_FAULT,
			      is_cut ? "not in the target: the core is cut: write it again"
				     : "not in the target: leave --no-files away");
	}
}

TEST(gc_not_ready)
{
	struct fake_clr *fake = make(NULL);
	fake_export(fake, &(struct fake_export){ 0 });
	fake_set_global(fake, FAKE_GC_VARS, 0);
	check_refused(fake, HD_ERR_UNSUPPORTED, "the GC is not initialised yet");
	fake = make(NULL);
	fake_export(fake, &(struct fake_export){ 0 });
	fake_set_global(fake, FAKE_HEAP_TYPE, 0);
	check_refused(fake, HD_ERR_UNSUPPORTED, "no managed heap");
	fake = make(NULL);
	fake->gc.major = 3;
	fake_export(fake, &(struct fake_export){ 0 });
	check_refused(fake, HD_ERR_UNSUPPORTED, "layout 3.4");
	fake = make(NULL);
	fake_export(fake, &(struct fake_export){ .json = "{}", .no_table = true });
	check_refused(fake, HD_ERR_FAULT, "g_dacTable");
}

TEST(gc_variables)
{
	for (unsigned int servers = 0; servers < 3; servers += 2) {
		for (unsigned int segments = 0; segments < 2; segments++) {
			struct fake_clr *fake = make(&(struct fake_options){
				.has_segments = segments != 0, .servers = servers });
			fake->gc.structures_invalid = (int32_t)segments;
			fake_export(fake, &(struct fake_export){ 0 });
			struct runtime *runtime = open(fake);
			const struct gc_vars *got = &runtime->gc, *expected = &fake->gc;
			ASSERT_UINT(got->major, 2);
			ASSERT_UINT(got->minor, 4);
			ASSERT_UINT(got->is_server, servers != 0);
			ASSERT_UINT(got->has_regions, !segments);
			ASSERT_UINT(got->heap_count, servers ? servers : 1);
			ASSERT_UINT(got->generation_size, FAKE_GENERATION_SIZE);
			ASSERT_UINT(got->generation_table, expected->generation_table);
			ASSERT_UINT(got->heaps, expected->heaps);
			ASSERT_UINT(got->alloc_allocated, expected->alloc_allocated);
			ASSERT_UINT((uint64_t)got->gc_state, 2);
			ASSERT_UINT((uint64_t)got->structures_invalid, segments);
			ASSERT_UINT(findings_has(&fake->target.findings, FINDING_GC_IN_PROGRESS),
				    segments);
			runtime_destroy(runtime);
			fake_clr_destroy(fake);
		}
	}
}

/* The program's file has the GC's variables as they are at the start: that says nothing of the process. */
TEST(gc_variables_of_the_file_alone_are_refused)
{
	struct fake_clr *fake = make(NULL);
	fake_export(fake, &(struct fake_export){ 0 });
	struct runtime *runtime = open(fake);
	uint64_t page = runtime->gc.structures_invalid_at & ~(uint64_t)4095;
	runtime_destroy(runtime);
	fake_hide(&fake->own, &fake->memory, page, page + 4096);
	fake->target.own = &fake->own.memory;
	check_refused(fake, HD_ERR_FAULT, "take a full dump");
}

TEST(gc_variables_that_cannot_be)
{
	static const int32_t bad_offsets[][3] = { { -1, 56, -1 },
						  { 0, -1, -1 },
						  { 0, 249, -1 },
						  { INT32_MAX, 56, -1 },
						  { 0, 56, 4096 } };
	for (size_t i = 0; i < sizeof(bad_offsets) / sizeof(bad_offsets[0]); i++) {
		struct fake_clr *fake = make(NULL);
		memcpy(fake->gc.generation_offsets, bad_offsets[i], sizeof(bad_offsets[i]));
		fake_export(fake, &(struct fake_export){ 0 });
		check_refused(fake, HD_ERR_UNSUPPORTED, "layout that is not known");
	}
	static const uint32_t counts[] = { 0, GC_HEAPS_MAX + 1, 0xffffffffu };
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct fake_clr *fake = make(&(struct fake_options){ .servers = 1 });
		fake->gc.heap_count = counts[i];
		fake_export(fake, &(struct fake_export){ 0 });
		check_refused(fake, HD_ERR_UNSUPPORTED, "heaps");
	}
}

/* A list that leads back, into itself or to nowhere, ends with what was read of it. */
TEST(broken_thread_lists)
{
	for (unsigned int how = 0; how < 4; how++) {
		struct fake_clr *fake = make(NULL);
		for (unsigned int i = 0; i < 5; i++)
			fake_thread(fake);
		export_named(fake, (struct fake_export){ 0 });
		uint64_t links[8];
		for (size_t i = 0; i < 8; i++)
			links[i] = fake->threads[i < fake->thread_count ? i : 0].address + 112;
		uint64_t bad[] = { links[7], links[3], 0x10, links[2] + 4 };
		fake_poke_u64(&fake->memory, links[7], bad[how]);
		struct runtime *runtime = open(fake);
		ASSERT_UINT(runtime->threads.count, 8);
		check_findings(fake, FINDING_THREAD_LIST);
		runtime_destroy(runtime);
		fake_clr_destroy(fake);
	}
}

/* In 11 the list has the Threads themselves: damage in it is noticed as well. */
TEST(broken_thread_lists_of_11)
{
	for (unsigned int how = 0; how < 3; how++) {
		struct fake_clr *fake = make(&(struct fake_options){ .release = 11 });
		for (unsigned int i = 0; i < 5; i++)
			fake_thread(fake);
		export_described(fake, NULL);
		uint64_t last = fake_at(fake, fake->threads[7].address, L_THREAD_LINK);
		uint64_t bad[] = { fake->threads[7].address, fake->threads[3].address, 0x10 };
		fake_poke_u64(&fake->memory, last, bad[how]);
		struct runtime *runtime = open(fake);
		ASSERT_UINT(runtime->threads.count, 8);
		check_findings(fake, FINDING_THREAD_LIST);
		runtime_destroy(runtime);
		fake_clr_destroy(fake);
	}
}

/* While one is in flight, the handle of the last exception may still be that of the one before. */
TEST(the_exception_in_flight_is_the_last_one_in_11)
{
	struct fake_clr *fake = make(&(struct fake_options){ .release = 11 });
	uint64_t old = fake_object(fake, fake->object_type, 0);
	uint64_t thrown = fake_object(fake, fake->object_type, 0);
	uint64_t handle = fake_alloc(&fake->memory, 8), record = fake_alloc(&fake->memory, 256);
	export_described(fake, NULL);
	fake_poke_u64(&fake->memory, handle, old);
	fake_poke_u64(&fake->memory, fake_at(fake, record, L_EXCEPTION_THROWN), thrown);
	for (size_t i = 0; i < 2; i++) {
		uint64_t thread = fake->threads[i].address;
		fake_poke_u64(&fake->memory, fake_at(fake, thread, L_THREAD_EXCEPTION), handle);
		if (i)
			fake_poke_u64(&fake->memory,
				      fake_at(fake, thread, L_THREAD_EXCEPTION_TRACKER), record);
	}
	struct runtime *runtime = open(fake);
	ASSERT_UINT(runtime->threads.rows[0].exception, old);
	ASSERT_UINT(runtime->threads.rows[1].exception, thrown);
	ASSERT_UINT(runtime->threads.rows[2].exception, 0);
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

/* A ring that ends at the store's own link is no cycle. */
TEST(ring_of_threads)
{
	struct fake_clr *fake = make(NULL);
	export_named(fake, (struct fake_export){ 0 });
	uint64_t store = fake_peek_u64(&fake->memory, fake_global(FAKE_THREAD_STORE));
	fake_poke_u64(&fake->memory, fake->threads[2].address + 112, store + 88);
	struct runtime *runtime = open(fake);
	ASSERT_UINT(runtime->threads.count, 3);
	check_no_findings(fake);
	const struct runtime_thread *thread = runtime_thread_by_id(runtime, 2);
	REQUIRE(thread);
	ASSERT_UINT(thread->address, fake->threads[1].address);
	CU_ASSERT_PTR_NULL(runtime_thread_by_id(runtime, 4));
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

/* The second thread has ended, and the system has given its id to the fourth. */
TEST(threads_by_their_ids_in_the_system)
{
	struct fake_clr *fake = make(NULL);
	uint64_t last = fake_thread(fake)->os_id;
	uint64_t first = fake->threads[0].os_id;
	fake->threads[1].os_id = last;
	fake->threads[1].state = THREAD_STATE_DEAD;
	export_named(fake, (struct fake_export){ 0 });
	struct runtime *runtime = open(fake);
	ASSERT_UINT_FATAL(runtime->threads.count, 4);
	CU_ASSERT_PTR_EQUAL(runtime_thread_by_os_id(runtime, first), runtime_thread_at(runtime, 0));
	CU_ASSERT_PTR_EQUAL(runtime_thread_by_os_id(runtime, last), runtime_thread_at(runtime, 3));
	/* Threads without an id are not found by one. */
	CU_ASSERT_PTR_NULL(runtime_thread_by_os_id(runtime, 0));
	CU_ASSERT_PTR_NULL(runtime_thread_by_os_id(runtime, first - 1));
	CU_ASSERT_PTR_NULL(runtime_thread_by_os_id(runtime, last + 1));
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

TEST(threads_of_another_process)
{
	struct fake_clr *fake = make(NULL);
	export_named(fake, (struct fake_export){ 0 });
	for (size_t i = 0; i < fake->target.threads.count; i++)
		fake->target.threads.rows[i].tid = 7;
	struct runtime *runtime = open(fake);
	ASSERT_UINT(runtime->threads.count, 3);
	check_findings(fake, FINDING_THREAD_LIST);
	runtime_destroy(runtime);
	fake_clr_destroy(fake);
}

TEST(object_headers)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t plain = fake_object(fake, fake->object_type, 0);
	uint64_t blocked = fake_object(fake, fake->object_type, 0);
	uint64_t hashed = fake_object(fake, fake->object_type, 0);
	uint64_t locked = fake_object(fake, fake->object_type, 0);
	uint64_t wild = fake_object(fake, fake->object_type, 0);
	ASSERT_UINT(fake_sync_block(fake, blocked), 1);
	fake_header(fake, hashed, 0x0c000000 | 0x123456);
	fake_header(fake, locked, 0x00020007);
	fake_header(fake, wild, 0x08000000 | 0x3ffffff);
	struct runtime *runtime = fake_runtime(fake);
	struct sync_info info;

	CU_ASSERT_TRUE(runtime_sync_info(runtime, plain, &info));
	CU_ASSERT_FALSE(info.has_sync_block || info.has_hash || info.has_thin_lock);
	CU_ASSERT_TRUE(runtime_sync_info(runtime, blocked, &info));
	CU_ASSERT_TRUE(info.has_sync_block);
	ASSERT_UINT(info.index, 1);
	ASSERT_UINT(info.owner, blocked);
	CU_ASSERT(info.block != 0);
	CU_ASSERT_TRUE(runtime_sync_info(runtime, hashed, &info));
	CU_ASSERT_TRUE(info.has_hash && !info.has_sync_block);
	ASSERT_UINT(info.hash, 0x123456);
	CU_ASSERT_TRUE(runtime_sync_info(runtime, locked, &info));
	CU_ASSERT_TRUE(info.has_thin_lock);
	ASSERT_UINT(info.lock_thread, 7);
	ASSERT_UINT(info.lock_recursion, 2);
	CU_ASSERT_TRUE(runtime_sync_info(runtime, wild, &info));
	ASSERT_UINT(info.index, 0x3ffffff);
	ASSERT_UINT(info.owner, 0);
	ASSERT_UINT(info.block, 0);
	/* A free entry has bit 0 set. */
	fake_poke_u64(&fake->memory, fake->sync_table + 24, blocked | 1);
	CU_ASSERT_TRUE(runtime_sync_info(runtime, blocked, &info));
	ASSERT_UINT(info.owner, 0);
	CU_ASSERT_FALSE(runtime_sync_info(runtime, 2, &info));
	CU_ASSERT_FALSE(runtime_sync_info(runtime, 0x1000, &info));
	fake_clr_destroy(fake);
}

/* Handle -> LoaderAllocator object -> its scout -> the LoaderAllocator again. */
TEST(loader_object)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fake_memory *memory = &fake->memory;
	uint64_t loader = fake_alloc(memory, 2048), handle = fake_alloc(memory, 8);
	uint64_t object = fake_alloc(memory, 40), scout = fake_alloc(memory, 24);
	fake_poke_u64(memory, loader + 752, handle | 1);
	fake_poke_u64(memory, handle, object);
	fake_poke_u64(memory, object + 8, scout);
	fake_poke_u64(memory, scout + 8, loader);
	const struct runtime *runtime = fake_runtime(fake);
	ASSERT_UINT(coreclr_loader_object(runtime, loader), object);
	/* Another build has it elsewhere. */
	fake_poke_u64(memory, loader + 752, 0);
	fake_poke_u64(memory, loader + 800, handle);
	ASSERT_UINT(coreclr_loader_object(runtime, loader), object);
	fake_poke_u64(memory, scout + 8, loader + 8);
	ASSERT_UINT(coreclr_loader_object(runtime, loader), 0);
	ASSERT_UINT(coreclr_loader_object(runtime, 0x10), 0);
	fake_clr_destroy(fake);
}

TEST(memory_runs_out)
{
	struct fake_clr *fake = make(NULL);
	export_named(fake, (struct fake_export){ .path = SELF_CONTAINED,
						 .version = "@(#)Version 10.0.1226.42308 " });
	uint64_t nth = 1;
	for (bool failed = true; failed && nth < 200; nth++) {
		struct runtime *runtime = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = runtime_open(&fake->target, NULL, &runtime, &err);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		ASSERT_UINT(err.status, status);
		ASSERT_UINT(runtime != NULL, status == HD_OK);
		runtime_destroy(runtime);
	}
	CU_ASSERT(nth > 5 && nth < 200);
	runtime_destroy(NULL);
	fake_clr_destroy(fake);
}

SUITE(.name = "clr")
