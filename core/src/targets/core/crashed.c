/* SPDX-License-Identifier: MIT */
/* Which thread of a core got the signal that ended the process. */
#include "targets/target.h"

/*
 * Signals that end a process with a core (signal(7)): numbers of the target's kernel (asm/signal.h), not of this machine.
 * SIGTRAP is not one of them: a debugger that writes a core of a process that lives says that it stopped by it.
 */
static const struct {
	int signal;
	const char *name;
} signals[] = {
	{ 3, "SIGQUIT" },  { 4, "SIGILL" },   { 6, "SIGABRT" },  { 7, "SIGBUS" },  { 8, "SIGFPE" },
	{ 11, "SIGSEGV" }, { 24, "SIGXCPU" }, { 25, "SIGXFSZ" }, { 31, "SIGSYS" },
};

const char *target_crash_name(int signal)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		if (signals[i].signal == signal)
			return signals[i].name;
	}
	return NULL;
}

const struct target_thread *target_crashed_thread(const struct target *target)
{
	for (size_t i = 0; i < target->threads.count; i++) {
		if (target_crash_name(target->threads.rows[i].signal))
			return &target->threads.rows[i];
	}
	return NULL;
}
