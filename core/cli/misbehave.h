/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <string.h>

struct hd_broker;

/**
 * Only in a program of the tests (HD_MISBEHAVE): when @p argv is "misbehave WHAT", do what a worker
 * might do after a hostile target has taken control of it: make a system call that must end it, or
 * ask @p broker for something that it must refuse.
 *
 * @return false if it is another command; in the product it always is.
 */
#ifdef HD_MISBEHAVE
static inline bool misbehave_is(const char *name)
{
	return strcmp(name, "misbehave") == 0;
}

bool misbehave(const struct hd_broker *broker, int argc, const char *const *argv);

/** The same instead of completion, when the last of the words is "attack-WHAT". */
bool misbehave_complete(void (*tell)(const char *candidate), int argc, const char *const *argv);
#else
static inline bool misbehave_is(const char *name)
{
	(void)name;
	return false;
}

static inline bool misbehave(const struct hd_broker *broker, int argc, const char *const *argv)
{
	(void)broker;
	(void)argc;
	(void)argv;
	return false;
}
static inline bool misbehave_complete(void (*tell)(const char *candidate), int argc,
				      const char *const *argv)
{
	(void)tell;
	(void)argc;
	(void)argv;
	return false;
}
#endif
