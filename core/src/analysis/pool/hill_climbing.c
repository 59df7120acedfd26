/* SPDX-License-Identifier: MIT */
#include "analysis/pool/hill_climbing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inspect/value.h"
#include "util/alloc.h"
#include "util/job.h"

void hill_log_deinit(struct hill_log *log)
{
	pages_free(log->rows, log->rows_capacity, sizeof(*log->rows));
	*log = (struct hill_log){ 0 };
}

/* The fields of LogEntry (PortableThreadPool.HillClimbing.cs of .NET 8, 9 and 10). */
static bool read_change(struct members *members, const struct array_info *array, uint32_t index,
			struct hill_change *ret)
{
	uint64_t at = array->data + (uint64_t)index * array->element_size;
	const struct type *entry = array->element;
	struct member ticks = fact_of_struct(members, entry, at, FACT_HILL_ENTRY_TICKS);
	struct member transition = fact_of_struct(members, entry, at, FACT_HILL_ENTRY_TRANSITION);
	struct member threads = fact_of_struct(members, entry, at, FACT_HILL_ENTRY_THREADS);
	struct member samples = fact_of_struct(members, entry, at, FACT_HILL_ENTRY_SAMPLES);
	struct member mean = fact_of_struct(members, entry, at, FACT_HILL_ENTRY_MEAN);
	if (ticks.state != MEMBER_READ || transition.state != MEMBER_READ ||
	    threads.state != MEMBER_READ || samples.state != MEMBER_READ ||
	    mean.state != MEMBER_READ)
		return false;
	*ret = (struct hill_change){ .ticks = member_signed(&ticks),
				     .threads = member_signed(&threads),
				     .samples = member_signed(&samples),
				     .transition = (uint32_t)transition.bits,
				     .transition_type = transition.type };
	uint32_t bits = (uint32_t)mean.bits;
	memcpy(&ret->throughput, &bits, sizeof(ret->throughput));
	return true;
}

static bool open_log(const struct queue_reader *reader, uint64_t climber, struct array_info *ret)
{
	struct member log = fact_at(reader->members, climber, FACT_HILL_LOG);
	return array_at(reader->heap, reader->members, log.bits, ret) && ret->element &&
	       ret->length > 0;
}

/* The log is a ring: _logSize entries, of which the first is at _logStart. */
static enum hd_status read_ring(const struct queue_reader *reader, uint64_t climber,
				const struct array_info *array, struct hill_log *log,
				struct hd_error *err)
{
	struct member start = fact_at(reader->members, climber, FACT_HILL_LOG_START);
	struct member size = fact_at(reader->members, climber, FACT_HILL_LOG_SIZE);
	if (start.state != MEMBER_READ || size.state != MEMBER_READ ||
	    start.bits >= array->length || size.bits > array->length) {
		log->is_broken = true;
		return HD_OK;
	}
	for (uint64_t i = 0; i < size.bits; i++) {
		struct hill_change change;
		uint32_t index = (uint32_t)((start.bits + i) % array->length);
		if (!read_change(reader->members, array, index, &change)) {
			log->is_broken = true;
			return HD_OK;
		}
		TRY_MEMORY(PAGES_RESERVE(log, rows), err);
		log->rows[log->rows_count++] = change;
		if (i % JOB_STRIDE == 0)
			TRY(job_check(reader->job, 0, err));
	}
	return HD_OK;
}

enum hd_status hill_log_read(const struct queue_reader *reader, uint64_t climber,
			     struct hill_log *ret, struct hd_error *err)
{
	struct array_info array;
	*ret = (struct hill_log){ 0 };
	struct member samples = fact_at(reader->members, climber, FACT_HILL_SAMPLES);
	if (samples.state != MEMBER_READ || !open_log(reader, climber, &array))
		return HD_OK;
	ret->is_known = true;
	ret->samples = member_signed(&samples);
	return read_ring(reader, climber, &array, ret, err);
}

enum hd_status pool_hill_log_read(const struct queue_reader *reader, struct hill_log *ret,
				  struct hd_error *err)
{
	return hill_log_read(reader, fact_static(reader->members, FACT_HILL_CLIMBER).bits, ret,
			     err);
}

void hill_change_reason(struct runtime *runtime, const struct hill_change *change, char *buf,
			size_t size)
{
	const struct type *type = change->transition_type;
	if (!type || !enum_name(runtime, type, change->transition, buf, size))
		(void)snprintf(buf, size, "%" PRIu32, change->transition);
}
