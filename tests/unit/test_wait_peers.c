/* SPDX-License-Identifier: MIT */
/* Sockets of the process, and where their other ends are. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_peers.h"
#include "support/assert_more.h"
#include "support/fake_sockets.h"
#include "support/suite.h"

static struct fake_tasks tasks;
static struct fake_sockets sockets;

static void set_up(void)
{
	tasks = fake_tasks_create();
	sockets = fake_sockets_create(&tasks);
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
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
	(void)fake_socket(&sockets, FAKE_SOCKET_LOCAL,
			  fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 80));
	check_peer(fake_socket(&sockets, FAKE_SOCKET_REMOTE,
			       fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 80)),
		   true);
}

TEST(a_connection_of_a_server_to_a_client_in_this_process)
{
	(void)fake_socket(&sockets, FAKE_SOCKET_REMOTE,
			  fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 80));
	check_peer(fake_socket(&sockets, FAKE_SOCKET_LOCAL,
			       fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 80)),
		   true);
}

TEST(another_port_is_another_server)
{
	(void)fake_socket(&sockets, FAKE_SOCKET_LOCAL,
			  fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 81));
	check_peer(fake_socket(&sockets, FAKE_SOCKET_REMOTE,
			       fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 80)),
		   false);
}

/* Services of a cluster often have the same port. */
TEST(another_address_is_another_machine)
{
	(void)fake_socket(&sockets, FAKE_SOCKET_BOUND,
			  fake_end_point(&sockets, fake_ip_4(&sockets, 0), 80));
	check_peer(fake_socket(&sockets, FAKE_SOCKET_REMOTE,
			       fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_OTHER), 80)),
		   false);
}

TEST(who_listens_at_all_addresses_has_those_of_the_machine)
{
	(void)fake_socket(
		&sockets, FAKE_SOCKET_BOUND,
		fake_end_point(&sockets,
			       fake_ip_6(&sockets, (const uint16_t[FAKE_IP_NUMBERS]){ 0 }), 80));
	check_peer(
		fake_socket(&sockets, FAKE_SOCKET_REMOTE,
			    fake_end_point(&sockets,
					   fake_ip_6(&sockets,
						     (const uint16_t[FAKE_IP_NUMBERS]){
							     [5] = 0xffff, [6] = 0x7f00, [7] = 1 }),
					   80)),
		true);
}

TEST(the_same_address_of_ip_6)
{
	static const uint16_t address[FAKE_IP_NUMBERS] = { 0xfd00, [7] = 2 };
	(void)fake_socket(&sockets, FAKE_SOCKET_LOCAL,
			  fake_end_point(&sockets, fake_ip_6(&sockets, address), 80));
	check_peer(fake_socket(&sockets, FAKE_SOCKET_REMOTE,
			       fake_end_point(&sockets, fake_ip_6(&sockets, address), 80)),
		   true);
}

/* Both have the address of the server as what they are bound to. */
TEST(two_clients_of_another_process_are_not_each_others_ends)
{
	uint64_t end = fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 80);
	uint64_t clients[2];
	for (unsigned int i = 0; i < 2; i++) {
		clients[i] = fake_socket(&sockets, FAKE_SOCKET_REMOTE, end);
		fake_refer(&tasks, clients[i], FAKE_SOCKET_BOUND, end);
	}
	check_peer(clients[1], false);
}

TEST(a_closed_socket_is_nobodys_other_end)
{
	uint64_t closed =
		fake_socket(&sockets, FAKE_SOCKET_LOCAL,
			    fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 80));
	fake_poke_u32(&tasks.fake->memory, closed + FAKE_SOCKET_CLOSED, 1);
	check_peer(fake_socket(&sockets, FAKE_SOCKET_REMOTE,
			       fake_end_point(&sockets, fake_ip_4(&sockets, FAKE_IP_LOOPBACK), 80)),
		   false);
}

SUITE(.name = "wait_peers", .set_up = set_up, .tear_down = tear_down)
