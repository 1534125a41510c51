/* tuning.h: the constants of the core that were chosen by measurement. Each has its measurement and the
 * effect of a wrong value. Used by all layers above. Limits that a specification or the kernel sets are not
 * here.
 *
 * "prototype" is the C program that docs/decisions/0008 describes: 4 workers, 64 connections, 2 virtual
 * processors. "mixed load" is 70 % of the workers' capacity: one request in a hundred takes 100 ms, the
 * others take 1 ms. */
#ifndef BB_TUNING_H
#define BB_TUNING_H

/* ---- the I/O thread's looks at the lanes ---- */

/* ms. The time between two looks. A request is long when two looks in a row see it.
 * Prototype, mixed load, p99.9: 0.5 ms 140, 1 ms 142, 2 ms 145, 3 ms 148 ms (one queue, simulated: 135 ms).
 * Too small: the I/O thread takes connection sets that their lanes want back at once. Too large: the
 * connections of a busy lane wait that long. */
#define BB_TICK 1

/* ms. After BB_BRIEF_LOOKS looks that saw only short requests, the tick doubles, up to BB_TICK_MAX.
 * Prototype, CPU of 4 idle workers: 3.0 % of a processor with a fixed tick of 1 ms, 0 with BB_TICK_MAX and
 * BB_QUIET_LOOKS. At 1,000 requests a second: 3.6 % and 2.1 %. Too large: the first long request after many
 * short ones is seen that much later. */
#define BB_TICK_MAX    4
#define BB_BRIEF_LOOKS 16

/* After this many looks in a row without a new request, the I/O thread sleeps until a lane wakes it.
 * BB_TICK_MAX has the measurement. Too small: a lane raises an eventfd more often, which costs it 0.5 to 6
 * us. Too large: an idle worker wakes up. */
#define BB_QUIET_LOOKS 2

/* Lanes stop accepting while another process is idle. They accept again after this many looks in a row at
 * which no other process is idle. A process that serves a short request is busy for only a moment. Too small:
 * lanes begin and stop to accept at each such moment. Too large: they accept that many ticks too late. */
#define BB_BUSY_LOOKS 3

/* ---- accepting (lane_accept.c) ---- */

/* After this many accepts in a row, or this many responses in a row on one connection, other connections come
 * first. At most BB_BATCH, the number of events that one look at the poller reports. Too small: more looks at
 * the poller. Too large: other connections wait for that many requests. */
#define BB_IN_A_ROW 16

/* A streak is a row of accepts from one accept queue. If the last streak had one connection, only one of this
 * many streaks tries a second accept4.
 * Prototype, one client, a connection per request; CPU per request above the plain socket calls: 5.1 us with
 * a second accept4 each time and 3.4 us with this (TCP), 5.9 and 4.4 us (unix). No difference under full
 * load. Too small: a second accept4 often finds nothing. Too large: it takes that many connections to notice
 * a crowd of clients. */
#define BB_PROBE_EVERY 8

/* ---- taking a set back (set_owner.c) ---- */

/* How often a lane reads the owner's word before it sleeps until the I/O thread gives the set back. Taking a
 * set back takes 7 to 9 us, system calls included, and 90 to 124 us if the I/O thread lost its processor in a
 * step. More reads do not help then. Too small: the lane sleeps although the step ends at once. Too large:
 * the lane wastes its processor. */
#define BB_OWNER_SPINS 200

/* ---- requests that wait (conn_admission.c, io_step.c, lane_shared.c) ---- */

/* us. max_queue counts as reached only when the first request of the queue has waited for this time. Until
 * then a woken lane may be about to take that request. A message takes 4 us, and up to 37 us if the receiver
 * sleeps on another processor. On a busy processor a woken lane runs up to 10 ms later. Too small: requests
 * are rejected that an idle lane would take. Too large: requests that cannot be served are held that long. */
#define BB_SETTLED 10000

/* ms. If a connection or a request waits for this time although lanes are idle, their process is stopped or
 * was killed. These lanes then do not count as idle until they move. At least three times BB_SETTLED. Too
 * small: a lane that is late counts as busy for a moment. Too large: requests wait that long for a stopped
 * process. */
#define BB_PROMPT 50

/* ---- sharing the requests that one look finds (lane_share.c) ---- */

/* us. Passing a connection on costs the sender and the receiver 4 us each. A lane passes requests on at once
 * if they take longer than this on average. Prototype, 8 connections, all requests 0.9 ms, p99: 2.02 ms with
 * sharing, up to 1,648 ms without (one queue: 1.58). Too small: short requests pay for being passed on. Too
 * large: requests wait behind each other while lanes are idle. */
#define BB_SHARE_WORTH 100

/* us. If each look within this time has found several requests, a lane passes one connection on, even if
 * requests are shorter than BB_SHARE_WORTH: all connections may have come to this lane. Too small:
 * connections change their lane too often. Too large: they stay on one lane for longer. */
#define BB_SHARE_CROWDED 5000

/* us. The events of a lane's last look are out of date after this time, and the lane looks again.
 * bench/mixed, kept alive, p99 of the short requests, compared with one queue: 1.2 to 1.5 times as long
 * without a second look, 1.07 times with it. Too small: more looks. Too large: requests overtake earlier
 * requests of another lane. */
#define BB_SHARE_STALE 200

/* ---- even shares of new connections (lane_spread.c) ---- */

/* A lane that has served this many requests more than the mean of all lanes goes to the end of the wait queue
 * for new connections. After a mean of BB_SPREAD_MEMORY requests, a lane halves its counts.
 * bench/spread at a tenth of the load: a lane has 93 to 107 % of an even share. When each lane took 64
 * connections in turn, without a comparison, one worker of four had up to 210 %. Too small: more system
 * calls, two for each move to the end. Too large: shares differ by that many requests. */
#define BB_SPREAD_LEAD   16
#define BB_SPREAD_MEMORY 256

/* ---- a lane and its host's lock (lane_turn.c) ---- */

/* us. A lane serves further requests for this time although other threads wait for the host's lock.
 * Hello world with 5 threads: 11.4 us of CPU per request with 0, 8.4 us with 1000, and 8.4 us if no lane ever
 * gives way. The p99 of requests of 1 to 2 ms is the same with 0 and 1000. Too small: the change of threads
 * costs CPU. Too large: other threads wait that long. */
#define BB_TURN 1000

/* ---- a client that reads slowly (reply_wait.c) ---- */

/* A lane waits for its client for BB_MOMENT (ms) before it writes a response to a file. BB_MOMENT_PER_MIB
 * (us) is added for each MiB that the client has taken. A large file to a proxy over a unix socket: 2.6 to
 * 3.0 GB/s with this, 1.0 to 1.9 GB/s if each response that does not fit in memory goes to a file at once.
 * Too small: quick clients pay for a file. Too large: a slow client keeps the lane that long. */
#define BB_MOMENT         1
#define BB_MOMENT_PER_MIB 1000

#endif
