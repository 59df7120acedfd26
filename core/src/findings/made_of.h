/* SPDX-License-Identifier: MIT */
#pragma once

#include "findings/report.h"

/**
 * Find of each finding about a pile the types of the program that most of its bytes belong to, and name them in its sentence
 * where it does not yet do so.  An object belongs to the nearest one of such a type that dominates it, or is one.
 *
 * @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED
 * Cost: one pass over what is alive, and 5 bytes for each object; nothing where there is no pile.
 */
HD_NODISCARD enum hd_status made_of_find(struct report *report, struct hd_error *err);
