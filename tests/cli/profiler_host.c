/* SPDX-License-Identifier: MIT */
/*
 * A runtime that has nothing but what a profiler is asked and asks when it starts: it shows each mask of events that the
 * profiler sets, and sessions of events.    profiler_host LIBRARY [TROUBLE [SIGNAL...]]
 *     signal          the signal comes, and two sessions that are begun then fail
 *     no-sessions     the same, and all sessions fail
 *     vain            the signal comes, and no session has any events: until two have ended
 *     fork            the signal comes to a child that was forked
 *     ignored         the signal was ignored before: are calls that it interrupts continued?
 *     no-thread       no thread can be made
 *     no-exceptions   the runtime does not tell about exceptions
 *     no-collections  the runtime does not tell about collections
 *     release-7       the runtime is too old to be asked for its release
 *     release-12      the runtime is newer than all that are known
 *     other-class     the runtime asks for another class
 *     handled         the program has a handler of the first SIGNAL
 *     end             the program ends, and goes on for a while
 * When all is done, each SIGRTMIN+SIGNAL comes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define INFO_METHODS 106
#define CORE_CLR     2

typedef int32_t (*get_class_fn)(const void *class_id, const void *id, void **ret);
typedef int32_t (*create_fn)(void *self, void *outer, const void *id, void **ret);
typedef int32_t (*initialize_fn)(void *self, void *info);
typedef int32_t (*notify_fn)(void *self, uintptr_t argument);
typedef void (*method_fn)(void);

static method_fn info_table[INFO_METHODS];
static struct {
	const method_fn *table;
} info = { info_table };

static const char *trouble = "";
static int sessions_fail;
static atomic_int sessions_ended;

static int32_t query(void *self, const void *id, void **ret)
{
	(void)id;
	*ret = self;
	return strcmp(trouble, "release-7") == 0 ? -1 : 0;
}

/* The one that the library finds. */
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
							  const pthread_attr_t *attributes,
							  void *(*run)(void *arg), void *arg)
{
	int (*real)(pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *arg),
		    void *arg);
	void *symbol = dlsym(RTLD_NEXT, "pthread_create");
	memcpy(&real, &symbol, sizeof(real));
	return strcmp(trouble, "no-thread") == 0 ? EAGAIN : real(thread, attributes, run, arg);
}

static int32_t succeed(void *self)
{
	(void)self;
	return 0;
}

static int32_t runtime_information(void *self, uint16_t *instance, uint32_t *type, uint16_t *major,
				   uint16_t *minor)
{
	(void)self;
	(void)instance;
	*type = CORE_CLR;
	*major = strcmp(trouble, "release-12") == 0 ? 12 : 11;
	*minor = 0;
	return 0;
}

static int32_t set_mask(void *self, uint32_t low, uint32_t high)
{
	(void)self;
	printf("mask %x %x\n", low, high);
	bool is_refused = (strcmp(trouble, "no-exceptions") == 0 && (low & 0x40)) ||
			  (strcmp(trouble, "no-collections") == 0 && (low & 0x80));
	return is_refused ? -1 : 0;
}

static int32_t start_session(void *self, uint32_t count, const void *providers, int32_t has_rundown,
			     uint64_t *session)
{
	uint64_t keywords;
	(void)self;
	(void)has_rundown;
	if (sessions_fail) {
		sessions_fail--;
		return -1;
	}
	memcpy(&keywords, (const char *)providers + 8, sizeof(keywords));
	printf("session of %u, keywords %llx\n", count, (unsigned long long)keywords);
	*session = 1;
	return 0;
}

static int32_t stop_session(void *self, uint64_t session)
{
	(void)self;
	printf("session %llu ends\n", (unsigned long long)session);
	(void)atomic_fetch_add(&sessions_ended, 1);
	return 0;
}

static void signal_child(void)
{
	int status = 0;
	(void)fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		(void)raise(SIGRTMIN + 6);
		_exit(EXIT_SUCCESS);
	}
	(void)waitpid(child, &status, 0);
	printf("the child %s\n", WIFSIGNALED(status) ? "ends" : "goes on");
}

/* A method of an object, by number. */
static method_fn method_of(void *object, size_t number)
{
	method_fn ret;
	const char *table;
	memcpy(&table, object, sizeof(table));
	memcpy(&ret, table + number * sizeof(ret), sizeof(ret));
	return ret;
}

/* The library's object; NULL: it has none. */
static void *load_callback(const char *path)
{
	static unsigned char class_id[16] = { 0x52, 0x9a, 0x1d, 0x8f, 0x3e, 0x6c, 0x7a, 0x4b,
					      0x9d, 0x04, 0x5e, 0x2b, 0x7c, 0x61, 0xa8, 0xf3 };
	static const unsigned char factory_id[16] = { 1,    0, 0, 0, 0, 0, 0, 0,
						      0xc0, 0, 0, 0, 0, 0, 0, 0x46 };
	static const unsigned char unknown_id[16] = { 0,    0, 0, 0, 0, 0, 0, 0,
						      0xc0, 0, 0, 0, 0, 0, 0, 0x46 };
	void *factory = NULL, *callback = NULL;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "DllGetClassObject") : NULL;
	get_class_fn get_class;
	memcpy(&get_class, &symbol, sizeof(get_class));
	class_id[15] = strcmp(trouble, "other-class") == 0 ? 0 : 0xf3;
	if (!get_class || get_class(class_id, factory_id, &factory) != 0 ||
	    ((create_fn)method_of(factory, 3))(factory, NULL, unknown_id, &callback) != 0)
		return NULL;
	return callback;
}

/* Let the runtime start; false: the library refuses to be its profiler. */
static bool initialise(void *callback)
{
	for (size_t i = 0; i < INFO_METHODS; i++)
		info_table[i] = (method_fn)succeed;
	info_table[0] = (method_fn)query;
	info_table[67] = (method_fn)runtime_information;
	info_table[82] = (method_fn)set_mask;
	info_table[101] = (method_fn)start_session;
	info_table[103] = (method_fn)stop_session;
	/* By this thread a profiler knows a runtime that has started. */
	(void)prctl(PR_SET_NAME, ".NET Finalizer");
	bool is_good = ((initialize_fn)method_of(callback, 3))(callback, &info) == 0;
	puts(is_good ? "initialised" : "refused");
	if (is_good)
		(void)((notify_fn)method_of(callback, 5))(callback, 0);
	return is_good;
}

static void on_signal(int number)
{
	(void)number;
	(void)!write(STDOUT_FILENO, "handled\n", 8);
}

/* The program itself has set this before the runtime starts. */
static void set_before(int number)
{
	struct sigaction action = { .sa_handler = SIG_IGN };
	if (strcmp(trouble, "handled") == 0)
		action.sa_handler = on_signal;
	if (action.sa_handler != SIG_IGN || strcmp(trouble, "ignored") == 0)
		(void)sigaction(number, &action, NULL);
}

static void raise_all(int count, char **offsets)
{
	(void)fflush(stdout);
	for (int i = 0; i < count; i++)
		(void)raise(SIGRTMIN + (int)strtol(offsets[i], NULL, 10));
	puts("alive");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return EXIT_FAILURE;
	trouble = argc >= 3 ? argv[2] : "";
	(void)setvbuf(stdout, NULL, _IONBF, 0);
	set_before(SIGRTMIN + (argc > 3 ? (int)strtol(argv[3], NULL, 10) : 6));
	void *callback = load_callback(argv[1]);
	if (!callback)
		puts("no class");
	if (!callback || !initialise(callback)) {
		if (argc > 3)
			raise_all(argc - 3, argv + 3);
		return EXIT_SUCCESS;
	}
	if (strcmp(trouble, "fork") == 0)
		signal_child();
	if (strcmp(trouble, "signal") == 0) {
		sessions_fail = 2;
		(void)raise(SIGRTMIN + 6);
	}
	if (strcmp(trouble, "no-sessions") == 0) {
		sessions_fail = INT_MAX;
		(void)raise(SIGRTMIN + 6);
		(void)sleep(2);
	}
	if (strcmp(trouble, "vain") == 0) {
		(void)raise(SIGRTMIN + 6);
		while (atomic_load(&sessions_ended) < 2)
			(void)sleep(1);
	}
	/* The test says when it has seen what it waits for. */
	if (argc <= 3)
		(void)getchar();
	struct sigaction now;
	if (strcmp(trouble, "ignored") == 0 && sigaction(SIGRTMIN + 6, NULL, &now) == 0)
		puts((now.sa_flags & SA_RESTART) ? "continued" : "broken off");
	puts("idle");
	if (strcmp(trouble, "end") == 0)
		(void)((initialize_fn)method_of(callback, 4))(callback, NULL);
	if (argc > 3)
		raise_all(argc - 3, argv + 3);
	(void)fflush(stdout);
	_exit(EXIT_SUCCESS);
}
