/* SPDX-License-Identifier: MIT */
/*
 * A main() for fuzz targets that hands them each file of the command line, and each file in its
 * directories (one level, by name): the corpus as a plain test, with any compiler.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rbe");
	/* Exactly as large as the input, so that a sanitizer sees a read past its end. */
	uint8_t *data = malloc(size ? size : 1);
	if (!file || !data || fread(data, 1, size, file) != size) {
		perror(path);
		free(data);
		if (file)
			(void)fclose(file);
		return -1;
	}
	(void)fclose(file);
	/* Said before: when it crashes, the last line names the input. */
	printf("%s\n", path);
	(void)fflush(stdout);
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 1;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int replay_directory(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_visible, alphasort);
	if (count < 0) {
		perror(path);
		return -1;
	}
	int replayed = 0;
	for (int i = 0; i < count; i++) {
		char name[4096];
		struct stat info;
		int length = snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		free(entries[i]);
		if (replayed < 0)
			continue;
		if (length < 0 || (size_t)length >= sizeof(name) || stat(name, &info)) {
			perror(path);
			replayed = -1;
		} else if (S_ISREG(info.st_mode)) {
			replayed = replay_file(name, (size_t)info.st_size) < 0 ? -1 : replayed + 1;
		}
	}
	free(entries);
	return replayed;
}

int main(int argc, char **argv)
{
	int total = 0;
	for (int i = 1; i < argc; i++) {
		struct stat info;
		int replayed = -1;
		if (stat(argv[i], &info))
			perror(argv[i]);
		else
			replayed = S_ISDIR(info.st_mode)
					   ? replay_directory(argv[i])
					   : replay_file(argv[i], (size_t)info.st_size);
		if (replayed < 0)
			return 1;
		total += replayed;
	}
	printf("replayed %d inputs\n", total);
	return total == 0; /* an empty corpus tests nothing */
}
