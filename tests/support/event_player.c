/* SPDX-License-Identifier: MIT */
#include "support/event_player.h"

#include "support/assert_more.h"

/* Metadata of an event without a name and fields, as EventPipe gives it to a profiler. */
struct plain_metadata {
	uint8_t bytes[26];
};

static struct plain_metadata *metadata_of(uint32_t event, uint32_t version)
{
	struct plain_metadata *made = calloc(1, sizeof(*made));
	REQUIRE(made);
	memcpy(made->bytes, &event, sizeof(event));
	memcpy(made->bytes + 14, &version, sizeof(version));
	made->bytes[18] = 4;
	return made;
}

static enum hd_status take_listed(void *arg, const struct nt_event *event)
{
	struct event_list *list = arg;
	if (list->count == list->capacity) {
		list->capacity = 2 * list->capacity + 16;
		list->rows = realloc(list->rows, list->capacity * sizeof(*list->rows));
		REQUIRE(list->rows);
	}
	list->rows[list->count++] =
		(struct hd_snapshot_event){ .struct_size = sizeof(struct hd_snapshot_event),
					    .provider = nt_provider_name(event->metadata->provider),
					    .id = event->metadata->event,
					    .version = event->metadata->version,
					    .payload = event->payload,
					    .size = event->size,
					    .metadata = metadata_of(event->metadata->event,
								    event->metadata->version),
					    .metadata_size = sizeof(struct plain_metadata),
					    .thread = event->thread,
					    .time = event->time };
	return HD_OK;
}

static enum hd_status ignore_loss(void *arg, const struct nt_loss *loss)
{
	(void)arg;
	(void)loss;
	return HD_OK;
}

void event_list_read(struct event_list *list, const void *bytes, size_t size)
{
	*list = (struct event_list){ .stream = { .bytes = bytes,
						 .size = size,
						 .path = "trace",
						 .event = take_listed,
						 .loss = ignore_loss,
						 .arg = list } };
	REQUIRE(nt_stream_read(&list->stream) == HD_OK ? list : NULL);
}

void event_list_deinit(struct event_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((void *)(uintptr_t)list->rows[i].metadata);
	free(list->rows);
	nt_stream_deinit(&list->stream);
}

enum hd_status event_list_play(const struct event_list *list, size_t first, size_t end,
			       struct hd_snapshot *snapshot)
{
	enum hd_status last = HD_OK;
	for (size_t i = first; i < end; i++) {
		enum hd_status status = hd_snapshot_event(snapshot, &list->rows[i], NULL);
		last = status == HD_OK ? last : status;
	}
	return last;
}

size_t event_list_find(const struct event_list *list, size_t from, uint32_t id)
{
	for (; from < list->count; from++) {
		if (list->rows[from].id == id &&
		    strcmp(list->rows[from].provider, "Microsoft-Windows-DotNETRuntime") == 0)
			break;
	}
	return from;
}
