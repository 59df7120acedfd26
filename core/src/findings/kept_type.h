/* SPDX-License-Identifier: MIT */
/*
 * Finds the program's types that objects of a library keep: subscriptions keep those that
 * subscribed.
 */
#pragma once

#include "findings/facts.h"

/**
 * The type of the program of which each of @p count nodes keeps an object, over a few objects that each dominates the next;
 * HD_NONE: the nodes are of the program themselves, or keep nothing of it, or different things.
 */
uint32_t kept_type(const struct report_facts *facts, const uint32_t *nodes, size_t count);
