/* SPDX-License-Identifier: MIT */
/*
 * plain_loop FILE: how fast a plain C loop goes over a mapped file.  It finds line ends and sums
 * hexadecimal digits, one byte at a time: what a reader of the text format is measured against.
 * Two ways to write it: with comparisons, which random digits make a processor mispredict, and
 * with a table.  Each goes over a mapping of its own, so that each pays for its page faults.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t sum_compared(const uint8_t *text, size_t size, uint64_t *ret_lines)
{
	uint64_t sum = 0, lines = 0;
	for (size_t i = 0; i < size; i++) {
		uint8_t c = text[i];
		if (c == '\n')
			lines++;
		else if (c >= '0' && c <= '9')
			sum += (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			sum += (uint64_t)(c - 'a' + 10);
	}
	*ret_lines = lines;
	return sum;
}

static uint64_t sum_looked_up(const uint8_t *text, size_t size, uint64_t *ret_lines)
{
	uint8_t digits[256] = { 0 };
	for (uint8_t digit = 0; digit < 16; digit++)
		digits[(uint8_t) "0123456789abcdef"[digit]] = digit;
	uint64_t sum = 0, lines = 0;
	for (size_t i = 0; i < size; i++) {
		lines += text[i] == '\n';
		sum += digits[text[i]];
	}
	*ret_lines = lines;
	return sum;
}

/* Print one line: name, seconds, lines, sum. */
static int measure(const char *name, int fd, size_t size,
		   uint64_t (*loop)(const uint8_t *text, size_t size, uint64_t *ret_lines))
{
	uint8_t *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED) {
		perror("mmap");
		return 3;
	}
	double start = seconds();
	uint64_t lines;
	uint64_t sum = loop(text, size, &lines);
	double end = seconds();
	printf("%s %.6f lines %" PRIu64 " sum %" PRIu64 "\n", name, end - start, lines, sum);
	return munmap(text, size) ? 3 : 0;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		(void)fprintf(stderr, "usage: plain_loop FILE\n");
		return 2;
	}
	int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	struct stat info;
	if (fd < 0 || fstat(fd, &info)) {
		perror(argv[1]);
		return 3;
	}
	size_t size = (size_t)info.st_size;
	int status = measure("plain", fd, size, sum_compared);
	if (status == 0)
		status = measure("table", fd, size, sum_looked_up);
	(void)close(fd);
	return status;
}
