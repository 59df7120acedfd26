/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Numbers of DWARF 4 that this folder writes. */

/** Bytes of an address, and of a word. */
#define DWARF_ADDRESS 8u

/** Tags (7.5.4). */
enum dwarf_tag {
	TAG_ARRAY_TYPE = 0x01,
	TAG_ENUMERATION_TYPE = 0x04,
	TAG_FORMAL_PARAMETER = 0x05,
	TAG_LEXICAL_BLOCK = 0x0b,
	TAG_MEMBER = 0x0d,
	TAG_POINTER_TYPE = 0x0f,
	TAG_REFERENCE_TYPE = 0x10,
	TAG_COMPILE_UNIT = 0x11,
	TAG_STRUCTURE_TYPE = 0x13,
	TAG_TYPEDEF = 0x16,
	TAG_INHERITANCE = 0x1c,
	TAG_SUBRANGE_TYPE = 0x21,
	TAG_BASE_TYPE = 0x24,
	TAG_ENUMERATOR = 0x28,
	TAG_SUBPROGRAM = 0x2e,
	TAG_TEMPLATE_TYPE_PARAMETER = 0x2f,
	TAG_VARIABLE = 0x34,
};

/** Attributes (7.5.4). */
enum dwarf_attribute {
	AT_LOCATION = 0x02,
	AT_NAME = 0x03,
	AT_BYTE_SIZE = 0x0b,
	AT_STMT_LIST = 0x10,
	AT_LOW_PC = 0x11,
	AT_HIGH_PC = 0x12,
	AT_LANGUAGE = 0x13,
	AT_COMP_DIR = 0x1b,
	AT_CONST_VALUE = 0x1c,
	AT_PRODUCER = 0x25,
	AT_COUNT = 0x37,
	AT_DATA_MEMBER_LOCATION = 0x38,
	AT_DECL_FILE = 0x3a,
	AT_DECL_LINE = 0x3b,
	AT_DECLARATION = 0x3c,
	AT_ENCODING = 0x3e,
	AT_EXTERNAL = 0x3f,
	AT_FRAME_BASE = 0x40,
	AT_TYPE = 0x49,
	AT_RANGES = 0x55,
};

/** Forms (7.5.4). */
enum dwarf_form {
	FORM_ADDR = 0x01,
	FORM_DATA4 = 0x06,
	FORM_STRING = 0x08,
	FORM_DATA1 = 0x0b,
	FORM_SDATA = 0x0d,
	FORM_UDATA = 0x0f,
	FORM_REF4 = 0x13,
	FORM_SEC_OFFSET = 0x17,
	FORM_EXPRLOC = 0x18,
	FORM_FLAG_PRESENT = 0x19,
};

/** Operations (7.7.1). */
enum dwarf_operation {
	OP_DEREF = 0x06,
	OP_PLUS_UCONST = 0x23,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_REGX = 0x90,
	OP_PIECE = 0x93,
	OP_CALL_FRAME_CFA = 0x9c,
};

/** Encodings of base types (7.8). */
enum dwarf_encoding {
	ENCODING_BOOLEAN = 0x02,
	ENCODING_FLOAT = 0x04,
	ENCODING_SIGNED = 0x05,
	ENCODING_UNSIGNED = 0x07,
	ENCODING_UTF = 0x10,
};

/** Kinds of entries of the unit (abbreviations.c has their attributes). */
enum dwarf_abbreviation {
	ABBREV_UNIT = 1,
	ABBREV_FUNCTION,
	ABBREV_FUNCTION_WITH_VARIABLES,
	ABBREV_LINED_FUNCTION, /**< with the line where it begins */
	ABBREV_LINED_FUNCTION_WITH_VARIABLES,
	ABBREV_BLOCK,
	ABBREV_ARGUMENT,           /**< in one place while the function runs */
	ABBREV_ARGUMENT_IN_PLACES, /**< a list of places */
	ABBREV_ARGUMENT_NOWHERE,
	ABBREV_LOCAL, /**< as for arguments */
	ABBREV_LOCAL_IN_PLACES,
	ABBREV_LOCAL_NOWHERE,
	ABBREV_BASE,
	ABBREV_TYPEDEF,
	ABBREV_POINTER,
	ABBREV_POINTER_TO_ANYTHING,
	ABBREV_REFERENCE,
	ABBREV_STRUCT,
	ABBREV_EMPTY_STRUCT,
	ABBREV_DECLARATION,
	ABBREV_PACK, /**< what LLDB is to show after a `<` in a name */
	ABBREV_PACKED,
	ABBREV_BASE_CLASS,
	ABBREV_MEMBER,
	ABBREV_ENUM,
	ABBREV_EMPTY_ENUM,
	ABBREV_ENUMERATOR,
	ABBREV_ARRAY,
	ABBREV_COUNT_IN_MEMBER,
	ABBREV_COUNT,
};

/** The content of the section .debug_abbrev. */
extern const uint8_t elf_abbreviations[];
extern const size_t elf_abbreviations_size;

struct text;

/**
 * End the entry that begins at @p begin, with others in it from @p children on; if there are none, its abbreviation becomes
 * @p without.
 */
void elf_entry_end(struct text *info, size_t begin, size_t children, uint8_t without);
