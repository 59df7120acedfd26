/* SPDX-License-Identifier: MIT */
#include "support/fake_export.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "gc/layouts/gc_vars.h"
#include "targets/relocation.h"
#include "util/alloc.h"
#include "util/text.h"

#define IMAGE_SIZE   0xa000u
#define SYMBOLS_MAX  8u
#define NOTE_AT      0x200u
#define STRINGS_AT   (FAKE_PLACE_SYMBOLS + 0x800)
#define HASH_AT      (FAKE_PLACE_SYMBOLS + 0xc00)
#define POINTERS_AT  (FAKE_PLACE_DESCRIPTOR + 0x200)
#define VERSION_AT   (FAKE_PLACE_DATA + 0x1000)
#define DEFAULT_PATH "/usr/share/dotnet/shared/Microsoft.NETCore.App/%u.0.3/libcoreclr.so"

/* The symbols of the module while they are gathered. */
struct symbols {
	struct fake_memory *memory;
	uint32_t count; /* the first is the null symbol */
	uint32_t strings;
};

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

static void add_symbol(struct symbols *symbols, const char *name, uint64_t place, uint64_t size)
{
	const Elf64_Sym symbol = { .st_name = symbols->strings,
				   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
				   .st_shndx = 1,
				   .st_value = place,
				   .st_size = size };
	uint64_t base = FAKE_MODULE_BASE;
	uint32_t index = symbols->count++;
	fake_poke(symbols->memory, base + STRINGS_AT + symbols->strings, name, strlen(name) + 1);
	fake_poke(symbols->memory, base + FAKE_PLACE_SYMBOLS + index * sizeof(symbol), &symbol,
		  sizeof(symbol));
	/* The only bucket's chain; its last hash gets bit 0 at the end. */
	fake_poke_u32(symbols->memory, base + HASH_AT + 28 + 4 * (uint64_t)(index - 1),
		      gnu_hash(name) & ~1u);
	symbols->strings += (uint32_t)strlen(name) + 1;
}

/* DT_GNU_HASH: 1 bucket, symbols from 1 on, a bloom filter of one word that lets all pass. */
static void end_symbols(const struct symbols *symbols)
{
	const uint32_t header[] = { 1, 1, 1, 6, 0xffffffffu, 0xffffffffu, symbols->count > 1 };
	uint64_t at = FAKE_MODULE_BASE + HASH_AT,
		 last = at + 28 + 4 * (uint64_t)(symbols->count - 2);
	fake_poke(symbols->memory, at, header, sizeof(header));
	uint32_t hash = 0;
	if (symbols->count > 1 && memory_u32(&symbols->memory->memory, last, &hash))
		fake_poke_u32(symbols->memory, last, hash | 1);
}

static void write_headers(struct fake_memory *memory, const struct arch *arch,
			  const struct fake_export *options)
{
	const Elf64_Phdr programs[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x8000, .p_memsz = 0x8000 },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_W,
		  .p_offset = FAKE_PLACE_DATA,
		  .p_vaddr = FAKE_PLACE_DATA,
		  .p_filesz = 0x2000,
		  .p_memsz = 0x2000 },
		{ .p_type = PT_DYNAMIC, .p_vaddr = FAKE_PLACE_DYNAMIC },
		{ .p_type = PT_NOTE, .p_offset = NOTE_AT, .p_vaddr = NOTE_AT, .p_filesz = 36 },
	};
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = arch->machine,
			      .e_phoff = sizeof(header),
			      .e_phentsize = sizeof(programs[0]),
			      .e_phnum = options->build_id ? 4 : 3 };
	fake_poke(memory, FAKE_MODULE_BASE, &header, sizeof(header));
	fake_poke(memory, FAKE_MODULE_BASE + sizeof(header), programs, sizeof(programs));
	if (!options->build_id)
		return;
	uint8_t note[36] = { 4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0 };
	for (size_t i = 0; i < 20; i++)
		note[16 + i] = (uint8_t)(hex_value(options->build_id[2 * i]) << 4 |
					 hex_value(options->build_id[2 * i + 1]));
	fake_poke(memory, FAKE_MODULE_BASE + NOTE_AT, note, sizeof(note));
}

static void write_dynamic(struct fake_memory *memory, uint64_t rela_size)
{
	const Elf64_Dyn dynamic[] = {
		{ DT_SYMTAB, { FAKE_MODULE_BASE + FAKE_PLACE_SYMBOLS } },
		{ DT_STRTAB, { FAKE_MODULE_BASE + STRINGS_AT } },
		{ DT_GNU_HASH, { FAKE_MODULE_BASE + HASH_AT } },
		{ DT_RELA, { FAKE_MODULE_BASE + FAKE_PLACE_RELOCATIONS } },
		{ DT_RELASZ, { rela_size } },
		{ DT_NULL, { 0 } },
	};
	fake_poke(memory, FAKE_MODULE_BASE + FAKE_PLACE_DYNAMIC, dynamic, sizeof(dynamic));
}

/* A pointer of the module: as it is in memory, or as in the file with a relocation. */
static uint64_t write_pointer(struct fake_memory *memory, uint64_t place, uint64_t value,
			      bool unrelocated, uint64_t rela_size)
{
	if (!unrelocated || value < FAKE_MODULE_BASE) {
		fake_poke_u64(memory, FAKE_MODULE_BASE + place, value);
		return rela_size;
	}
	const Elf64_Rela rela = { place, R_X86_64_RELATIVE,
				  (Elf64_Sxword)(value - FAKE_MODULE_BASE) };
	fake_poke(memory, FAKE_MODULE_BASE + FAKE_PLACE_RELOCATIONS + rela_size, &rela,
		  sizeof(rela));
	return rela_size + sizeof(rela);
}

/* Returns the bytes of relocations that it needs. */
static uint64_t write_descriptor(struct fake_clr *fake, const struct fake_export *options)
{
	struct fake_memory *memory = &fake->memory;
	size_t size = options->json_size ? options->json_size : strlen(options->json);
	uint64_t at = FAKE_MODULE_BASE + FAKE_PLACE_DESCRIPTOR, rela = 0;
	uint64_t json = FAKE_MODULE_BASE + IMAGE_SIZE; /* after it, so that it is relocatable */
	fake_map(memory, json, size + 1);
	fake_poke(memory, json, options->json, size);
	fake_poke_u64(memory, at, 0x0043414443434e44u);
	fake_poke_u32(memory, at + 8, 1);
	fake_poke_u32(memory, at + 12, (uint32_t)size);
	fake_poke_u32(memory, at + 24, options->pointer_count);
	bool bare = options->unrelocated;
	rela = write_pointer(memory, FAKE_PLACE_DESCRIPTOR + 16, json, bare, rela);
	rela = write_pointer(memory, FAKE_PLACE_DESCRIPTOR + 32, FAKE_MODULE_BASE + POINTERS_AT,
			     bare, rela);
	for (uint32_t i = 0; i < options->pointer_count; i++)
		rela = write_pointer(memory, POINTERS_AT + 8 * (uint64_t)i, options->pointers[i],
				     bare, rela);
	if (bare) {
		fake_hide(&fake->own, memory, at, at + 0x1000);
		fake->target.own = &fake->own.memory;
	}
	return rela;
}

uint64_t fake_global(enum fake_global global)
{
	return FAKE_MODULE_BASE + FAKE_PLACE_DATA + 16 * (uint64_t)global;
}

static unsigned int globals_count(const struct fake_clr *fake)
{
	return FAKE_GLOBALS + (fake_is_from(fake, 11) ? FAKE_SYNC_TABLE_MOVED : 0);
}

/* The variable of entry @p index of g_dacTable. */
static uint64_t entry_variable(const struct fake_clr *fake, unsigned int index)
{
	bool is_moved = fake_is_from(fake, 11);
	if (index == FAKE_OBJECT_ARRAY || index >= FAKE_GLOBALS ||
	    (is_moved && index == FAKE_SYNC_TABLE))
		return fake_global(FAKE_GLOBALS);
	if (is_moved && index == FAKE_SYNC_TABLE + FAKE_SYNC_TABLE_MOVED)
		return fake_global(FAKE_SYNC_TABLE);
	return fake_global((enum fake_global)index);
}

void fake_set_global(struct fake_clr *fake, enum fake_global global, uint64_t value)
{
	fake_poke_u64(&fake->memory, fake_global(global), value);
}

/* struct GcDacVars (gcinterface.dac.h): pointers to the variables in fake->gc. */
static uint64_t make_gc_vars(struct fake_clr *fake)
{
	struct fake_memory *memory = &fake->memory;
	const struct gc_vars *gc = &fake->gc;
	uint64_t vars = fake_alloc(memory, 336), numbers = fake_alloc(memory, 256);
	const struct {
		unsigned int at;
		uint64_t value;
	} words[] = {
		{ 8, gc->generation_size },
		{ 16, gc->generation_count },
		{ 48, gc->generation_table },
		{ 56, numbers },
		{ 72, numbers + 4 },
		{ 80, gc->ephemeral_segment },
		{ 120, gc->alloc_allocated },
		{ 144, gc->finalize_queue },
		{ 176, gc->is_server ? numbers + 8 : 0 },
		{ 184, gc->is_server ? numbers + 24 : 0 },
		{ 192, numbers + 12 },
		{ 232, gc->handle_table_map },
		{ 240, gc->is_server ? numbers + 64 : 0 },
		{ 248, numbers + 32 },
	};
	fake_poke_u32(memory, vars, gc->major | (uint32_t)gc->minor << 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		fake_poke_u64(memory, vars + words[i].at, words[i].value);
	fake_poke_u32(memory, numbers, 2);
	fake_poke_u32(memory, numbers + 4, (uint32_t)gc->gc_state);
	fake_poke_u32(memory, numbers + 8, gc->heap_count);
	fake_poke_u32(memory, numbers + 12, (uint32_t)gc->structures_invalid);
	fake_poke_u64(memory, numbers + 24, gc->heaps);
	fake_poke(memory, numbers + 32, gc->generation_offsets, sizeof(gc->generation_offsets));
	fake_poke(memory, numbers + 64, gc->heap_offsets, sizeof(gc->heap_offsets));
	return vars;
}

/* The allocation context of a thread. */
static void make_context(struct fake_clr *fake, const struct runtime_thread *thread)
{
	uint64_t locals = fake_alloc(&fake->memory, 64);
	fake_poke_u64(&fake->memory, fake_at(fake, thread->address, L_THREAD_LOCALS), locals);
	uint64_t context =
		fake_at(fake, fake_at(fake, locals, L_LOCALS_ALLOC_CONTEXT), L_EE_ALLOC_CONTEXT);
	fake_poke_u64(&fake->memory, fake_at(fake, context, L_ALLOC_POINTER),
		      thread->alloc_pointer);
	fake_poke_u64(&fake->memory, fake_at(fake, context, L_ALLOC_LIMIT), thread->alloc_limit);
}

static void make_thread(struct fake_clr *fake, const struct runtime_thread *thread)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t at = thread->address;
	fake_poke_u32(memory, fake_at(fake, at, L_THREAD_STATE),
		      thread->os_id ? thread->state : thread->state | 0x400);
	fake_poke_u32(memory, fake_at(fake, at, L_THREAD_COOPERATIVE), thread->is_cooperative);
	fake_poke_u32(memory, fake_at(fake, at, L_THREAD_ID), thread->id);
	fake_poke_u64(memory, fake_at(fake, at, L_THREAD_OS_ID),
		      thread->os_id ? thread->os_id : 0xbaadf00d);
	make_context(fake, thread);
}

/* ThreadStore with its list. */
static uint64_t make_threads(struct fake_clr *fake)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t store = fake_alloc(memory, 256);
	uint64_t link = fake_at(fake, store, L_THREAD_STORE_FIRST);
	struct target_thread *threads = mem_calloc(fake->thread_count + 1, sizeof(*threads));
	if (!threads)
		abort();
	for (size_t i = 0; i < fake->thread_count; i++) {
		const struct runtime_thread *thread = &fake->threads[i];
		make_thread(fake, thread);
		uint64_t next = fake_at(fake, thread->address, L_THREAD_LINK);
		fake_poke_u64(memory, link, fake_is_from(fake, 11) ? thread->address : next);
		link = next;
		threads[i].tid = (int32_t)thread->os_id;
	}
	fake_poke_u32(memory, fake_at(fake, store, L_THREAD_STORE_COUNT),
		      (uint32_t)fake->thread_count);
	fake->target.threads.rows = threads;
	fake->target.threads.count = fake->thread_count;
	return store;
}

/* AppDomain with one assembly in its list, unless fake_domain() has made one. */
static uint64_t make_app_domain(struct fake_clr *fake)
{
	struct fake_memory *memory = &fake->memory;
	if (fake->runtime && coreclr_of(fake->runtime)->globals.app_domain)
		return coreclr_of(fake->runtime)->globals.app_domain;
	uint64_t domain = fake_alloc(memory, 4096);
	uint64_t list = fake_at(fake, domain, L_DOMAIN_ASSEMBLIES);
	uint64_t element = fake_alloc(memory, 64), assembly = fake_alloc(memory, 128);
	fake_poke_u32(memory, list, 1);
	fake_poke_u32(memory, list + 16, 5);
	fake_poke_u64(memory, list + 24, fake_is_from(fake, 11) ? assembly : element);
	fake_poke_u64(memory, element, assembly);
	fake_poke_u64(memory, fake_at(fake, assembly, L_ASSEMBLY_MODULE), fake->module);
	fake_poke_u64(memory, fake_at(fake, fake->module, L_MODULE_ASSEMBLY), assembly);
	return domain;
}

static void set_globals(struct fake_clr *fake)
{
	uint64_t exception = fake_type(fake, &(struct fake_type){ .base_size = 120 });
	uint64_t system =
		fake_type(fake, &(struct fake_type){ .base_size = 120, .parent = exception });
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t type =
			fake_type(fake, &(struct fake_type){ .base_size = 120, .parent = system });
		fake_set_global(fake, (enum fake_global)(FAKE_THREAD_ABORT + i), type);
	}
	const struct {
		enum fake_global global;
		uint64_t value;
	} globals[] = {
		{ FAKE_THREAD_STORE, make_threads(fake) },
		{ FAKE_HEAP_TYPE, fake->gc.heap_type },
		{ FAKE_GC_VARS, make_gc_vars(fake) },
		{ FAKE_APP_DOMAIN, make_app_domain(fake) },
		{ FAKE_CARD_TABLE, 0x7000 },
		{ FAKE_LOWEST, (uint64_t)0x7f00 << 32 },
		{ FAKE_HIGHEST, (uint64_t)0x7f80 << 32 },
		{ FAKE_OBJECT, fake->object_type },
		{ FAKE_STRING, fake->string_type },
		{ FAKE_OBJECT_ARRAY, fake->object_array_type },
		{ FAKE_EXCEPTION, exception },
		{ FAKE_FREE, fake->free_type },
		{ FAKE_SYNC_TABLE, fake->sync_table },
	};
	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++)
		fake_set_global(fake, globals[i].global, globals[i].value);
}

static void add_module(struct fake_clr *fake, const char *path)
{
	struct target *target = &fake->target;
	target->modules = mem_calloc(1, sizeof(*target->modules));
	target->files.relocations = relocation_cache_create();
	if (!target->modules || !target->files.relocations)
		abort();
	target->modules[0] = (struct target_module){
		.base = FAKE_MODULE_BASE,
		.dynamic = FAKE_MODULE_BASE + FAKE_PLACE_DYNAMIC,
		.path = mem_strndup(path, strlen(path)),
	};
	target->module_count = 1;
}

void fake_export(struct fake_clr *fake, const struct fake_export *options)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t rela_size = 0;
	fake_map(memory, FAKE_MODULE_BASE, IMAGE_SIZE);
	fake->target.kind = TARGET_CORE;
	fake->target.is_64 = true;
	fake->target.memory = fake->target.own = &memory->memory;
	write_headers(memory, fake->options.arch, options);
	struct symbols symbols = { .memory = memory, .count = 1, .strings = 1 };
	if (!options->no_table)
		add_symbol(&symbols, "g_dacTable", FAKE_PLACE_DAC_TABLE,
			   8 * (uint64_t)globals_count(fake));
	if (options->json) {
		add_symbol(&symbols, "DotNetRuntimeContractDescriptor", FAKE_PLACE_DESCRIPTOR, 40);
		rela_size = write_descriptor(fake, options);
	}
	if (options->symbol)
		add_symbol(&symbols, options->symbol, FAKE_PLACE_DATA, 8);
	end_symbols(&symbols);
	write_dynamic(memory, rela_size);
	for (unsigned int i = 0; i < globals_count(fake); i++) {
		fake_poke_u64(memory, FAKE_MODULE_BASE + FAKE_PLACE_DAC_TABLE + 8 * (uint64_t)i,
			      entry_variable(fake, i));
	}
	if (options->version)
		fake_poke(memory, FAKE_MODULE_BASE + VERSION_AT + 100, options->version,
			  strlen(options->version) + 1);
	set_globals(fake);
	char usual[128];
	(void)snprintf(usual, sizeof(usual), DEFAULT_PATH, fake->options.release);
	add_module(fake, options->path ? options->path : usual);
}
