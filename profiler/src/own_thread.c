/* SPDX-License-Identifier: MIT */
#include "own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#define STACK_BYTES ((size_t)1 << 20)

int own_thread_start(void *(*run)(void *arg), void *arg)
{
	pthread_t thread;
	pthread_attr_t attributes;
	sigset_t all, before;
	int error = pthread_attr_init(&attributes);
	if (error)
		return error;
	(void)sigfillset(&all);
	/* While it reads the file of a module, somebody may cut the file: the library handles that. */
	(void)sigdelset(&all, SIGBUS);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!error) {
		error = pthread_create(&thread, &attributes, run, arg);
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	(void)pthread_attr_destroy(&attributes);
	return error;
}
