/* SPDX-License-Identifier: MIT */
/* How the thread pool has changed the number of workers that it wants. */
#pragma once

#include "analysis/pool/queue_items.h"

/** A change of the goal (PortableThreadPool.HillClimbing.LogEntry). */
struct hill_change {
	int64_t ticks;       /**< milliseconds of the system's clock, low 32 bits, signed */
	int64_t threads;     /**< workers that the pool wants since then */
	int64_t samples;     /**< measurements that the average is made of */
	float throughput;    /**< work items per second, the average of these */
	uint32_t transition; /**< the runtime's enum StateOrTransition */
	const struct type *transition_type; /**< that enum; NULL: not loaded, or not known */
};

/** The pool remembers this: the last 200 changes. */
struct hill_log {
	struct hill_change *rows; /**< oldest first */
	size_t rows_count, rows_capacity;
	int64_t samples; /**< measurements since the process began */
	bool is_known;   /**< false: nothing was measured yet, or this version has other fields */
	bool is_broken;  /**< changes could not be read */
};

/**
 * Read the log of the PortableThreadPool.HillClimbing at @p climber (0: there is none).
 *
 * @param[out] ret To be given to hill_log_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status hill_log_read(const struct queue_reader *reader, uint64_t climber,
					  struct hill_log *ret, struct hd_error *err);

/** The same for the one of the thread pool. */
HD_NODISCARD enum hd_status pool_hill_log_read(const struct queue_reader *reader,
					       struct hill_log *ret, struct hd_error *err);
void hill_log_deinit(struct hill_log *log);

/** The name that the enum has for the transition: "Starvation", or its number. */
void hill_change_reason(struct runtime *runtime, const struct hill_change *change, char *buf,
			size_t size);
