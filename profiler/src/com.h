/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/*
 * The few interfaces of the runtime's profiling API that are used, declared by us: their ids and the order of their
 * methods are those of corprof.idl of dotnet/runtime (doc/coreclr.md 19).  Pointers of interfaces are plain pointers
 * to a pointer to the table of methods; each method has the object as its first argument.
 */

/** An HRESULT. */
typedef int32_t hresult;

#define COM_OK                ((hresult)0)
#define COM_FALSE             ((hresult)1)
#define COM_NO_INTERFACE      ((hresult)INT32_C(-2147467262)) /* 0x80004002 */
#define COM_POINTER           ((hresult)INT32_C(-2147467261)) /* 0x80004003 */
#define COM_FAIL              ((hresult)INT32_C(-2147467259)) /* 0x80004005 */
#define COM_NO_AGGREGATION    ((hresult)INT32_C(-2147221232)) /* 0x80040110 */
#define COM_NO_CLASS          ((hresult)INT32_C(-2147221231)) /* 0x80040111 */
#define COM_ACCESS_DENIED     ((hresult)INT32_C(-2147024891)) /* 0x80070005 */
#define COM_INVALID           ((hresult)INT32_C(-2147024809)) /* 0x80070057 */
#define COM_NOT_SUPPORTED     ((hresult)INT32_C(-2146233067)) /* 0x80131515 */
#define COM_DATA_INCOMPLETE   ((hresult)INT32_C(-2146233519)) /* 0x80131351 */
#define COM_ALREADY_ACTIVE    ((hresult)INT32_C(-2146233494)) /* 0x8013136a */
#define COM_CANCEL_ACTIVATION ((hresult)INT32_C(-2146233483)) /* 0x80131375 */

/** A GUID, as it lies in memory. */
struct com_id {
	uint32_t a;
	uint16_t b, c;
	uint8_t d[8];
};

/** IUnknown, and what we call of the runtime's interfaces: a table of methods by number. */
struct com_object {
	void *const *methods;
};

/** Every interface begins with these. */
enum unknown_method {
	UNKNOWN_QUERY,
	UNKNOWN_ADD_REF,
	UNKNOWN_RELEASE
};

typedef hresult (*com_query_fn)(void *self, const struct com_id *id, void **ret);
typedef uint32_t (*com_count_fn)(void *self);
