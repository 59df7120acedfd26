/* SPDX-License-Identifier: MIT */
/*
 * The functions of libdw that the core library calls when it reads the symbols of a NativeAOT program.  The
 * profiler opens no such program (no_elf.c), and does not carry libdw.
 */
#include <elfutils/libdw.h>
#include <stddef.h>

/* NOLINTBEGIN(readability-non-const-parameter): the types are those of libdw. */

Dwarf *dwarf_begin_elf(Elf *elf, Dwarf_Cmd cmd, Elf_Scn *scngrp)
{
	(void)elf;
	(void)cmd;
	(void)scngrp;
	return NULL;
}

int dwarf_end(Dwarf *dwarf)
{
	(void)dwarf;
	return 0;
}

Dwarf_Die *dwarf_offdie(Dwarf *dbg, Dwarf_Off offset, Dwarf_Die *result)
{
	(void)dbg;
	(void)offset;
	(void)result;
	return NULL;
}

Dwarf_Off dwarf_dieoffset(Dwarf_Die *die)
{
	(void)die;
	return 0;
}

int dwarf_child(Dwarf_Die *die, Dwarf_Die *result)
{
	(void)die;
	(void)result;
	return -1;
}

int dwarf_siblingof(Dwarf_Die *die, Dwarf_Die *result)
{
	(void)die;
	(void)result;
	return -1;
}

int dwarf_tag(Dwarf_Die *die)
{
	(void)die;
	return 0;
}

Dwarf_Attribute *dwarf_attr(Dwarf_Die *die, unsigned int search_name, Dwarf_Attribute *result)
{
	(void)die;
	(void)search_name;
	(void)result;
	return NULL;
}

int dwarf_hasattr(Dwarf_Die *die, unsigned int search_name)
{
	(void)die;
	(void)search_name;
	return 0;
}

unsigned int dwarf_whatform(Dwarf_Attribute *attr)
{
	(void)attr;
	return 0;
}

const char *dwarf_formstring(Dwarf_Attribute *attrp)
{
	(void)attrp;
	return NULL;
}

int dwarf_formudata(Dwarf_Attribute *attr, Dwarf_Word *return_uval)
{
	(void)attr;
	(void)return_uval;
	return -1;
}

int dwarf_formblock(Dwarf_Attribute *attr, Dwarf_Block *return_block)
{
	(void)attr;
	(void)return_block;
	return -1;
}

Dwarf_Die *dwarf_formref_die(Dwarf_Attribute *attr, Dwarf_Die *die_mem)
{
	(void)attr;
	(void)die_mem;
	return NULL;
}

int dwarf_lowpc(Dwarf_Die *die, Dwarf_Addr *return_addr)
{
	(void)die;
	(void)return_addr;
	return -1;
}

int dwarf_highpc(Dwarf_Die *die, Dwarf_Addr *return_addr)
{
	(void)die;
	(void)return_addr;
	return -1;
}

int dwarf_getsrclines(Dwarf_Die *cudie, Dwarf_Lines **lines, size_t *nlines)
{
	(void)cudie;
	(void)lines;
	(void)nlines;
	return -1;
}

Dwarf_Line *dwarf_onesrcline(Dwarf_Lines *lines, size_t idx)
{
	(void)lines;
	(void)idx;
	return NULL;
}

int dwarf_lineaddr(Dwarf_Line *line, Dwarf_Addr *addrp)
{
	(void)line;
	(void)addrp;
	return -1;
}

int dwarf_lineno(Dwarf_Line *line, int *linep)
{
	(void)line;
	(void)linep;
	return -1;
}

int dwarf_linecol(Dwarf_Line *line, int *colp)
{
	(void)line;
	(void)colp;
	return -1;
}

int dwarf_lineendsequence(Dwarf_Line *line, bool *flagp)
{
	(void)line;
	(void)flagp;
	return -1;
}

const char *dwarf_linesrc(Dwarf_Line *line, Dwarf_Word *mtime, Dwarf_Word *length)
{
	(void)line;
	(void)mtime;
	(void)length;
	return NULL;
}

/* NOLINTEND(readability-non-const-parameter) */
