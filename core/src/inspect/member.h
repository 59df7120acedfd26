/* SPDX-License-Identifier: MIT */
/* The old place of framework/member.h. */
#ifndef HEAPDUMP_SRC_INSPECT_MEMBER_H
#define HEAPDUMP_SRC_INSPECT_MEMBER_H

#include "framework/member.h"

#endif
