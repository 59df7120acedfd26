/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <heapdump/error.h>

#include "callbacks.h"
#include "spared_signal.h"

/* The class of the profiler: what CORECLR_PROFILER names. */
static const struct com_id own_class = {
	0x8f1d9a52, 0x6c3e, 0x4b7a, { 0x9d, 0x04, 0x5e, 0x2b, 0x7c, 0x61, 0xa8, 0xf3 }
};

static const struct com_id unknown_id = {
	0x00000000, 0x0000, 0x0000, { 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46 }
};
static const struct com_id class_factory_id = {
	0x00000001, 0x0000, 0x0000, { 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46 }
};

/* IClassFactory. */
struct factory_table {
	com_query_fn query;
	com_count_fn add_ref, release;
	hresult (*create_instance)(void *self, void *outer, const struct com_id *id, void **ret);
	hresult (*lock_server)(void *self, int32_t is_locked);
};

static hresult query_factory(void *self, const struct com_id *id, void **ret)
{
	if (!ret || !id)
		return COM_POINTER;
	bool is_ours = memcmp(id, &unknown_id, sizeof(*id)) == 0 ||
		       memcmp(id, &class_factory_id, sizeof(*id)) == 0;
	*ret = is_ours ? self : NULL;
	return is_ours ? COM_OK : COM_NO_INTERFACE;
}

static uint32_t count_factory_users(void *self)
{
	(void)self;
	return 1;
}

static hresult create_instance(void *self, void *outer, const struct com_id *id, void **ret)
{
	(void)self;
	if (!ret)
		return COM_POINTER;
	*ret = NULL;
	return outer ? COM_NO_AGGREGATION : callbacks_query(callbacks_object(), id, ret);
}

static hresult lock_server(void *self, int32_t is_locked)
{
	(void)self;
	(void)is_locked;
	return COM_OK;
}

static const struct factory_table factory_table = {
	.query = query_factory,
	.add_ref = count_factory_users,
	.release = count_factory_users,
	.create_instance = create_instance,
	.lock_server = lock_server,
};

static struct {
	const struct factory_table *table;
} factory = { &factory_table };

/* NOLINTBEGIN(readability-identifier-naming): what the runtime looks up in the library of a profiler */
HD_API hresult DllGetClassObject(const struct com_id *class_id, const struct com_id *id,
				 void **ret);
HD_API hresult DllCanUnloadNow(void);

HD_API hresult DllGetClassObject(const struct com_id *class_id, const struct com_id *id, void **ret)
{
	if (!ret || !class_id)
		return COM_POINTER;
	*ret = NULL;
	if (memcmp(class_id, &own_class, sizeof(*class_id)) != 0) {
		/* CORECLR_PROFILER is wrong, and nothing else of this library will be called. */
		spare_signals(0);
		return COM_NO_CLASS;
	}
	return query_factory(&factory, id, ret);
}

HD_API hresult DllCanUnloadNow(void)
{
	return COM_FALSE;
}
/* NOLINTEND(readability-identifier-naming) */
