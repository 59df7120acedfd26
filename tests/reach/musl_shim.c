/* SPDX-License-Identifier: MIT */
/* Functions that Debian's libstdc++.so.6 and libgcc_s.so.1, built for glibc, need and musl's libc lacks.  Built with musl-gcc as
   ld-linux-x86-64.so.2: both libraries name that one as needed, and musl takes their libc.so.6 and libm.so.6 for itself. */
#define _GNU_SOURCE
#include <ctype.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

char __libc_single_threaded = 0;

/* thread_local destructors: a list per thread, run by a pthread key. */
struct dtor {
	void (*f)(void *);
	void *obj;
	struct dtor *next;
};
static pthread_key_t dtor_key;
static pthread_once_t dtor_once = PTHREAD_ONCE_INIT;
static void run_dtors(void *p)
{
	for (struct dtor *d = p, *n; d != NULL; d = n) {
		n = d->next;
		d->f(d->obj);
		free(d);
	}
}
static void make_key(void)
{
	pthread_key_create(&dtor_key, run_dtors);
}
int __cxa_thread_atexit_impl(void (*f)(void *), void *obj, void *dso)
{
	(void)dso;
	pthread_once(&dtor_once, make_key);
	struct dtor *d = malloc(sizeof *d);
	if (d == NULL)
		return -1;
	*d = (struct dtor){ f, obj, pthread_getspecific(dtor_key) };
	return pthread_setspecific(dtor_key, d);
}
int __pthread_key_create(pthread_key_t *k, void (*f)(void *))
{
	return pthread_key_create(k, f);
}
size_t __strftime_l(char *s, size_t n, const char *f, const struct tm *t, locale_t l)
{
	return strftime_l(s, n, f, t, l);
}
uint32_t arc4random(void)
{
	uint32_t v = 0;
	getrandom(&v, sizeof v, 0);
	return v;
}

/* libgcc's unwinder of glibc 2.35 and later asks for the object of an address in one call. */
struct find_object {
	unsigned long flags;
	void *start, *end;
	struct link_map *map;
	void *eh_frame;
	unsigned long reserved[7];
};
struct ask {
	uintptr_t pc;
	struct find_object *to;
	int found;
};
static int one(struct dl_phdr_info *i, size_t size, void *data)
{
	struct ask *a = data;
	(void)size;
	const ElfW(Phdr) *hit = NULL, *eh = NULL;
	uintptr_t lo = UINTPTR_MAX, hi = 0;
	for (int k = 0; k < i->dlpi_phnum; k++) {
		const ElfW(Phdr) *p = &i->dlpi_phdr[k];
		uintptr_t s = i->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD) {
			if (a->pc - s < p->p_memsz)
				hit = p;
			if (s < lo)
				lo = s;
			if (s + p->p_memsz > hi)
				hi = s + p->p_memsz;
		}
		if (p->p_type == PT_GNU_EH_FRAME)
			eh = p;
	}
	if (hit == NULL)
		return 0;
	if (eh != NULL) {
		*a->to = (struct find_object){
			0, (void *)lo, (void *)hi, NULL, (void *)(i->dlpi_addr + eh->p_vaddr), { 0 }
		};
		a->found = 1;
	}
	return 1;
}
int _dl_find_object(void *pc, struct find_object *to)
{
	struct ask a = { (uintptr_t)pc, to, 0 };
	dl_iterate_phdr(one, &a);
	return a.found ? 0 : -1;
}

/* libstdc++ reads the tables of a glibc locale_t directly (ctype<char>).  Its calls of __newlocale and of its fellows are renamed
   (…X) in our copy: this locale has glibc's form, and is "C" to musl too, whose six pointers at the start are zero. */
struct glibc_locale {
	void *locales[13];
	const unsigned short *ctype_b;
	const int *lower, *upper;
	const char *names[13];
};
extern const unsigned short **__ctype_b_loc(void);
extern const int32_t **__ctype_tolower_loc(void), **__ctype_toupper_loc(void);
static struct glibc_locale c_locale;
locale_t __newlocalX(int mask, const char *name, locale_t base)
{
	(void)mask;
	(void)base;
	if (name != NULL && *name != 0 && strcmp(name, "C") != 0 && strcmp(name, "POSIX") != 0)
		return NULL;
	c_locale.ctype_b = *__ctype_b_loc();
	c_locale.lower = *__ctype_tolower_loc();
	c_locale.upper = *__ctype_toupper_loc();
	for (int i = 0; i < 13; i++)
		c_locale.names[i] = "C";
	return (locale_t)&c_locale;
}
void __freelocalX(locale_t l)
{
	(void)l;
}
locale_t __duplocalX(locale_t l)
{
	return l;
}
/* "newlocale" is the tail of "__newlocale" in the string table, and is renamed with it. */
locale_t newlocalX(int mask, const char *name, locale_t base)
{
	return __newlocalX(mask, name, base);
}
void freelocalX(locale_t l)
{
	(void)l;
}
locale_t duplocalX(locale_t l)
{
	return l;
}
/* libgcc_s has these two with hidden versions, which musl's loader does not look at. */
int __cpu_indicator_init(void)
{
	return 0;
}
struct {
	unsigned vendor, type, subtype, features[1];
} __cpu_model;
