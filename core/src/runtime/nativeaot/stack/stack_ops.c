/* SPDX-License-Identifier: MIT */
#include "stack/stack_ops.h"

#include "runtime/runtime_ops.h"

const struct stack_ops nativeaot_stack_ops = { .frames = NULL };
