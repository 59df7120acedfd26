/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_HEAPDUMP_H
#define HEAPDUMP_HEAPDUMP_H

#include <heapdump/answer.h>
#include <heapdump/arrow.h>
#include <heapdump/broker.h>
#include <heapdump/code.h>
#include <heapdump/command.h>
#include <heapdump/debugger.h>
#include <heapdump/error.h>
#include <heapdump/graph.h>
#include <heapdump/session.h>
#include <heapdump/snapshot.h>

#endif
