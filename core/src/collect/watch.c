/* SPDX-License-Identifier: MIT */
#include "collect/watch.h"

#include <dirent.h>
#include <stdio.h>

#include "collect/discover.h"
#include "targets/process/proc.h"
#include "util/opening.h"

#define WATCH_LOOK_MS 250u  /* between two looks */
#define STOPPED_MS    1000u /* a debugger may stop it for a moment */
#define WORK_TICKS    5u    /* processor time that counts as work; timers take less */

struct watch watch_of(int pid, uint64_t now)
{
	struct watch watch = { .pid = pid, .began = now, .last_work = now };
	struct process_stat stat;
	if (pid && process_stat_read(pid, &stat))
		watch.cpu_time = stat.cpu_time;
	return watch;
}

/* Does one of its threads run, or wait for a processor?  Other programs may use all of them. */
static bool wants_processor(int pid)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = open_system_folder(path);
	bool wants = false;
	const struct dirent *entry;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own */
	while (tasks && !wants && (entry = readdir(tasks))) {
		struct text text = { 0 };
		struct process_stat stat;
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "task/%.20s/stat", entry->d_name);
		wants = proc_read_file(pid, path, &text) && text.bytes &&
			process_stat_parse(text.bytes, &stat) &&
			(stat.state == 'R' || stat.state == 'D');
		text_deinit(&text);
	}
	if (tasks)
		(void)closedir(tasks);
	return wants;
}

void watch_look(struct watch *watch, uint64_t now)
{
	struct process_stat stat;
	if (now < watch->next_look || !watch->pid || !process_stat_read(watch->pid, &stat))
		return;
	watch->next_look = now + WATCH_LOOK_MS;
	if (stat.state != 'T' && stat.state != 't') {
		watch->stopped_since = 0;
	} else if (!watch->stopped_since) {
		watch->stopped_since = now;
	}
	watch->is_stopped = watch->stopped_since && now >= watch->stopped_since + STOPPED_MS;
	if (stat.cpu_time >= watch->cpu_time + WORK_TICKS || wants_processor(watch->pid)) {
		watch->last_work = now;
		watch->cpu_time = stat.cpu_time;
	}
}

uint64_t watch_idle(const struct watch *watch, uint64_t now)
{
	return watch->pid && now > watch->last_work ? now - watch->last_work : 0;
}
