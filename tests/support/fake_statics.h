/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_module.h"

/*
 * A fake runtime whose types have statics, of the layout of .NET 10:
 *
 *	class Ns.Holder {
 *		int count;
 *		static object cache;                 holder, element 0
 *		static Struct when;                  holder, element 1
 *		static int number;
 *		static object Name { get; }          holder, element 2
 *		[ThreadStatic] static object mine;   statics[thread], element 0
 *		[ThreadStatic] static Struct own;    statics[thread], element 1
 *		[ThreadStatic] static int turns;
 *		static byte table = ...;             (RVA)
 *	}
 *	class Ns.Box<T> { static object item; }      holder, element 3, of Box<String>; also shared code
 *	class Ns.Plug {                              collectible
 *		static object link;                  plug_array, element 0
 *		[ThreadStatic] static object last;   plug_statics (of thread 0), element 0
 *	}
 */
enum {
	DEF_HOLDER = 4,
	DEF_BOX,
	DEF_PLUG,
};

enum {
	FIELD_COUNT = 1,
	FIELD_CACHE,
	FIELD_WHEN,
	FIELD_NUMBER,
	FIELD_NAME,
	FIELD_MINE,
	FIELD_OWN,
	FIELD_TURNS,
	FIELD_TABLE,
	FIELD_ITEM,
	FIELD_LINK,
	FIELD_LAST,
};

struct fake_statics {
	struct fake_clr *fake;
	struct runtime *runtime;
	struct heap *heap;
	uint64_t node;                          /* a MethodTable of objects */
	uint64_t holder, box, shared_box, plug; /* MethodTables */
	uint64_t holder_array, plug_array;      /* object[] */
	uint64_t statics[2], plug_statics;      /* object[] of the threads */
	uint64_t numbers[2];                    /* byte[] of the threads */
	uint64_t locals[2], thread_arrays[2];   /* ThreadLocalData; their object[] */
	uint64_t objects[8];                    /* some of type node */
	uint64_t bucket;                        /* of the AppDomain's table */
};

/* DynamicStaticsInfo lies before the auxiliary data, ThreadStaticsInfo's indexes before that. */
#define FAKE_AUXILIARY_OF 32u

struct fake_statics fake_statics_create(void);
/** The same in a runtime of another kind; see fake_clr_create(). */
struct fake_statics fake_statics_of(const struct fake_options *options);
void fake_statics_destroy(struct fake_statics *statics);

/** Address of element @p index of an object[]. */
static inline uint64_t fake_element(uint64_t array, unsigned int index)
{
	return array + 16 + 8 * (uint64_t)index;
}

/** Detail of the first finding of @p kind, or "". */
const char *fake_finding(const struct fake_clr *fake, const char *kind);
