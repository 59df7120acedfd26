/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The layout of all objects, strings and arrays, the same in 8, 9 and 10 (doc/coreclr.md 7.1, 7.4;
 * object.h).
 */

/** Bytes that the smallest object takes (Align(min_obj_size), gc/gcpriv.h). */
#define OBJECT_SIZE_MIN 24u
/**
 * Arrays smaller than this are not allocated in the large object heap (LARGE_OBJECT_SIZE, gc.h).
 */
#define OBJECT_SIZE_LARGE 85000u

/** The bit that a GC sets in an object's first word while it marks (GC_MARKED, gc.cpp). */
#define OBJECT_MARK_BIT 1u

/**
 * Where fields begin; also where the length (u32) of an array, or of a string in UTF-16 units,
 * lies.
 */
#define OBJECT_FIELDS 8u
#define OBJECT_LENGTH 8u
/** Where the UTF-16 units of a string begin. */
#define STRING_CHARS 12u

/** BaseSize of an array of one dimension (array.h). */
#define ARRAY_BASE_SIZE 24u
/**
 * In other arrays, after the length: a length (i32) for each dimension, then a lower bound (i32)
 * for each.
 */
#define ARRAY_DIMENSIONS 16u
#define ARRAY_RANK_MAX   32u

/* Bits of an object's header (BIT_SBLK_*, syncblk.h). */
#define HEADER_IS_HASH_OR_INDEX 0x08000000u
#define HEADER_IS_HASH          0x04000000u
#define HEADER_HASH_MASK        0x03ffffffu
#define HEADER_THREAD_MASK      0x0000ffffu
#define HEADER_RECURSION_MASK   0x003f0000u
#define HEADER_RECURSION_SHIFT  16u
/** The finalizer is not to run again: it has run, or GC.SuppressFinalize was called. */
#define HEADER_FINALIZER_RUN 0x40000000u
/**
 * The bits for sync blocks, hash codes and thin locks; and those of them that a thin lock does not
 * use.
 */
#define HEADER_LOCK_BITS   0x0fffffffu
#define HEADER_UNUSED_BITS 0x03c00000u
