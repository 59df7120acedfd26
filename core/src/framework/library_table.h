/* SPDX-License-Identifier: MIT */
/*
 * The rows of framework/fact_table.h about libraries that many programs use: limiters of rates, blocks of a
 * dataflow, agents of F#, grains of Orleans, databases of SQLite.
 */
#pragma once

/** As FRAMEWORK_TYPES(). */
#define LIBRARY_TYPES(X)                                                                           \
	X(RATE_LIMITER, "System.Threading.RateLimiting.RateLimiter", RATE_LIMITING, 8, 0)          \
	X(CONCURRENCY_LIMITER, "System.Threading.RateLimiting.ConcurrencyLimiter", RATE_LIMITING,  \
	  8, 0)                                                                                    \
	X(CONCURRENCY_LEASE, "System.Threading.RateLimiting.ConcurrencyLimiter+ConcurrencyLease",  \
	  RATE_LIMITING, 8, 0)                                                                     \
	X(SEND_SOURCE, "System.Threading.Tasks.Dataflow.DataflowBlock+SendAsyncSource`1",          \
	  DATAFLOW, 8, 0)                                                                          \
	X(FILTERED_LINK, "System.Threading.Tasks.Dataflow.DataflowBlock+FilteredLinkPropagator`1", \
	  DATAFLOW, 8, 0)                                                                          \
	X(TRANSFORM_BLOCK, "System.Threading.Tasks.Dataflow.TransformBlock`2", DATAFLOW, 8, 0)     \
	X(ACTION_BLOCK, "System.Threading.Tasks.Dataflow.ActionBlock`1", DATAFLOW, 8, 0)           \
	X(BUFFER_BLOCK, "System.Threading.Tasks.Dataflow.BufferBlock`1", DATAFLOW, 8, 0)           \
	X(BLOCK_BOUNDS, "System.Threading.Tasks.Dataflow.Internal.BoundingStateWithPostponed`1",   \
	  DATAFLOW, 8, 0)                                                                          \
	X(BLOCK_SOURCE, "System.Threading.Tasks.Dataflow.Internal.SourceCore`1", DATAFLOW, 8, 0)   \
	X(MAILBOX_PROCESSOR, "Microsoft.FSharp.Control.FSharpMailboxProcessor`1", FSHARP, 10, 0)   \
	X(REPLY_CHANNEL, "Microsoft.FSharp.Control.FSharpAsyncReplyChannel`1", FSHARP, 10, 0)      \
	X(RESULT_CELL, "Microsoft.FSharp.Control.AsyncPrimitives+ResultCell`1", FSHARP, 10, 0)     \
	X(GRAIN_CALL, "Orleans.Runtime.CallbackData", ORLEANS, 10, 0)                              \
	X(GRAIN_MESSAGE, "Orleans.Runtime.Message", ORLEANS, 10, 0)                                \
	X(ACTIVATION, "Orleans.Runtime.ActivationData", ORLEANS_RUNTIME, 10, 0)                    \
	X(SQLITE_READER, "Microsoft.Data.Sqlite.SqliteDataReader", SQLITE, 8, 0)                   \
	X(SQLITE_COMMAND, "Microsoft.Data.Sqlite.SqliteCommand", SQLITE, 8, 0)                     \
	X(SQLITE_CONNECTION, "Microsoft.Data.Sqlite.SqliteConnection", SQLITE, 8, 0)               \
	X(SQLITE_POOL, "Microsoft.Data.Sqlite.SqliteConnectionPoolGroup", SQLITE, 8, 0)            \
	X(SQLITE_OPTIONS, "Microsoft.Data.Sqlite.SqliteConnectionStringBuilder", SQLITE, 8, 0)     \
	X(SQLITE_TRANSACTION, "Microsoft.Data.Sqlite.SqliteTransaction", SQLITE, 8, 0)             \
	X(BLOCK_LINK,                                                                              \
	  "System.Threading.Tasks.Dataflow.Internal.TargetRegistry`1+LinkedTargetInfo", DATAFLOW,  \
	  8, 0)

/** As FRAMEWORK_FIELDS(). */
#define LIBRARY_FIELDS(X)                                                                        \
	X(LIMITER_FREE, CONCURRENCY_LIMITER, "_permitCount", 8, 0)                               \
	X(LIMITER_LIMIT, CONCURRENCY_LIMITER, "_options.<PermitLimit>k__BackingField", 8, 0)     \
	X(LIMITER_DISPOSED, CONCURRENCY_LIMITER, "_disposed", 8, 0)                              \
	X(LEASE_LIMITER, CONCURRENCY_LEASE, "_limiter", 8, 0)                                    \
	X(LEASE_COUNT, CONCURRENCY_LEASE, "_count", 8, 0)                                        \
	X(LEASE_DISPOSED, CONCURRENCY_LEASE, "_disposed", 8, 0)                                  \
	X(SEND_TARGET, SEND_SOURCE, "_target", 8, 0)                                             \
	X(FILTERED_TARGET, FILTERED_LINK, "_target", 8, 0)                                       \
	X(TRANSFORM_BOUNDS, TRANSFORM_BLOCK, "_target._boundingState", 8, 0)                     \
	X(ACTION_BOUNDS, ACTION_BLOCK, "_defaultTarget._boundingState", 8, 0)                    \
	X(BUFFER_BOUNDS, BUFFER_BLOCK, "_boundingState", 8, 0)                                   \
	X(BOUNDS_CAPACITY, BLOCK_BOUNDS, "BoundedCapacity", 8, 0)                                \
	X(BOUNDS_COUNT, BLOCK_BOUNDS, "CurrentCount", 8, 0)                                      \
	X(BOUNDS_POSTPONED, BLOCK_BOUNDS, "PostponedMessages._mapKeyToIndex._count", 8, 0)       \
	X(BOUNDS_POSTPONED_FREE, BLOCK_BOUNDS, "PostponedMessages._mapKeyToIndex._freeCount", 8, \
	  0)                                                                                     \
	X(BLOCK_OUTPUT, TRANSFORM_BLOCK, "_source", 8, 0)                                        \
	X(OUTPUT_OFFERS, BLOCK_SOURCE, "_enableOffering", 8, 0)                                  \
	X(OUTPUT_TASK, BLOCK_SOURCE, "_taskForOutputProcessing", 8, 0)                           \
	X(OUTPUT_RESERVED, BLOCK_SOURCE, "_nextMessageReservedFor", 8, 0)                        \
	X(OUTPUT_LINKS, BLOCK_SOURCE, "_targetRegistry._firstTarget", 8, 0)                      \
	X(LINK_TARGET, BLOCK_LINK, "Target", 8, 0)                                               \
	X(LINK_NEXT, BLOCK_LINK, "Next", 8, 0)                                                   \
	X(AGENT_STARTED, MAILBOX_PROCESSOR, "started", 10, 0)                                    \
	X(AGENT_MESSAGES, MAILBOX_PROCESSOR, "mailbox.arrivals", 10, 0)                          \
	X(AGENT_RECEIVES, MAILBOX_PROCESSOR, "mailbox.savedCont", 10, 0)                         \
	X(AGENT_PULSE, MAILBOX_PROCESSOR, "mailbox.pulse", 10, 0)                                \
	X(REPLY_CALL, REPLY_CHANNEL, "replyf", 10, 0)                                            \
	X(RESULT_CELL_DONE, RESULT_CELL, "disposed", 10, 0)                                      \
	X(GRAIN_CALL_STATE, GRAIN_CALL, "_state", 10, 0)                                         \
	X(GRAIN_CALL_ANSWER, GRAIN_CALL, "context", 10, 0)                                       \
	X(GRAIN_CALL_MESSAGE, GRAIN_CALL, "<Message>k__BackingField", 10, 0)                     \
	X(ACTIVATION_WAITING, ACTIVATION, "_waitingRequests", 10, 0)                             \
	X(ACTIVATION_BLOCKED_BY, ACTIVATION, "_blockingRequest", 10, 0)                          \
	X(SQLITE_READER_COMMAND, SQLITE_READER, "_command", 8, 0)                                \
	X(SQLITE_COMMAND_CONNECTION, SQLITE_COMMAND, "_connection", 8, 0)                        \
	X(SQLITE_CONNECTION_POOL, SQLITE_CONNECTION, "<PoolGroup>k__BackingField", 8, 0)         \
	X(SQLITE_POOL_OPTIONS, SQLITE_POOL, "<ConnectionOptions>k__BackingField", 8, 0)          \
	X(SQLITE_OPTIONS_SOURCE, SQLITE_OPTIONS, "_dataSource", 8, 0)                            \
	X(SQLITE_TRANSACTION_CONNECTION, SQLITE_TRANSACTION, "_connection", 8, 0)                \
	X(SQLITE_TRANSACTION_COMPLETED, SQLITE_TRANSACTION, "_completed", 8, 0)
