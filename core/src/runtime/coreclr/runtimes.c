/* SPDX-License-Identifier: MIT */
/* The runtimes that are looked for in a target. */
#include "runtime/coreclr/internal.h"
#include "runtime/runtime_ops.h"

/* In this order; the first place is for one that tests make up. */
static const struct runtime_ops *runtimes[] = { NULL, &coreclr_ops };

#define RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

void runtime_set_made_up(const struct runtime_ops *ops)
{
	runtimes[0] = ops;
}

/* The message of the last one is told: CoreCLR says what it looked for. */
enum hd_status runtime_open(struct target *target, struct job *job, struct runtime **ret,
			    struct hd_error *err)
{
	enum hd_status status = HD_ERR_UNSUPPORTED;
	for (size_t i = 0; i < RUNTIMES && status == HD_ERR_UNSUPPORTED; i++) {
		if (runtimes[i])
			status = runtimes[i]->open(target, job, ret, err);
	}
	return status;
}

void runtime_destroy(struct runtime *runtime)
{
	if (runtime)
		runtime->ops->close(runtime);
}

const struct runtime_ops *runtime_ops(const struct runtime *runtime)
{
	return runtime->ops;
}
