/* tuning.h: the constants of the core that were chosen by measurement. Each comment gives the measurement and
 * the effect of a wrong value. Used by all other layers. Not for limits of a specification or of the kernel.
 *
 * A "lane" is one thread that serves requests. A "look" is one check of all lanes by the I/O thread. A "set"
 * is the set of connections of one lane. "Prototype" is the C program of docs/decisions/0008, with 4 workers,
 * 64 connections and 2 virtual processors. "Mixed load" is 70 % of the workers' capacity: one request in a
 * hundred takes 100 ms, the others take 1 ms. */
#ifndef BB_TUNING_H
#define BB_TUNING_H

/* ---- how often the I/O thread looks at the lanes ---- */

/* ms between two looks. A request is long if two looks in a row see it. The I/O thread then takes the lane's
 * set.
 * Prototype, mixed load, p99.9: 140 ms with a tick of 0.5 ms, 142 with 1 ms, 145 with 2 ms, 148 with 3 ms.
 * Simulation with one queue for all workers: 135 ms.
 * Too small: the I/O thread takes sets that the lanes want back at once. Too large: the other connections of
 * a busy lane wait that long. */
#define BB_TICK 1

/* ms. After BB_BRIEF_LOOKS looks that saw only short requests, the tick doubles, up to BB_TICK_MAX.
 * Prototype, CPU time of 4 workers. Idle: 3.0 % of a processor with a fixed tick of 1 ms, 0 % with
 * BB_TICK_MAX and BB_QUIET_LOOKS. At 1,000 requests a second: 3.6 % with the fixed tick, 2.1 % with the two
 * constants.
 * Too large: after many short requests, the I/O thread notices a long request that much later. */
#define BB_TICK_MAX    4
#define BB_BRIEF_LOOKS 16

/* After this many looks in a row without a new request, the I/O thread sleeps until a lane wakes it. The
 * measurement is at BB_TICK_MAX. Too small: a lane has to wake the I/O thread more often, which takes 0.5 to
 * 6 us each time. Too large: the I/O thread of an idle worker wakes up for nothing. */
#define BB_QUIET_LOOKS 2

/* While a lane has a long request and another process is idle, the worker does not accept connections. The
 * worker accepts again after this many looks in a row that see no idle process. One look is not enough,
 * because a process with a short request is busy only for a moment. Too small: the worker stops and restarts
 * accepting at each short request of another process. Too large: the worker accepts that many ticks too
 * late. */
#define BB_BUSY_LOOKS 3

/* ---- accepting (lane_accept.c) ---- */

/* Maximum of accepts in a row, and of responses in a row on one connection. Then other connections are
 * served. The value must be at most BB_BATCH, the number of events that one epoll_wait() reports. Too small:
 * more calls of epoll_wait(). Too large: other connections wait for that many requests. */
#define BB_IN_A_ROW 16

/* After an accept, a lane calls accept4 again if the lane's previous listener event gave two or more
 * connections. Otherwise it calls accept4 again only for one of this many events. The lane never calls
 * accept4 again if other sources have events, or if requests take BB_SHARE_WORTH or longer.
 * Prototype, one client, one connection per request: CPU per request in addition to the plain socket calls.
 * TCP: 5.1 us if accept4 is always called again, 3.4 us with this constant. Unix socket: 5.9 us if always,
 * 4.4 us with this constant. Under full load there is no difference.
 * Too small: the second accept4 often finds nothing. Too large: the lane needs that many events to notice a
 * crowd of clients. */
#define BB_PROBE_EVERY 8

/* ---- taking a set back (set_owner.c) ---- */

/* If the I/O thread is using a set that the lane wants back, the lane reads the set's state (set_owner.h)
 * this many times before it sleeps. Taking a set back takes 7 to 9 us, system calls included. It takes 90 to
 * 124 us if the I/O thread has lost its processor; in this case more reads do not help. Too small: the lane
 * sleeps although the set is free at once. Too large: the lane wastes CPU time. */
#define BB_OWNER_SPINS 200

/* ---- requests that wait (conn_admission.c, io_step.c, lane_shared.c) ---- */

/* us. max_queue counts as reached only when the first request of the shared queue has waited this long.
 * Before that time, a lane that was woken may still take the request. A message takes 4 us, and up to 37 us
 * if the receiver sleeps on another processor. On a busy processor a woken lane runs up to 10 ms later. Too
 * small: requests are rejected although an idle lane would take them. Too large: requests that will be
 * rejected wait that long. */
#define BB_SETTLED 10000

/* ms. If a connection or a request waits this long although lanes are idle, the process of these lanes is
 * frozen (SIGSTOP) or was killed. These lanes do not count as idle until they run again. The value must be at
 * least three times BB_SETTLED. Too small: an idle lane that runs late counts as busy for a moment. Too
 * large: requests wait that long for a frozen process. */
#define BB_PROMPT 50

/* ---- passing on requests that come together (lane_share.c) ---- */

/* us. If several requests come together, and requests take longer than this on average, the lane passes them
 * on to idle lanes at once. Passing a connection on costs 4 us in the sender and 4 us in the receiver.
 * Prototype, 8 connections, all requests 0.9 ms, p99: 2.02 ms with this constant, up to 1,648 ms if requests
 * are not passed on, 1.58 ms with one queue. Too small: for short requests, passing on costs more than it
 * saves. Too large: requests wait for one lane while other lanes are idle. */
#define BB_SHARE_WORTH 100

/* us. If each epoll_wait() of a lane finds several events during this time, the lane passes one connection
 * on, even if its requests are shorter than BB_SHARE_WORTH. Otherwise one lane could keep all connections.
 * Too small: connections change their lane too often. Too large: one lane has too many connections for
 * longer. */
#define BB_SHARE_CROWDED 5000

/* us. The events of a lane's last epoll_wait() are out of date after this time, and the lane calls
 * epoll_wait() again. bench/mixed with keep-alive, p99 of the short requests, compared with one queue: 1.2 to
 * 1.5 times as long without the second call, 1.07 times as long with it. Too small: more calls. Too large:
 * the lane's requests overtake earlier requests of another lane. */
#define BB_SHARE_STALE 200

/* ---- even shares of new connections (lane_spread.c) ---- */

/* If a lane has served this many requests more than the mean (lane_spread.c), it goes to the end of the
 * kernel's wait queue for new connections. When the mean is BB_SPREAD_MEMORY requests, the lane halves its
 * counts. bench/spread at a tenth of the full load: a lane has 93 to 107 % of an even share. If each lane
 * takes 64 connections in turn, without a comparison, one worker of four has up to 210 %. Too small: more
 * system calls, two each time that a lane goes to the end. Too large: shares differ by that many requests. */
#define BB_SPREAD_LEAD   16
#define BB_SPREAD_MEMORY 256

/* ---- a lane and its host's lock (lane_turn.c) ---- */

/* us. While other threads wait for the host's lock (Ruby: GVL), a lane serves requests for this time before
 * it releases the lock. Hello world with 5 threads, CPU per request: 11.4 us with 0, 8.4 us with 1000, 8.4 us
 * without a limit. For requests of 1 to 2 ms, the p99 is the same with 0 and with 1000. Too small: switching
 * between threads costs CPU. Too large: other threads wait that long. */
#define BB_TURN 1000

/* ---- a client that reads slowly (reply_wait.c) ---- */

/* A lane waits BB_MOMENT (ms) for its client before it writes a response to a file. It waits
 * BB_MOMENT_PER_MIB (us) longer for each MiB that the client has taken. A large file to a proxy over a unix
 * socket: 2.6 to 3.0 GB/s with these waits. Without a wait, each response that does not fit in memory goes to
 * a file at once: 1.0 to 1.9 GB/s. Too small: responses to fast clients go to files. Too large: a slow client
 * blocks the lane that long. */
#define BB_MOMENT         1
#define BB_MOMENT_PER_MIB 1000

/* ---- small parts of a response (reply_gather.c) ---- */

/* us. If a part follows the previous part within this time, it is not sent at once. The I/O thread sends it
 * after this time, at most BB_TICK later. Too small: more system calls. Too large: a part that a browser
 * could use already waits that long. */
#define BB_GATHER_TIME 1000

/* ---- files of `public` (lane.c) ---- */

/* A lane sends files while it looks for a request of the host. After so many files, or so many us, it returns
 * to the host, which may have signals to handle and other threads to run. Too small: Ruby's lock is released
 * and taken more often, which takes about 1 us. Too large: a signal, or a thread that computes, waits longer.
 */
#define BB_FILES_IN_A_ROW 16
#define BB_FILES_TIME     1000

#endif
