/* SPDX-License-Identifier: MIT */
/* How objects of each type become records: found once for each type. */
#pragma once

#include "contents/hprof_heap.h"
#include "format/hprof/hprof_writer.h"
#include "gc/walk.h"
#include "runtime/field.h"

enum hprof_shape {
	SHAPE_INSTANCE,   /**< an instance of its fields */
	SHAPE_STRING,     /**< java.lang.String, and its characters */
	SHAPE_PRIMITIVES, /**< an array of a primitive type, which is the class, too */
	SHAPE_REFERENCES, /**< an array of references */
	SHAPE_STRUCTS,    /**< an array of references to its elements, which are instances */
	SHAPE_PACKED,     /**< an array of one reference to its bytes or numbers */
};

/** A value that is copied from an object to its record. */
struct hprof_copy {
	uint32_t offset; /**< from the first field */
	uint8_t size;    /**< 1, 2, 4, 8 */
	bool is_constant, is_reference;
	uint64_t constant;
};

/** How the objects of one type of the graph are written. */
struct hprof_layout {
	uint8_t shape;   /**< enum hprof_shape */
	uint8_t element; /**< of numbers: enum hprof_type */
	uint32_t row;    /**< its class; of SHAPE_STRUCTS, the array's */
	uint32_t element_row;
	uint32_t data;       /**< of arrays: where the elements begin, from the object's address */
	uint32_t stride;     /**< bytes of an element */
	size_t first, count; /**< values of an instance, or of an element */
	uint32_t size;       /**< their bytes in the record */
	uint32_t extent;     /**< bytes from the first field that they are read from */
};

/** A type of the runtime, by its index. */
struct hprof_known {
	struct field_list fields; /**< with statics */
	bool is_read;
	uint32_t own_count; /**< instance fields of the list */
	uint32_t row;       /**< its class + 1; 0: not made */
	bool is_being_made;
	size_t first, count; /**< values of its own class, and then those of its base classes */
};

struct hprof_layouts {
	struct hprof_writer *writer;
	struct hprof_heap *heap;
	struct hprof_layout *rows; /**< by type of the graph */
	struct hprof_known *known; /**< by index of a type of the runtime */
	size_t known_count, known_capacity;
	struct hprof_copy *copies;
	size_t copies_count, copies_capacity;
	struct window window; /**< for objects */
};

/** Make classes and layouts of all types of the graph. */
HD_NODISCARD enum hd_status hprof_layouts_make(struct hprof_layouts *layouts);
void hprof_layouts_deinit(struct hprof_layouts *layouts);

/** A value in a type, as hprof_flat_fields() finds it: its name has dots for those of structs. */
struct hprof_flat {
	char *name; /**< owned by the list */
	uint32_t offset;
	uint8_t element_type; /**< enum element_type */
	const struct type *type;
	unsigned int nesting;
};

struct hprof_flats {
	struct hprof_flat *rows;
	size_t rows_count, rows_capacity;
};

/** The instance fields of a type beginning with number @p skip, structs taken apart. */
HD_NODISCARD enum hd_status hprof_flat_fields(struct hprof_layouts *layouts,
					      const struct type *type, uint32_t skip,
					      struct hprof_flats *ret);
void hprof_flats_deinit(struct hprof_flats *flats);

/** The fields of a type, read once; *@p ret is valid until the next call. */
HD_NODISCARD enum hd_status hprof_known_type(struct hprof_layouts *layouts, const struct type *type,
					     struct hprof_known **ret);

/** Type of HPROF for a value of @p element_type; 0: it is a struct or not known. */
uint8_t hprof_type_of(uint8_t element_type);

/** Write the object of a node. */
HD_NODISCARD enum hd_status hprof_write_object(struct hprof_layouts *layouts, uint32_t node,
					       uint64_t id);
