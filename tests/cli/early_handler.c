/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: a handler of SIGRTMIN+6 that is there before all others, and wants to be called once. */
#include <signal.h>
#include <unistd.h>

static void on_signal(int number)
{
	static const char line[] = "called\n";
	(void)number;
	ssize_t unused = write(STDOUT_FILENO, line, sizeof(line) - 1);
	(void)unused;
}

__attribute__((constructor)) static void handle_early(void)
{
	struct sigaction action = { .sa_flags = (int)SA_RESETHAND | SA_RESTART };
	action.sa_handler = on_signal;
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGRTMIN + 6, &action, NULL);
}
