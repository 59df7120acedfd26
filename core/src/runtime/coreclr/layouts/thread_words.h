/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Where words of a Thread are that no contract descriptor names (threads.h): the range of bytes
 * that is searched for each.
 */

/** m_pGCFrame: 0x5a8 in 8, 0x2b0 in 10 (doc/coreclr.md 12.8). */
#define THREAD_GC_FRAME_BEGIN 0x100u
#define THREAD_GC_FRAME_END   0x800u

/**
 * m_pvHJRetAddr, m_ppvHJRetAddrPtr: the return address that was replaced, and its place on the
 * stack.
 */
#define THREAD_HIJACK_END 2048u

/** Handles of the managed Thread object, of exceptions, and others. */
#define THREAD_HANDLES_END 1024u
