/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_tasks.h"

/* Sockets on a fake heap, and the addresses of their ends. */
struct fake_sockets {
	struct fake_tasks *tasks;
	uint64_t socket_type, end_type, ip_type, numbers_type;
};

/* Where a Socket has its ends: bound to, the other one, its own; and whether it is closed. */
#define FAKE_SOCKET_BOUND  8u
#define FAKE_SOCKET_REMOTE 16u
#define FAKE_SOCKET_LOCAL  24u
#define FAKE_SOCKET_CLOSED 32u

/* In the order of their bytes: 127.0.0.1 and 10.0.0.2. */
#define FAKE_IP_LOOPBACK 0x0100007fu
#define FAKE_IP_OTHER    0x0200000au
/** Numbers of an address of IPv6. */
#define FAKE_IP_NUMBERS 8u

/** Make the types. */
struct fake_sockets fake_sockets_create(struct fake_tasks *tasks);
uint64_t fake_ip_4(struct fake_sockets *sockets, uint32_t address);
uint64_t fake_ip_6(struct fake_sockets *sockets, const uint16_t *numbers);
/** An IPEndPoint. */
uint64_t fake_end_point(struct fake_sockets *sockets, uint64_t ip, uint32_t port);
/** A Socket with one end, at @p place. */
uint64_t fake_socket(struct fake_sockets *sockets, uint64_t place, uint64_t end);
