/* SPDX-License-Identifier: MIT */
#include "metadata/table_schema.h"

/*
 * Columns of the tables of ECMA-335 II.22 and of portable PDBs (doc/coreclr.md 12.14), each one byte: below 0x40 an index into that table,
 * then coded indexes (II.24.2.6), heaps and plain numbers.
 */
enum metadata_column_kind {
	CODED = 0x40,
	TYPE_DEF_OR_REF = CODED,
	HAS_CONSTANT,
	HAS_ATTRIBUTE,
	HAS_MARSHAL,
	HAS_SECURITY,
	MEMBER_PARENT,
	HAS_SEMANTICS,
	METHOD_DEF_OR_REF,
	MEMBER_FORWARDED,
	IMPLEMENTATION,
	ATTRIBUTE_TYPE,
	RESOLUTION_SCOPE,
	TYPE_OR_METHOD,
	HAS_DEBUG,
	CODED_END,
	STRING = 0x60,
	GUID,
	BLOB,
	U2,
	U4,
	LAST = 0xff /* no column */
};

static const uint8_t schemas[MD_SCHEMA_COUNT][MD_COLUMNS_MAX + 1] = {
	[0x00] = { U2, STRING, GUID, GUID, GUID, LAST },                    /* Module */
	[0x01] = { RESOLUTION_SCOPE, STRING, STRING, LAST },                /* TypeRef */
	[0x02] = { U4, STRING, STRING, TYPE_DEF_OR_REF, 0x04, 0x06, LAST }, /* TypeDef */
	[0x03] = { 0x04, LAST },                                            /* FieldPtr */
	[0x04] = { U2, STRING, BLOB, LAST },                                /* Field */
	[0x05] = { 0x06, LAST },                                            /* MethodPtr */
	[0x06] = { U4, U2, U2, STRING, BLOB, 0x08, LAST },                  /* MethodDef */
	[0x07] = { 0x08, LAST },                                            /* ParamPtr */
	[0x08] = { U2, U2, STRING, LAST },                                  /* Param */
	[0x09] = { 0x02, TYPE_DEF_OR_REF, LAST },                           /* InterfaceImpl */
	[0x0a] = { MEMBER_PARENT, STRING, BLOB, LAST },                     /* MemberRef */
	[0x0b] = { U2, HAS_CONSTANT, BLOB, LAST },                          /* Constant */
	[0x0c] = { HAS_ATTRIBUTE, ATTRIBUTE_TYPE, BLOB, LAST },             /* CustomAttribute */
	[0x0d] = { HAS_MARSHAL, BLOB, LAST },                               /* FieldMarshal */
	[0x0e] = { U2, HAS_SECURITY, BLOB, LAST },                          /* DeclSecurity */
	[0x0f] = { U2, U4, 0x02, LAST },                                    /* ClassLayout */
	[0x10] = { U4, 0x04, LAST },                                        /* FieldLayout */
	[0x11] = { BLOB, LAST },                                            /* StandAloneSig */
	[0x12] = { 0x02, 0x14, LAST },                                      /* EventMap */
	[0x13] = { 0x14, LAST },                                            /* EventPtr */
	[0x14] = { U2, STRING, TYPE_DEF_OR_REF, LAST },                     /* Event */
	[0x15] = { 0x02, 0x17, LAST },                                      /* PropertyMap */
	[0x16] = { 0x17, LAST },                                            /* PropertyPtr */
	[0x17] = { U2, STRING, BLOB, LAST },                                /* Property */
	[0x18] = { U2, 0x06, HAS_SEMANTICS, LAST },                         /* MethodSemantics */
	[0x19] = { 0x02, METHOD_DEF_OR_REF, METHOD_DEF_OR_REF, LAST },      /* MethodImpl */
	[0x1a] = { STRING, LAST },                                          /* ModuleRef */
	[0x1b] = { BLOB, LAST },                                            /* TypeSpec */
	[0x1c] = { U2, MEMBER_FORWARDED, STRING, 0x1a, LAST },              /* ImplMap */
	[0x1d] = { U4, 0x04, LAST },                                        /* FieldRVA */
	[0x1e] = { U4, U4, LAST },                                          /* EncLog */
	[0x1f] = { U4, LAST },                                              /* EncMap */
	[0x20] = { U4, U2, U2, U2, U2, U4, BLOB, STRING, STRING, LAST },    /* Assembly */
	[0x21] = { U4, LAST },                                              /* AssemblyProcessor */
	[0x22] = { U4, U4, U4, LAST },                                      /* AssemblyOS */
	[0x23] = { U2, U2, U2, U2, U4, BLOB, STRING, STRING, BLOB, LAST },  /* AssemblyRef */
	[0x24] = { U4, 0x23, LAST },                               /* AssemblyRefProcessor */
	[0x25] = { U4, U4, U4, 0x23, LAST },                       /* AssemblyRefOS */
	[0x26] = { U4, STRING, BLOB, LAST },                       /* File */
	[0x27] = { U4, U4, STRING, STRING, IMPLEMENTATION, LAST }, /* ExportedType */
	[0x28] = { U4, U4, STRING, IMPLEMENTATION, LAST },         /* ManifestResource */
	[0x29] = { 0x02, 0x02, LAST },                             /* NestedClass */
	[0x2a] = { U2, U2, TYPE_OR_METHOD, STRING, LAST },         /* GenericParam */
	[0x2b] = { METHOD_DEF_OR_REF, BLOB, LAST },                /* MethodSpec */
	[0x2c] = { 0x2a, TYPE_DEF_OR_REF, LAST },                  /* GenericParamConstraint */
	[0x2d] = { LAST },
	[0x2e] = { LAST },
	[0x2f] = { LAST },
	[0x30] = { BLOB, GUID, BLOB, GUID, LAST },         /* Document */
	[0x31] = { 0x30, BLOB, LAST },                     /* MethodDebugInformation */
	[0x32] = { 0x06, 0x35, 0x33, 0x34, U4, U4, LAST }, /* LocalScope */
	[0x33] = { U2, U2, STRING, LAST },                 /* LocalVariable */
	[0x34] = { STRING, BLOB, LAST },                   /* LocalConstant */
	[0x35] = { 0x35, BLOB, LAST },                     /* ImportScope */
	[0x36] = { 0x06, 0x06, LAST },                     /* StateMachineMethod */
	[0x37] = { HAS_DEBUG, GUID, BLOB, LAST },          /* CustomDebugInformation */
};

/* Tag bits of a coded index, and the tables it may name. */
struct coded {
	uint8_t bits, count;
	uint8_t tables[27];
};

static const struct coded coded_indexes[CODED_END - CODED] = {
	[TYPE_DEF_OR_REF - CODED] = { 2, 3, { 0x02, 0x01, 0x1b } },
	[HAS_CONSTANT - CODED] = { 2, 3, { 0x04, 0x08, 0x17 } },
	[HAS_ATTRIBUTE - CODED] = { 5, 22, { 0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00,
					     0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23,
					     0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b } },
	[HAS_MARSHAL - CODED] = { 1, 2, { 0x04, 0x08 } },
	[HAS_SECURITY - CODED] = { 2, 3, { 0x02, 0x06, 0x20 } },
	[MEMBER_PARENT - CODED] = { 3, 5, { 0x02, 0x01, 0x1a, 0x06, 0x1b } },
	[HAS_SEMANTICS - CODED] = { 1, 2, { 0x14, 0x17 } },
	[METHOD_DEF_OR_REF - CODED] = { 1, 2, { 0x06, 0x0a } },
	[MEMBER_FORWARDED - CODED] = { 1, 2, { 0x04, 0x06 } },
	[IMPLEMENTATION - CODED] = { 2, 3, { 0x26, 0x23, 0x27 } },
	[ATTRIBUTE_TYPE - CODED] = { 3, 2, { 0x06, 0x0a } },
	[RESOLUTION_SCOPE - CODED] = { 2, 4, { 0x00, 0x1a, 0x23, 0x01 } },
	[TYPE_OR_METHOD - CODED] = { 1, 2, { 0x02, 0x06 } },
	[HAS_DEBUG - CODED] = { 5, 27, { 0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e,
					 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23, 0x26, 0x27,
					 0x28, 0x2a, 0x2c, 0x2b, 0x30, 0x32, 0x33, 0x34, 0x35 } },
};

/* The table between a list column and its rows when the stream is #-. */
static uint8_t pointer_table(uint8_t table)
{
	switch (table) {
	case MD_FIELD:
		return MD_FIELD_PTR;
	case MD_METHOD:
		return MD_METHOD_PTR;
	case MD_PARAM:
		return 0x07;
	case 0x14:
		return 0x13;
	case 0x17:
		return 0x16;
	default:
		return table;
	}
}

static uint8_t index_width(const struct metadata *metadata, uint8_t column)
{
	if (column < CODED) {
		uint32_t rows = metadata->tables[column].rows;
		uint32_t pointers = metadata->tables[pointer_table(column)].rows;
		return rows > 0xffff || pointers > 0xffff ? 4 : 2;
	}
	const struct coded *coded = &coded_indexes[column - CODED];
	for (unsigned int i = 0; i < coded->count; i++) {
		if (metadata->tables[coded->tables[i]].rows >= 1u << (16 - coded->bits))
			return 4;
	}
	return 2;
}

static uint8_t column_width(const struct metadata *metadata,
			    const struct metadata_index_sizes *sizes, uint8_t column)
{
	bool wide = false;
	switch (column) {
	case U2:
		return 2;
	case U4:
		return 4;
	case STRING:
		wide = sizes->wide_strings;
		break;
	case GUID:
		wide = sizes->wide_guids;
		break;
	case BLOB:
		wide = sizes->wide_blobs;
		break;
	default:
		wide = index_width(metadata, column) == 4;
		break;
	}
	return wide || sizes->wide_all ? 4 : 2;
}

void schema_layout(struct metadata *metadata, const struct metadata_index_sizes *sizes)
{
	for (unsigned int t = 0; t < MD_SCHEMA_COUNT; t++) {
		uint16_t size = 0;
		uint8_t count = 0;
		for (; schemas[t][count] != LAST; count++) {
			uint8_t width = column_width(metadata, sizes, schemas[t][count]);
			metadata->tables[t].widths[count] = width;
			size = (uint16_t)(size + width);
		}
		metadata->tables[t].columns = count;
		metadata->tables[t].row_size = size;
	}
}
