/* SPDX-License-Identifier: MIT */
#include "runtime.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "com.h"
#include "write_line.h"

#define VERSION_OLDEST 8
#define VERSION_NEWEST 11
#define CORE_CLR       2 /* COR_PRF_CORE_CLR */

#define RELEASE_OF_CONTINUATIONS 11
#define PARENT_OFFSET            16u /* in a MethodTable, whose address a class id is */

/* Numbers of IMetaDataImport's methods. */
#define IMPORT_TYPE_PROPERTIES 12 /* GetTypeDefProps */
#define IMPORT_NESTED_CLASS    62 /* GetNestedClassProps */
#define NESTED_MOST            16u

/* ICorProfilerInfo12: its methods begin with those of the 11 interfaces before it. */
static const struct com_id info_12 = {
	0x27b24ccd, 0x1cb1, 0x47c5, { 0x96, 0xee, 0x98, 0x19, 0x0d, 0xc3, 0x09, 0x59 }
};

/* ICorProfilerInfo14, which .NET 8 has. */
static const struct com_id info_14 = {
	0xf460e352, 0xd76d, 0x4fe9, { 0x83, 0x5f, 0xf6, 0xaf, 0x9d, 0x6e, 0x86, 0x2d }
};

#define INFO_FROZEN 112 /* ICorProfilerInfo14::GetNonGCHeapBounds */

/* Methods of ICorProfilerInfo12, by number in the table. */
enum info_method {
	INFO_OBJECT_CLASS = 3,         /* ICorProfilerInfo::GetClassFromObject */
	INFO_ARRAY_CLASS = 11,         /* IsArrayClass */
	INFO_METADATA = 21,            /* GetModuleMetaData */
	INFO_FORCE_GC = 28,            /* ForceGC */
	INFO_CLASS = 41,               /* ICorProfilerInfo2::GetClassIDInfo2 */
	INFO_DETACH = 58,              /* ICorProfilerInfo3::RequestProfilerDetach */
	INFO_RUNTIME_INFORMATION = 67, /* ICorProfilerInfo3::GetRuntimeInformation */
	INFO_OBJECT_SIZE = 80,         /* ICorProfilerInfo4::GetObjectSize2 */
	INFO_SET_MASK = 82,            /* ICorProfilerInfo5::SetEventMask2 */
	INFO_SUSPEND = 97,             /* ICorProfilerInfo10::SuspendRuntime */
	INFO_RESUME = 98,              /* ResumeRuntime */
	INFO_START_SESSION = 101,      /* ICorProfilerInfo12::EventPipeStartSession */
	INFO_STOP_SESSION = 103,       /* EventPipeStopSession */
	INFO_PROVIDER = 105            /* EventPipeGetProviderInfo */
};

typedef hresult (*runtime_information_fn)(void *self, uint16_t *instance, uint32_t *type,
					  uint16_t *major, uint16_t *minor, uint16_t *build,
					  uint16_t *fix, uint32_t capacity, uint32_t *length,
					  uint16_t *text);

/* A method out of an object's table: data and code pointers have one size (POSIX, dlsym). */
static void method_of(void *object, size_t number, void *ret)
{
	const struct com_object *com = object;
	memcpy(ret, &com->methods[number], sizeof(com->methods[number]));
}

/* The runtime's object, an ICorProfilerInfo12; set before anything else happens. */
static void *info;

/* Its release. */
static unsigned runtime_release;

/* A method of it. */
static void info_method(enum info_method number, void *ret)
{
	method_of(info, number, ret);
}

static bool has_known_version(void)
{
	runtime_information_fn information;
	uint32_t type = 0;
	uint16_t major = 0, minor = 0;
	info_method(INFO_RUNTIME_INFORMATION, &information);
	hresult result = information(info, NULL, &type, &major, &minor, NULL, NULL, 0, NULL, NULL);
	if (result == COM_OK && type == CORE_CLR && major >= VERSION_OLDEST &&
	    major <= VERSION_NEWEST) {
		runtime_release = major;
		return true;
	}
	write_line(
		"this runtime has version %u.%u, and only .NET %d to %d are known: the program runs without "
		"snapshots",
		major, minor, VERSION_OLDEST, VERSION_NEWEST);
	return false;
}

bool runtime_open(void *unknown)
{
	com_query_fn query;
	com_count_fn release;
	if (!unknown || info)
		return false;
	method_of(unknown, UNKNOWN_QUERY, &query);
	if (query(unknown, &info_12, &info) != COM_OK || !info) {
		info = NULL;
		write_line("this runtime is older than .NET 8: the program runs without snapshots");
		return false;
	}
	if (has_known_version())
		return true;
	info_method((enum info_method)UNKNOWN_RELEASE, &release);
	(void)release(info);
	info = NULL;
	return false;
}

bool runtime_is_open(void)
{
	return info;
}

void runtime_forget(void)
{
	info = NULL;
}

hresult runtime_detach(uint32_t milliseconds)
{
	hresult (*detach)(void *self, uint32_t milliseconds);
	info_method(INFO_DETACH, &detach);
	return detach(info, milliseconds);
}

/* The events that we always listen to. */
static atomic_uint always_low, always_high;

hresult runtime_listen(uint32_t low, uint32_t high)
{
	hresult (*set_mask)(void *self, uint32_t low, uint32_t high);
	info_method(INFO_SET_MASK, &set_mask);
	return set_mask(info, low | atomic_load(&always_low), high | atomic_load(&always_high));
}

hresult runtime_listen_always(uint32_t low, uint32_t high)
{
	const uint32_t low_before = atomic_load(&always_low),
		       high_before = atomic_load(&always_high);
	atomic_store(&always_low, low_before | low);
	atomic_store(&always_high, high_before | high);
	hresult result = runtime_listen(0, 0);
	if (result != COM_OK) {
		/* The runtime would refuse each time what it refuses now. */
		atomic_store(&always_low, low_before);
		atomic_store(&always_high, high_before);
	}
	return result;
}

void runtime_listen_no_more(void)
{
	atomic_store(&always_low, 0);
	atomic_store(&always_high, 0);
	(void)runtime_listen(0, 0);
}

bool runtime_suspend(void)
{
	hresult (*suspend)(void *self);
	info_method(INFO_SUSPEND, &suspend);
	return suspend(info) == COM_OK;
}

void runtime_resume(void)
{
	hresult (*resume)(void *self);
	info_method(INFO_RESUME, &resume);
	(void)resume(info);
}

hresult runtime_force_gc(void)
{
	hresult (*force_gc)(void *self);
	info_method(INFO_FORCE_GC, &force_gc);
	return force_gc(info);
}

hresult runtime_start_session(const struct event_provider *provider, uint64_t *ret)
{
	hresult (*start)(void *self, uint32_t count, const struct event_provider *providers,
			 int32_t has_rundown, uint64_t *session);
	info_method(INFO_START_SESSION, &start);
	return start(info, 1, provider, 0, ret);
}

hresult runtime_stop_session(uint64_t session)
{
	hresult (*stop)(void *self, uint64_t session);
	info_method(INFO_STOP_SESSION, &stop);
	return stop(info, session);
}

hresult runtime_provider_name(uintptr_t provider, uint16_t *ret, uint32_t capacity)
{
	hresult (*name)(void *self, uintptr_t provider, uint32_t capacity, uint32_t *length,
			uint16_t *text);
	uint32_t length = 0;
	info_method(INFO_PROVIDER, &name);
	return name(info, provider, capacity, &length, ret);
}

bool runtime_frozen(struct frozen_range *ret, uint32_t capacity, uint32_t *ret_count)
{
	hresult (*bounds)(void *self, uint32_t capacity, uint32_t *count,
			  struct frozen_range *ranges);
	com_query_fn query;
	com_count_fn release;
	void *newer = NULL;
	info_method((enum info_method)UNKNOWN_QUERY, &query);
	if (query(info, &info_14, &newer) != COM_OK || !newer)
		return false;
	method_of(newer, INFO_FROZEN, &bounds);
	*ret_count = 0;
	bool is_known = bounds(newer, capacity, ret_count, ret) == COM_OK;
	method_of(newer, UNKNOWN_RELEASE, &release);
	(void)release(newer);
	return is_known;
}

uintptr_t runtime_object_class(uintptr_t object)
{
	hresult (*object_class)(void *self, uintptr_t object, uintptr_t *type);
	uintptr_t type = 0;
	info_method(INFO_OBJECT_CLASS, &object_class);
	return object_class(info, object, &type) == COM_OK ? type : 0;
}

bool runtime_object_size(uintptr_t object, uint64_t *ret)
{
	hresult (*object_size)(void *self, uintptr_t object, size_t *size);
	size_t size = 0;
	info_method(INFO_OBJECT_SIZE, &object_size);
	hresult result = object_size(info, object, &size);
	*ret = size;
	return result == COM_OK;
}

bool runtime_array(uintptr_t type, struct runtime_array *ret)
{
	hresult (*array_class)(void *self, uintptr_t type, uint32_t *element_type,
			       uintptr_t *element, uint32_t *rank);
	*ret = (struct runtime_array){ 0 };
	info_method(INFO_ARRAY_CLASS, &array_class);
	return array_class(info, type, &ret->element_type, &ret->element, &ret->rank) == COM_OK;
}

static hresult ask_class(uintptr_t type, struct runtime_class *ret)
{
	hresult (*class_info)(void *self, uintptr_t type, uintptr_t *module, uint32_t *token,
			      uintptr_t *parent, uint32_t capacity, uint32_t *count,
			      uintptr_t *arguments);
	uintptr_t parent = 0;
	*ret = (struct runtime_class){ 0 };
	info_method(INFO_CLASS, &class_info);
	hresult result = class_info(info, type, &ret->module, &ret->token, &parent,
				    RUNTIME_ARGUMENTS, &ret->count, ret->arguments);
	if (ret->count > RUNTIME_ARGUMENTS)
		ret->count = RUNTIME_ARGUMENTS;
	return result;
}

bool runtime_class(uintptr_t type, struct runtime_class *ret)
{
	uintptr_t parent = 0;
	hresult result = ask_class(type, ret);
	/* One that the JIT has made (doc/coreclr.md 19): it gets what the runtime's own events say of it. */
	if (result == COM_DATA_INCOMPLETE && runtime_release >= RELEASE_OF_CONTINUATIONS) {
		/* An address of this process. NOLINTNEXTLINE(performance-no-int-to-ptr) */
		memcpy(&parent, (const char *)type + PARENT_OFFSET, sizeof(parent));
	}
	return (parent ? ask_class(parent, ret) : result) == COM_OK;
}

/* The names of a class and of those that it is nested in, with a plus sign in between. */
static bool read_names(void *import, uint32_t token, uint16_t *ret, uint32_t capacity)
{
	hresult (*properties)(void *self, uint32_t token, uint16_t *name, uint32_t capacity,
			      uint32_t *length, uint32_t *flags, uint32_t *base);
	hresult (*nesting)(void *self, uint32_t token, uint32_t *outer);
	uint32_t tokens[NESTED_MOST] = { token }, count = 1, used = 0;
	method_of(import, IMPORT_TYPE_PROPERTIES, &properties);
	method_of(import, IMPORT_NESTED_CLASS, &nesting);
	while (count < NESTED_MOST && nesting(import, tokens[count - 1], &tokens[count]) >= 0 &&
	       tokens[count])
		count++;
	ret[0] = 0;
	while (count-- > 0 && capacity - used > 2) {
		uint32_t length = 0, flags = 0, base = 0;
		if (properties(import, tokens[count], ret + used, capacity - used - 1, &length,
			       &flags, &base) < 0)
			return false;
		ret[capacity - 2] = 0;
		while (ret[used])
			used++;
		if (count)
			ret[used++] = '+';
		ret[used] = 0;
	}
	return used > 0;
}

bool runtime_type_name(uintptr_t module, uint32_t token, uint16_t *ret, uint32_t capacity)
{
	static const struct com_id import_id = {
		0x7dac8207, 0xd3ae, 0x4c75, { 0x9b, 0x67, 0x92, 0x80, 0x1a, 0x49, 0x7d, 0x44 }
	};
	hresult (*metadata)(void *self, uintptr_t module, uint32_t flags, const struct com_id *id,
			    void **ret);
	com_count_fn release;
	void *import = NULL;
	info_method(INFO_METADATA, &metadata);
	if (metadata(info, module, 0, &import_id, &import) != COM_OK || !import)
		return false;
	bool is_named = read_names(import, token, ret, capacity);
	method_of(import, UNKNOWN_RELEASE, &release);
	(void)release(import);
	return is_named;
}
