/* SPDX-License-Identifier: MIT */
#include "hangs/wait_databases.h"

#include <string.h>

#include "framework/facts.h"
#include "hangs/wait_reach.h"
#include "hangs/wait_references.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/text.h"

/* UTF-16 units of the name of a database. */
#define NAME_MAX_UNITS 512u
/* A transaction of Entity Framework, what has it, and the transaction of SQLite. */
#define LEVELS 3u
/* Different databases, or connections, that are looked for. */
#define WANTED_MAX 64u

/* A thread that wants a database. */
struct wanted {
	const struct thread_wait *wait;
	uint64_t connection;
	char name[256];
};

struct search {
	struct wait_reach reach;
	struct wanted wanted[WANTED_MAX];
	size_t count;
	uint32_t node;          /* whose references are looked at */
	struct wait_rows *rows; /* by the object of the wait */
	struct text name;
};

/* Append the name of the database that a connection is for. */
static bool append_name(struct text *text, const struct waits *waits, uint64_t connection)
{
	struct members *members = waits->members;
	struct member pool = fact_at(members, connection, FACT_SQLITE_CONNECTION_POOL);
	struct member options = fact_at(members, pool.bits, FACT_SQLITE_POOL_OPTIONS);
	struct member name = fact_at(members, options.bits, FACT_SQLITE_OPTIONS_SOURCE);
	return name.state == MEMBER_READ &&
	       string_value(waits->heap, name.bits, NAME_MAX_UNITS, text, NULL) && text->size;
}

/* The connection of the reader that a thread is in; 0: it is not known. */
static uint64_t connection_of(const struct waits *waits, const struct thread_wait *wait)
{
	if (!wait->object.type)
		return 0;
	struct member command = fact_of(waits->members, &wait->object, FACT_SQLITE_READER_COMMAND);
	return fact_at(waits->members, command.bits, FACT_SQLITE_COMMAND_CONNECTION).bits;
}

bool wait_database_append(struct text *text, const struct waits *waits,
			  const struct thread_wait *wait)
{
	uint64_t connection = connection_of(waits, wait);
	return connection && append_name(text, waits, connection);
}

static void find_wanted(struct search *search)
{
	const struct waits *waits = search->reach.waits;
	for (size_t i = 0; i < waits->count && search->count < WANTED_MAX; i++) {
		struct wanted *wanted = &search->wanted[search->count];
		if (waits->rows[i].kind != WAIT_DATABASE)
			continue;
		wanted->wait = &waits->rows[i];
		wanted->connection = connection_of(waits, wanted->wait);
		search->name.size = 0;
		if (!wanted->connection || !append_name(&search->name, waits, wanted->connection) ||
		    search->name.size >= sizeof(wanted->name))
			continue;
		memcpy(wanted->name, search->name.bytes, search->name.size);
		wanted->name[search->name.size] = '\0';
		search->count++;
	}
}

/* Does the node want a database by this very connection?  Its transaction has only begun. */
static bool wants_by(const struct search *search, uint32_t node, uint64_t connection)
{
	for (size_t i = 0; i < search->count; i++) {
		if (search->wanted[i].wait == wait_node_thread(search->reach.waits, node) &&
		    search->wanted[i].connection == connection)
			return true;
	}
	return false;
}

/* reach->is_wanted: an open transaction. */
static bool is_open(const struct wait_reach *reach, const struct object *object)
{
	struct member done =
		fact_of(reach->waits->members, object, FACT_SQLITE_TRANSACTION_COMPLETED);
	struct member connection =
		fact_of(reach->waits->members, object, FACT_SQLITE_TRANSACTION_CONNECTION);
	return done.state == MEMBER_READ && !done.bits && connection.state == MEMBER_READ &&
	       connection.bits;
}

/* The node leads to the open transaction @p transaction: who wants that database by another connection? */
static enum hd_status offer(struct search *search, uint64_t transaction, struct hd_error *err)
{
	const struct waits *waits = search->reach.waits;
	uint64_t connection =
		fact_at(waits->members, transaction, FACT_SQLITE_TRANSACTION_CONNECTION).bits;
	search->name.size = 0;
	if (wants_by(search, search->node, connection) ||
	    !append_name(&search->name, waits, connection))
		return HD_OK;
	for (size_t i = 0; i < search->count; i++) {
		const struct wanted *wanted = &search->wanted[i];
		if (wanted->connection != connection && strlen(wanted->name) == search->name.size &&
		    memcmp(wanted->name, search->name.bytes, search->name.size) == 0) {
			TRY(wait_rows_add(search->rows, wanted->wait->object.address, search->node,
					  err));
		}
	}
	return HD_OK;
}

/* The fields of an async method's "this" belong to all methods of the class. */
static enum hd_status visit_reference(void *arg, const struct wait_reference *reference,
				      struct hd_error *err)
{
	struct search *search = arg;
	search->node = reference->node;
	if (reference->is_this || !wait_reaches(&search->reach, reference->value, LEVELS))
		return HD_OK;
	return offer(search, search->reach.found, err);
}

enum hd_status wait_databases_find(const struct waits *waits, struct job *job,
				   struct wait_rows *ret, struct hd_error *err)
{
	HD_FREE struct search *search = mem_calloc(1, sizeof(*search));
	TRY_MEMORY(search, err);
	search->reach.waits = waits;
	search->reach.is_wanted = is_open;
	search->rows = ret;
	find_wanted(search);
	enum hd_status status = HD_OK;
	if (search->count)
		status = wait_references_visit(waits, visit_reference, search, job, err);
	wait_rows_sort(ret);
	if (status == HD_OK && search->name.failed)
		status = fail_nomem(err);
	text_deinit(&search->name);
	return status;
}
