/* SPDX-License-Identifier: MIT */
#include "signals.h"

/* So many SIGINT end a worker that does not listen. */
#define INTERRUPTS_MAX 3

/* Whom SIGINT is passed on to, 0 = nobody; how many came. */
static volatile pid_t interrupt_to;
static volatile sig_atomic_t interrupts;
/* The signal that asked the program to end while a command ran, or 0. */
static volatile sig_atomic_t ended_by;

/* From a terminal it goes to all processes of the job by itself. */
static void on_interrupt(int signal, siginfo_t *info, void *context)
{
	(void)context;
	interrupts = interrupts + 1;
	if (!interrupt_to)
		return;
	if (interrupts >= INTERRUPTS_MAX) {
		(void)kill(interrupt_to, SIGKILL);
	} else if (info->si_code != SI_KERNEL) {
		(void)kill(interrupt_to, signal);
	}
}

static void on_end(int signal, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	ended_by = signal;
	interrupts = interrupts + 1;
	if (interrupt_to)
		(void)kill(interrupt_to, SIGINT);
}

static const struct {
	int signal;
	void (*take)(int signal, siginfo_t *info, void *context);
	int flags;
} taken[SIGNALS_TAKEN] = {
	{ SIGINT, on_interrupt, SA_SIGINFO | SA_RESTART },
	/* The second one of a kind ends the program at once. */
	{ SIGTERM, on_end, SA_SIGINFO | SA_RESTART | (int)SA_RESETHAND },
	{ SIGHUP, on_end, SA_SIGINFO | SA_RESTART | (int)SA_RESETHAND },
};

void signals_take(struct taken_signals *old)
{
	interrupts = 0;
	for (size_t i = 0; i < SIGNALS_TAKEN; i++) {
		const struct sigaction action = { .sa_sigaction = taken[i].take,
						  .sa_flags = taken[i].flags };
		(void)sigaction(taken[i].signal, NULL, &old->old[i]);
		/* What is ignored (nohup) stays so. */
		if (taken[i].signal == SIGINT || old->old[i].sa_handler != SIG_IGN)
			(void)sigaction(taken[i].signal, &action, NULL);
	}
}

void signals_give_back(const struct taken_signals *old)
{
	for (size_t i = 0; i < SIGNALS_TAKEN; i++)
		(void)sigaction(taken[i].signal, &old->old[i], NULL);
	if (ended_by)
		(void)raise(ended_by);
}

void signals_pass_on(pid_t pid)
{
	interrupt_to = pid;
	if (pid && interrupts)
		(void)kill(pid, SIGINT);
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
