/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_types.h"

#include <string.h>

#include "framework/facts.h"
#include "inspect/async_name.h"
#include "inspect/value.h"

/* Closures of MailboxProcessor.Start; a line of mailbox.fs follows. */
#define AGENT_LOOP "<StartupCode$FSharp-Core>.$Mailbox+PrepareToStart@"

/* The names of the framework of .NET 8 to 11; one that ends with '<', or has "<+", has type arguments there. */
static const struct {
	const char *name;
	enum async_type kind;
} known_types[] = {
	{ "System.Runtime.CompilerServices.AsyncHelpers+RuntimeAsyncTask<", ASYNC_RUNTIME_TASK },
	{ "System.Threading.Tasks.Task", ASYNC_TASK },
	{ "System.Threading.Tasks.Task<", ASYNC_TASK },
	{ "System.Threading.Tasks.Task+DelayPromise", ASYNC_DELAY },
	{ "System.Threading.Tasks.Task+DelayPromiseWithCancellation", ASYNC_DELAY },
	{ "System.Threading.Tasks.Task+CancellationPromise<", ASYNC_CANCELLATION },
	{ "System.Threading.Tasks.ValueTask+ValueTaskSourceAsTask", ASYNC_OF_SOURCE },
	{ "System.Threading.Tasks.ValueTask<+ValueTaskSourceAsTask", ASYNC_OF_SOURCE },
	{ "System.Threading.Tasks.Task+WhenAllPromise", ASYNC_WHEN_ALL },
	{ "System.Threading.Tasks.Task+WhenAllPromise<", ASYNC_WHEN_ALL },
	{ "System.Threading.Tasks.Task+TwoTaskWhenAnyPromise<", ASYNC_WHEN_ANY },
	{ "System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise<", ASYNC_WHEN_ANY },
	{ "System.Threading.Tasks.Task+SetOnInvokeMres", ASYNC_WAIT_ONE },
	{ "System.Threading.Tasks.Task+SetOnCountdownMres", ASYNC_WAIT_ALL },
	{ "System.Collections.Generic.List<System.Object>", ASYNC_LIST },
	{ "System.Threading.SemaphoreSlim+TaskNode", ASYNC_SEMAPHORE_NODE },
	{ "System.Threading.SemaphoreSlim", ASYNC_SEMAPHORE },
	{ "System.Threading.CountdownEvent", ASYNC_COUNTDOWN },
	{ "System.Threading.Tasks.ContinuationTaskFromTask", ASYNC_CONTINUATION },
	{ "System.Threading.Tasks.ContinuationTaskFromResultTask<", ASYNC_CONTINUATION },
	{ "System.Threading.Tasks.ContinuationResultTaskFromTask<", ASYNC_CONTINUATION },
	{ "System.Threading.Tasks.ContinuationResultTaskFromResultTask<", ASYNC_CONTINUATION },
	{ "System.Threading.Tasks.UnwrapPromise<", ASYNC_UNWRAP },
	{ "System.Threading.PeriodicTimer+State", ASYNC_PERIODIC },
	{ "System.Net.Sockets.Socket+AwaitableSocketAsyncEventArgs", ASYNC_SOCKET },
	{ "System.Net.Sockets.Socket", ASYNC_SOCKET_ITSELF },
	{ "System.IO.Pipelines.Pipe+DefaultPipeReader", ASYNC_PIPE_READER },
	{ "System.IO.Pipelines.Pipe+DefaultPipeWriter", ASYNC_PIPE_WRITER },
	{ "System.Threading.Channels.AsyncOperation<", ASYNC_CHANNEL_OPERATION },
	{ "System.Threading.Channels.VoidAsyncOperationWithData<", ASYNC_CHANNEL_OPERATION },
	{ "System.Threading.Channels.BlockedReadAsyncOperation<", ASYNC_CHANNEL_READ },
	{ "System.Threading.Channels.BlockedWriteAsyncOperation<", ASYNC_CHANNEL_WRITE },
	{ "System.Threading.Channels.WaitingReadAsyncOperation", ASYNC_CHANNEL_READ },
	{ "System.Threading.Channels.WaitingWriteAsyncOperation", ASYNC_CHANNEL_WRITE },
	{ "System.Threading.Channels.UnboundedChannel<", ASYNC_CHANNEL },
	{ "System.Threading.Channels.BoundedChannel<", ASYNC_CHANNEL },
	{ "System.Threading.Channels.RendezvousChannel<", ASYNC_CHANNEL },
	{ "System.Threading.Channels.SingleConsumerUnboundedChannel<", ASYNC_CHANNEL },
	{ "System.Threading.Channels.UnboundedPrioritizedChannel<", ASYNC_CHANNEL },
	{ "System.Threading.Channels.UnboundedChannel<+UnboundedChannelReader",
	  ASYNC_CHANNEL_READER },
	{ "System.Threading.Channels.UnboundedChannel<+UnboundedChannelWriter",
	  ASYNC_CHANNEL_WRITER },
	{ "System.Threading.Channels.BoundedChannel<+BoundedChannelReader", ASYNC_CHANNEL_READER },
	{ "System.Threading.Channels.BoundedChannel<+BoundedChannelWriter", ASYNC_CHANNEL_WRITER },
	{ "System.Threading.Channels.RendezvousChannel<+RendezvousChannelReader",
	  ASYNC_CHANNEL_READER },
	{ "System.Threading.Channels.RendezvousChannel<+RendezvousChannelWriter",
	  ASYNC_CHANNEL_WRITER },
	{ "System.Threading.Channels.UnboundedPrioritizedChannel<+UnboundedPrioritizedChannelReader",
	  ASYNC_CHANNEL_READER },
	{ "System.Threading.Channels.UnboundedPrioritizedChannel<+UnboundedPrioritizedChannelWriter",
	  ASYNC_CHANNEL_WRITER },
	{ "System.Threading.Channels.SingleConsumerUnboundedChannel<+UnboundedChannelReader",
	  ASYNC_CHANNEL_READER },
	{ "System.Threading.Channels.SingleConsumerUnboundedChannel<+UnboundedChannelWriter",
	  ASYNC_CHANNEL_WRITER },
	{ "System.Threading.Tasks.Dataflow.DataflowBlock+SendAsyncSource<", ASYNC_SEND },
	{ "System.Threading.RateLimiting.ConcurrencyLimiter+ConcurrencyLease", ASYNC_LEASE },
	{ "Microsoft.FSharp.Control.FSharpMailboxProcessor<", ASYNC_AGENT },
	{ "Orleans.Runtime.CallbackData", ASYNC_GRAIN_CALL },
	{ "Orleans.Runtime.Message", ASYNC_GRAIN_MESSAGE },
	{ "Orleans.Runtime.ActivationData", ASYNC_ACTIVATION },
	{ "System.Net.Http.HttpConnectionPool", ASYNC_HTTP_POOL },
	{ "System.Net.Http.HttpConnection", ASYNC_HTTP_CONNECTION },
	{ "System.Net.Http.Http2Connection+Http2Stream", ASYNC_HTTP_STREAM },
};

/* Does the name end there, and no other nested type follow? */
static bool is_named(const char *name, size_t size, const char *known)
{
	const char *nested = strstr(known, "<+");
	size_t length = nested ? (size_t)(nested + 1 - known) : strlen(known);
	nested = nested ? nested + 1 : "";
	if (size < length || memcmp(name, known, length) != 0)
		return false;
	if (known[length - 1] != '<')
		return size == length;
	size_t depth = 1, at = length;
	for (; at < size && depth; at++) {
		depth += name[at] == '<';
		depth -= name[at] == '>';
	}
	return !depth && size - at == strlen(nested) && memcmp(name + at, nested, size - at) == 0;
}

/* "System.Threading.Channels.ChannelReader<System.Int32>+<ReadAllAsync>d__12" */
static bool is_read_iterator(const char *name)
{
	static const struct {
		const char *begin, *method;
	} iterators[] = {
		{ "System.Threading.Channels.ChannelReader<", ">+<ReadAllAsync>" },
		{ "System.Collections.Concurrent.BlockingCollection<",
		  ">+<GetConsumingEnumerable>" },
	};
	for (size_t i = 0; i < sizeof(iterators) / sizeof(iterators[0]); i++) {
		if (strncmp(name, iterators[i].begin, strlen(iterators[i].begin)) == 0 &&
		    strstr(name, iterators[i].method))
			return true;
	}
	return false;
}

static enum async_type find_kind(struct runtime *runtime, const struct type *type)
{
	size_t size, machine_size;
	const char *name = type_name(runtime, type, &size);
	if (async_box_machine(name, size, &machine_size))
		return ASYNC_BOX;
	for (size_t i = 0; i < sizeof(known_types) / sizeof(known_types[0]); i++) {
		if (is_named(name, size, known_types[i].name))
			return known_types[i].kind;
	}
	if (strncmp(name, AGENT_LOOP, strlen(AGENT_LOOP)) == 0)
		return ASYNC_AGENT_LOOP;
	if (is_read_iterator(name))
		return ASYNC_READ_ITERATOR;
	if (type_derives_from(runtime, type, 0, net_type_name(NET_CONTINUATION)))
		return ASYNC_SUSPENDED;
	if (type_is_exception(runtime, type))
		return ASYNC_EXCEPTION;
	if (type_derives_from(runtime, type, 0, "System.Threading.WaitHandle"))
		return ASYNC_HANDLE;
	if (type_derives_from(runtime, type, 0, net_type_name(NET_RATE_LIMITER)))
		return ASYNC_LIMITER;
	return type_derives_from(runtime, type, 0, "System.Threading.Tasks.Task") ? ASYNC_OTHER_TASK
										  : ASYNC_OTHER;
}

enum async_type async_type_of(struct async_types *types, struct runtime *runtime,
			      const struct type *type, bool *failed)
{
	uint8_t *kind = type_kinds_at(&types->kinds, type);
	if (!kind) {
		*failed = true;
		return ASYNC_OTHER;
	}
	if (*kind == ASYNC_NOT_ASKED)
		*kind = (uint8_t)find_kind(runtime, type);
	return *kind;
}

/* Is a type a source of ValueTasks? */
enum source_answer {
	SOURCE_NOT_ASKED,
	SOURCE_NO,
	SOURCE_YES
};

static bool is_source_name(const char *name)
{
	static const char source[] = "System.Threading.Tasks.Sources.IValueTaskSource";
	size_t size = sizeof(source) - 1;
	return strncmp(name, source, size) == 0 && (!name[size] || name[size] == '<');
}

bool async_type_is_source(struct async_types *types, struct runtime *runtime,
			  const struct type *type, bool *failed)
{
	uint8_t *answer = type_kinds_at(&types->sources, type);
	if (!answer) {
		*failed = true;
		return false;
	}
	if (*answer == SOURCE_NOT_ASKED)
		*answer = type_implements(runtime, type, is_source_name) ? SOURCE_YES : SOURCE_NO;
	return *answer == SOURCE_YES;
}

void async_types_deinit(struct async_types *types)
{
	type_kinds_deinit(&types->kinds);
	type_kinds_deinit(&types->sources);
}
