/* SPDX-License-Identifier: MIT */
#pragma once

#include "answer/answering.h"
#include "verify/verify.h"

/** Diagnosis of one finding, only for a person: several lines, indented by 4. */
void verify_text(struct answer *answer, struct heap *heap, const struct verify_finding *finding);
