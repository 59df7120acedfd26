/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <string.h>

#include "runtime/coreclr/loader/loader_heaps.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/job.h"

/* The runtime's image, with vtables and the global LoaderAllocator. */
#define RUNTIME      ((uint64_t)0x7e12 << 32)
#define RUNTIME_SIZE 0x20000u
#define VTABLE       (RUNTIME + 0x100)
#define GLOBAL       (RUNTIME + 0x8000)

/* Offsets of .NET 10: doc/memory.md 3.1. */
#define LOW_FREQUENCY    688u
#define HIGH_FREQUENCY   696u
#define STUBS            712u
#define STUB_MANAGER     1808u
#define INDIRECTION_CELL 408u
#define CACHE_ENTRY      416u
#define MODULE_ALLOCATOR 176u

#define CODE_BASE ((uint64_t)0x7e13 << 32 | 0x340000)
#define CODE_SIZE 0x20000u
#define BLOCK     ((uint64_t)0x7e14 << 32)

struct fixture {
	struct fake_clr *fake;
	struct fake_memory *memory;
	struct runtime *runtime;
	struct target_module image;
	uint64_t modules[2]; /* CoreLib and one that can be unloaded */
	uint64_t fragment;   /* the last one of the map of code */
	struct loader_heaps heaps;
};

static void set_up_release(struct fixture *fixture, unsigned int release)
{
	*fixture = (struct fixture){ .fake = fake_clr_create(
					     &(struct fake_options){ .release = release }) };
	Elf64_Ehdr header = { .e_ident = ELFMAG,
			      .e_phoff = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1,
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64 };
	const Elf64_Phdr program = { .p_type = PT_LOAD, .p_memsz = RUNTIME_SIZE };
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	fixture->memory = &fixture->fake->memory;
	fixture->runtime = fake_runtime(fixture->fake);
	fixture->image.base = RUNTIME;
	coreclr_of(fixture->runtime)->module = &fixture->image;
	fake_map(fixture->memory, RUNTIME, RUNTIME_SIZE);
	fake_poke(fixture->memory, RUNTIME, &header, sizeof(header));
	fake_poke(fixture->memory, RUNTIME + sizeof(header), &program, sizeof(program));
	fixture->fragment = fake_range_map(fixture->fake, CODE_BASE);
	for (size_t i = 0; i < 2; i++)
		fixture->modules[i] = fake_module(fixture->fake);
	fake_domain(fixture->fake, fixture->modules, 2);
	fake_poke_u64(fixture->memory, fixture->modules[0] + MODULE_ALLOCATOR, GLOBAL);
	fake_poke_u64(fixture->memory, fixture->modules[1] + MODULE_ALLOCATOR, GLOBAL);
}

static void set_up(struct fixture *fixture)
{
	set_up_release(fixture, 10);
}

static void tear_down(struct fixture *fixture)
{
	coreclr_of(fixture->runtime)->module = NULL;
	fake_clr_destroy(fixture->fake);
}

/* A piece of malloc with an object of the runtime. */
static uint64_t object_of_size(struct fixture *fixture, uint64_t size)
{
	uint64_t piece = fake_alloc(fixture->memory, size + 16), object = piece + 16;
	fake_poke_u64(fixture->memory, piece + 8, (size + 8) | 1);
	fake_poke_u64(fixture->memory, object, VTABLE);
	return object;
}

/* A block of @p pages pages, in front of @p next. */
static uint64_t block(struct fixture *fixture, uint64_t next, uint64_t start, uint64_t pages)
{
	uint64_t at = fake_alloc(fixture->memory, 32);
	fake_poke_u64(fixture->memory, at, next);
	fake_poke_u64(fixture->memory, at + 8, start);
	fake_poke_u64(fixture->memory, at + 16, pages * 4096);
	fake_poke_u64(fixture->memory, at + 24, 1);
	return at;
}

/* The heap at @p heap takes memory from the block at @p at, which begins at @p start. */
static void make_loader_heap(struct fixture *fixture, uint64_t heap, uint64_t at, uint64_t start)
{
	uint64_t size = fake_peek_u64(fixture->memory, at + 16);
	const uint64_t words[] = { VTABLE, at, 2, 0, start + 24, start + 4096, start + size };
	const uint64_t words_11[] = { VTABLE, at,         VTABLE,       2,
				      size,   start + 24, start + 4096, start + size };
	if (fake_is_from(fixture->fake, 11)) {
		fake_poke(fixture->memory, heap, words_11, sizeof(words_11));
	} else {
		fake_poke(fixture->memory, heap, words, sizeof(words));
	}
}

static void read_heaps(struct fixture *fixture)
{
	struct job job = { 0 };
	ASSERT_UINT(loader_heaps_read(fixture->runtime, &job, &fixture->heaps, NULL), HD_OK);
}

static void check_heap(const struct fixture *fixture, size_t index, size_t allocator,
		       const char *name, uint64_t start)
{
	CU_ASSERT_FATAL(index < fixture->heaps.heaps_count);
	const struct loader_heap *heap = &fixture->heaps.heaps[index];
	ASSERT_UINT(heap->allocator, allocator);
	CU_ASSERT_STRING_EQUAL(heap->name, name);
	ASSERT_UINT(fixture->heaps.blocks[heap->block].start, start);
}

/* The low frequency heap has two blocks. */
static void make_low_frequency(struct fixture *fixture)
{
	uint64_t old = block(fixture, 0, BLOCK, 16);
	make_loader_heap(fixture, GLOBAL + 16, block(fixture, old, BLOCK + 0x20000, 2),
			 BLOCK + 0x20000);
	fake_poke_u64(fixture->memory, GLOBAL + LOW_FREQUENCY, GLOBAL + 16);
}

TEST(heaps_have_the_names_of_their_pointers)
{
	struct fixture fixture;
	set_up(&fixture);
	make_low_frequency(&fixture);
	make_loader_heap(&fixture, GLOBAL + 256, block(&fixture, 0, BLOCK + 0x30000, 3),
			 BLOCK + 0x30000);
	fake_poke_u64(fixture.memory, GLOBAL + STUBS, GLOBAL + 256);
	read_heaps(&fixture);
	ASSERT_UINT(fixture.heaps.allocators_count, 1);
	CU_ASSERT(fixture.heaps.allocators[0].is_global);
	ASSERT_UINT(fixture.heaps.heaps_count, 2);
	check_heap(&fixture, 0, 0, "LowFrequencyHeap", BLOCK + 0x20000);
	ASSERT_UINT(fixture.heaps.heaps[0].count, 2);
	ASSERT_UINT(fixture.heaps.blocks[1].start, BLOCK);
	ASSERT_UINT(fixture.heaps.blocks[1].end, BLOCK + 0x10000);
	check_heap(&fixture, 1, 0, "StubHeap", BLOCK + 0x30000);
	CU_ASSERT(!fixture.heaps.is_partial);
	loader_heaps_deinit(&fixture.heaps);
	tear_down(&fixture);
}

/* The manager of stubs has a pointer without a name in front of that which tells it. */
TEST(heaps_of_the_stub_manager_are_found_once_and_have_names)
{
	struct fixture fixture;
	set_up(&fixture);
	uint64_t manager = object_of_size(&fixture, 0x258);
	uint64_t cells = fake_alloc(fixture.memory, 64), entries = fake_alloc(fixture.memory, 64);
	make_loader_heap(&fixture, cells, block(&fixture, 0, BLOCK, 6), BLOCK);
	make_loader_heap(&fixture, entries, block(&fixture, 0, BLOCK + 0x6000, 10), BLOCK + 0x6000);
	fake_poke_u64(fixture.memory, GLOBAL + STUB_MANAGER, manager);
	fake_poke_u64(fixture.memory, manager + 40, entries);
	fake_poke_u64(fixture.memory, manager + INDIRECTION_CELL, cells);
	fake_poke_u64(fixture.memory, manager + CACHE_ENTRY, entries);
	read_heaps(&fixture);
	ASSERT_UINT(fixture.heaps.heaps_count, 2);
	check_heap(&fixture, 0, 0, "CacheEntryHeap", BLOCK + 0x6000);
	check_heap(&fixture, 1, 0, "IndirectionCellHeap", BLOCK);
	loader_heaps_deinit(&fixture.heaps);
	tear_down(&fixture);
}

/* Collectible allocators hang on the global one; what they have is not its. */
TEST(each_allocator_has_its_own_heaps)
{
	struct fixture fixture;
	set_up(&fixture);
	make_low_frequency(&fixture);
	uint64_t plugin = object_of_size(&fixture, 0x8a8), known = GLOBAL + 16;
	make_loader_heap(&fixture, plugin + 136, block(&fixture, 0, BLOCK + 0x40000, 3),
			 BLOCK + 0x40000);
	/* Two names lead to one heap, and before them a word of whoever had the memory earlier. */
	fake_poke_u64(fixture.memory, plugin + 64, plugin + 136);
	fake_poke_u64(fixture.memory, plugin + LOW_FREQUENCY, plugin + 136);
	fake_poke_u64(fixture.memory, plugin + HIGH_FREQUENCY, plugin + 136);
	fake_poke_u64(fixture.memory, GLOBAL + 2208, plugin);
	fake_poke_u64(fixture.memory, fixture.modules[1] + MODULE_ALLOCATOR, plugin);
	/* An object of it knows the global heap. */
	uint64_t object = object_of_size(&fixture, 0x58);
	fake_poke_u64(fixture.memory, object + 16, known);
	fake_poke_u64(fixture.memory, plugin + STUB_MANAGER, object);
	read_heaps(&fixture);
	ASSERT_UINT(fixture.heaps.allocators_count, 2);
	ASSERT_UINT(fixture.heaps.heaps_count, 2);
	check_heap(&fixture, 0, 0, "LowFrequencyHeap", BLOCK + 0x20000);
	check_heap(&fixture, 1, 1, "LowFrequencyHeap", BLOCK + 0x40000);
	CU_ASSERT_PTR_EQUAL(loader_allocator_at(&fixture.heaps, plugin),
			    &fixture.heaps.allocators[1]);
	CU_ASSERT_PTR_EQUAL(loader_allocator_at(&fixture.heaps, GLOBAL),
			    &fixture.heaps.allocators[0]);
	CU_ASSERT_PTR_NULL(loader_allocator_at(&fixture.heaps, plugin + 8));
	loader_heaps_deinit(&fixture.heaps);
	tear_down(&fixture);
}

/* Reads the heaps after one word of them has changed: the low frequency heap is one no more. */
static void check_refused(struct fixture *fixture, uint64_t address, uint64_t value)
{
	uint64_t old = fake_peek_u64(fixture->memory, address);
	fake_poke_u64(fixture->memory, address, value);
	read_heaps(fixture);
	ASSERT_UINT(fixture->heaps.heaps_count, 0);
	ASSERT_UINT(fixture->heaps.blocks_count, 0);
	loader_heaps_deinit(&fixture->heaps);
	fake_poke_u64(fixture->memory, address, old);
}

TEST(what_has_not_the_shape_is_not_a_heap)
{
	struct fixture fixture;
	set_up(&fixture);
	make_low_frequency(&fixture);
	uint64_t heap = GLOBAL + 16, first = fake_peek_u64(fixture.memory, heap + 8);
	uint64_t second = fake_peek_u64(fixture.memory, first);
	read_heaps(&fixture);
	ASSERT_UINT(fixture.heaps.heaps_count, 1);
	loader_heaps_deinit(&fixture.heaps);
	check_refused(&fixture, heap, RUNTIME + RUNTIME_SIZE);      /* its vtable is elsewhere */
	check_refused(&fixture, heap + 8, 0);                       /* it has no block */
	check_refused(&fixture, heap + 8, 0x4141414141414141);      /* nor one that can be read */
	check_refused(&fixture, heap + 32, BLOCK + 0x1fff8);        /* a place before the block */
	check_refused(&fixture, heap + 40, BLOCK + 0x20008);        /* committed before its place */
	check_refused(&fixture, heap + 48, BLOCK + 0x20000 + 8193); /* it ends after the block */
	check_refused(&fixture, second, first);                     /* a cycle */
	check_refused(&fixture, second, second);
	check_refused(&fixture, second + 8, BLOCK + 1);
	check_refused(&fixture, second + 16, (uint64_t)1 << 31);
	check_refused(&fixture, second + 24, 2);
	tear_down(&fixture);
}

/* A RangeSection of [start, end); returns its address. */
static uint64_t add_section(struct fixture *fixture, uint64_t start, uint64_t end, uint32_t flags)
{
	struct fake_memory *memory = fixture->memory;
	uint64_t section = fake_alloc(memory, 64), fragment = fake_alloc(memory, 32);
	const uint64_t words[] = { start, end, flags, 0x1234 };
	fake_poke(memory, section, words, sizeof(words));
	fake_poke_u64(memory, fixture->fragment, fragment);
	fixture->fragment = fragment;
	fake_poke_u64(memory, fragment + 8, start);
	fake_poke_u64(memory, fragment + 16, end);
	fake_poke_u64(memory, fragment + 24, section);
	return section;
}

/* Its HeapList, and the CodeHeap with these two words. */
static void add_code_heap(struct fixture *fixture, uint64_t section, uint64_t first, uint64_t base)
{
	struct fake_memory *memory = fixture->memory;
	uint64_t list = fake_alloc(memory, 88), heap = fake_alloc(memory, 128);
	uint64_t start = fake_peek_u64(memory, section);
	const uint64_t words[] = { VTABLE, first, start + 0x80, 0, 0, 0, 0 };
	fake_poke_u64(memory, section + 40, list);
	fake_poke_u64(memory, list + 8, heap);
	fake_poke_u64(memory, list + 16, start + 16);
	fake_poke_u64(memory, list + 24, start + 0x80);
	fake_poke_u64(memory, list + 64, GLOBAL);
	fake_poke(memory, heap, words, sizeof(words));
	fake_poke_u64(memory, fake_at(fixture->fake, heap, L_HOST_CODE_BASE), base);
}

static void check_code_heaps(unsigned int release)
{
	struct fixture fixture;
	set_up_release(&fixture, release);
	uint64_t loader = add_section(&fixture, CODE_BASE, CODE_BASE + 0xa000, 2);
	uint64_t host = add_section(&fixture, CODE_BASE + 0xa000, CODE_BASE + 0x19ff0, 3);
	(void)add_section(&fixture, CODE_BASE + 0x1a000, CODE_BASE + 0x1b000, 4);
	(void)add_section(&fixture, CODE_BASE + 0x1c000, CODE_BASE + 0x1d000, 0); /* an image */
	uint64_t own = block(&fixture, 0, CODE_BASE, 10);
	add_code_heap(&fixture, loader, own, CODE_BASE + 0x1000);
	add_code_heap(&fixture, host, 0, CODE_BASE + 0xa000);
	/* An object of the global allocator leads to the first one. */
	uint64_t object = object_of_size(&fixture, 0x58), heap;
	heap = fake_peek_u64(fixture.memory, fake_peek_u64(fixture.memory, loader + 40) + 8);
	fake_poke_u64(fixture.memory, object + 8, heap);
	fake_poke_u64(fixture.memory, GLOBAL + STUB_MANAGER, object);
	read_heaps(&fixture);
	ASSERT_UINT(fixture.heaps.heaps_count, 0);
	ASSERT_UINT(fixture.heaps.codes_count, 3);
	const struct code_heap *codes = fixture.heaps.codes;
	CU_ASSERT_STRING_EQUAL(code_heap_name(codes[0].kind), "LoaderCodeHeap");
	ASSERT_UINT(codes[0].start, CODE_BASE);
	ASSERT_UINT(codes[0].end, CODE_BASE + 0xa000);
	ASSERT_UINT(codes[0].used, CODE_BASE + 0x80);
	ASSERT_UINT(codes[0].allocator, GLOBAL);
	ASSERT_UINT(codes[0].manager, 0x1234);
	CU_ASSERT_STRING_EQUAL(code_heap_name(codes[1].kind), "HostCodeHeap");
	ASSERT_UINT(codes[1].end, CODE_BASE + 0x1a000);
	ASSERT_UINT(codes[2].kind, CODE_HEAP_STUBS);
	CU_ASSERT(!fixture.heaps.is_partial);
	loader_heaps_deinit(&fixture.heaps);
	/* Without its list it is still there. */
	fake_poke_u64(fixture.memory, loader + 40, 8);
	read_heaps(&fixture);
	ASSERT_UINT(fixture.heaps.codes_count, 3);
	CU_ASSERT(fixture.heaps.is_partial);
	loader_heaps_deinit(&fixture.heaps);
	tear_down(&fixture);
}

TEST(heaps_for_code_are_listed_apart)
{
	check_code_heaps(10);
	check_code_heaps(11);
}

/* In 11 a heap's place is one word later, and its LoaderAllocator is smaller. */
TEST(heaps_of_11_are_found)
{
	struct fixture fixture;
	set_up_release(&fixture, 11);
	make_loader_heap(&fixture, GLOBAL + 16, block(&fixture, 0, BLOCK, 16), BLOCK);
	fake_poke_u64(fixture.memory, fake_at(fixture.fake, GLOBAL, L_LOADER_LOW_FREQUENCY),
		      GLOBAL + 16);
	read_heaps(&fixture);
	ASSERT_UINT(fixture.heaps.heaps_count, 1);
	check_heap(&fixture, 0, 0, "LowFrequencyHeap", BLOCK);
	loader_heaps_deinit(&fixture.heaps);
	tear_down(&fixture);
}

SUITE(.name = "loader_heaps")
