/* SPDX-License-Identifier: MIT */
#include "support/fake_sockets.h"

#include "runtime/coreclr/types/field.h"
#include "support/suite.h"

#define END_ADDRESS   8u
#define END_PORT      16u
#define IP_NUMBERS    8u
#define IP_4          16u
#define ARRAY_NUMBERS 16u
#define ARRAY_FLAGS   0x000a0000u

struct fake_sockets fake_sockets_create(struct fake_tasks *tasks)
{
	struct fake_sockets sockets = { .tasks = tasks };
	const struct fake_field socket[] = { FAKE_REFERENCE("_rightEndPoint", 0),
					     FAKE_REFERENCE("_remoteEndPoint", 8),
					     FAKE_REFERENCE("_localEndPoint", 16),
					     FAKE_FLAG("_disposed", 24), FAKE_END };
	const struct fake_field end[] = { FAKE_REFERENCE("_address", 0), FAKE_NUMBER("_port", 8),
					  FAKE_END };
	const struct fake_field ip[] = { FAKE_REFERENCE("_numbers", 0),
					 FAKE_NUMBER("_addressOrScopeId", 8), FAKE_END };
	const struct fake_class number = { .space = "System",
					   .name = "UInt16",
					   .type = { .base_size = 24 } };
	sockets.socket_type = fake_class_of(tasks, "System.Net.Sockets", "Socket", socket, 3);
	sockets.end_type = fake_class_of(tasks, "System.Net", "IPEndPoint", end, 1);
	sockets.ip_type = fake_class_of(tasks, "System.Net", "IPAddress", ip, 1);
	sockets.numbers_type = fake_type(
		tasks->fake, &(struct fake_type){ .base_size = 24,
						  .component_size = 2,
						  .flags = ARRAY_FLAGS,
						  .per_inst = fake_class(tasks->types, &number) });
	return sockets;
}

uint64_t fake_ip_4(struct fake_sockets *sockets, uint32_t address)
{
	uint64_t ip = fake_object(sockets->tasks->fake, sockets->ip_type, 0);
	fake_poke_u32(&sockets->tasks->fake->memory, ip + IP_4, address);
	return ip;
}

uint64_t fake_ip_6(struct fake_sockets *sockets, const uint16_t *numbers)
{
	struct fake_clr *fake = sockets->tasks->fake;
	uint64_t ip = fake_object(fake, sockets->ip_type, 0);
	uint64_t array = fake_object(fake, sockets->numbers_type, FAKE_IP_NUMBERS);
	fake_poke(&fake->memory, array + ARRAY_NUMBERS, numbers,
		  FAKE_IP_NUMBERS * sizeof(*numbers));
	fake_refer(sockets->tasks, ip, IP_NUMBERS, array);
	return ip;
}

uint64_t fake_end_point(struct fake_sockets *sockets, uint64_t ip, uint32_t port)
{
	uint64_t end = fake_object(sockets->tasks->fake, sockets->end_type, 0);
	fake_refer(sockets->tasks, end, END_ADDRESS, ip);
	fake_poke_u32(&sockets->tasks->fake->memory, end + END_PORT, port);
	return end;
}

uint64_t fake_socket(struct fake_sockets *sockets, uint64_t place, uint64_t end)
{
	uint64_t socket = fake_object(sockets->tasks->fake, sockets->socket_type, 0);
	fake_refer(sockets->tasks, socket, place, end);
	return socket;
}
