/* tuning.h: the constants of the core that were chosen by measurement, each with the measurement and with
 * the effect of a wrong value. Used by all layers above. Limits that a specification or the kernel sets are
 * not here.
 *
 * "prototype" is the C program that docs/decisions/0008 describes: 4 workers, 64 connections, 2 virtual
 * processors. The mixed load: 70 % of the workers' capacity, one request in a hundred takes 100 ms, the
 * others 1 ms. */
#ifndef BB_TUNING_H
#define BB_TUNING_H

/* ---- the I/O thread's looks at the lanes ---- */

/* ms. A request is long when two looks in a row see it.
 * Prototype, mixed load, p99.9: 0.5 ms 140, 1 ms 142, 2 ms 145, 3 ms 148 ms (one queue, simulated: 135 ms).
 * Too small: the I/O thread takes sets whose lanes want them back at once. Too large: the connections of a
 * busy lane wait that long. */
#define BB_TICK 1

/* ms. After BB_BRIEF_LOOKS looks that saw only short requests, the tick doubles up to this.
 * Prototype, 4 idle workers: 3.0 % of a processor with a fixed tick of 1 ms, 0 with this and with
 * BB_QUIET_LOOKS. 1,000 requests a second: 3.6 and 2.1 %. Too large: the first long request after many short
 * ones is seen that much later. */
#define BB_TICK_MAX    4
#define BB_BRIEF_LOOKS 16

/* Looks in a row without a new request, after which the I/O thread sleeps until a lane wakes it. See
 * BB_TICK_MAX. Too small: a lane raises an eventfd more often, which costs it 0.5 to 6 us. Too large: an idle
 * worker wakes up. */
#define BB_QUIET_LOOKS 2

/* Lanes stop accepting while another process is idle. They accept again after this many looks in a row at
 * which no other process is idle. A process that serves short requests is not idle for a moment between two
 * of them. Too small: lanes stop and begin to accept at each such moment. Too large: they accept that many
 * ticks too late. */
#define BB_BUSY_LOOKS 3

/* ---- accepting (lane_accept.c) ---- */

/* After this many accepts in a row, or responses in a row on one connection, others come first. Fewer than
 * what one look at the poller reports (BB_BATCH). Too small: more looks. Too large: other connections wait
 * for as many requests. */
#define BB_IN_A_ROW 16

/* If the last streak had one connection, the accept queue is asked a second time only in one of so many
 * streaks. Prototype, one client, a connection per request: CPU per request above the plain socket calls 5.1
 * us with a second accept4 each time and 3.4 us with this (TCP), 5.9 and 4.4 us (unix); no difference under
 * full load. Too small: an accept4 that finds nothing. Too large: a crowd is noticed so many connections
 * later. */
#define BB_PROBE_EVERY 8

/* ---- taking a set back (set_owner.c) ---- */

/* Looks at the owner's word before the lane waits for the I/O thread. Taking a set back takes 7 to 9 us with
 * its system calls, 90 to 124 us at worst, if the I/O thread lost its processor in a step; more looks do not
 * help then. Too small: the lane waits in the kernel for a step that is over at once. Too large: it wastes
 * its processor. */
#define BB_OWNER_SPINS 200

/* ---- requests that wait (conn_admission.c, io_step.c, lane_shared.c) ---- */

/* us. Whether max_queue is reached is certain when the first request of the queue has waited for so long.
 * Until then a lane may have been woken for it. A message takes 4 us, and up to 37 us if the receiver sleeps
 * on another processor; beside other work a woken lane runs up to 10 ms later. Too small: a request is
 * rejected that an idle lane would take. Too large: one that cannot be served is held so long. */
#define BB_SETTLED 10000

/* ms. If something waits for so long although lanes are idle, these lanes do not count as idle until they
 * move: their process is stopped, or was killed. Three times as long as BB_SETTLED, and more. Too small: a
 * lane that is late counts as busy for a moment. Too large: requests wait so long for a stopped process. */
#define BB_PROMPT 50

/* ---- sharing the requests that one look finds (lane_share.c) ---- */

/* us. Passing a connection on costs the sender and the receiver 4 us each. A lane passes requests on at once
 * if their mean is longer than this. Prototype, 8 connections, all requests 0.9 ms, p99: 2.02 ms with
 * sharing, up to 1,648 ms without (one queue: 1.58). Too small: short requests pay for being passed on. Too
 * large: requests wait behind each other while lanes are idle. */
#define BB_SHARE_WORTH 100

/* us. If each look has found several requests for this time, one connection is passed on even if requests are
 * shorter. See BB_SHARE_WORTH: all connections may have come to one lane. Too small: connections change
 * their lane too often. Too large: they stay on one lane for longer. */
#define BB_SHARE_CROWDED 5000

/* us. The result of a look is out of date after this time, and the lane looks again.
 * bench/mixed, kept alive, p99 of the short requests: 1.2 to 1.5 times that of one queue without a second
 * look, 1.07 with it. Too small: more looks. Too large: requests overtake earlier requests of another lane.
 */
#define BB_SHARE_STALE 200

/* ---- even shares of new connections (lane_spread.c) ---- */

/* A lane that has served this many requests more than the mean of all lanes becomes the last one of the lanes
 * that wait for new connections.
 * After a mean of BB_SPREAD_MEMORY requests, a lane halves its counts. bench/spread at a tenth of the
 * load: a lane has 93 to 107 % of an even share. With turns of 64 connections instead of a
 * comparison one worker of four had up to 210 %. Too small: more system calls, two for each turn. Too large:
 * shares differ by that many requests. */
#define BB_SPREAD_LEAD   16
#define BB_SPREAD_MEMORY 256

/* ---- a lane and its host's lock (lane_turn.c) ---- */

/* us. A lane goes on for this time although other threads wait for the host's lock.
 * Hello world with 5 threads: 11.4 us of CPU per request with 0, 8.4 us with 1000, and 8.4 us if no lane ever
 * gives way. The p99 of requests of 1 to 2 ms is the same with 0 and 1000. Too small: the change of threads
 * costs CPU. Too large: other threads wait that long. */
#define BB_TURN 1000

/* ---- a client that reads slowly (reply_wait.c) ---- */

/* ms, and us for each MiB that the client has taken: a lane waits this long before it writes a response to a
 * file. A large file to a proxy over a unix socket: 2.6 to 3.0 GB/s with this, 1.0 to 1.9 GB/s if each
 * response that memory has no room for goes to a file at once. Too small: quick clients pay for a file. Too
 * large: a slow client keeps the lane that long. */
#define BB_MOMENT         1
#define BB_MOMENT_PER_MIB 1000

#endif
