/* SPDX-License-Identifier: MIT */
/* Names, types, places and values of the variables of frames. */
#include "analysis/threads/frame_variables.h"
#include "arch/x86_64/frame_registers.h"
#include "metadata/metadata.h"
#include "runtime/coreclr/code/method_variables.h"
#include "runtime/coreclr/internal.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/fake_stack.h"
#include "support/suite.h"
#include "util/alloc.h"

enum {
	DEF_MODULE = 1,
	DEF_OBJECT,
	DEF_STRING,
	DEF_WORKER,
	DEF_POINT,
	METHOD_WORK = 1, /* void Work(int, string, ref int, Point, T?) */
	METHOD_STATIC,   /* static int Static(byte) without names */
	METHOD_CUT,      /* a signature that ends in its second type */
	METHOD_HANDLES, /* static void Handles(Worker<int>, Point<int>, int) with handles of types */
	METHOD_STRUCT,  /* void Point.Move(long) */
	VALUE_FLAGS = 0x00040000
};

#define SP  (FAKE_STACK + 0x1000)
#define RBP (SP + FAKE_LOCALS)

/* HASTHIS, 4 arguments, void; int, string, int by reference, Point. */
static const uint8_t work[] = { 0x20, 4, 1, 8, 0x0e, 0x10, 8, 0x11, DEF_POINT << 2 };
static const uint8_t plain[] = { 0x00, 1, 8, 5 };
static const uint8_t cut[] = { 0x00, 2, 1, 8, 0x1d };
/* GENERICINST INTERNAL, whose handle is filled in, of one argument: int; twice. */
static uint8_t handles[] = { 0x00, 3,    1,    0x15, 0x21, 0, 0, 0, 0, 0, 0, 0, 0, 1,
			     8,    0x15, 0x21, 0,    0,    0, 0, 0, 0, 0, 0, 1, 8, 8 };
#define HANDLE_FIRST  5u
#define HANDLE_SECOND 17u
static const uint8_t move[] = { 0x20, 1, 1, 0x0a };

struct fixture {
	struct fake_clr *fake;
	struct fake_stack *stack;
	struct heap *heap;
	uint64_t worker, point, string, object, code;
	struct stack_frame frame;
	struct frame_registers registers;
};

static void add_method(struct metadata_maker *maker, const char *name, const uint8_t *signature,
		       size_t size, uint32_t params)
{
	MAKER_ROW(maker, MD_METHOD, 0, 0, 0, maker_string(maker, name),
		  maker_blob(maker, signature, size), params);
}

/* How parameters are listed (II.24.2.6; ParamPtr is only in a stream #-). */
static enum {
	PARAMS,
	PARAMS_UNCOMPRESSED,
	PARAM_POINTERS
} param_lists;

static void add_metadata(struct fake_clr *fake)
{
	static const uint32_t order[] = { 3, 2, 1, 4, 5, 6 };
	struct metadata_maker maker;
	maker_init(&maker);
	maker.is_uncompressed = param_lists != PARAMS;
	for (size_t i = 0; param_lists == PARAM_POINTERS && i < 6; i++)
		MAKER_ROW(&maker, MD_PARAM_PTR, order[i]);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "System", "Object");
	maker_type(&maker, "System", "String");
	maker_type(&maker, "Ns", "Worker");
	add_method(&maker, "Work", work, sizeof(work), 1);
	add_method(&maker, "Static", plain, sizeof(plain), 6);
	add_method(&maker, "Cut", cut, sizeof(cut), 6);
	add_method(&maker, "Handles", handles, sizeof(handles), 6);
	maker_type(&maker, "Ns", "Point");
	add_method(&maker, "Move", move, sizeof(move), 6);
	/* The result, the arguments in another order, one twice, and one that there is not. */
	MAKER_ROW(&maker, MD_PARAM, 0, 0, maker_string(&maker, "result"));
	MAKER_ROW(&maker, MD_PARAM, 0, 2, maker_string(&maker, "text"));
	MAKER_ROW(&maker, MD_PARAM, 0, 1, maker_string(&maker, "count"));
	MAKER_ROW(&maker, MD_PARAM, 0, 1, maker_string(&maker, "again"));
	MAKER_ROW(&maker, MD_PARAM, 0, 9, maker_string(&maker, "ninth"));
	MAKER_ROW(&maker, MD_PARAM, 0, 1, maker_string(&maker, "distance"));
	fake_metadata(fake, fake->module, &maker);
	maker_deinit(&maker);
}

/* Nibbles, the low one of a byte first. */
struct nibbles {
	uint8_t bytes[128];
	size_t count;
};

static void put(struct nibbles *nibbles, uint32_t value)
{
	unsigned int groups = 1;
	while (groups < 11 && value >> 3 * groups)
		groups++;
	while (groups-- > 0) {
		uint32_t nibble = (value >> 3 * groups & 7) | (groups ? 8 : 0);
		nibbles->bytes[nibbles->count / 2] |= (uint8_t)(nibble << 4 * (nibbles->count % 2));
		nibbles->count++;
	}
}

/* A variable that is valid for 0x100 bytes, at @p base, of kind 3 or 4 at @p back bytes below it. */
static void put_place(struct nibbles *nibbles, uint32_t number, uint32_t kind, uint32_t base,
		      uint32_t back)
{
	const uint32_t values[] = { 0, 0x100, number + 4, kind, base };
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		put(nibbles, values[i]);
	if (kind == 3 || kind == 4)
		put(nibbles, back << 1 | 1);
}

/* The JIT's words about the method: its MethodDesc, and where its variables are. */
static void put_info(struct fixture *fixture, uint64_t desc, const struct nibbles *variables)
{
	struct fake_memory *memory = &fixture->fake->memory;
	struct nibbles head = { .count = 2 }; /* no flags */
	size_t size = (variables->count + 1) / 2;
	put(&head, 0);
	put(&head, (uint32_t)size);
	uint64_t header = fake_peek_u64(memory, fixture->code - 8), blob = fake_alloc(memory, 256);
	fake_poke(memory, blob, head.bytes, (head.count + 1) / 2);
	fake_poke(memory, blob + (head.count + 1) / 2, variables->bytes, size);
	fake_poke_u64(memory, header, blob);
	fake_poke_u64(memory, header + 24, desc);
	fixture->frame.method_desc = desc;
}

static void begin(struct fixture *fixture)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	*fixture = (struct fixture){ .fake = fake };
	fixture->worker =
		fake_type(fake, &(struct fake_type){ .base_size = 24, .token = DEF_WORKER });
	fixture->point = fake_type(
		fake,
		&(struct fake_type){ .base_size = 32, .flags = VALUE_FLAGS, .token = DEF_POINT });
	memcpy(handles + HANDLE_FIRST, &fixture->worker, 8);
	memcpy(handles + HANDLE_SECOND, &fixture->point, 8);
	add_metadata(fake);
	fake_lookup_map(fake, fake->module + FAKE_MODULE_TYPE_DEFS,
			(const uint64_t[]){ 0, 0, 0, 0, fixture->worker, fixture->point }, 6);
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	fixture->object = fake_object(fake, fixture->worker, 0);
	fixture->string = fake_string(fake, "abc");
	fixture->stack = fake_stack_create(fake);
	fixture->code = fake_method(fixture->stack, &(struct fake_method){ .slots = 0 });
	fixture->heap = fake_heap(fake);
	fixture->frame = (struct stack_frame){ .kind = STACK_MANAGED,
					       .sp = SP,
					       .ip = fake_call(fixture->code, 2) };
	fixture->registers.known = 1u << REG_RBX | 1u << REG_RBP | 1u << REG_RSP | 1u << REG_R12;
	fixture->registers.values[REG_RSP] = SP;
	fixture->registers.values[REG_RBP] = RBP;
}

static void end(struct fixture *fixture)
{
	fake_stack_destroy(fixture->stack);
	fake_clr_destroy(fixture->fake);
}

static struct frame_variables read(struct fixture *fixture)
{
	struct frame_variables variables = { 0 };
	struct hd_error err;
	ASSERT_UINT_FATAL(frame_variables_read(fixture->heap, &fixture->frame, &fixture->registers,
					       &variables, &err),
			  HD_OK);
	return variables;
}

static void check_name(const struct frame_variables *variables, size_t index, const char *name,
		       const char *type)
{
	const struct method_variable *row = &variables->method.rows[index];
	CU_ASSERT(!row->name == !name);
	if (name && row->name)
		ASSERT_TEXT(row->name, name);
	ASSERT_TEXT(row->type_name, type);
}

TEST(arguments_have_names_types_and_values)
{
	struct fixture fixture;
	struct nibbles nibbles = { 0 };
	begin(&fixture);
	struct fake_memory *memory = &fixture.fake->memory;
	uint64_t desc = fake_method_desc(fixture.fake, fixture.worker, METHOD_WORK);
	put(&nibbles, 5);
	put_place(&nibbles, 0, 0, REG_RBX, 0);  /* this */
	put_place(&nibbles, 1, 3, REG_RBP, 8);  /* count, of which 4 bytes count */
	put_place(&nibbles, 2, 0, REG_RDX, 0);  /* text, in a register that is lost */
	put_place(&nibbles, 3, 0, REG_R12, 0);  /* by reference */
	put_place(&nibbles, 4, 4, REG_RBP, 16); /* Point, whose address is there */
	put_info(&fixture, desc, &nibbles);
	fixture.registers.values[REG_RBX] = fixture.object;
	fixture.registers.values[REG_R12] = SP + 8;
	fake_poke_u64(memory, RBP - 8, 0x1234567800000000u | 0xfffffffbu);
	fake_poke_u64(memory, RBP - 16, SP + 16);
	fake_poke_u64(memory, SP + 8, 77);
	struct frame_variables variables = read(&fixture);
	ASSERT_UINT_FATAL(variables.method.count, 5);
	ASSERT_UINT(variables.method.argument_count, 5);
	CU_ASSERT(variables.has_homes);
	ASSERT_TEXT(variables.method.no_locals, "the target does not have the method's IL");
	check_name(&variables, 0, "this", "Ns.Worker");
	check_name(&variables, 1, "count", "System.Int32");
	check_name(&variables, 2, "text", "System.String");
	check_name(&variables, 3, NULL, "System.Int32&");
	check_name(&variables, 4, NULL, "Ns.Point");
	const struct frame_variable *rows = variables.rows;
	ASSERT_UINT(rows[0].state, VARIABLE_KNOWN);
	ASSERT_UINT(rows[0].value.address, fixture.object);
	ASSERT_UINT(rows[0].object.address, fixture.object);
	ASSERT_UINT(rows[0].address, 0);
	ASSERT_TEXT(rows[1].value.text, "-5");
	ASSERT_UINT(rows[1].value.bits, 0xfffffffb);
	ASSERT_UINT(rows[1].address, RBP - 8);
	ASSERT_UINT(rows[2].state, VARIABLE_LOST);
	ASSERT_UINT(rows[2].base, REG_RDX);
	ASSERT_UINT(rows[3].value.bits, SP + 8);
	ASSERT_TEXT(rows[3].target.text, "77");
	ASSERT_UINT(rows[4].value.form, FORM_STRUCT);
	ASSERT_UINT(rows[4].value.address, SP + 16);
	frame_variables_deinit(&variables);
	/* In the frame where the thread stopped all registers are known. */
	fixture.registers.known |= 1u << REG_RDX;
	fixture.registers.values[REG_RDX] = fixture.string;
	variables = read(&fixture);
	ASSERT_UINT(variables.rows[2].state, VARIABLE_KNOWN);
	ASSERT_UINT(variables.rows[2].object.address, fixture.string);
	frame_variables_deinit(&variables);
	/* A register cannot have a Point: it has the address of one. */
	nibbles = (struct nibbles){ 0 };
	put(&nibbles, 1);
	put_place(&nibbles, 4, 0, REG_R12, 0);
	put_info(&fixture, desc, &nibbles);
	variables = read(&fixture);
	ASSERT_UINT(variables.rows[4].state, VARIABLE_KNOWN);
	ASSERT_UINT(variables.rows[4].value.form, FORM_STRUCT);
	ASSERT_UINT(variables.rows[4].value.address, SP + 8);
	ASSERT_UINT(variables.rows[4].address, SP + 8);
	frame_variables_deinit(&variables);
	end(&fixture);
}

TEST(uncompressed_metadata_has_names_of_arguments_too)
{
	for (unsigned int i = PARAMS_UNCOMPRESSED; i <= PARAM_POINTERS; i++) {
		struct fixture fixture;
		struct nibbles nibbles = { 0 };
		param_lists = i;
		begin(&fixture);
		put(&nibbles, 0);
		put_info(&fixture, fake_method_desc(fixture.fake, fixture.worker, METHOD_WORK),
			 &nibbles);
		struct frame_variables variables = read(&fixture);
		ASSERT_UINT_FATAL(variables.method.count, 5);
		check_name(&variables, 1, "count", "System.Int32");
		check_name(&variables, 2, "text", "System.String");
		check_name(&variables, 3, NULL, "System.Int32&");
		frame_variables_deinit(&variables);
		end(&fixture);
	}
	param_lists = PARAMS;
}

TEST(what_is_not_known_is_said)
{
	struct fixture fixture;
	struct nibbles nibbles = { 0 };
	begin(&fixture);
	uint64_t desc = fake_method_desc(fixture.fake, fixture.worker, METHOD_WORK);
	put(&nibbles, 3);
	put_place(&nibbles, 0, 2, 1, 0);          /* xmm1 */
	put_place(&nibbles, 1, 3, REG_R12, 0x10); /* not in the target */
	put_place(&nibbles, 3, 1, REG_R12, 0);    /* its address is 0 */
	put_info(&fixture, desc, &nibbles);
	struct frame_variables variables = read(&fixture);
	ASSERT_UINT(variables.rows[0].state, VARIABLE_FLOAT);
	ASSERT_UINT(variables.rows[1].state, VARIABLE_UNREADABLE);
	ASSERT_UINT(variables.rows[2].state, VARIABLE_NOWHERE);
	ASSERT_UINT(variables.rows[3].state, VARIABLE_UNREADABLE);
	frame_variables_deinit(&variables);
	/* After the end of all ranges, and for code of another method. */
	fixture.frame.ip = fake_call(fixture.code, 17);
	variables = read(&fixture);
	ASSERT_UINT(variables.rows[0].state, VARIABLE_NOWHERE);
	frame_variables_deinit(&variables);
	fixture.frame.ip = fake_call(fixture.code, 2);
	fixture.frame.method_desc = fake_method_desc(fixture.fake, fixture.worker, METHOD_STATIC);
	variables = read(&fixture);
	ASSERT_UINT(variables.method.count, 1);
	CU_ASSERT(!variables.has_homes);
	ASSERT_UINT(variables.rows[0].state, VARIABLE_NOWHERE);
	check_name(&variables, 0, NULL, "System.Byte");
	frame_variables_deinit(&variables);
	/* Not a method at all. */
	fixture.frame.method_desc = 0x1238;
	variables = read(&fixture);
	ASSERT_UINT(variables.method.count, 0);
	frame_variables_deinit(&variables);
	end(&fixture);
}

TEST(damaged_signatures_end_the_list)
{
	struct fixture fixture;
	begin(&fixture);
	fixture.frame.method_desc = fake_method_desc(fixture.fake, fixture.worker, METHOD_CUT);
	struct frame_variables variables = read(&fixture);
	ASSERT_UINT(variables.method.count, 1);
	check_name(&variables, 0, NULL, "System.Int32");
	ASSERT_TEXT(variables.method.no_locals, "the method's signature is damaged");
	frame_variables_deinit(&variables);
	end(&fixture);
}

TEST(the_handle_of_a_generic_type_says_whether_it_is_a_struct)
{
	struct fixture fixture;
	begin(&fixture);
	fixture.frame.method_desc = fake_method_desc(fixture.fake, fixture.worker, METHOD_HANDLES);
	struct frame_variables variables = read(&fixture);
	ASSERT_UINT_FATAL(variables.method.count, 3);
	ASSERT_UINT(variables.method.rows[0].element_type, ELEMENT_CLASS);
	ASSERT_UINT(variables.method.rows[1].element_type, ELEMENT_VALUE);
	ASSERT_UINT(variables.method.rows[2].element_type, ELEMENT_I4);
	frame_variables_deinit(&variables);
	end(&fixture);
}

TEST(this_of_a_struct_is_a_reference)
{
	struct fixture fixture;
	struct nibbles nibbles = { 0 };
	begin(&fixture);
	uint64_t desc = fake_method_desc(fixture.fake, fixture.point, METHOD_STRUCT);
	put(&nibbles, 1);
	put_place(&nibbles, 0, 3, REG_RBP, 8);
	put_info(&fixture, desc, &nibbles);
	fake_poke_u64(&fixture.fake->memory, RBP - 8, SP + 32);
	struct frame_variables variables = read(&fixture);
	check_name(&variables, 0, "this", "Ns.Point&");
	check_name(&variables, 1, "distance", "System.Int64");
	ASSERT_UINT(variables.rows[0].value.bits, SP + 32);
	ASSERT_UINT(variables.rows[0].target.form, FORM_STRUCT);
	ASSERT_UINT(variables.rows[0].target.address, SP + 32);
	frame_variables_deinit(&variables);
	end(&fixture);
}

TEST(every_allocation_may_fail)
{
	struct fixture fixture;
	begin(&fixture);
	fixture.frame.method_desc = fake_method_desc(fixture.fake, fixture.worker, METHOD_WORK);
	struct frame_variables variables = read(&fixture); /* names of types are kept */
	frame_variables_deinit(&variables);
	enum hd_status status = HD_ERR_NOMEM;
	for (uint64_t i = 1; status == HD_ERR_NOMEM && i < 1000; i++) {
		struct hd_error err;
		alloc_fail_at(i);
		status = frame_variables_read(fixture.heap, &fixture.frame, &fixture.registers,
					      &variables, &err);
		alloc_fail_at(0);
	}
	ASSERT_UINT(status, HD_OK);
	ASSERT_UINT(variables.method.count, 5);
	frame_variables_deinit(&variables);
	end(&fixture);
}

SUITE(.name = "frame_variables")
