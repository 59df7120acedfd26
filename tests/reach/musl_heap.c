/* SPDX-License-Identifier: MIT */
/*
 * Has known pieces of musl's malloc: prints "SIZE IN-USE FREED" for each size that was asked for, then READY, and
 * waits.  Every second piece of each size is free.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	static const struct {
		size_t size;
		unsigned int count;
	} rows[] = {
		{ 20, 20000 }, { 100, 5000 }, { 200, 3000 },  { 1000, 1000 },
		{ 5000, 400 }, { 30000, 60 }, { 100000, 30 }, { 1000000, 20 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char **pieces = calloc(rows[i].count, sizeof(*pieces));
		if (!pieces)
			return 1;
		for (unsigned int k = 0; k < rows[i].count; k++) {
			pieces[k] = malloc(rows[i].size);
			if (!pieces[k])
				return 1;
			memset(pieces[k], 'x', rows[i].size);
		}
		for (unsigned int k = 0; k < rows[i].count; k += 2)
			free(pieces[k]);
		printf("%zu %u %u\n", rows[i].size, rows[i].count / 2, rows[i].count / 2);
		free(pieces);
	}
	puts("READY");
	(void)fflush(stdout);
	(void)pause();
	return 0;
}
