/* SPDX-License-Identifier: MIT */
/*
 * The functions of libelf that the core library calls when it opens a core or looks up symbols.  The
 * profiler does neither: it is inside the process that it looks at.  So it does not carry libelf,
 * whose static library is not made for shared ones, and every ELF file counts as unreadable.
 */
#include <gelf.h>
#include <stddef.h>

/* NOLINTBEGIN(readability-non-const-parameter): the types are those of libelf. */

unsigned int elf_version(unsigned int version)
{
	(void)version;
	return EV_NONE;
}

Elf *elf_memory(char *image, size_t size)
{
	(void)image;
	(void)size;
	return NULL;
}

Elf *elf_begin(int fildes, Elf_Cmd cmd, Elf *ref)
{
	(void)fildes;
	(void)cmd;
	(void)ref;
	return NULL;
}

int elf_end(Elf *elf)
{
	(void)elf;
	return 0;
}

GElf_Ehdr *gelf_getehdr(Elf *elf, GElf_Ehdr *dest)
{
	(void)elf;
	(void)dest;
	return NULL;
}

int elf_getphdrnum(Elf *elf, size_t *dst)
{
	(void)elf;
	(void)dst;
	return -1;
}

GElf_Phdr *gelf_getphdr(Elf *elf, int ndx, GElf_Phdr *dst)
{
	(void)elf;
	(void)ndx;
	(void)dst;
	return NULL;
}

Elf_Scn *elf_nextscn(Elf *elf, Elf_Scn *scn)
{
	(void)elf;
	(void)scn;
	return NULL;
}

GElf_Shdr *gelf_getshdr(Elf_Scn *scn, GElf_Shdr *dst)
{
	(void)scn;
	(void)dst;
	return NULL;
}

Elf_Scn *elf_getscn(Elf *elf, size_t index)
{
	(void)elf;
	(void)index;
	return NULL;
}

int elf_getshdrstrndx(Elf *elf, size_t *dst)
{
	(void)elf;
	(void)dst;
	return -1;
}

size_t gelf_fsize(Elf *elf, Elf_Type type, size_t count, unsigned int version)
{
	(void)elf;
	(void)type;
	(void)count;
	(void)version;
	return 0;
}

GElf_Sym *gelf_getsym(Elf_Data *data, int ndx, GElf_Sym *dst)
{
	(void)data;
	(void)ndx;
	(void)dst;
	return NULL;
}

Elf_Data *elf_getdata(Elf_Scn *scn, Elf_Data *data)
{
	(void)scn;
	(void)data;
	return NULL;
}

Elf_Data *elf_getdata_rawchunk(Elf *elf, int64_t offset, size_t size, Elf_Type type)
{
	(void)elf;
	(void)offset;
	(void)size;
	(void)type;
	return NULL;
}

size_t gelf_getnote(Elf_Data *data, size_t offset, GElf_Nhdr *result, size_t *name_offset,
		    size_t *desc_offset)
{
	(void)data;
	(void)offset;
	(void)result;
	(void)name_offset;
	(void)desc_offset;
	return 0;
}

size_t elf64_fsize(Elf_Type type, size_t count, unsigned int version)
{
	(void)type;
	(void)count;
	(void)version;
	return 0;
}

Elf_Data *elf64_xlatetom(Elf_Data *dest, const Elf_Data *src, unsigned int encode)
{
	(void)dest;
	(void)src;
	(void)encode;
	return NULL;
}

GElf_Chdr *gelf_getchdr(Elf_Scn *scn, GElf_Chdr *dst)
{
	(void)scn;
	(void)dst;
	return NULL;
}

int elf_getshdrnum(Elf *elf, size_t *dst)
{
	(void)elf;
	(void)dst;
	return -1;
}

/* NOLINTEND(readability-non-const-parameter) */
