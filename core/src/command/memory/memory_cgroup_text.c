/* SPDX-License-Identifier: MIT */
/* The memory of a process's cgroup: limit, use, events, pressure. */
#include "command/memory/memory_cgroup_text.h"

#include <inttypes.h>
#include <string.h>

#include "util/text.h"

enum group_column {
	GROUP_VERSION,
	GROUP_PATH,
	GROUP_LIMIT,
	GROUP_LIMIT_OF,
	GROUP_LEFT,
	GROUP_LEFT_BY,
	GROUP_IS_SHORT,
	GROUP_NUMBER, /**< one for each cgroup_number */
	GROUP_IS_MACHINE = GROUP_NUMBER + CGROUP_NUMBERS,
	GROUP_SOME,
	GROUP_FULL = GROUP_SOME + 3,
	GROUP_COLUMNS = GROUP_FULL + 3
};

/* A number that the kernel may not tell. */
#define NUMBER_COLUMN(number, name, kind, help) \
	[GROUP_NUMBER + (number)] = { name, NULL, kind, 0, 0, help }
#define PRESSURE_COLUMN(at, name, help) [at] = { "pressure." name, NULL, KIND_REAL, 0, 0, help }

static const struct column group_columns[GROUP_COLUMNS] = {
	[GROUP_VERSION] = { "version", NULL, KIND_NUMBER, 0, 0, "of the kernel's cgroups: 1 or 2" },
	[GROUP_PATH] = { "path", NULL, KIND_TEXT, 0, 0, "its name, as /proc/PID/cgroup has it" },
	[GROUP_LIMIT] = { "limit", NULL, KIND_BYTES, 0, 0,
			  "the least limit of it and of those above it; null: none" },
	[GROUP_LIMIT_OF] = { "limit_of", NULL, KIND_TEXT, 0, 0, "the cgroup that has it" },
	[GROUP_LEFT] = { "left", NULL, KIND_BYTES, 0, 0,
			 "what the limits still allow; what the kernel can drop counts as free" },
	[GROUP_LEFT_BY] = { "left_by", NULL, KIND_TEXT, 0, 0,
			    "the cgroup whose limit leaves so little: that, or one above it" },
	[GROUP_IS_SHORT] = { "is_short", NULL, KIND_FLAG, 0, 0,
			     "is a limit nearly met, or do tasks wait for memory?" },
	NUMBER_COLUMN(CGROUP_CURRENT, "current", KIND_BYTES, "what it has, with its page cache"),
	NUMBER_COLUMN(CGROUP_PEAK, "peak", KIND_BYTES, "the most that it had"),
	NUMBER_COLUMN(CGROUP_SWAP, "swap", KIND_BYTES, "its bytes in the swap space"),
	NUMBER_COLUMN(CGROUP_ANON, "anon", KIND_BYTES, "of current: memory of no file"),
	NUMBER_COLUMN(CGROUP_FILE, "file", KIND_BYTES,
		      "of current: pages of files, memory files too"),
	NUMBER_COLUMN(CGROUP_SHMEM, "shmem", KIND_BYTES, "of file: memory files"),
	NUMBER_COLUMN(CGROUP_KERNEL, "kernel", KIND_BYTES, "of current: what the kernel has"),
	NUMBER_COLUMN(CGROUP_DROPPABLE, "inactive_file", KIND_BYTES,
		      "of file: what the kernel can drop first"),
	NUMBER_COLUMN(CGROUP_HIGH, "high", KIND_NUMBER,
		      "how often it was slowed down (memory.high)"),
	NUMBER_COLUMN(CGROUP_MAX, "max", KIND_NUMBER, "how often it was at its limit"),
	NUMBER_COLUMN(CGROUP_OOM, "oom", KIND_NUMBER, "how often nothing could be dropped then"),
	NUMBER_COLUMN(CGROUP_KILLED, "oom_kill", KIND_NUMBER, "processes killed for that"),
	[GROUP_IS_MACHINE] = { "pressure.of_machine", NULL, KIND_FLAG, 0, LOOK_WHOLE,
			       "is it that of the whole machine? version 1 has no other" },
	PRESSURE_COLUMN(GROUP_SOME, "some_10",
			"percentage of the last 10 s in which a task waited for memory"),
	PRESSURE_COLUMN(GROUP_SOME + 1, "some_60", "the same of the last 60 s"),
	PRESSURE_COLUMN(GROUP_SOME + 2, "some_300", "the same of the last 300 s"),
	PRESSURE_COLUMN(GROUP_FULL, "full_10", "in which all tasks did"),
	PRESSURE_COLUMN(GROUP_FULL + 1, "full_60", "the same of the last 60 s"),
	PRESSURE_COLUMN(GROUP_FULL + 2, "full_300", "the same of the last 300 s"),
};

#define INDENT "         "

/* "anonymous 700 MB, files 100 MB, ..." */
static void write_parts(struct out *out, const struct cell *cells)
{
	static const struct {
		enum cgroup_number number;
		const char *name;
	} parts[] = {
		{ CGROUP_ANON, "anonymous" },     { CGROUP_FILE, "files" },
		{ CGROUP_SHMEM, "memory files" }, { CGROUP_KERNEL, "kernel" },
		{ CGROUP_SWAP, "swapped" },
	};
	const char *before = INDENT;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct cell *cell = &cells[GROUP_NUMBER + parts[i].number];
		char size[32];
		if (!cell->is_there)
			continue;
		out_printf(out, "%s%s%s %s", before,
			   parts[i].number == CGROUP_SHMEM ? "of them " : "", parts[i].name,
			   format_bytes(cell->number, size));
		before = ", ";
	}
	if (before[0] == ',')
		out_puts(out, "\n");
}

static void write_events(struct out *out, const struct cell *cells)
{
	static const struct {
		enum cgroup_number number;
		const char *one, *many, *after;
	} events[] = {
		{ CGROUP_HIGH, "time", "times", "slowed down (memory.high)" },
		{ CGROUP_MAX, "time", "times", "at its limit" },
		{ CGROUP_OOM, "time", "times", "out of memory" },
		{ CGROUP_KILLED, "process", "processes", "killed for it" },
	};
	const char *before = INDENT;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const struct cell *cell = &cells[GROUP_NUMBER + events[i].number];
		if (!cell->is_there)
			continue;
		out_printf(out, "%s%" PRIu64 " %s %s", before, cell->number,
			   cell->number == 1 ? events[i].one : events[i].many, events[i].after);
		before = ", ";
	}
	if (before[0] == ',')
		out_puts(out, "\n");
}

static void write_averages(struct out *out, const struct cell *cells)
{
	out_printf(out, "%.2f %%, %.2f %% and %.2f %%", cells[0].real, cells[1].real,
		   cells[2].real);
}

static void write_pressure(struct out *out, const struct cell *cells)
{
	if (!cells[GROUP_SOME].is_there)
		return;
	out_puts(out, cells[GROUP_IS_MACHINE].flag ? INDENT "on this machine some task waited for "
						   : INDENT "some task waited for ");
	write_averages(out, cells + GROUP_SOME);
	out_puts(out, " of the last 10, 60 and 300 s");
	if (cells[GROUP_FULL].is_there) {
		out_puts(out, "\n" INDENT "all of them for ");
		write_averages(out, cells + GROUP_FULL);
	}
	out_puts(out, "\n");
}

/* A path has any bytes but NUL and the end of a line. */
static void write_path(struct out *out, const struct cell *path)
{
	text_escape(&out->text, path->text.bytes, path->text.size);
}

static bool is_of_another(const struct cell *cells, enum group_column column)
{
	const struct cell *path = &cells[column], *own = &cells[GROUP_PATH];
	return path->is_there && (path->text.size != own->text.size ||
				  memcmp(path->text.bytes, own->text.bytes, own->text.size) != 0);
}

/* The limit of a cgroup above may be the larger one, and be nearly met because of others. */
static void write_left(struct out *out, const struct cell *cells)
{
	char size[32];
	if (!cells[GROUP_LEFT].is_there)
		return;
	out_printf(out, INDENT "%s left", format_bytes(cells[GROUP_LEFT].number, size));
	if (is_of_another(cells, GROUP_LEFT_BY)) {
		out_puts(out, " by the limit of ");
		write_path(out, &cells[GROUP_LEFT_BY]);
	}
	out_puts(out, ", with what the kernel can drop\n");
}

static void group_layout(struct out *out, const struct cell *cells)
{
	const struct cell *limit = &cells[GROUP_LIMIT];
	const struct cell *current = &cells[GROUP_NUMBER + CGROUP_CURRENT];
	const struct cell *peak = &cells[GROUP_NUMBER + CGROUP_PEAK];
	char size[32];
	out_printf(out, "Cgroup:  %s",
		   current->is_there ? format_bytes(current->number, size)
				     : "its use is not known");
	if (limit->is_there) {
		out_printf(out, "%s%s", current->is_there ? " of " : ", its limit is ",
			   format_bytes(limit->number, size));
	} else {
		out_puts(out, ", without a limit");
	}
	if (peak->is_there)
		out_printf(out, ", at most %s so far", format_bytes(peak->number, size));
	out_puts(out, " (");
	write_path(out, &cells[GROUP_PATH]);
	if (is_of_another(cells, GROUP_LIMIT_OF)) {
		out_puts(out, "; the limit is that of ");
		write_path(out, &cells[GROUP_LIMIT_OF]);
	}
	out_puts(out, ")\n");
	write_left(out, cells);
	write_parts(out, cells);
	write_events(out, cells);
	write_pressure(out, cells);
	out_puts(out, "\n");
}

SCHEMA(group, .name = "cgroup", .layout = group_layout);

static void pressure_cells(const struct cgroup_pressure *pressure, struct cell *cells)
{
	for (size_t i = 0; pressure->is_known && i < 3; i++)
		cells[i] = cell_real(pressure->average[i] / 100.0);
}

void memory_write_cgroup(struct call *call, const struct cgroup_memory *group)
{
	struct cell cells[GROUP_COLUMNS] = {
		[GROUP_VERSION] = cell_number(group->version),
		[GROUP_PATH] = cell_string(group->path),
		[GROUP_IS_SHORT] = cell_flag(group->is_tight),
	};
	if (group->limit != UINT64_MAX) {
		cells[GROUP_LIMIT] = cell_number(group->limit);
		cells[GROUP_LIMIT_OF] = cell_string(group->limit_path);
	}
	if (group->tight.path) {
		cells[GROUP_LEFT] = cell_number(group->tight.left);
		cells[GROUP_LEFT_BY] = cell_string(group->tight.path);
	}
	for (unsigned int i = 0; i < CGROUP_NUMBERS; i++) {
		uint64_t number;
		if (cgroup_number(group, (enum cgroup_number)i, &number))
			cells[GROUP_NUMBER + i] = cell_number(number);
	}
	if (group->some.is_known || group->full.is_known)
		cells[GROUP_IS_MACHINE] = cell_flag(group->is_machine);
	pressure_cells(&group->some, cells + GROUP_SOME);
	pressure_cells(&group->full, cells + GROUP_FULL);
	answer_record(&call->answer, &group_schema, cells);
}
