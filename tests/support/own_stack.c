/* SPDX-License-Identifier: MIT */
#include "support/own_stack.h"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unwind.h>

static void (*looking)(const struct own_stack *stack);

static _Unwind_Reason_Code keep_frame(struct _Unwind_Context *context, void *arg)
{
	struct own_stack *stack = arg;
	if (stack->count == OWN_FRAMES_MAX)
		return _URC_END_OF_STACK;
	stack->ips[stack->count++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

#if defined(__aarch64__)
static void keep_registers(const mcontext_t *context, struct own_stack *stack)
{
	for (unsigned int i = 0; i < 31; i++)
		stack->registers[i] = context->regs[i];
	stack->registers[31] = context->sp;
	stack->registers[32] = context->pc;
}
#else
static void keep_registers(const mcontext_t *context, struct own_stack *stack)
{
	static const int order[] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				     REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	for (unsigned int i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		stack->registers[i] = (uint64_t)context->gregs[order[i]];
}
#endif

__attribute__((noinline)) void own_stack_look(void (*look)(const struct own_stack *stack))
{
	struct own_stack stack = { 0 };
	ucontext_t context;
	(void)_Unwind_Backtrace(keep_frame, &stack);
	if (getcontext(&context) != 0)
		abort();
	keep_registers(&context.uc_mcontext, &stack);
	look(&stack);
}

static int compare(const void *a, const void *b)
{
	own_stack_look(looking);
	return a < b;
}

void own_stack_look_deeper(void (*look)(const struct own_stack *stack))
{
	int numbers[] = { 2, 1 };
	looking = look;
	qsort(numbers, 2, sizeof(numbers[0]), compare);
}

static void on_signal(int number)
{
	(void)number;
	own_stack_look(looking);
}

void own_stack_look_in_signal(void (*look)(const struct own_stack *stack))
{
	struct sigaction action = { .sa_handler = on_signal }, before;
	looking = look;
	if (sigaction(SIGUSR1, &action, &before) != 0)
		abort();
	(void)raise(SIGUSR1);
	(void)sigaction(SIGUSR1, &before, NULL);
}
