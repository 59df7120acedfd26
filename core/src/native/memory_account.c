/* SPDX-License-Identifier: MIT */
#include "native/memory_account.h"

#include "native/memory_parts.h"
#include "targets/process/process_residency.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/sort.h"

enum hd_status memory_row_of(struct memory_making *making, enum memory_kind kind, const char *owner,
			     uint32_t *ret, struct hd_error *err)
{
	struct memory_account *account = making->account;
	if (!owner && account->kind_rows[kind]) {
		*ret = account->kind_rows[kind] - 1;
		return HD_OK;
	}
	char *copy = NULL;
	if (owner) {
		size_t size = strlen(owner) + 1;
		copy = arena_alloc(account->texts, size);
		TRY_MEMORY(copy, err);
		memcpy(copy, owner, size);
	}
	if (account->rows_count >= UINT32_MAX - 1 || !PAGES_RESERVE(account, rows))
		return fail_nomem(err);
	*ret = (uint32_t)account->rows_count++;
	account->rows[*ret] = (struct memory_row){ .kind = kind, .owner = copy };
	if (!owner)
		account->kind_rows[kind] = *ret + 1;
	return HD_OK;
}

enum hd_status memory_claim_late(struct memory_making *making, const struct memory_claim *claim,
				 struct hd_error *err)
{
	struct memory_account *account = making->account;
	if (claim->start >= claim->end)
		return HD_OK;
	if (account->claims_count == account->claims_capacity) {
		size_t bytes = account->claims_capacity * sizeof(*account->claims);
		TRY(job_check_memory(making->job, 2 * (uint64_t)bytes, err));
	}
	TRY_MEMORY(PAGES_RESERVE(account, claims), err);
	account->claims[account->claims_count++] = *claim;
	if (account->claims_count % JOB_STRIDE == 0 && !job_step(making->job, 0, 0))
		return fail_cancelled(err);
	return HD_OK;
}

enum hd_status memory_claim_for(struct memory_making *making, uint32_t row, uint64_t start,
				uint64_t end, struct hd_error *err)
{
	const struct memory_claim claim = { start, end,
					    memory_kind_priority(making->account->rows[row].kind),
					    row };
	return memory_claim_late(making, &claim, err);
}

enum hd_status memory_claim_kind(struct memory_making *making, enum memory_kind kind,
				 uint64_t start, uint64_t end, struct hd_error *err)
{
	uint32_t row;
	TRY(memory_row_of(making, kind, NULL, &row, err));
	return memory_claim_for(making, row, start, end, err);
}

static enum hd_status make_account(struct memory_making *making, struct hd_error *err)
{
	making->account->texts = arena_create();
	TRY_MEMORY(making->account->texts, err);
	TRY(memory_read_mappings(making, err));
	TRY(memory_claim_mappings(making, err));
	TRY(memory_claim_stacks(making, err));
	if (making->heap)
		TRY(memory_claim_gc(making, err));
	/* A process names the memory of these heaps; to read them in a core costs nothing. */
	if (making->heap && !(making->is_outline && making->residency))
		TRY(memory_claim_loader(making, err));
	if (!making->is_outline) {
		TRY(memory_claim_malloc(making, err));
		TRY(memory_claim_linker(making, err));
	}
	return memory_count(making, err);
}

static enum hd_status create_account(struct memory_making *making, struct memory_account **ret,
				     struct hd_error *err)
{
	struct memory_account *account = mem_calloc(1, sizeof(*account));
	TRY_MEMORY(account, err);
	making->account = account;
	making->memory = making->target->memory;
	job_begin(making->job, "Finding out who has the memory", 0);
	enum hd_status status = make_account(making, err);
	job_end(making->job);
	if (status != HD_OK) {
		memory_account_destroy(account);
		return status;
	}
	*ret = account;
	return HD_OK;
}

enum hd_status memory_account_create(struct target *target, struct heap *heap, struct job *job,
				     struct memory_account **ret, struct hd_error *err)
{
	struct memory_making making = { .target = target,
					.space = &target->arch->space,
					.heap = heap,
					.residency = target->process.residency,
					.job = job };
	return create_account(&making, ret, err);
}

enum hd_status memory_outline_create(struct target *target, struct heap *heap, struct job *job,
				     struct memory_account **ret, struct hd_error *err)
{
	struct process_residency *own = NULL;
	struct memory_making making = { .target = target,
					.space = &target->arch->space,
					.heap = heap,
					.residency = target->process.residency,
					.is_outline = true,
					.job = job };
	if (!making.residency && target->process.server) {
		TRY(process_residency_read(target->process.server, &own, err));
		making.residency = own;
	}
	enum hd_status status = create_account(&making, ret, err);
	if (status == HD_OK)
		memory_account_keep_rows(*ret);
	process_residency_destroy(own);
	return status;
}

void memory_account_keep_rows(struct memory_account *account)
{
	pages_free(account->mappings, account->mappings_capacity, sizeof(*account->mappings));
	pages_free(account->claims, account->claims_capacity, sizeof(*account->claims));
	mem_free(account->stretches);
	account->mappings = NULL;
	account->mappings_count = account->mappings_capacity = 0;
	account->claims = NULL;
	account->claims_count = account->claims_capacity = 0;
	account->stretches = NULL;
	account->stretches_count = 0;
}

void memory_account_destroy(struct memory_account *account)
{
	if (!account)
		return;
	memory_account_keep_rows(account);
	pages_free(account->rows, account->rows_capacity, sizeof(*account->rows));
	pages_free(account->malloc.arenas, account->malloc.arenas_capacity,
		   sizeof(*account->malloc.arenas));
	arena_destroy(account->texts);
	mem_free(account);
}

int64_t memory_bytes_used(const struct memory_account *account, const struct memory_bytes *bytes)
{
	return account->is_live ? bytes->resident : (int64_t)(bytes->captured - bytes->zeros);
}

void memory_bytes_add(struct memory_bytes *sum, const struct memory_bytes *bytes)
{
	sum->addresses += bytes->addresses;
	sum->resident += bytes->resident;
	sum->pss += bytes->pss;
	sum->swap += bytes->swap;
	sum->captured += bytes->captured;
	sum->zeros += bytes->zeros;
}

struct memory_bytes memory_account_of_kind(const struct memory_account *account,
					   enum memory_kind kind)
{
	struct memory_bytes sum = { 0 };
	for (size_t i = 0; i < account->rows_count; i++) {
		if (account->rows[i].kind == kind)
			memory_bytes_add(&sum, &account->rows[i].bytes);
	}
	return sum;
}

uint64_t memory_used_of_kind(const struct memory_account *account, enum memory_kind kind)
{
	struct memory_bytes bytes = memory_account_of_kind(account, kind);
	int64_t used = memory_bytes_used(account, &bytes);
	return used > 0 ? (uint64_t)used : 0;
}

struct memory_bytes memory_account_of_group(const struct memory_account *account,
					    enum memory_group group)
{
	struct memory_bytes sum = { 0 };
	for (size_t i = 0; i < account->rows_count; i++) {
		if (memory_kind_group(account->rows[i].kind) == group)
			memory_bytes_add(&sum, &account->rows[i].bytes);
	}
	return sum;
}

const struct memory_mapping *memory_mapping_at(const struct memory_account *account,
					       uint64_t address)
{
	size_t at = ROWS_ABOVE(account->mappings, account->mappings_count, end, address);
	return at < account->mappings_count && account->mappings[at].start <= address
		       ? &account->mappings[at]
		       : NULL;
}
