/* SPDX-License-Identifier: MIT */
#include "callbacks.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "events_way.h"
#include "gc_watch.h"
#include "inside.h"
#include "own_socket.h"
#include "runtime.h"
#include "settings.h"
#include "spared_signal.h"
#include "trigger.h"
#include "walk_way.h"
#include "write_line.h"

/* A method of any type. */
typedef void (*method_fn)(void);

/* Methods that are not ignored, by number in the table (doc/coreclr.md 19). */
enum callback_method {
	CALLBACK_INITIALIZE = 3,
	CALLBACK_SHUTDOWN = 4,
	CALLBACK_DOMAIN_STARTED = 5,         /* AppDomainCreationStarted */
	CALLBACK_OBJECT_REFERENCES = 52,     /* ObjectReferences */
	CALLBACK_EXCEPTION_THROWN = 54,      /* ExceptionThrown */
	CALLBACK_EXCEPTION_SEARCH = 55,      /* ExceptionSearchFunctionEnter */
	CALLBACK_GC_STARTED = 73,            /* GarbageCollectionStarted */
	CALLBACK_GC_FINISHED = 75,           /* GarbageCollectionFinished */
	CALLBACK_ROOT_REFERENCES = 77,       /* RootReferences2 */
	CALLBACK_INITIALIZE_FOR_ATTACH = 80, /* InitializeForAttach */
	CALLBACK_ATTACHED = 81,              /* ProfilerAttachComplete */
	CALLBACK_DETACHED = 82,              /* ProfilerDetachSucceeded */
	CALLBACK_DEPENDENTS = 89,            /* ConditionalWeakTableElementReferences */
	CALLBACK_EVENT_DELIVERED = 95,       /* EventPipeEventDelivered */
	CALLBACK_NOTIFICATION_ONLY = 97,     /* LoadAsNotificationOnly */
	CALLBACK_METHODS = 98
};

#define GC_INDUCED 1 /* COR_PRF_GC_INDUCED */

/* The class that class_factory.c makes, as variables name it. */
#define OWN_CLASS_TEXT "{8F1D9A52-6C3E-4B7A-9D04-5E2B7C61A8F3}"

/* IUnknown, and ICorProfilerCallback to ICorProfilerCallback11. */
static const struct com_id callback_ids[] = {
	{ 0x00000000, 0x0000, 0x0000, { 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46 } },
	{ 0x176fbed1, 0xa55c, 0x4796, { 0x98, 0xca, 0xa9, 0xda, 0x0e, 0xf8, 0x83, 0xe7 } },
	{ 0x8a8cc829, 0xccf2, 0x49fe, { 0xbb, 0xae, 0x0f, 0x02, 0x22, 0x28, 0x07, 0x1a } },
	{ 0x4fd2ed52, 0x7731, 0x4b8d, { 0x94, 0x69, 0x03, 0xd2, 0xcc, 0x30, 0x86, 0xc5 } },
	{ 0x7b63b2e3, 0x107d, 0x4d48, { 0xb2, 0xf6, 0xf6, 0x1e, 0x22, 0x94, 0x70, 0xd2 } },
	{ 0x8dfba405, 0x8c9f, 0x45f8, { 0xbf, 0xfa, 0x83, 0xb1, 0x4c, 0xef, 0x78, 0xb5 } },
	{ 0xfc13df4b, 0x4448, 0x4f4f, { 0x95, 0x0c, 0xba, 0x8d, 0x19, 0xd0, 0x0c, 0x36 } },
	{ 0xf76a2dba, 0x1d52, 0x4539, { 0x86, 0x6c, 0x2a, 0xa5, 0x18, 0xf9, 0xef, 0xc3 } },
	{ 0x5bed9b15, 0xc079, 0x4d47, { 0xbf, 0xe2, 0x21, 0x5a, 0x14, 0x0c, 0x07, 0xe0 } },
	{ 0x27583ec3, 0xc8f5, 0x482f, { 0x80, 0x52, 0x19, 0x4b, 0x8c, 0xe4, 0x70, 0x5a } },
	{ 0xcec5b60e, 0xc69c, 0x495f, { 0x87, 0xf6, 0x84, 0xd2, 0x8e, 0xe1, 0x6f, 0xfb } },
	{ 0x42350846, 0xaaed, 0x47f7, { 0xb1, 0x28, 0xfd, 0x0c, 0x98, 0x88, 0x1c, 0xde } },
};

hresult callbacks_query(void *self, const struct com_id *id, void **ret)
{
	if (!ret || !id)
		return COM_POINTER;
	*ret = NULL;
	for (size_t i = 0; i < sizeof(callback_ids) / sizeof(callback_ids[0]); i++) {
		if (memcmp(id, &callback_ids[i], sizeof(*id)) == 0) {
			*ret = self;
			return COM_OK;
		}
	}
	return COM_NO_INTERFACE;
}

/* The object lives as long as the library. */
static uint32_t count_callback_users(void *self)
{
	(void)self;
	return 1;
}

/* Ask for what must be told all the time; without a trigger that needs it, that is nothing. */
static void listen_always(const struct when *when)
{
	bool has_watch = when->heap_bytes || when->growth;
	if (when->at_oom && runtime_listen_always(LISTEN_EXCEPTIONS, 0) != COM_OK)
		write_line("the runtime does not tell about exceptions: they will not be seen");
	if (has_watch && (runtime_listen_always(0, LISTEN_EVENTS_HIGH) != COM_OK ||
			  !gc_watch_begin(when->heap_bytes)))
		write_line("the runtime does not tell about collections: they will not be seen");
}

/* Begin to wait for what leads to a snapshot; false: something is missing. */
static bool begin_work(const struct settings *settings)
{
	own_socket_find();
	listen_always(&settings->when);
	if (walk_way_prepare(settings) && trigger_start(settings))
		return true;
	/* The runtime lets the library go. */
	gc_watch_pause();
	runtime_listen_no_more();
	runtime_forget();
	return false;
}

/* Anything but COM_OK here means that the program runs without us; this one is not an error to report. */
static hresult on_initialize(void *self, void *unknown)
{
	struct settings settings;
	int number;
	(void)self;
	bool works =
		settings_read(&settings, &number) && runtime_open(unknown) && begin_work(&settings);
	/* Whoever sends it wants a snapshot, and not the end of the program. */
	spare_signals(number);
	return works ? COM_OK : COM_CANCEL_ACTIVATION;
}

static hresult on_attach(void *self, void *unknown, void *data, uint32_t size)
{
	(void)self;
	return inside_prepare(unknown, data, size);
}

static hresult on_attached(void *self)
{
	(void)self;
	inside_begin();
	return COM_OK;
}

static hresult on_detached(void *self)
{
	(void)self;
	inside_forget();
	return COM_OK;
}

static hresult on_shutdown(void *self)
{
	(void)self;
	trigger_finish();
	inside_finish();
	return COM_OK;
}

static hresult ignore(void *self)
{
	(void)self;
	return COM_OK;
}

static hresult on_domain_started(void *self, uintptr_t domain)
{
	(void)self;
	(void)domain;
	walk_way_prepared();
	return COM_OK;
}

static hresult on_object_references(void *self, uintptr_t object, uintptr_t type, uint32_t count,
				    const uintptr_t *targets)
{
	(void)self;
	return walk_way_object(object, type, count, targets) ? COM_OK : COM_FAIL;
}

static hresult on_exception_thrown(void *self, uintptr_t object)
{
	(void)self;
	trigger_thrown(object);
	return COM_OK;
}

static hresult on_exception_search(void *self, uintptr_t function)
{
	(void)self;
	(void)function;
	trigger_searched();
	return COM_OK;
}

static hresult on_gc_started(void *self, int32_t count, const int32_t *is_collected, int32_t reason)
{
	(void)self;
	walk_way_started(count > 0 ? (size_t)count : 0, is_collected, reason == GC_INDUCED);
	return COM_OK;
}

static hresult on_gc_finished(void *self)
{
	(void)self;
	walk_way_finished();
	return COM_OK;
}

static hresult on_root_references(void *self, uint32_t count, const uintptr_t *objects,
				  const uint32_t *kinds, const uint32_t *flags,
				  const uintptr_t *ids)
{
	const struct walk_roots roots = { count, objects, kinds, flags, ids };
	(void)self;
	walk_way_roots(&roots);
	return COM_OK;
}

static hresult on_dependents(void *self, uint32_t count, const uintptr_t *keys,
			     const uintptr_t *values, const uintptr_t *ids)
{
	(void)self;
	walk_way_dependents(count, keys, values, ids);
	return COM_OK;
}

/*
 * The runtime passes 13 arguments, which are taken one after the other: for integers and pointers it makes no
 * difference on Linux whether the called function is a variadic one.
 */
static hresult on_event(void *self, uintptr_t provider, ...)
{
	struct delivered event = { .provider = provider };
	va_list args;
	(void)self;
	va_start(args, provider);
	event.id = va_arg(args, uint32_t);
	event.version = va_arg(args, uint32_t);
	event.metadata_size = va_arg(args, uint32_t);
	event.metadata = va_arg(args, const uint8_t *);
	event.size = va_arg(args, uint32_t);
	event.payload = va_arg(args, const uint8_t *);
	va_end(args); /* activities, thread and frames come then */
	events_way_deliver(&event);
	return COM_OK;
}

/* Is this the thread that serves the runtime's socket?  By it, a library that another process sends is loaded. */
static bool is_sent(void)
{
	static const char prefix[] = ".NET ";
	char name[16] = "";
	return prctl(PR_GET_NAME, name) == 0 && strncmp(name, prefix, sizeof(prefix) - 1) == 0;
}

/* Is it this library that CORECLR_NOTIFICATION_PROFILERS names, as PATH={CLSID};...? */
static bool is_listener(void)
{
	/* A profiler of the start is asked before the program runs. */
	/* NOLINTBEGIN(concurrency-mt-unsafe) */
	const char *is_on = getenv("CORECLR_ENABLE_NOTIFICATION_PROFILERS");
	const char *names = getenv("CORECLR_NOTIFICATION_PROFILERS");
	/* NOLINTEND(concurrency-mt-unsafe) */
	return is_on && strcmp(is_on, "1") == 0 && names && strcasestr(names, OWN_CLASS_TEXT);
}

/* A profiler that only listens leaves room for another one; but then it cannot watch collections. */
static hresult on_notification_only(void *self, int32_t *ret)
{
	(void)self;
	if (!ret)
		return COM_POINTER;
	*ret = is_sent() || is_listener();
	return COM_OK;
}

/*
 * Everything that the runtime may call.  Without a mask of events it calls only Initialize and Shutdown.  Arguments
 * that an ignored method does not look at are the caller's to remove (System V ABI).
 */
static method_fn callback_table[CALLBACK_METHODS];

static struct {
	const method_fn *table;
} callbacks = { callback_table };

static void fill_table(void)
{
	for (size_t i = 0; i < CALLBACK_METHODS; i++)
		callback_table[i] = (method_fn)ignore;
	callback_table[UNKNOWN_QUERY] = (method_fn)callbacks_query;
	callback_table[UNKNOWN_ADD_REF] = (method_fn)count_callback_users;
	callback_table[UNKNOWN_RELEASE] = (method_fn)count_callback_users;
	callback_table[CALLBACK_INITIALIZE] = (method_fn)on_initialize;
	callback_table[CALLBACK_SHUTDOWN] = (method_fn)on_shutdown;
	callback_table[CALLBACK_DOMAIN_STARTED] = (method_fn)on_domain_started;
	callback_table[CALLBACK_OBJECT_REFERENCES] = (method_fn)on_object_references;
	callback_table[CALLBACK_EXCEPTION_THROWN] = (method_fn)on_exception_thrown;
	callback_table[CALLBACK_EXCEPTION_SEARCH] = (method_fn)on_exception_search;
	callback_table[CALLBACK_GC_STARTED] = (method_fn)on_gc_started;
	callback_table[CALLBACK_GC_FINISHED] = (method_fn)on_gc_finished;
	callback_table[CALLBACK_ROOT_REFERENCES] = (method_fn)on_root_references;
	callback_table[CALLBACK_INITIALIZE_FOR_ATTACH] = (method_fn)on_attach;
	callback_table[CALLBACK_ATTACHED] = (method_fn)on_attached;
	callback_table[CALLBACK_DETACHED] = (method_fn)on_detached;
	callback_table[CALLBACK_DEPENDENTS] = (method_fn)on_dependents;
	callback_table[CALLBACK_EVENT_DELIVERED] = (method_fn)on_event;
	callback_table[CALLBACK_NOTIFICATION_ONLY] = (method_fn)on_notification_only;
}

void *callbacks_object(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, fill_table);
	return &callbacks;
}
