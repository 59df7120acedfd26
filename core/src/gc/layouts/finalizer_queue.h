/* SPDX-License-Identifier: MIT */
#pragma once

/** Parts of a finalizer queue in the order of its array (doc/coreclr.md 11.2; CFinalize, gc/gcpriv.h). */
enum finalizer_part {
	FINALIZER_POH,
	FINALIZER_LOH,
	FINALIZER_GEN2,
	FINALIZER_GEN1,
	FINALIZER_GEN0,
	FINALIZER_CRITICAL, /**< f-reachable objects derived from CriticalFinalizerObject */
	FINALIZER_READY,    /**< other f-reachable objects */
	FINALIZER_PARTS
};

/**
 * CFinalize, in words: m_FillPointers say where each part ends; m_Array and m_EndArray say where
 * the array begins and ends.
 */
#define FINALIZER_QUEUE_ARRAY     FINALIZER_PARTS
#define FINALIZER_QUEUE_END_ARRAY (FINALIZER_PARTS + 1u)
#define FINALIZER_QUEUE_WORDS     (FINALIZER_PARTS + 2u)
