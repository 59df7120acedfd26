/* SPDX-License-Identifier: MIT */
/* The classes of an HPROF file that is written, with their names, fields and statics. */
#pragma once

#include "format/hprof/hprof_out.h"
#include "format/string_table.h"

/** Classes that readers look for by their names: doc/formats.md 10.2. */
#define HPROF_PRESETS(X)                                       \
	X(OBJECT, "java/lang/Object")                          \
	X(CLASS, "java/lang/Class")                            \
	X(STRING, "java/lang/String")                          \
	X(THREAD, "java/lang/Thread")                          \
	X(SYSTEM, "java/lang/System")                          \
	X(PROPERTIES, "java/util/Properties")                  \
	X(ENTRY, "java/util/Hashtable$Entry")                  \
	X(ENTRIES, "[Ljava/util/Hashtable$Entry;")             \
	X(OBJECTS, "[Ljava/lang/Object;")                      \
	X(REFERENCE, "java/lang/ref/Reference")                \
	X(SOFT_REFERENCE, "java/lang/ref/SoftReference")       \
	X(WEAK_REFERENCE, "java/lang/ref/WeakReference")       \
	X(FINAL_REFERENCE, "java/lang/ref/FinalReference")     \
	X(PHANTOM_REFERENCE, "java/lang/ref/PhantomReference") \
	X(BOOLEANS, "[Z")                                      \
	X(CHARS, "[C")                                         \
	X(FLOATS, "[F")                                        \
	X(DOUBLES, "[D")                                       \
	X(BYTES, "[B")                                         \
	X(SHORTS, "[S")                                        \
	X(INTS, "[I")                                          \
	X(LONGS, "[J")

enum hprof_preset {
#define X(id, name) PRESET_##id,
	HPROF_PRESETS(X)
#undef X
	PRESETS
};

/** A field, as it is written and where its value comes from. */
struct hprof_field {
	uint32_t name;    /**< number of a string */
	uint32_t offset;  /**< for who makes instances: where its value is */
	uint8_t type;     /**< enum hprof_type */
	bool is_constant; /**< for who makes instances: the value is not in the object */
};

struct hprof_class {
	uint64_t id;
	uint64_t super; /**< id, or 0 */
	uint32_t name;  /**< number of a string */
	uint32_t size;  /**< of an instance, in bytes */
	size_t first_field, field_count;
	size_t first_static, static_count;
};

/** A static that refers to an object. */
struct hprof_static {
	uint32_t name; /**< number of a string */
	uint64_t object;
};

/** All classes; the presets come first here and last in the file, where the last of a name counts. */
struct hprof_classes {
	struct string_table strings; /**< number + 1 is the id of a string */
	struct hprof_class *rows;
	size_t rows_count, rows_capacity;
	struct hprof_field *fields;
	size_t fields_count, fields_capacity;
	struct hprof_static *statics;
	size_t statics_count, statics_capacity;
	uint64_t next_id, last_id; /**< ids that are free */
	struct hd_error *err;
};

/** Make the presets; ids from @p first to @p last are free. */
HD_NODISCARD enum hd_status hprof_classes_init(struct hprof_classes *classes, uint64_t first,
					       uint64_t last, struct hd_error *err);
/** A zeroed struct is allowed. */
void hprof_classes_deinit(struct hprof_classes *classes);

/** An id that nothing has; 0 when there is none left. */
uint64_t hprof_new_id(struct hprof_classes *classes);

/** Number of a string; what is not UTF-8 in it becomes an escape. */
HD_NODISCARD enum hd_status hprof_string(struct hprof_classes *classes, const char *text,
					 size_t size, uint32_t *ret);

/**
 * Number of the name of a class as Java has it: with slashes, and "[LX;" for "X[]".
 *
 * @param end Is appended: "", or what makes it the name of another class.
 */
HD_NODISCARD enum hd_status hprof_class_name(struct hprof_classes *classes, const char *name,
					     size_t size, const char *end, uint32_t *ret);

/** Add a class, whose id is a new one where it is 0. */
HD_NODISCARD enum hd_status hprof_add_class(struct hprof_classes *classes,
					    const struct hprof_class *row, uint32_t *ret);

/** Add a field to the class that was added last, or to that which field_count of grows last. */
HD_NODISCARD enum hd_status hprof_add_field(struct hprof_classes *classes, uint32_t row,
					    const struct hprof_field *field);

/** The same with its name, of a preset class. */
HD_NODISCARD enum hd_status hprof_add_named(struct hprof_classes *classes, uint32_t row,
					    const char *name, enum hprof_type type);

/** Write the strings, and a LOAD_CLASS for each class, whose serial is hprof_serial(). */
HD_NODISCARD enum hd_status hprof_write_names(const struct hprof_classes *classes,
					      struct hprof_out *out);

/** Write a CLASS_DUMP for each class. */
void hprof_write_classes(const struct hprof_classes *classes, struct hprof_out *out);

/** Serial of a class: its place in the file. */
static inline uint32_t hprof_serial(const struct hprof_classes *classes, uint32_t row)
{
	uint32_t count = (uint32_t)classes->rows_count;
	return row < PRESETS ? count - (PRESETS - row) + 1 : row - PRESETS + 1;
}

/** The preset of arrays of a primitive type (enum hprof_type). */
static inline enum hprof_preset hprof_array_preset(unsigned int type)
{
	return (enum hprof_preset)(PRESET_BOOLEANS + (type - HPROF_BOOLEAN));
}
