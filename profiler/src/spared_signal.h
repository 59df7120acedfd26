/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * Let the signals that somebody may send for a snapshot be ignored where they would end the program: SIGRTMIN+6, which
 * the documentation names, and another one.  What the program itself has set for them stays.
 *
 * @param number The other one; 0: none.
 */
void spare_signals(int number);
