/* SPDX-License-Identifier: MIT */
/* Fills what a graph tells about the process of its heap. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/coreclr/modules/module.h"
#include "snapshot/snapshot_parts.h"
#include "util/alloc.h"

/* 1970-01-01 in units of 100 ns since 0001-01-01 (DateTime.UnixEpochTicks). */
#define UNIX_EPOCH_TICKS INT64_C(621355968000000000)
#define TICKS_PER_SECOND INT64_C(10000000)
/* Seconds since 1970 of the years 1 to 9999. */
#define SECONDS_MIN (-INT64_C(62135596800) + 86400)
#define SECONDS_MAX (INT64_C(253402300800) - 86400)

#define HOST_NAME_SIZE ((size_t)256)

static uint64_t local_ticks(const struct timespec *time)
{
	int64_t seconds = time->tv_sec;
	struct tm local;
	if ((!seconds && !time->tv_nsec) || seconds < SECONDS_MIN || seconds > SECONDS_MAX ||
	    !localtime_r(&time->tv_sec, &local))
		return 0;
	seconds += local.tm_gmtoff;
	return (uint64_t)(UNIX_EPOCH_TICKS + seconds * TICKS_PER_SECOND + time->tv_nsec / 100);
}

static enum hd_status keep_info_string(struct snapshot *snapshot, const char *string,
				       const char **ret)
{
	HD_CLEANUP(text) struct text text = { 0 };
	text_puts(&text, string);
	enum hd_status status =
		name_table_keep_text(snapshot->graph->arena, &text, ret, snapshot->err);
	return status;
}

/* The name of the process is that of its executable; the kernel keeps 15 bytes of it. */
static enum hd_status keep_process(struct snapshot *snapshot, const struct target *target)
{
	const char *path = target->module_count ? target->modules[0].path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *file = slash ? slash + 1 : path;
	bool is_longer =
		file && target->name[0] && strncmp(file, target->name, strlen(target->name)) == 0;
	return keep_info_string(snapshot, is_longer ? file : target->name,
				&snapshot->graph->info.process);
}

/* The name of the assembly that the program began with; the executable may be dotnet. */
static enum hd_status keep_program(struct snapshot *snapshot)
{
	const struct module *module = module_program(snapshot->heap->runtime);
	if (!module || !module->name || !*module->name)
		return HD_OK;
	return keep_info_string(snapshot, module->name, &snapshot->graph->info.program);
}

/* Milliseconds since the machine's start, in 32 bits, as GetTickCount() tells them. */
static uint64_t machine_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) & UINT32_MAX;
}

/* A process: from when it was opened until now. */
static void keep_times(struct snapshot *snapshot, const struct target *target)
{
	struct graph_domain *domain = snapshot->graph->domains.rows;
	struct timespec now;
	if (target->kind != TARGET_PROCESS || clock_gettime(CLOCK_REALTIME, &now) != 0)
		return;
	domain->end = machine_ms();
	const int64_t since = (now.tv_sec - target->time.tv_sec) * 1000 +
			      (now.tv_nsec - target->time.tv_nsec) / 1000000;
	domain->start = (domain->end - (uint64_t)(since > 0 ? since : 0)) & UINT32_MAX;
	domain->has_start = domain->has_end = true;
}

/* The machine is known for a process that runs on it; a core may come from another machine. */
static enum hd_status keep_machine(struct snapshot *snapshot, const struct target *target)
{
	char name[HOST_NAME_SIZE] = "";
	if (target->kind != TARGET_PROCESS || gethostname(name, sizeof(name) - 1) != 0)
		return HD_OK;
	return keep_info_string(snapshot, name, &snapshot->graph->info.machine);
}

static uint64_t clamp_u64(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static void add_range(struct graph_info *info, uint64_t start, uint64_t end,
		      unsigned int generation)
{
	if (start < end) {
		info->ranges[info->range_count++] = (struct graph_range){ start, end, generation };
	}
}

/* Add the ranges of a segment; frozen segments belong to no generation. */
static void add_ranges(struct graph_info *info, const struct segment *segment)
{
	uint64_t gen1 = clamp_u64(segment->gen1_begin, segment->begin, segment->end);
	uint64_t gen0 = clamp_u64(segment->gen0_begin, gen1, segment->end);
	switch (segment->generation) {
	case GENERATION_0:
	case GENERATION_1:
	case GENERATION_2:
	case GENERATION_LOH:
	case GENERATION_POH:
		add_range(info, segment->begin, segment->end, segment->generation);
		break;
	case GENERATION_EPHEMERAL:
		add_range(info, segment->begin, gen1, 2);
		add_range(info, gen1, gen0, 1);
		add_range(info, gen0, segment->end, 0);
		break;
	default:
		break;
	}
}

static enum hd_status make_info_ranges(struct snapshot *snapshot)
{
	const struct heap *heap = snapshot->heap;
	struct graph_info *info = &snapshot->graph->info;
	size_t most = heap->segment_count * 3;
	info->ranges = pages_alloc(most, sizeof(*info->ranges));
	TRY_MEMORY(info->ranges, snapshot->err);
	for (size_t i = 0; i < heap->segment_count; i++)
		add_ranges(info, &heap->segments[i]);
	/* The graph frees as many as there are. */
	struct graph_range *ranges =
		pages_resize(info->ranges, most, info->range_count, sizeof(*info->ranges));
	if (!ranges) {
		pages_free(info->ranges, most, sizeof(*info->ranges));
		*info = (struct graph_info){ 0 };
		return fail_nomem(snapshot->err);
	}
	info->ranges = ranges;
	return HD_OK;
}

enum hd_status snapshot_info(struct snapshot *snapshot)
{
	const struct target *target = heap_target(snapshot->heap);
	struct graph_info *info = &snapshot->graph->info;
	TRY(make_info_ranges(snapshot));
	info->pid = target->pid > 0 ? (uint64_t)target->pid : 0;
	info->time = local_ticks(&target->time);
	info->is_32bit = !target->is_64;
	keep_times(snapshot, target);
	TRY(keep_process(snapshot, target));
	TRY(keep_program(snapshot));
	return keep_machine(snapshot, target);
}
