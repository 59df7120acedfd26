/* SPDX-License-Identifier: MIT */
#include "support/fake_statics.h"

#include "runtime/coreclr/types/field.h"

/* FieldDesc's words: RID and flags; offset and element type. */
#define DESC(rid, flags, offset, element)                             \
	{                                                             \
		(rid) | (flags), (offset) | (uint32_t)(element) << 27 \
	}
#define STATIC 0x01000000u
#define THREAD 0x03000000u
#define RVA    0x05000000u

#define INSTANTIATED 0x10u
#define SHARED       0x20u
#define COLLECTIBLE  0x00200000u
#define HAS_STATICS  0x2u
#define CLASS_OF     40u

#define NO_INDEX 0xffffffffu
/* TLSIndex: kind and number; the first two of the array are not used. */
#define OF_ARRAY(number)       ((number) + 2)
#define OF_COLLECTIBLE(number) (0x01000000u | (number))

/* ThreadLocalData, AppDomain: what no descriptor has. */
#define THREAD_OF 24u
#define TABLE_OF  712u

static void fill(struct metadata_maker *maker)
{
	maker_type(maker, "", "<Module>");
	maker_type(maker, "System", "Object");
	maker_type(maker, "System", "String");
	maker_type(maker, "Ns", "Holder");
	maker_field(maker, 0, "count", "\x08", 1);
	maker_field(maker, 0x10, "cache", "\x1c", 1);
	maker_field(maker, 0x10, "when", "\x08", 1);
	maker_field(maker, 0x10, "number", "\x08", 1);
	maker_field(maker, 0x10, "<Name>k__BackingField", "\x1c", 1);
	maker_field(maker, 0x10, "mine", "\x1c", 1);
	maker_field(maker, 0x10, "own", "\x08", 1);
	maker_field(maker, 0x10, "turns", "\x08", 1);
	maker_field(maker, 0x10, "table", "\x05", 1);
	maker_type(maker, "Ns", "Box`1");
	maker_field(maker, 0x10, "item", "\x1c", 1);
	maker_type(maker, "Ns", "Plug");
	maker_field(maker, 0x10, "link", "\x1c", 1);
	maker_field(maker, 0x10, "last", "\x1c", 1);
}

/* Write the words in front of the auxiliary data of a type with statics. */
static void put_statics(struct fake_clr *fake, uint64_t method_table, const uint64_t bases[2],
			const uint32_t indexes[2])
{
	struct fake_memory *memory = &fake->memory;
	uint64_t auxiliary = fake_alloc(memory, 128) + 64;
	uint64_t info = auxiliary - fake_at(fake, 0, L_STATICS_INFO_SIZE);
	uint64_t of_threads = auxiliary - fake_at(fake, 0, L_THREAD_STATICS_SIZE);
	fake_poke_u32(memory, fake_at(fake, of_threads, L_THREAD_STATICS_NON_GC), indexes[1]);
	fake_poke_u32(memory, fake_at(fake, of_threads, L_THREAD_STATICS_GC), indexes[0]);
	fake_poke_u64(memory, fake_at(fake, info, L_STATICS_GC), bases[0]);
	fake_poke_u64(memory, fake_at(fake, info, L_STATICS_NON_GC), bases[1]);
	fake_poke_u64(memory, auxiliary - 8, method_table);
	fake_poke_u64(memory, fake_at(fake, method_table, L_MT_AUXILIARY), auxiliary);
	uint64_t flags2 = fake_at(fake, method_table, L_MT_FLAGS2);
	fake_poke_u64(&fake->memory, flags2, fake_peek_u64(&fake->memory, flags2) | HAS_STATICS);
}

static void make_objects(struct fake_statics *statics)
{
	struct fake_clr *fake = statics->fake;
	uint64_t objects = fake->object_array_type;
	statics->node = fake_type(fake, &(struct fake_type){ .base_size = 24 });
	(void)fake_segment(fake, 0, GENERATION_POH, 0x1000);
	statics->holder_array = fake_object(fake, objects, 8);
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
	statics->plug_array = fake_object(fake, objects, 1);
	statics->plug_statics = fake_object(fake, objects, 1);
	for (unsigned int i = 0; i < 2; i++) {
		statics->statics[i] = fake_object(fake, objects, 2);
		statics->numbers[i] = fake_object(fake, objects, 2);
		statics->thread_arrays[i] = fake_object(fake, objects, 3);
	}
	for (unsigned int i = 0; i < 8; i++)
		statics->objects[i] = fake_object(fake, statics->node, 0);
}

static void make_holder(struct fake_statics *statics)
{
	static const uint32_t fields[][2] = {
		DESC(FIELD_COUNT, 0, 0, ELEMENT_I4),
		DESC(FIELD_CACHE, STATIC, 0, ELEMENT_CLASS),
		DESC(FIELD_WHEN, STATIC, 8, ELEMENT_VALUE),
		DESC(FIELD_NUMBER, STATIC, 0, ELEMENT_I4),
		DESC(FIELD_NAME, STATIC, 16, ELEMENT_CLASS),
		DESC(FIELD_MINE, THREAD, 16, ELEMENT_CLASS),
		DESC(FIELD_OWN, THREAD, 24, ELEMENT_VALUE),
		DESC(FIELD_TURNS, THREAD, 16, ELEMENT_I4),
		DESC(FIELD_TABLE, RVA, 0x2000, ELEMENT_CLASS),
	};
	struct fake_clr *fake = statics->fake;
	uint64_t numbers = fake_alloc(&fake->memory, 16);
	statics->holder =
		fake_type(fake, &(struct fake_type){ .base_size = 24, .token = DEF_HOLDER });
	fake_field_descs(fake, statics->holder, 1, 8, fields, 9);
	put_statics(fake, statics->holder,
		    (uint64_t[]){ fake_element(statics->holder_array, 0), numbers },
		    (uint32_t[]){ OF_ARRAY(1), OF_ARRAY(2) });
}

/* The constructor of Box<String> has not run to its end. */
static void make_box(struct fake_statics *statics)
{
	static const uint32_t fields[][2] = { DESC(FIELD_ITEM, STATIC, 0, ELEMENT_CLASS) };
	struct fake_clr *fake = statics->fake;
	struct fake_type how = { .base_size = 24, .token = DEF_BOX, .flags = SHARED };
	statics->shared_box = fake_type(fake, &how);
	fake_field_descs(fake, statics->shared_box, 0, 1, fields, 1);
	put_statics(fake, statics->shared_box, (uint64_t[]){ 1, 1 },
		    (uint32_t[]){ NO_INDEX, NO_INDEX });
	how.flags = INSTANTIATED;
	statics->box = fake_type(fake, &how);
	fake_arguments(fake, statics->box, &fake->string_type, 1);
	fake_poke_u64(&fake->memory, fake_at(fake, statics->box, L_MT_CLASS),
		      statics->shared_box | 1);
	put_statics(fake, statics->box,
		    (uint64_t[]){ fake_element(statics->holder_array, 3) | 1, 1 },
		    (uint32_t[]){ NO_INDEX, NO_INDEX });
}

static void make_plug(struct fake_statics *statics)
{
	static const uint32_t fields[][2] = {
		DESC(FIELD_LINK, STATIC, 0, ELEMENT_CLASS),
		DESC(FIELD_LAST, THREAD, 16, ELEMENT_CLASS),
	};
	struct fake_clr *fake = statics->fake;
	statics->plug = fake_type(
		fake,
		&(struct fake_type){ .base_size = 24, .token = DEF_PLUG, .flags = COLLECTIBLE });
	fake_field_descs(fake, statics->plug, 0, 2, fields, 2);
	put_statics(fake, statics->plug, (uint64_t[]){ fake_element(statics->plug_array, 0), 0 },
		    (uint32_t[]){ OF_COLLECTIBLE(1), NO_INDEX });
}

/* Thread 0 has all in its arrays; what thread 1 has of Ns.Holder is in flight. */
static void make_threads(struct fake_statics *statics)
{
	struct fake_clr *fake = statics->fake;
	struct fake_memory *memory = &fake->memory;
	for (unsigned int i = 0; i < 2; i++) {
		statics->locals[i] = fake_alloc(memory, 64);
		uint64_t thread = fake_thread(fake)->address;
		fake_poke_u64(memory, fake_at(fake, thread, L_THREAD_LOCAL_DATA),
			      statics->locals[i]);
		fake_poke_u32(memory, fake_at(fake, statics->locals[i], L_TLS_COUNT), 3 + 2);
		fake_poke_u64(memory, statics->locals[i] + THREAD_OF, thread);
		fake_poke_u64(memory, fake_at(fake, statics->locals[i], L_TLS_ARRAY),
			      statics->thread_arrays[i]);
		fake_poke_u64(memory, fake_element(statics->thread_arrays[i], 2),
			      statics->numbers[i]);
	}
	fake_poke_u64(memory, fake_element(statics->thread_arrays[0], 1), statics->statics[0]);
	uint64_t handles = fake_alloc(memory, 16), handle = fake_alloc(memory, 8);
	fake_poke_u64(memory, handle, statics->plug_statics);
	fake_poke_u64(memory, handles + 8, handle);
	fake_poke_u32(memory, fake_at(fake, statics->locals[0], L_TLS_COLLECTIBLE_COUNT), 2);
	fake_poke_u64(memory, fake_at(fake, statics->locals[0], L_TLS_COLLECTIBLE_ARRAY), handles);
	uint64_t other = fake_alloc(memory, 24), flight = fake_alloc(memory, 24);
	handle = fake_alloc(memory, 8);
	fake_poke_u64(memory, handle, statics->statics[1]);
	fake_poke_u64(memory, other, flight);
	fake_poke_u32(memory, other + 8, OF_ARRAY(7));
	fake_poke_u32(memory, flight + 8, OF_ARRAY(1));
	fake_poke_u64(memory, flight + 16, handle | 1);
	fake_poke_u64(memory, fake_at(fake, statics->locals[1], L_TLS_IN_FLIGHT), other);
}

/* AppDomain -> PinnedHeapHandleTable -> bucket: 4 of the 8 elements are used. */
static void make_bucket(struct fake_statics *statics)
{
	struct fake_memory *memory = &statics->fake->memory;
	uint64_t table = fake_alloc(memory, 16), handle = fake_alloc(memory, 8);
	statics->bucket = fake_alloc(memory, 40);
	fake_poke_u64(memory, coreclr_of(statics->runtime)->globals.app_domain + TABLE_OF, table);
	fake_poke_u64(memory, table, statics->bucket);
	fake_poke_u64(memory, handle, statics->holder_array);
	fake_poke_u32(memory, statics->bucket + 8, 8);
	fake_poke_u32(memory, statics->bucket + 12, 4);
	fake_poke_u64(memory, statics->bucket + 24, handle);
	fake_poke_u64(memory, statics->bucket + 32, fake_element(statics->holder_array, 0));
}

struct fake_statics fake_statics_of(const struct fake_options *options)
{
	struct fake_statics statics = { .fake = fake_clr_create(options) };
	struct fake_clr *fake = statics.fake;
	struct metadata_maker maker;
	maker_init(&maker);
	fill(&maker);
	fake_metadata(fake, fake->module, &maker);
	maker_deinit(&maker);
	make_objects(&statics);
	make_holder(&statics);
	make_box(&statics);
	make_plug(&statics);
	make_threads(&statics);
	const uint64_t types[] = {
		0, 0, fake->object_type, fake->string_type, statics.holder, 0, statics.plug
	};
	fake_lookup_map(fake, fake_at(fake, fake->module, L_MODULE_TYPE_DEF_MAP), types, 7);
	const uint64_t params[] = { statics.shared_box, statics.box };
	fake_type_params(fake, fake->module, params, 2);
	statics.runtime = fake_runtime(fake);
	fake_domain(fake, &fake->module, 1);
	make_bucket(&statics);
	statics.heap = fake_heap(fake);
	return statics;
}

struct fake_statics fake_statics_create(void)
{
	return fake_statics_of(NULL);
}

void fake_statics_destroy(struct fake_statics *statics)
{
	fake_clr_destroy(statics->fake);
}

const char *fake_finding(const struct fake_clr *fake, const char *kind)
{
	const struct findings *findings = &fake->target.findings;
	for (size_t i = 0; i < findings->count; i++) {
		if (strcmp(finding_name(findings->rows[i].kind), kind) == 0)
			return findings->rows[i].detail;
	}
	return "";
}
