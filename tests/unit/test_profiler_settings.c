/* SPDX-License-Identifier: MIT */
/* The settings of the profiler: what the words mean, and that no other words do. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kept_files.h"
#include "memory_use.h"
#include "out_path.h"
#include "settings.h"
#include "settings_file.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "watch.h"

/* Their lines go nowhere: standard error is full of them else. */
static bool parses(const char *when, struct when *ret)
{
	int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	(void)dup2(null, STDERR_FILENO);
	const struct when_source source = { "HEAPDUMP_WHEN", "nothing is done" };
	bool is_good = when_parse(when, &source, ret);
	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	(void)close(null);
	return is_good;
}

TEST(words_say_when)
{
	struct when when;
	CU_ASSERT_FATAL(parses(
		"signal, rss > 80% ,heap>2G,growth:5,high,pressure>20%,every 2m,exit,oom", &when));
	CU_ASSERT(when.signal == SIGRTMIN + 6 && when.rss_percent == 80 && !when.rss_bytes);
	ASSERT_UINT(when.heap_bytes, UINT64_C(2) << 30);
	ASSERT_UINT(when.growth, 5);
	ASSERT_UINT(when.pressure_percent, 20);
	ASSERT_UINT(when.seconds, 120);
	CU_ASSERT(when.at_high && when.at_exit && when.at_oom);
	CU_ASSERT_FATAL(parses("rss>3K", &when));
	ASSERT_UINT(when.rss_bytes, 3 << 10);
	CU_ASSERT(!when.at_high && !when.at_exit && !when.at_oom && !when.signal);
}

TEST(a_signal_is_found_among_words_that_are_wrong)
{
	CU_ASSERT(when_signal("signal") == SIGRTMIN + 6);
	CU_ASSERT(when_signal("sometimes, signal:3 ,rss>5") == SIGRTMIN + 3);
	CU_ASSERT(when_signal("signal:99,signal:4,signal:5") == SIGRTMIN + 4);
	CU_ASSERT(when_signal("") == 0);
	CU_ASSERT(when_signal(",,") == 0);
	CU_ASSERT(when_signal("signal:99,signals,exit") == 0);
}

TEST(other_words_are_refused)
{
	static const char *const bad[] = {
		"",
		"signal,",
		"signal:0",
		"signal:99",
		"signal:1x",
		"rss",
		"rss>",
		"rss>0%",
		"rss>100%",
		"rss>5",
		"rss>5m",
		"rss>5MM",
		"rss>5%%",
		"heap>50%",
		"heap>5",
		"heap",
		"heap>0M",
		"heap>1234567890M",
		"growth",
		"growth:0",
		"growth:1001",
		"growth:5x",
		"growth>5",
		"pressure>100%",
		"pressure>5M",
		"pressure",
		"high>5",
		"highest",
		"every",
		"every1h",
		"every 0s",
		"every 9999h",
		"every 1h 2h",
		"every 1d",
		"exits",
		"oom oom",
		"signal;exit",
		"RSS>80%",
		"heap>-1M",
		"heap>99999999999999999999G",
		"signal,signal:7",
		"rss>50%,oom,rss>80%",
		"every 1h,every 2h",
		"exit,exit",
	};
	struct when when;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parses(bad[i], &when))
			printf("taken: '%s'\n", bad[i]);
		CU_ASSERT(!parses(bad[i], &when));
	}
}

/* Parse; what is said goes nowhere. */
static bool parses_texts(struct setting_texts *texts, struct settings *ret)
{
	int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	(void)strcpy(texts->text[SETTING_WHEN], "signal");
	(void)dup2(null, STDERR_FILENO);
	bool is_good = settings_parse(texts, ret);
	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	(void)close(null);
	return is_good;
}

/* Parse with one more setting. */
static bool parses_with(enum setting setting, const char *text, struct settings *ret)
{
	struct setting_texts texts = { .text[SETTING_OUT] = "/a.gcdump" };
	(void)snprintf(texts.text[setting], SETTING_SIZE, "%s", text);
	return parses_texts(&texts, ret);
}

TEST(settings_have_their_values)
{
	struct settings settings;
	CU_ASSERT(parses_with(SETTING_KEEP, "3", &settings) && settings.keep == 3);
	CU_ASSERT(parses_with(SETTING_FREE, "5M", &settings) && settings.free == 5 << 20);
	CU_ASSERT(parses_with(SETTING_RATE, "10m", &settings) && settings.rate == 600);
	CU_ASSERT(parses_with(SETTING_LIVE, "true", &settings) && settings.is_live);
	CU_ASSERT(parses_with(SETTING_HOLD, "1", &settings) && settings.is_held);
	CU_ASSERT(parses_with(SETTING_REPORT, "0", &settings) && !settings.has_report);
	CU_ASSERT(parses_with(SETTING_WAY, "walk", &settings) && settings.way == WAY_WALK);
	CU_ASSERT(!settings.keep && !settings.free && !settings.rate && !settings.is_live);
}

TEST(hostile_values_are_refused)
{
	static const struct {
		enum setting setting;
		const char *text;
	} bad[] = {
		{ SETTING_KEEP, "0" },
		{ SETTING_KEEP, "-1" },
		{ SETTING_KEEP, "10001" },
		{ SETTING_KEEP, "3 files" },
		{ SETTING_KEEP, "%n%n%s" },
		{ SETTING_FREE, "5" },
		{ SETTING_FREE, "99999999999G" },
		{ SETTING_FREE, "0M" },
		{ SETTING_RATE, "5" },
		{ SETTING_RATE, "99999h" },
		{ SETTING_RATE, "m" },
		{ SETTING_LIVE, "yes" },
		{ SETTING_LIVE, "2" },
		{ SETTING_HOLD, "\x1b[2J" },
		{ SETTING_REPORT, "TRUE" },
		{ SETTING_WAY, "sockets" },
		{ SETTING_OUT, "a.gcdump" },
		{ SETTING_OUT, "/%x.gcdump" },
		{ SETTING_OUT, "/a.dmp" },
	};
	struct settings settings;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT(!parses_with(bad[i].setting, bad[i].text, &settings));
}

TEST(a_page_needs_a_file_that_can_be_read)
{
	static const struct {
		const char *out, *way;
		bool is_good;
	} cases[] = { { "/a.heapsnapshot", "socket", false },
		      { "/a.heapsnapshot", "events", true },
		      { "/a.heapsnapshot", "any", true },
		      { "/a.heap", "socket", true } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct setting_texts texts = { 0 };
		struct settings settings;
		(void)strcpy(texts.text[SETTING_OUT], cases[i].out);
		(void)strcpy(texts.text[SETTING_WAY], cases[i].way);
		(void)strcpy(texts.text[SETTING_REPORT], "1");
		CU_ASSERT(parses_texts(&texts, &settings) == cases[i].is_good);
	}
}

/* Read a file of settings with this text. */
static bool reads(const char *text, struct setting_texts *ret)
{
	char name[] = "/tmp/heapdump-test-XXXXXX";
	int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int fd = mkstemp(name);
	CU_ASSERT_FATAL(fd >= 0);
	(void)!write(fd, text, strlen(text));
	(void)close(fd);
	(void)dup2(null, STDERR_FILENO);
	bool is_good = settings_file_read(name, ret);
	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	(void)close(null);
	(void)unlink(name);
	return is_good;
}

TEST(the_file_takes_each_kind_of_value)
{
	struct setting_texts texts;
	CU_ASSERT_FATAL(reads(
		"{\"when\": \"oom\", \"keep\": 4, \"live\": true, \"hold\": false, \"rate\": \"5m\"}",
		&texts));
	ASSERT_TEXT(texts.text[SETTING_WHEN], "oom");
	ASSERT_TEXT(texts.text[SETTING_KEEP], "4");
	ASSERT_TEXT(texts.text[SETTING_LIVE], "1");
	ASSERT_TEXT(texts.text[SETTING_HOLD], "0");
	ASSERT_TEXT(texts.text[SETTING_RATE], "5m");
	ASSERT_TEXT(texts.text[SETTING_OUT], "");
	static const char *const bad[] = { "{\"when\": 5}",
					   "{\"rate\": 5}",
					   "{\"live\": 1.5}",
					   "{\"keep\": true}",
					   "{\"free\": [1]}",
					   "{\"hold\": null}",
					   "{\"keep\": 1, \"keep\": 2}",
					   "{\"keeps\": 1}" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT(!reads(bad[i], &texts));
}

TEST(names_of_files_are_known_again)
{
	char name[64];
	CU_ASSERT(out_path_make("/d/%p-%t-%r%%.gcdump", 77, 1000000000, "growth", name,
				sizeof(name)));
	CU_ASSERT(out_path_matches("/d/%p-%t-%r%%.gcdump", name + 3));
	CU_ASSERT(!out_path_matches("/d/%p-%t-%r.gcdump", name + 3));
	CU_ASSERT(out_path_matches("/d/%p.gcdump", "1.gcdump"));
	static const char *const others[] = {
		"", ".gcdump", "a.gcdump", "1.gcdump.html", "1.gcdumpx", "1x.gcdump", "../1.gcdump"
	};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CU_ASSERT(!out_path_matches("/d/%p.gcdump", others[i]));
	CU_ASSERT(!out_path_matches("/d/%t.gcdump", "2026112-1430590.gcdump"));
	/* Where the id ends and the time begins is not said. */
	CU_ASSERT(out_path_matches("/d/%p%t.gcdump", "1220261125-143059.gcdump"));
	CU_ASSERT(out_path_matches("/d/%p0.gcdump", "100.gcdump"));
	CU_ASSERT(!out_path_matches("/d/%p%p.gcdump", "10.gcdump"));
	CU_ASSERT(out_path_matches("/d/%p%r.gcdump", "7heap.gcdump"));
}

TEST(other_names_are_not_taken_for_ours)
{
	static const char *const no_process[] = { "0.gcdump", "007.gcdump", "12345678901.gcdump" };
	static const char *const no_time[] = { "99999999-999999.gcdump", "20261325-143059.gcdump",
					       "20261125-243059.gcdump", "20261125-146059.gcdump",
					       "20261125x143059.gcdump", "20261125-14305.gcdump" };
	for (size_t i = 0; i < sizeof(no_process) / sizeof(no_process[0]); i++)
		CU_ASSERT(!out_path_matches("/d/%p.gcdump", no_process[i]));
	for (size_t i = 0; i < sizeof(no_time) / sizeof(no_time[0]); i++)
		CU_ASSERT(!out_path_matches("/d/%t.gcdump", no_time[i]));
	char pattern[SETTING_SIZE] = "/", name[NAME_MAX + 2];
	memset(name, '1', NAME_MAX + 1);
	name[NAME_MAX + 1] = '\0';
	for (size_t i = 1; i + 3 < sizeof(pattern); i += 2)
		memcpy(pattern + i, "%p", 3);
	CU_ASSERT(!out_path_matches(pattern, name));
	name[NAME_MAX] = '\0';
	CU_ASSERT(out_path_matches(pattern, name));
	name[NAME_MAX - 1] = 'x';
	CU_ASSERT(!out_path_matches(pattern, name));
}

static void make_file(const char *folder, const char *name, time_t time)
{
	char path[128];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	const struct timespec times[2] = { { .tv_sec = time }, { .tv_sec = time } };
	(void)futimens(fd, times);
	(void)close(fd);
}

static bool is_there(const char *folder, const char *name)
{
	char path[128];
	struct stat status;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return lstat(path, &status) == 0;
}

TEST(the_newest_files_are_kept)
{
	char folder[] = "/tmp/heapdump-test-XXXXXX", path[128];
	struct settings settings = { .keep = 2 };
	REQUIRE(mkdtemp(folder));
	(void)snprintf(settings.out, sizeof(settings.out), "%s/%%p.gcdump", folder);
	(void)snprintf(path, sizeof(path), "%s/4.gcdump", folder);
	make_file(folder, "1.gcdump", 100);
	make_file(folder, "1.gcdump.html", 100);
	make_file(folder, "2.gcdump", 400);
	make_file(folder, "3.gcdump", 200);
	make_file(folder, "4.gcdump", 300);
	make_file(folder, "mine.gcdump", 50);
	(void)snprintf(path, sizeof(path), "%s/5.gcdump", folder);
	CU_ASSERT_FATAL(symlink("1.gcdump", path) == 0);
	(void)snprintf(path, sizeof(path), "%s/4.gcdump", folder);
	kept_files_trim(&settings, path);
	CU_ASSERT(!is_there(folder, "1.gcdump") && !is_there(folder, "1.gcdump.html"));
	CU_ASSERT(!is_there(folder, "3.gcdump"));
	CU_ASSERT(is_there(folder, "2.gcdump") && is_there(folder, "4.gcdump"));
	CU_ASSERT(is_there(folder, "mine.gcdump") && is_there(folder, "5.gcdump"));
	static const char *const names[] = { "2.gcdump", "4.gcdump", "mine.gcdump", "5.gcdump" };
	for (size_t i = 0; i < 4; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

static void check_group(const char *groups, const char *controller, const char *expected)
{
	char path[PATH_MAX] = "";
	CU_ASSERT_EQUAL(memory_group_of(groups, controller, path), expected != NULL);
	if (expected)
		ASSERT_TEXT(path, expected);
}

TEST(the_line_of_the_memory_controller_names_the_group)
{
	static const char hybrid[] = "12:name=systemd:/0::/wrong:memory:/wrong\n"
				     "10:memory_recursive:/wrong\n"
				     "4:cpu,memory,pids:/docker/web\n"
				     "0::/shop.slice/a:b\n";
	check_group(hybrid, "memory", "/docker/web");
	check_group(hybrid, "", "/shop.slice/a:b");
	check_group("4:memory:/\n", "memory", "/");
	check_group("4:memory:/\n", "", NULL);
	check_group("0::/\n", "memory", NULL);
	/* Paths that are cut off, are not a line, or lie outside of what is visible. */
	check_group("0::/shop", "", NULL);
	check_group("0:\n::\ngarbage\n\n", "", NULL);
	check_group("0::/../../x\n", "", NULL);
	check_group("0::shop\n", "", NULL);
	check_group("", "", NULL);
}

/* The clock has been set back: the newest file is not the one with the latest time. */
TEST(the_file_that_was_just_written_stays)
{
	char folder[] = "/tmp/heapdump-test-XXXXXX", path[128];
	struct settings settings = { .keep = 1 };
	REQUIRE(mkdtemp(folder));
	(void)snprintf(settings.out, sizeof(settings.out), "%s/%%p.gcdump", folder);
	make_file(folder, "1.gcdump", 4000000000);
	make_file(folder, "2.gcdump", 100);
	(void)snprintf(path, sizeof(path), "%s/2.gcdump", folder);
	kept_files_trim(&settings, path);
	CU_ASSERT(is_there(folder, "2.gcdump") && !is_there(folder, "1.gcdump"));
	(void)unlink(path);
	(void)rmdir(folder);
}

/* As root we could remove files in it that its owner could not. */
TEST(another_folder_in_the_place_of_ours_stays_as_it_is)
{
	char folder[] = "/tmp/heapdump-test-XXXXXX", path[128];
	struct settings settings = { .keep = 1 };
	REQUIRE(mkdtemp(folder));
	(void)snprintf(settings.out, sizeof(settings.out), "%s/%%p.gcdump", folder);
	make_file(folder, "1.gcdump", 100);
	(void)snprintf(path, sizeof(path), "%s/2.gcdump", folder);
	kept_files_trim(&settings, path);
	CU_ASSERT(is_there(folder, "1.gcdump"));
	(void)snprintf(path, sizeof(path), "%s/1.gcdump", folder);
	(void)unlink(path);
	(void)rmdir(folder);
}

TEST(a_folder_that_cannot_be_read_is_said)
{
	struct settings settings = { .out = "/dev/null/%p.gcdump", .keep = 1 };
	char said[200] = "";
	int ends[2], kept = dup(STDERR_FILENO);
	CU_ASSERT_FATAL(pipe(ends) == 0);
	(void)dup2(ends[1], STDERR_FILENO);
	kept_files_trim(&settings, "/dev/null/1.gcdump");
	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	(void)close(ends[1]);
	CU_ASSERT(read(ends[0], said, sizeof(said) - 1) > 0);
	(void)close(ends[0]);
	ASSERT_TEXT(said,
		    "heapdump: older files stay, /dev/null/ cannot be read: Not a directory\n");
}

SUITE(.name = "profiler_settings")
