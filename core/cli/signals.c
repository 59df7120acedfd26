/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <unistd.h>

/* This many SIGINT end a worker that does not react. */
#define INTERRUPTS_MAX 3
/* How long a worker has, in seconds, when the program has to end. */
#define END_SECONDS 3u

/* The worker that runs a command, 0 = none; whether it listens to SIGINT; how many came. */
static volatile pid_t worker;
static volatile sig_atomic_t listens;
static volatile sig_atomic_t interrupts;
/* The signal that asked the program to end while a command ran, or 0. */
static volatile sig_atomic_t ended_by;

/* A terminal sends it to all processes of the job. */
static void on_shell_interrupt(int signal, siginfo_t *info, void *context)
{
	(void)context;
	interrupts = interrupts + 1;
	if (!worker)
		return;
	if (interrupts >= INTERRUPTS_MAX) {
		(void)kill(worker, SIGKILL);
	} else if (listens && info->si_code != SI_KERNEL) {
		(void)kill(worker, signal);
	}
}

static void on_end(int signal, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	ended_by = signal;
	interrupts = interrupts + 1;
	if (worker && listens)
		(void)kill(worker, SIGINT);
	if (worker)
		(void)alarm(END_SECONDS);
}

static void on_alarm(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	if (worker)
		(void)kill(worker, SIGKILL);
}

static const struct {
	int signal;
	void (*take)(int signal, siginfo_t *info, void *context);
	int flags;
} taken[SIGNALS_TAKEN] = {
	{ SIGINT, on_shell_interrupt, SA_SIGINFO | SA_RESTART },
	/* The second signal of the same kind ends the program at once. */
	{ SIGTERM, on_end, SA_SIGINFO | SA_RESTART | (int)SA_RESETHAND },
	{ SIGHUP, on_end, SA_SIGINFO | SA_RESTART | (int)SA_RESETHAND },
	{ SIGALRM, on_alarm, SA_SIGINFO | SA_RESTART },
};

void signals_take(struct taken_signals *old, pid_t pid)
{
	interrupts = 0;
	listens = 0;
	worker = pid;
	for (size_t i = 0; i < SIGNALS_TAKEN; i++) {
		const struct sigaction action = { .sa_sigaction = taken[i].take,
						  .sa_flags = taken[i].flags };
		(void)sigaction(taken[i].signal, NULL, &old->old[i]);
		/* Signals that are ignored (nohup) stay ignored. */
		if (taken[i].signal == SIGINT || taken[i].signal == SIGALRM ||
		    old->old[i].sa_handler != SIG_IGN)
			(void)sigaction(taken[i].signal, &action, NULL);
	}
}

void signals_give_back(const struct taken_signals *old)
{
	/* A worker has no right to set one. */
	if (worker)
		(void)alarm(0);
	worker = 0;
	for (size_t i = 0; i < SIGNALS_TAKEN; i++)
		(void)sigaction(taken[i].signal, &old->old[i], NULL);
	if (ended_by)
		(void)raise(ended_by);
}

void signals_pass_on(void)
{
	listens = 1;
	if (worker && interrupts)
		(void)kill(worker, SIGINT);
}

int signals_came(void *unused)
{
	(void)unused;
	return interrupts != 0;
}

bool signals_insisted(void)
{
	return interrupts >= INTERRUPTS_MAX;
}
