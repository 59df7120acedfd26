/* SPDX-License-Identifier: MIT */
/*
 * The rows of framework/fact_table.h about libraries that many programs use: limiters of rates, and blocks of a dataflow.
 */
#pragma once

/** As FRAMEWORK_TYPES(). */
#define LIBRARY_TYPES(X)                                                                          \
	X(RATE_LIMITER, "System.Threading.RateLimiting.RateLimiter", RATE_LIMITING, 8, 0)         \
	X(CONCURRENCY_LIMITER, "System.Threading.RateLimiting.ConcurrencyLimiter", RATE_LIMITING, \
	  8, 0)                                                                                   \
	X(CONCURRENCY_LEASE, "System.Threading.RateLimiting.ConcurrencyLimiter+ConcurrencyLease", \
	  RATE_LIMITING, 8, 0)                                                                    \
	X(SEND_SOURCE, "System.Threading.Tasks.Dataflow.DataflowBlock+SendAsyncSource`1",         \
	  DATAFLOW, 8, 0)

/** As FRAMEWORK_FIELDS(). */
#define LIBRARY_FIELDS(X)                                                                    \
	X(LIMITER_FREE, CONCURRENCY_LIMITER, "_permitCount", 8, 0)                           \
	X(LIMITER_LIMIT, CONCURRENCY_LIMITER, "_options.<PermitLimit>k__BackingField", 8, 0) \
	X(LIMITER_DISPOSED, CONCURRENCY_LIMITER, "_disposed", 8, 0)                          \
	X(LEASE_LIMITER, CONCURRENCY_LEASE, "_limiter", 8, 0)                                \
	X(LEASE_COUNT, CONCURRENCY_LEASE, "_count", 8, 0)                                    \
	X(LEASE_DISPOSED, CONCURRENCY_LEASE, "_disposed", 8, 0)                              \
	X(SEND_TARGET, SEND_SOURCE, "_target", 8, 0)
