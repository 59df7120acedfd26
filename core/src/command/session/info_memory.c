/* SPDX-License-Identifier: MIT */
/* Writes info's two lines about all memory of a process or a core. */
#include <stdlib.h>

#include "command/session/info.h"
#include "native/memory_account.h"
#include "targets/target.h"

enum memory_column {
	MEMORY_RESIDENT,
	MEMORY_PSS,
	MEMORY_SWAP,
	MEMORY_IN_CORE,
	MEMORY_PARTS, /**< one for each group but the last, which is native, too */
	MEMORY_COLUMNS = MEMORY_PARTS + MEMORY_GROUPS
};

#define PART_COLUMN(group, name, help) \
	[MEMORY_PARTS + (group)] = { "memory." name, NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT, help }

static const struct column memory_columns[MEMORY_COLUMNS] = {
	[MEMORY_RESIDENT] = { "memory.resident", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,
			      "a process: its bytes in memory (Rss)" },
	[MEMORY_PSS] = { "memory.pss", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,
			 "the same, shared pages divided by the number of sharers" },
	[MEMORY_SWAP] = { "memory.swap", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,
			  "its bytes in the swap space" },
	[MEMORY_IN_CORE] = { "memory.in_core", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,
			     "a core: bytes of memory in its file" },
	PART_COLUMN(MEMORY_GROUP_GC, "gc", "of these, what the GC has"),
	PART_COLUMN(MEMORY_GROUP_RUNTIME, "runtime", "code and what the runtime has loaded"),
	PART_COLUMN(MEMORY_GROUP_NATIVE, "native", "malloc, and what else has no owner here"),
	PART_COLUMN(MEMORY_GROUP_STACKS, "stacks", "stacks of threads"),
	PART_COLUMN(MEMORY_GROUP_IMAGES, "images", "native libraries and managed assemblies"),
	PART_COLUMN(MEMORY_GROUP_FILES, "files", "other mapped files, shared memory"),
	PART_COLUMN(MEMORY_GROUP_OTHER, "reserved", "a core: zeros for addresses only reserved"),
};

static const char *const part_names[MEMORY_GROUPS] = {
	[MEMORY_GROUP_GC] = "GC heap",          [MEMORY_GROUP_RUNTIME] = "runtime",
	[MEMORY_GROUP_NATIVE] = "native",       [MEMORY_GROUP_STACKS] = "stacks",
	[MEMORY_GROUP_IMAGES] = "images",       [MEMORY_GROUP_FILES] = "files",
	[MEMORY_GROUP_OTHER] = "only reserved",
};

static void part_list(struct out *out, const struct cell *cells)
{
	bool is_written[MEMORY_GROUPS] = { 0 };
	const char *before = INFO_BLANK;
	for (unsigned int i = 0; i < MEMORY_GROUPS; i++) {
		unsigned int best = MEMORY_GROUPS;
		char size[32];
		for (unsigned int j = 0; j < MEMORY_GROUPS; j++) {
			uint64_t bytes = cells[MEMORY_PARTS + j].number;
			if (!is_written[j] && bytes &&
			    (best == MEMORY_GROUPS || bytes > cells[MEMORY_PARTS + best].number))
				best = j;
		}
		if (best == MEMORY_GROUPS)
			break;
		is_written[best] = true;
		out_printf(out, "%s%s %s", before, part_names[best],
			   format_bytes(cells[MEMORY_PARTS + best].number, size));
		before = ", ";
	}
	if (before[0] == ',')
		out_puts(out, "\n");
}

static void memory_layout(struct out *out, const struct cell *cells)
{
	char size[32], pss[32], swap[32];
	if (cells[MEMORY_RESIDENT].is_there) {
		out_printf(out, "Memory:      %s in memory (Rss; Pss %s), %s swapped\n",
			   format_bytes(cells[MEMORY_RESIDENT].number, size),
			   format_bytes(cells[MEMORY_PSS].number, pss),
			   format_bytes(cells[MEMORY_SWAP].number, swap));
	} else {
		out_printf(out, "Memory:      %s in the core\n",
			   format_bytes(cells[MEMORY_IN_CORE].number, size));
	}
	part_list(out, cells);
}

static uint64_t not_negative(int64_t bytes)
{
	return bytes > 0 ? (uint64_t)bytes : 0;
}

/* All of a group; what nobody claimed is native, too, but what is only reserved is apart. */
static struct memory_bytes part_bytes(const struct memory_account *account, enum memory_group group)
{
	struct memory_bytes reserved = memory_account_of_kind(account, MEMORY_RESERVED);
	struct memory_bytes sum = memory_account_of_group(account, group);
	if (group == MEMORY_GROUP_OTHER)
		return reserved;
	if (group == MEMORY_GROUP_NATIVE) {
		struct memory_bytes others = memory_account_of_group(account, MEMORY_GROUP_OTHER);
		memory_bytes_add(&sum, &others);
		sum.resident -= reserved.resident;
		sum.captured -= reserved.captured;
	}
	return sum;
}

static void write_outline(struct call *call, const struct memory_account *account)
{
	static const struct schema schema = { SCHEMA_COLUMNS(memory_columns),
					      .layout = memory_layout };
	struct cell cells[MEMORY_COLUMNS] = { 0 };
	if (account->is_live) {
		cells[MEMORY_RESIDENT] = cell_number(not_negative(account->total.resident));
		cells[MEMORY_PSS] = cell_number(not_negative(account->total.pss));
		cells[MEMORY_SWAP] = cell_number(not_negative(account->total.swap));
	} else {
		cells[MEMORY_IN_CORE] = cell_number(account->total.captured);
	}
	for (enum memory_group group = 0; group < MEMORY_GROUPS; group++) {
		struct memory_bytes bytes = part_bytes(account, group);
		cells[MEMORY_PARTS + group] = cell_number(
			account->is_live ? not_negative(bytes.resident) : bytes.captured);
	}
	answer_record(&call->answer, &schema, cells);
}

enum hd_status info_memory(struct call *call)
{
	HD_CLEANUP(memory_account) struct memory_account *account = NULL;
	struct hd_error err = { 0 };
	enum hd_status status = memory_outline_create(call->session->target, call->heap, &call->job,
						      &account, &err);
	if (status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED) {
		*call->err = err;
		return status;
	}
	/* It is not known what a process had that has ended, or is read by a debugger. */
	if (status != HD_OK)
		return HD_OK;
	write_outline(call, account);
	return HD_OK;
}
