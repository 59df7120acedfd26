/* SPDX-License-Identifier: MIT */
#include "command/table.h"
#include "command/threads/stack_text.h"
#include "command/threads/thread_choice.h"
#include "stack/stack.h"

/* Bytes of the symbol tables of libraries that are read for native frames. */
#define SYMBOL_BYTES_MAX ((uint64_t)256 << 20)

#define CLRSTACK_OPTIONS(X)                                                                  \
	X(OPT_THREAD, "thread", VALUE_THREAD, "N", "the thread whose managed id is N", NULL) \
	X(OPT_ROOTS, "roots", VALUE_NONE, NULL, "also what the frames refer to", NULL)       \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,                        \
	  "with -roots: also every word that may be a reference", NULL)                      \
	X(OPT_FULL, "full", VALUE_NONE, NULL, "do not fold what repeats", NULL)              \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N",                                             \
	  "show N frames of each thread (0: all, as without)", NULL)                         \
	X(OPT_GC, "gc", VALUE_NONE, NULL, "the same as -roots", NULL)                        \
	X(OPT_ALL, "all", VALUE_NONE, NULL, "all threads, also where one is selected", NULL) \
	X(OPT_PARAMETERS, "p", VALUE_NONE, NULL, "also the arguments of each frame", NULL)   \
	X(OPT_LOCALS, "l", VALUE_NONE, NULL, "also the locals of each frame", NULL)          \
	X(OPT_BOTH, "a", VALUE_NONE, NULL, "the same as -p -l", NULL)                        \
	X(OPT_INFORMATION, "i", VALUE_NONE, NULL, "the same as -a", NULL)                    \
	X(OPT_NATIVE, "f", VALUE_NONE, NULL, "also the native frames", NULL)                 \
	X(OPT_REGISTERS, "r", VALUE_NONE, NULL, "also the registers of each frame", NULL)    \
	X(OPT_NO_LINES, "n", VALUE_NONE, NULL, "no source files and lines", NULL)

OPTIONS(clrstack, CLRSTACK_OPTIONS);

static enum hd_status write_text_of_stack(void *arg, const struct thread_stack *stack)
{
	return stack_text_write(arg, stack);
}

static struct frame_details chosen_details(const struct call *call)
{
	bool is_both = call->options[OPT_BOTH].given || call->options[OPT_INFORMATION].given;
	return (struct frame_details){
		.parameters = is_both || call->options[OPT_PARAMETERS].given,
		.locals = is_both || call->options[OPT_LOCALS].given,
		.registers = call->options[OPT_REGISTERS].given,
	};
}

static enum hd_status run_clrstack(struct call *call)
{
	HD_CLEANUP(stack_text)
	struct stack_text text = { .call = call,
				   .objects = { .heap = call->heap },
				   .roots = call->options[OPT_ROOTS].given ||
					    call->options[OPT_GC].given,
				   .full = call->options[OPT_FULL].given,
				   .no_lines = call->options[OPT_NO_LINES].given,
				   .limit = call_limit(call, OPT_LIMIT, UINT64_MAX),
				   .symbols_left = SYMBOL_BYTES_MAX,
				   .details = chosen_details(call) };
	const struct thread_choice choice = thread_choice(
		call, &call->words[0], &call->options[OPT_THREAD], &call->options[OPT_ALL]);
	const struct stack_options options = {
		.no_roots = !text.roots,
		.conservative = call->options[OPT_CONSERVATIVE].given,
		.registers =
			text.details.parameters || text.details.locals || text.details.registers,
		.native = call->options[OPT_NATIVE].given,
	};
	answer_table(&call->answer, &stack_schema, NULL);
	enum hd_status status =
		chosen_stacks_write(call, &choice, &options, write_text_of_stack, &text);
	TRY(status);
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

COMMAND(clrstack, .has_rows = true, .summary = "show the managed frames of the threads",
	.description =
		"ID is the OS id of a thread (hexadecimal); -thread N takes its managed id. Without\n"
		"them: the thread that the debugger or setthread has selected; all threads where there\n"
		"is none, and with -all. -roots shows below each frame the objects that its slots and registers\n"
		"refer to. A stack that cannot be walked to its end says why.\n"
		"-p and -l show below each frame its arguments and locals: the name, where it is, and\n"
		"its value. Names of locals come from the PDB (set symbols); without one, locals have\n"
		"numbers. <no data>: the code does not keep the variable at this place, or it was in a\n"
		"register that the call has not preserved. Optimised code keeps few, and the variables\n"
		"of a method that was compiled into its caller are not shown.\n"
		"-f shows native frames, as far as their unwind information leads, by library and place or by\n"
		"the function: one that the library exports, or one of the symbol table of its own file or\n"
		"symbol file (set symbols); -r shows the registers that are known of each managed frame.\n",
	.example = "clrstack -roots", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_THREADS, .options = clrstack_options,
	.words = { { "ID", VALUE_ADDRESS, true } });
