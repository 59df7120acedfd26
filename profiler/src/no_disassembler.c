/* SPDX-License-Identifier: MIT */
/* In place of capstone, which would make the library larger by a third: nobody disassembles code inside of a program. */
#include <capstone/capstone.h>

/* Their parameters are those of capstone.  NOLINTBEGIN(readability-non-const-parameter) */

cs_err cs_open(cs_arch arch, cs_mode mode, csh *handle)
{
	(void)arch;
	(void)mode;
	(void)handle;
	return CS_ERR_ARCH;
}

cs_err cs_close(csh *handle)
{
	(void)handle;
	return CS_ERR_OK;
}

cs_insn *cs_malloc(csh handle)
{
	(void)handle;
	return NULL;
}

void cs_free(cs_insn *insn, size_t count)
{
	(void)insn;
	(void)count;
}

bool cs_disasm_iter(csh handle, const uint8_t **code, size_t *size, uint64_t *address,
		    cs_insn *insn)
{
	(void)handle;
	(void)code;
	(void)size;
	(void)address;
	(void)insn;
	return false;
}
/* NOLINTEND(readability-non-const-parameter) */
