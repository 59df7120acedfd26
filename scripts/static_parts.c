/* SPDX-License-Identifier: MIT */
/*
 * The static program has this in place of parts of its libraries; scripts/static.sh links this in
 * front of them.  The parts of the C library would load libraries and files of the machine that the
 * program runs on, which may be of another C library, or of nobody who is trusted.
 */
#include <dlfcn.h>
#include <pwd.h>
#include <stddef.h>
#include <string.h>

struct sqlite3;

/* Nothing is loaded: SQLite, which asks, is never told to. */
void *dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
	(void)handle;
	(void)name;
	return NULL;
}

int dlclose(void *handle)
{
	(void)handle;
	return -1;
}

char *dlerror(void)
{
	static char text[] = "the static program loads nothing";
	return text;
}

/*
 * Search in texts and in space, a quarter of SQLite: it needs CREATE VIRTUAL TABLE, which sql
 * refuses (sql_database.c).  Called when a connection opens; 0 is SQLITE_OK.
 */
int sqlite3Fts3Init(struct sqlite3 *handle);
int sqlite3Fts5Init(struct sqlite3 *handle);
int sqlite3RtreeInit(struct sqlite3 *handle);

int sqlite3Fts3Init(struct sqlite3 *handle)
{
	(void)handle;
	return 0;
}

int sqlite3Fts5Init(struct sqlite3 *handle)
{
	(void)handle;
	return 0;
}

int sqlite3RtreeInit(struct sqlite3 *handle)
{
	(void)handle;
	return 0;
}

/* Processors that capstone knows, and this program does not: half of capstone.  2 is CS_ERR_ARCH. */
#define WITHOUT_PROCESSOR(name)                         \
	int name##_global_init(void *handle);           \
	int name##_option(void *, int, size_t);         \
	int name##_global_init(void *handle)            \
	{                                               \
		(void)handle;                           \
		return 2;                               \
	}                                               \
	int name##_option(void *h, int type, size_t to) \
	{                                               \
		(void)h;                                \
		(void)type;                             \
		(void)to;                               \
		return 2;                               \
	}

WITHOUT_PROCESSOR(ARM)
WITHOUT_PROCESSOR(EVM)
WITHOUT_PROCESSOR(M680X)
WITHOUT_PROCESSOR(M68K)
WITHOUT_PROCESSOR(Mips)
WITHOUT_PROCESSOR(PPC)
WITHOUT_PROCESSOR(Sparc)
WITHOUT_PROCESSOR(SystemZ)
WITHOUT_PROCESSOR(TMS320C64x)
WITHOUT_PROCESSOR(XCore)

/* And how AT&T writes x64, which nobody asks for. */
void X86_ATT_printInst(void *instruction, void *text, void *info);
void X86_ATT_printInst(void *instruction, void *text, void *info)
{
	(void)instruction;
	(void)text;
	(void)info;
}

/* Names of users come from modules of the C library (NSS): here nobody has a name, and numbers are shown. */
int getpwuid_r(uid_t uid, struct passwd *entry, char *space, size_t size, struct passwd **found)
{
	(void)uid;
	(void)entry;
	(void)space;
	(void)size;
	*found = NULL;
	return 0;
}

int getpwnam_r(const char *name, struct passwd *entry, char *space, size_t size,
	       struct passwd **found)
{
	(void)name;
	return getpwuid_r(0, entry, space, size, found);
}

struct passwd *getpwuid(uid_t uid)
{
	(void)uid;
	return NULL;
}

struct passwd *getpwnam(const char *name)
{
	(void)name;
	return NULL;
}

struct passwd *getpwent(void)
{
	return NULL;
}

void setpwent(void)
{
}

void endpwent(void)
{
}

/*
 * Locales are files of the machine, and name modules that convert characters.  Without them only
 * ASCII can be typed at the prompt; all else takes bytes as they are.
 */
char *__wrap_setlocale(int category, const char *locale);

char *__wrap_setlocale(int category, const char *locale)
{
	static char name[] = "C";
	(void)category;
	return !locale || !*locale || strcmp(locale, name) == 0 ? name : NULL;
}
