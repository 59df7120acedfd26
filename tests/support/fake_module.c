/* SPDX-License-Identifier: MIT */
#include "support/fake_module.h"

#include <stdlib.h>

uint64_t fake_module(struct fake_clr *fake)
{
	return fake_alloc(&fake->memory, FAKE_MODULE_SIZE);
}

void fake_metadata(struct fake_clr *fake, uint64_t module, const struct metadata_maker *maker)
{
	uint32_t size;
	uint8_t *bytes = maker_finish(maker, &size);
	uint64_t at = fake_alloc(&fake->memory, 4 + (uint64_t)size);
	fake_poke_u32(&fake->memory, at, size);
	fake_poke(&fake->memory, at + 4, bytes, size);
	fake_poke_u64(&fake->memory, fake_at(fake, module, L_MODULE_DYNAMIC_METADATA), at);
	free(bytes);
}

uint64_t fake_image(struct fake_clr *fake, uint64_t module, const struct metadata_maker *maker,
		    const struct image_kind *kind, struct fake_memory *memory)
{
	struct fake_memory *own = &fake->memory;
	uint32_t size, image_size;
	uint8_t *metadata = maker_finish(maker, &size);
	uint8_t *image = maker_image(kind, metadata, size, &image_size);
	uint64_t base = (uint64_t)0x7d00 << 32;
	if (memory) {
		fake_map(memory, base, image_size);
	} else {
		base = fake_alloc(own, image_size);
	}
	fake_poke(memory ? memory : own, base, image, image_size);
	free(image);
	free(metadata);
	/* Module -> PEAssembly -> PEImage -> PEImageLayout */
	uint64_t assembly = fake_alloc(own, 128), pe_image = fake_alloc(own, 256);
	uint64_t layout = fake_alloc(own, 64);
	fake_poke_u64(own, fake_at(fake, module, L_MODULE_PE_ASSEMBLY), assembly);
	fake_poke_u64(own, fake_at(fake, assembly, L_PE_ASSEMBLY_IMAGE), pe_image);
	fake_poke_u64(own, fake_at(fake, pe_image, L_PE_IMAGE_LAYOUT), layout);
	fake_poke_u64(own, fake_at(fake, layout, L_IMAGE_LAYOUT_BASE), base);
	fake_poke_u32(own, fake_at(fake, layout, L_IMAGE_LAYOUT_FLAGS), kind->is_mapped);
	fake_poke_u64(own, fake_at(fake, module, L_MODULE_BASE), base);
	return base;
}

/* DomainAssembly (until 10) -> Assembly -> Module, which names its Assembly. */
static uint64_t make_assembly(struct fake_clr *fake, uint64_t module)
{
	uint64_t domain_assembly = fake_alloc(&fake->memory, 64);
	uint64_t assembly = fake_alloc(&fake->memory, 64);
	fake_poke_u64(&fake->memory, domain_assembly, assembly);
	fake_poke_u64(&fake->memory, fake_at(fake, assembly, L_ASSEMBLY_MODULE), module);
	fake_poke_u64(&fake->memory, fake_at(fake, module, L_MODULE_ASSEMBLY), assembly);
	return fake_is_from(fake, 11) ? assembly : domain_assembly;
}

void fake_domain(struct fake_clr *fake, const uint64_t *modules, size_t count)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t domain = fake_alloc(memory, 1024);
	uint64_t list = fake_at(fake, domain, L_DOMAIN_ASSEMBLIES);
	fake_poke_u32(memory, list, (uint32_t)count);
	/* The first block lies in the list and has 5 elements, later ones more. */
	uint64_t block = list + 8;
	fake_poke_u32(memory, block + 8, 5);
	for (size_t i = 0, in_block = 0, size = 5; i < count; i++, in_block++) {
		if (in_block == size) {
			uint64_t next = fake_alloc(memory, 16 + 8 * 10);
			fake_poke_u64(memory, block, next);
			fake_poke_u32(memory, next + 8, 10);
			block = next;
			in_block = 0;
			size = 10;
		}
		fake_poke_u64(memory, block + 16 + 8 * in_block,
			      modules[i] ? make_assembly(fake, modules[i]) : 0);
	}
	coreclr_of(fake_runtime(fake))->globals.app_domain = domain;
}

void fake_lookup_map(struct fake_clr *fake, uint64_t address, const uint64_t *values,
		     uint32_t count)
{
	uint64_t table = fake_alloc(&fake->memory, 8 * (uint64_t)count + 8);
	if (count)
		fake_poke(&fake->memory, table, values, 8 * (size_t)count);
	fake_poke_u64(&fake->memory, address + 8, table);
	fake_poke_u32(&fake->memory, address + 16, count);
}

void fake_type_params(struct fake_clr *fake, uint64_t module, const uint64_t *handles,
		      uint32_t count)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t buckets = (uint64_t)count / 2 + 1;
	uint64_t table = fake_alloc(memory, 64), array = fake_alloc(memory, 8 * (3 + buckets));
	fake_poke_u64(memory, fake_at(fake, module, L_MODULE_TYPE_PARAMS), table);
	fake_poke_u64(memory, table, module);
	fake_poke_u64(memory, table + 16, array);
	fake_poke_u32(memory, table + 24, count);
	fake_poke_u64(memory, array, buckets);
	fake_poke_u64(memory, array + 16, 1); /* base of the end marks */
	for (uint64_t i = 0; i < buckets; i++)
		fake_poke_u64(memory, array + 8 * (3 + i), (i + 3) << 6 | 1);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t entry = fake_alloc(memory, 24), link = array + 8 * (3 + (uint64_t)i / 2);
		fake_poke_u64(memory, entry, handles[i]);
		fake_poke_u64(memory, entry + 8, fake_peek_u64(memory, link));
		fake_poke_u64(memory, link, entry);
	}
}

void fake_arguments(struct fake_clr *fake, uint64_t method_table, const uint64_t *arguments,
		    uint16_t count)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t info = fake_alloc(memory, 32) + 8;
	uint64_t dictionary = fake_alloc(memory, 8 * (uint64_t)count + 8);
	uint16_t counts[] = { 1, count };
	fake_poke(memory, info - 4, counts, sizeof(counts));
	fake_poke_u64(memory, info, dictionary);
	if (count)
		fake_poke(memory, dictionary, arguments, 8 * (size_t)count);
	fake_poke_u64(memory, fake_at(fake, method_table, L_MT_PER_INST), info);
}

uint64_t fake_param_type(struct fake_clr *fake, uint8_t element, uint64_t argument)
{
	uint64_t desc = fake_alloc(&fake->memory, 64);
	fake_poke_u32(&fake->memory, fake_at(fake, desc, L_TYPE_DESC_FLAGS), element);
	fake_poke_u64(&fake->memory, fake_at(fake, desc, L_PARAM_TYPE_ARG), argument);
	return desc | 2;
}

void fake_field_descs(struct fake_clr *fake, uint64_t method_table, uint16_t instance,
		      uint16_t statics, const uint32_t (*words)[2], size_t count)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t ee_class = fake_peek_u64(memory, fake_at(fake, method_table, L_MT_CLASS));
	uint64_t list = fake_alloc(memory, 16 * (uint64_t)count + 16);
	for (size_t i = 0; i < count; i++) {
		fake_poke_u64(memory, list + 16 * i, method_table);
		fake_poke(memory, list + 16 * i + 8, words[i], 8);
	}
	fake_poke_u64(memory, fake_at(fake, ee_class, L_CLASS_FIELDS), list);
	fake_poke(memory, fake_at(fake, ee_class, L_CLASS_NUM_INSTANCE), &instance, 2);
	fake_poke(memory, fake_at(fake, ee_class, L_CLASS_NUM_STATIC), &statics, 2);
}

uint64_t fake_method_desc(struct fake_clr *fake, uint64_t method_table, uint32_t rid)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t chunk = fake_alloc(memory, 128);
	uint16_t high = (uint16_t)(rid >> 12), low = (uint16_t)(rid & 0xfff);
	uint8_t index = 1; /* not the first of its chunk */
	fake_poke_u64(memory, fake_at(fake, chunk, L_METHOD_CHUNK_TABLE), method_table);
	fake_poke(memory, fake_at(fake, chunk, L_METHOD_CHUNK_TOKEN), &high, 2);
	uint64_t desc = fake_at(fake, chunk, L_METHOD_CHUNK_SIZE) + 8;
	fake_poke(memory, fake_at(fake, desc, L_METHOD_TOKEN), &low, 2);
	fake_poke(memory, fake_at(fake, desc, L_METHOD_CHUNK_INDEX), &index, 1);
	return desc;
}
