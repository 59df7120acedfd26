/* SPDX-License-Identifier: MIT */
/* The static fields of any runtime. */
#include "runtime/statics.h"

#include "runtime/runtime_base.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/sort.h"
#include "util/text.h"

enum hd_status static_slots_read(struct runtime *runtime, struct job *job, struct static_slots *ret,
				 struct hd_error *err)
{
	if (runtime->ops->statics)
		return runtime->ops->statics->read(runtime, job, ret, err);
	findings_add(
		&runtime->target->findings, FINDING_STATICS, NULL,
		"where a program with %s has its static fields is not known: objects that only "
		"they hold have no root",
		runtime->ops->name);
	*ret = (struct static_slots){ 0 };
	return HD_OK;
}

enum hd_status static_slots_sort(struct static_slots *slots, struct hd_error *err)
{
	uint32_t count = (uint32_t)slots->rows_count;
	if (!count)
		return HD_OK;
	HD_FREE uint64_t *keys = mem_alloc(count, sizeof(*keys));
	HD_FREE uint32_t *order = mem_alloc(count, sizeof(*order));
	struct static_slot *rows = pages_alloc(count, sizeof(*rows));
	bool good = keys && order && rows;
	for (uint32_t i = 0; good && i < count; i++)
		keys[i] = slots->rows[i].address;
	good = good && sort_keys(keys, order, count);
	uint32_t kept = 0;
	for (uint32_t i = 0; good && i < count; i++) {
		if (kept && rows[kept - 1].address == keys[i]) {
			slots->broken++;
		} else {
			rows[kept++] = slots->rows[order[i]];
		}
	}
	if (!good) {
		pages_free(rows, count, sizeof(*rows));
		return fail_nomem(err);
	}
	pages_free(slots->rows, slots->rows_capacity, sizeof(*rows));
	slots->rows = rows;
	slots->rows_count = kept;
	slots->rows_capacity = count;
	return HD_OK;
}

void static_slots_deinit(struct static_slots *slots)
{
	pages_free(slots->rows, slots->rows_capacity, sizeof(*slots->rows));
	*slots = (struct static_slots){ 0 };
}

const struct static_slot *static_slot_at(const struct static_slots *slots, uint64_t address)
{
	size_t low = ROWS_FROM(slots->rows, slots->rows_count, address, address);
	return low < slots->rows_count && slots->rows[low].address == address ? &slots->rows[low]
									      : NULL;
}

void static_slot_name(struct runtime *runtime, const struct static_slot *slot, struct text *text)
{
	if (runtime->ops->statics && runtime->ops->statics->name)
		runtime->ops->statics->name(runtime, slot, text);
}

bool thread_local_data_read(struct runtime *runtime, const struct runtime_thread *thread,
			    unsigned int index, struct thread_local_data *ret)
{
	return runtime->ops->thread_locals &&
	       runtime->ops->thread_locals(runtime, thread, index, ret);
}
