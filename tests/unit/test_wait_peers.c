/* SPDX-License-Identifier: MIT */
/* Sockets of the process, and where their other ends are. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_peers.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

/* Offsets of the fields in objects. */
#define SOCKET_BOUND  8u
#define SOCKET_REMOTE 16u
#define SOCKET_LOCAL  24u
#define SOCKET_CLOSED 32u
#define END_ADDRESS   8u
#define END_PORT      16u
#define IP_NUMBERS    8u
#define IP_4          16u
#define ARRAY_NUMBERS 16u
#define NUMBERS       8u
#define ARRAY_FLAGS   0x000a0000u

/* In the order of their bytes: 127.0.0.1 and 10.0.0.2. */
#define LOOPBACK 0x0100007fu
#define OTHER    0x0200000au

static struct fake_tasks tasks;
static uint64_t socket_type, end_type, ip_type, numbers_type;

static void set_up(void)
{
	tasks = fake_tasks_create();
	const struct fake_field socket[] = { FAKE_REFERENCE("_rightEndPoint", 0),
					     FAKE_REFERENCE("_remoteEndPoint", 8),
					     FAKE_REFERENCE("_localEndPoint", 16),
					     FAKE_FLAG("_disposed", 24), FAKE_END };
	const struct fake_field end[] = { FAKE_REFERENCE("_address", 0), FAKE_NUMBER("_port", 8),
					  FAKE_END };
	const struct fake_field ip[] = { FAKE_REFERENCE("_numbers", 0),
					 FAKE_NUMBER("_addressOrScopeId", 8), FAKE_END };
	socket_type = fake_class_of(&tasks, "System.Net.Sockets", "Socket", socket, 3);
	end_type = fake_class_of(&tasks, "System.Net", "IPEndPoint", end, 1);
	ip_type = fake_class_of(&tasks, "System.Net", "IPAddress", ip, 1);
	uint64_t number =
		fake_class(tasks.types, &(struct fake_class){ .space = "System",
							      .name = "UInt16",
							      .type = { .base_size = 24 } });
	numbers_type = fake_type(tasks.fake, &(struct fake_type){ .base_size = 24,
								  .component_size = 2,
								  .flags = ARRAY_FLAGS,
								  .per_inst = number });
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

static uint64_t make_end(uint64_t address, uint32_t port)
{
	uint64_t end = fake_object(tasks.fake, end_type, 0);
	fake_refer(&tasks, end, END_ADDRESS, address);
	fake_poke_u32(&tasks.fake->memory, end + END_PORT, port);
	return end;
}

static uint64_t make_ip_4(uint32_t address)
{
	uint64_t ip = fake_object(tasks.fake, ip_type, 0);
	fake_poke_u32(&tasks.fake->memory, ip + IP_4, address);
	return ip;
}

static uint64_t make_ip_6(const uint16_t *numbers)
{
	uint64_t ip = fake_object(tasks.fake, ip_type, 0);
	uint64_t array = fake_object(tasks.fake, numbers_type, NUMBERS);
	fake_poke(&tasks.fake->memory, array + ARRAY_NUMBERS, numbers, NUMBERS * sizeof(*numbers));
	fake_refer(&tasks, ip, IP_NUMBERS, array);
	return ip;
}

static uint64_t make_socket(uint64_t place, uint64_t end)
{
	uint64_t socket = fake_object(tasks.fake, socket_type, 0);
	fake_refer(&tasks, socket, place, end);
	return socket;
}

static void check_peer(uint64_t socket, bool is_here)
{
	struct waits *waits;
	struct wait_peers peers;
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT(wait_peers_find(waits, &peers, NULL), HD_OK);
	CU_ASSERT_EQUAL(wait_peer_is_here(waits, &peers, socket), is_here);
	wait_peers_deinit(&peers);
	waits_destroy(waits);
}

TEST(a_client_of_a_server_in_this_process)
{
	(void)make_socket(SOCKET_LOCAL, make_end(make_ip_4(LOOPBACK), 80));
	check_peer(make_socket(SOCKET_REMOTE, make_end(make_ip_4(LOOPBACK), 80)), true);
}

TEST(a_connection_of_a_server_to_a_client_in_this_process)
{
	(void)make_socket(SOCKET_REMOTE, make_end(make_ip_4(LOOPBACK), 80));
	check_peer(make_socket(SOCKET_LOCAL, make_end(make_ip_4(LOOPBACK), 80)), true);
}

TEST(another_port_is_another_server)
{
	(void)make_socket(SOCKET_LOCAL, make_end(make_ip_4(LOOPBACK), 81));
	check_peer(make_socket(SOCKET_REMOTE, make_end(make_ip_4(LOOPBACK), 80)), false);
}

/* Services of a cluster often have the same port. */
TEST(another_address_is_another_machine)
{
	(void)make_socket(SOCKET_BOUND, make_end(make_ip_4(0), 80));
	check_peer(make_socket(SOCKET_REMOTE, make_end(make_ip_4(OTHER), 80)), false);
}

TEST(who_listens_at_all_addresses_has_those_of_the_machine)
{
	(void)make_socket(SOCKET_BOUND, make_end(make_ip_6((const uint16_t[NUMBERS]){ 0 }), 80));
	check_peer(
		make_socket(SOCKET_REMOTE, make_end(make_ip_6((const uint16_t[NUMBERS]){
							    [5] = 0xffff, [6] = 0x7f00, [7] = 1 }),
						    80)),
		true);
}

TEST(the_same_address_of_ip_6)
{
	static const uint16_t address[NUMBERS] = { 0xfd00, [7] = 2 };
	(void)make_socket(SOCKET_LOCAL, make_end(make_ip_6(address), 80));
	check_peer(make_socket(SOCKET_REMOTE, make_end(make_ip_6(address), 80)), true);
}

TEST(a_closed_socket_is_nobodys_other_end)
{
	uint64_t closed = make_socket(SOCKET_LOCAL, make_end(make_ip_4(LOOPBACK), 80));
	fake_poke_u32(&tasks.fake->memory, closed + SOCKET_CLOSED, 1);
	check_peer(make_socket(SOCKET_REMOTE, make_end(make_ip_4(LOOPBACK), 80)), false);
}

SUITE(.name = "wait_peers", .set_up = set_up, .tear_down = tear_down)
