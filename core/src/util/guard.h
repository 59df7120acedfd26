/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * In front of a declaration: TYPE_deinit() is called with the variable's address when its scope ends, in
 * whatever way.  The variable is initialised where it is declared (TYPE_deinit() accepts all zeros), and
 * what is handed over to somebody else has no guard.
 */
#define HD_CLEANUP(type) __attribute__((cleanup(type##_deinit)))
