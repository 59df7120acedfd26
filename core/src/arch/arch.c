/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"

#include <stdio.h>
#include <string.h>

/* All processors that are read; the last place is for one that tests make up. */
static const struct arch *processors[] = { &arch_x86_64, &arch_arm64, NULL };

#define PROCESSORS (sizeof(processors) / sizeof(processors[0]))

void arch_set_made_up(const struct arch *arch)
{
	processors[PROCESSORS - 1] = arch;
}

const struct arch *arch_of_machine(uint16_t machine)
{
	for (size_t i = 0; i < PROCESSORS && processors[i]; i++) {
		if (processors[i]->machine == machine)
			return processors[i];
	}
	return NULL;
}

static bool has_word(const struct arch *arch, const char *word)
{
	for (const char *const *at = arch->words; *at; at++) {
		if (strcmp(*at, word) == 0)
			return true;
	}
	return false;
}

const struct arch *arch_of_word(const char *word)
{
	for (size_t i = 0; i < PROCESSORS && processors[i]; i++) {
		if (has_word(processors[i], word))
			return processors[i];
	}
	return NULL;
}

void arch_names(char *buf, size_t size)
{
	int used = 0;
	for (size_t i = 0; i < PROCESSORS && processors[i] && (size_t)used < size; i++) {
		used += snprintf(buf + used, size - (size_t)used, "%s%s", i ? ", " : "",
				 processors[i]->name);
	}
}

const struct arch *arch_of_host(void)
{
#if defined(__x86_64__)
	return &arch_x86_64;
#elif defined(__aarch64__)
	return &arch_arm64;
#else
#error "a processor that is not in arch/"
#endif
}
