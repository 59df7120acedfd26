/* SPDX-License-Identifier: MIT */
/*
 * A runtime of a release that nobody has seen: what its descriptor says is followed, and what it does
 * not say is told; nothing is made up, nothing counts as damage, and no answer is empty without a word.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <heapdump/session.h>

#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_core.h"
#include "support/suite.h"

#define RELEASE 12u

/* Commands of each kind; what is about the file itself is not among them. */
static const char *const lines[] = { "clrthreads",     "clrstack -all",  "dumpheap -stat",
				     "gchandles",      "finalizequeue",  "roots",
				     "verifyheap",     "strings",        "syncblk -all",
				     "clrmodules",     "dumpdomain",     "eeheap -gc",
				     "eeheap -loader", "printexception", "waits",
				     "hang",           "crashinfo",      "dumpasync",
				     "parallelstacks", "threads",        "dumpstackobjects" };
#define LINES (sizeof(lines) / sizeof(lines[0]))

static struct layout last_layout(void)
{
	struct layout layout;
	layout_init(&layout);
	layout_fill(&layout, 11, ORIGIN_SERIES);
	return layout;
}

/* Open a core of that runtime; false: it cannot be read, which the message must say. */
static bool open_core(const struct layout *layout, const char *const *without,
		      struct hd_session **ret)
{
	struct fake_core core = fake_core_of(&(struct fake_core_options){
		.release = RELEASE, .layout = layout, .without = without });
	struct hd_error err = { 0 };
	char path[64];
	int fd = memfd_create("core", MFD_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0 &&
			write(fd, core.bytes.bytes, core.bytes.size) == (ssize_t)core.bytes.size);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CU_ASSERT_FATAL(hd_session_create(ret, NULL) == HD_OK);
	CU_ASSERT_FATAL(hd_session_open(*ret, path, 0, NULL, &err) == HD_OK);
	(void)close(fd);
	fake_core_free(&core);
	struct answer answer = command_run(*ret, "verifyheap");
	bool is_open = answer.status != HD_EXIT_INPUT;
	CU_ASSERT_TRUE(is_open || strstr(answer.err.message, "does not tell its layout"));
	answer_deinit(&answer);
	return is_open;
}

struct answers {
	struct answer of[LINES];
};

static struct answers run_all(struct hd_session *session)
{
	struct answers answers;
	for (size_t i = 0; i < LINES; i++)
		answers.of[i] = command_run(session, lines[i]);
	return answers;
}

static void answers_deinit(struct answers *answers)
{
	for (size_t i = 0; i < LINES; i++)
		answer_deinit(&answers->of[i]);
}

static const struct answer *answer_of(const struct answers *answers, const char *line)
{
	for (size_t i = 0; i < LINES; i++) {
		if (strcmp(lines[i], line) == 0)
			return &answers->of[i];
	}
	CU_ASSERT_FATAL(false);
	return NULL;
}

/* ThreadLocalData is checked by a word that no descriptor has. */
static bool is_kept(enum layout_field field)
{
	const char *type, *name;
	layout_name(field, &type, &name);
	return strcmp(type, "ThreadLocalData") == 0;
}

TEST(fields_that_moved_are_followed)
{
	struct layout layout = last_layout(), moved = layout;
	struct hd_session *session = NULL, *other = NULL;
	for (size_t i = 0; i < L_COUNT; i++) {
		if (layout_has(&moved, (enum layout_field)i) && !is_kept((enum layout_field)i))
			moved.offsets[i] += 8;
	}
	CU_ASSERT_TRUE_FATAL(open_core(&layout, NULL, &session));
	CU_ASSERT_TRUE_FATAL(open_core(&moved, NULL, &other));
	struct answers answers = run_all(session), others = run_all(other);
	for (size_t i = 0; i < LINES; i++) {
		CU_ASSERT_EQUAL(others.of[i].status, answers.of[i].status);
		ASSERT_TEXT(answer_text(&others.of[i]), answer_text(&answers.of[i]));
	}
	CU_ASSERT_PTR_NOT_NULL(
		strstr(answer_text(answer_of(&others, "verifyheap")), "62 objects verified, 0 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(answer_of(&others, "roots")), "Ns.Holder.cache"));
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(answer_of(&others, "clrthreads")), "3eb"));
	answers_deinit(&answers);
	answers_deinit(&others);
	hd_session_destroy(session);
	hd_session_destroy(other);
}

/* Without @p name an answer is the same as with it, or says that something is missing. */
static void check_without(const char *name, const struct answers *whole)
{
	const char *const without[] = { name, NULL };
	struct layout layout = last_layout();
	struct hd_session *session = NULL;
	if (open_core(&layout, without, &session)) {
		struct answer info = command_run(session, "info");
		const char *missing = strstr(answer_text(&info), "missing-fields");
		struct answers answers = run_all(session);
		for (size_t i = 0; i < LINES; i++) {
			const struct answer *now = &answers.of[i], *then = &whole->of[i];
			bool is_same = now->status == then->status &&
				       strcmp(answer_text(now), answer_text(then)) == 0;
			CU_ASSERT_TRUE(is_same || now->status != HD_EXIT_OK ||
				       strstr(answer_text(&info), name) ||
				       strstr(answer_text(now), "not known"));
			CU_ASSERT_TRUE(now->status != HD_EXIT_OK || now->text.size);
		}
		CU_ASSERT_TRUE(!strchr(name, '.') || (missing && strstr(missing, name)));
		CU_ASSERT_PTR_NOT_NULL(
			strstr(answer_text(answer_of(&answers, "verifyheap")), "0 errors"));
		answers_deinit(&answers);
		answer_deinit(&info);
	}
	hd_session_destroy(session);
}

TEST(names_that_are_missing_are_told)
{
	static const char *const globals[] = { "AppDomain",
					       "ThreadStore",
					       "FinalizerThread",
					       "ObjectMethodTable",
					       "StringMethodTable",
					       "SyncTableEntries",
					       "InlinedCallFrameIdentifier" };
	struct layout layout = last_layout();
	struct hd_session *session = NULL;
	CU_ASSERT_TRUE_FATAL(open_core(&layout, NULL, &session));
	struct answers whole = run_all(session);
	for (size_t i = 0; i < L_COUNT; i++) {
		const char *type, *field;
		char name[128];
		if (!layout_has(&layout, (enum layout_field)i))
			continue;
		layout_name((enum layout_field)i, &type, &field);
		(void)snprintf(name, sizeof(name), "%s.%s", type, field);
		check_without(name, &whole);
	}
	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++)
		check_without(globals[i], &whole);
	answers_deinit(&whole);
	hd_session_destroy(session);
}

/* A list that cannot be read is not an empty one. */
TEST(threads_that_cannot_be_read_are_not_none)
{
	static const char *const fields[] = { "ThreadStore.FirstThreadLink", "Thread.LinkNext",
					      "Thread.Id" };
	static const char *const about_threads[] = { "clrthreads", "clrstack -all",
						     "parallelstacks", "dumpstackobjects",
						     "printexception" };
	static const char *const about_waits[] = { "waits", "hang" };
	struct layout layout = last_layout();
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *const without[] = { fields[i], NULL };
		struct hd_session *session = NULL;
		CU_ASSERT_TRUE_FATAL(open_core(&layout, without, &session));
		for (size_t k = 0; k < sizeof(about_threads) / sizeof(about_threads[0]); k++) {
			struct answer answer = command_run(session, about_threads[k]);
			CU_ASSERT_EQUAL(answer.status, HD_EXIT_INPUT);
			ASSERT_TEXT(answer.err.message,
				    "the list of managed threads cannot be read "
				    "(info says why)");
			answer_deinit(&answer);
		}
		/* These say themselves what they do not know. */
		for (size_t k = 0; k < sizeof(about_waits) / sizeof(about_waits[0]); k++) {
			struct answer answer = command_run(session, about_waits[k]);
			CU_ASSERT_NOT_EQUAL(answer.status, HD_EXIT_OK);
			answer_deinit(&answer);
		}
		struct answer answer = command_run(session, "crashinfo");
		CU_ASSERT_EQUAL(answer.status, HD_EXIT_FINDINGS);
		CU_ASSERT_PTR_NOT_NULL(
			strstr(answer_text(&answer), "is not known (info says why)"));
		answer_deinit(&answer);
		hd_session_destroy(session);
	}
}

SUITE(.name = "next_release")
