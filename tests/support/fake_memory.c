/* SPDX-License-Identifier: MIT */
#include "support/fake_memory.h"

#include <stdlib.h>

/* Not through util/alloc.h: a test's own memory must not fail when the library's does. */

struct fake_piece {
	uint64_t address, size;
	uint8_t *bytes;
};

/* Index of the first piece that begins after @p address. */
static size_t piece_after(const struct fake_memory *fake, uint64_t address)
{
	size_t low = 0, high = fake->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (fake->pieces[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct fake_piece *piece_at(const struct fake_memory *fake, uint64_t address)
{
	size_t after = piece_after(fake, address);
	if (after == 0)
		return NULL;
	const struct fake_piece *piece = &fake->pieces[after - 1];
	return address - piece->address < piece->size ? piece : NULL;
}

static const struct fake_memory *const_fake_of(const struct memory *memory)
{
	return (const struct fake_memory *)memory;
}

static size_t read_pieces(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct fake_memory *fake = const_fake_of(memory);
	size_t done = 0;
	while (done < size) {
		const struct fake_piece *piece = piece_at(fake, address + done);
		if (!piece)
			break;
		uint64_t offset = address + done - piece->address;
		uint64_t left = piece->size - offset;
		size_t part = left < size - done ? (size_t)left : size - done;
		memcpy((uint8_t *)buf + done, piece->bytes + offset, part);
		done += part;
	}
	return done;
}

static const uint8_t *run_of(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	const struct fake_memory *fake = const_fake_of(memory);
	const struct fake_piece *piece = fake->no_runs ? NULL : piece_at(fake, address);
	if (!piece)
		return NULL;
	*ret_size = piece->size - (address - piece->address);
	return piece->bytes + (address - piece->address);
}

static uint64_t next_byte(struct memory *memory, uint64_t address)
{
	const struct fake_memory *fake = const_fake_of(memory);
	if (piece_at(fake, address))
		return address;
	size_t after = piece_after(fake, address);
	return after < fake->count ? fake->pieces[after].address : UINT64_MAX;
}

static void destroy(struct memory *memory)
{
	fake_memory_deinit((struct fake_memory *)memory);
}

static const struct memory_ops fake_ops = {
	.read = read_pieces, .run = run_of, .next = next_byte, .destroy = destroy
};

void fake_memory_init(struct fake_memory *fake)
{
	*fake = (struct fake_memory){ .memory = { &fake_ops, true }, .next = 0x100000 };
}

void fake_memory_deinit(struct fake_memory *fake)
{
	for (size_t i = 0; i < fake->count; i++)
		free(fake->pieces[i].bytes);
	free(fake->pieces);
	fake->pieces = NULL;
	fake->count = fake->capacity = 0;
}

void fake_map(struct fake_memory *fake, uint64_t address, uint64_t size)
{
	if (fake->count == fake->capacity) {
		fake->capacity = fake->capacity * 2 + 64;
		fake->pieces = realloc(fake->pieces, fake->capacity * sizeof(*fake->pieces));
	}
	uint8_t *bytes = calloc(1, size);
	if (!fake->pieces || !bytes)
		abort();
	size_t at = piece_after(fake, address);
	memmove(&fake->pieces[at + 1], &fake->pieces[at],
		(fake->count - at) * sizeof(*fake->pieces));
	fake->pieces[at] = (struct fake_piece){ address, size, bytes };
	fake->count++;
}

uint64_t fake_alloc(struct fake_memory *fake, uint64_t size)
{
	uint64_t address = fake->next;
	fake_map(fake, address, size);
	fake->next = (address + size + 63) & ~(uint64_t)15;
	return address;
}

void fake_unmap(struct fake_memory *fake, uint64_t address)
{
	size_t at = piece_after(fake, address);
	if (!piece_at(fake, address))
		abort();
	free(fake->pieces[at - 1].bytes);
	memmove(&fake->pieces[at - 1], &fake->pieces[at],
		(fake->count - at) * sizeof(*fake->pieces));
	fake->count--;
}

void fake_poke(struct fake_memory *fake, uint64_t address, const void *bytes, size_t size)
{
	const struct fake_piece *piece = piece_at(fake, address);
	if (!piece || piece->size - (address - piece->address) < size)
		abort();
	memcpy(piece->bytes + (address - piece->address), bytes, size);
}

void fake_poke_u64(struct fake_memory *fake, uint64_t address, uint64_t value)
{
	fake_poke(fake, address, &value, sizeof(value));
}

void fake_poke_u32(struct fake_memory *fake, uint64_t address, uint32_t value)
{
	fake_poke(fake, address, &value, sizeof(value));
}

uint64_t fake_peek_u64(struct fake_memory *fake, uint64_t address)
{
	uint64_t value = 0;
	if (!memory_u64(&fake->memory, address, &value))
		abort();
	return value;
}

uint64_t fake_text(struct fake_memory *fake, const char *text)
{
	uint64_t address = fake_alloc(fake, strlen(text) + 1);
	fake_poke(fake, address, text, strlen(text) + 1);
	return address;
}

static size_t read_hidden(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct fake_hidden *hidden = (const struct fake_hidden *)memory;
	if (address >= hidden->begin && address < hidden->end)
		return 0;
	if (address < hidden->begin && hidden->begin - address < size)
		size = (size_t)(hidden->begin - address);
	return memory_prefix(&hidden->all->memory, address, buf, size);
}

static void destroy_hidden(struct memory *memory)
{
	(void)memory;
}

static const struct memory_ops hidden_ops = { .read = read_hidden, .destroy = destroy_hidden };

void fake_hide(struct fake_hidden *hidden, struct fake_memory *all, uint64_t begin, uint64_t end)
{
	*hidden = (struct fake_hidden){ { &hidden_ops, true }, all, begin, end };
}
