/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A sound runtime with a heap of every kind of object, made once, whose bytes the input of a fuzz
 * target changes: method tables, EEClasses, FieldDescs, metadata, segments, threads, objects.
 *
 * The input is a row of changes of FAKE_CHANGE_SIZE bytes, all little-endian:
 *
 *	u8  what   low 2 bits: 0 put the value, 1 put the address of the place that it names (its
 *	           bits from 16 on are added), 2 add it, 3 exclusive or; bits 4 and 5: in 8, 4, 2 or
 *	           1 bytes
 *	u8  byte   of the word
 *	u16 place  the word, counted over all the memory there is
 *	u64 value
 */
#define FAKE_CHANGE_SIZE 12u

/** How many changes of an input are made. */
#define FAKE_CHANGES_MAX 24u

/**
 * Open a session about the world with the changes of @p data, and run command lines about one of its
 * objects.  Afterwards the world is as before.
 *
 * @param[in] lines NULL ends; in them "@" is the object's address, "%" its MethodTable's.
 * @param[in] object Which one; any number.
 */
void fake_world_run(const char *const *lines, unsigned int object, const uint8_t *data,
		    size_t size);
