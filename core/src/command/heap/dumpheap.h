/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"

/** Places in dumpheap_options. */
enum {
	DUMPHEAP_STAT,
	DUMPHEAP_TYPE,
	DUMPHEAP_MT,
	DUMPHEAP_MIN,
	DUMPHEAP_MAX,
	DUMPHEAP_SHORT,
	DUMPHEAP_BYCOUNT,
	DUMPHEAP_LIVE,
	DUMPHEAP_DEAD,
	DUMPHEAP_LIMIT,
	/* only cores and processes */
	DUMPHEAP_STRINGS,
	DUMPHEAP_THINLOCK,
	DUMPHEAP_HEAP,
	DUMPHEAP_SEGMENT,
	DUMPHEAP_GEN,
	DUMPHEAP_IGNORE_GC_STATE,
	DUMPHEAP_NO_PROGRESS,
	DUMPHEAP_CONSERVATIVE,
	DUMPHEAP_COUNT
};

/** dumpheap on call->heap. */
HD_NODISCARD enum hd_status run_dumpheap_heap(struct call *call);
