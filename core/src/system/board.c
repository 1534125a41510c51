/* board.c: see board.h, and bontebok.h for the contracts. */
#include "system/board.h"
#include "base/clock.h"
#include "system/relay.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ms. Who has a request for so long is not there for others. */
#define LONG 100

static size_t size_of(unsigned count)
{
    return sizeof(struct bb_board) + count * sizeof(struct bb__board_line);
}

int bb_board_new(struct bb_board **board, unsigned lanes)
{
    void *memory = mmap(NULL, size_of(lanes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return BB_ENOMEM;
    *board = memory;
    (*board)->count = lanes;
    return BB_OK;
}

void bb_board_free(struct bb_board *board)
{
    if (board) (void)munmap(board, size_of(board->count));
}

void bb_board_clear(struct bb_board *board, int pid, int in)
{
    const struct bb__relay relay = {.in = in, .turns = &board->turns};
    unsigned used = atomic_load(&board->used);
    for (unsigned i = 0; i < used; i++) {
        struct bb__board_line *line = &board->lines[i];
        int dead = pid; /* another process may clear the line as well, and a lane claim it */
        if (!atomic_compare_exchange_strong(&line->pid, &dead, (int)getpid())) continue;
        bb__board_give_back(line);
        bb__relay_nudge(&relay);
    }
    (void)atomic_compare_exchange_strong(&board->usher, &pid, 0);
}

static void note_used(struct bb_board *board, unsigned count)
{
    unsigned used = atomic_load(&board->used);
    while (used < count && !atomic_compare_exchange_weak(&board->used, &used, count)) continue;
}

static bool is_gone(int pid)
{
    return pid != 0 && kill(pid, 0) < 0 && errno == ESRCH;
}

/* Of processes that were killed together with the one that would have waited for them. */
static void clear_the_gone(struct bb_board *board)
{
    unsigned used = atomic_load(&board->used);
    for (unsigned i = 0; i < used; i++) {
        int pid = atomic_load(&board->lines[i].pid);
        if (is_gone(pid) && atomic_compare_exchange_strong(&board->lines[i].pid, &pid, (int)getpid()))
            bb__board_give_back(&board->lines[i]);
    }
}

struct bb__board_line *bb__board_claim(struct bb_board *board)
{
    clear_the_gone(board);
    for (unsigned i = 0; i < board->count; i++) {
        int nobody = 0;
        if (!atomic_compare_exchange_strong(&board->lines[i].pid, &nobody, (int)getpid())) continue;
        atomic_store(&board->lines[i].leaves, false);
        atomic_store(&board->lines[i].paused, false);
        atomic_store(&board->lines[i].done, false);
        atomic_store(&board->lines[i].taking, 0);
        note_used(board, i + 1);
        return &board->lines[i];
    }
    return NULL;
}

void bb__board_give_back(struct bb__board_line *line)
{
    if (!line) return;
    atomic_store(&line->idle, BB_IDLE_NOT);
    atomic_store(&line->requests, 0);
    atomic_store(&line->began, 0);
    atomic_store(&line->taking, 0);
    atomic_store(&line->queue_time, 0);
    atomic_store(&line->beat, 0);
    atomic_store(&line->labelled, 0);
    atomic_store(&line->pid, 0);
}

static size_t append(char *label, size_t len, struct bb_slice text)
{
    size_t room = BB_BOARD_LABEL_MAX - 1 - len, count = text.len < room ? text.len : room;
    memcpy(label + len, text.at, count);
    return len + count;
}

void bb__board_label(struct bb__board_line *line, struct bb_slice method, struct bb_slice path)
{
    if (!line) return;
    size_t len = append(line->label, 0, method);
    len = append(line->label, len, (struct bb_slice){" ", 1});
    line->label[append(line->label, len, path)] = '\0';
    atomic_store(&line->labelled, atomic_load(&line->requests));
}

static void read_label(const struct bb__board_line *line, struct bb_board_lane *lane)
{
    if (!lane->has_request || atomic_load(&line->labelled) != lane->requests) return;
    memcpy(lane->label, line->label, BB_BOARD_LABEL_MAX - 1);
}

int bb_board_look(const struct bb_board *board, unsigned number, struct bb_board_lane *lane)
{
    if (number >= atomic_load(&board->used)) return BB_EOF;
    const struct bb__board_line *line = &board->lines[number];
    uint64_t began = atomic_load(&line->began), beat = atomic_load(&line->beat), now = bb__clock_ms();
    *lane = (struct bb_board_lane){
        .pid = atomic_load(&line->pid),
        .idle = atomic_load(&line->idle) != BB_IDLE_NOT,
        .leaves = atomic_load(&line->leaves),
        .has_request = began > 0,
        .requests = atomic_load(&line->requests),
        .taken = began > 0 && now > began ? now - began : 0,
        .queue_time = atomic_load(&line->queue_time),
        .silent = beat == 0    ? UINT64_MAX
                  : now > beat ? now - beat
                               : 0,
    };
    read_label(line, lane);
    return lane->pid != 0 ? BB_OK : BB_AGAIN;
}

bool bb__board_has_others(const struct bb_board *board, int own_pid)
{
    unsigned used = board ? atomic_load(&board->used) : 0;
    for (unsigned i = 0; i < used; i++) {
        int pid = atomic_load(&board->lines[i].pid);
        if (pid != 0 && pid != own_pid) return true;
    }
    return false;
}

struct bb_board_slow bb_board_slow(const struct bb_board *board)
{
    return (struct bb_board_slow){atomic_load(&board->slow_readers), atomic_load(&board->slow_senders)};
}

bool bb__board_has_siblings(const struct bb_board *board, int own_pid)
{
    unsigned used = board ? atomic_load(&board->used) : 0;
    for (unsigned i = 0; i < used; i++) {
        int pid = atomic_load(&board->lines[i].pid);
        if (pid != 0 && pid != own_pid && !atomic_load(&board->lines[i].leaves)) return true;
    }
    return false;
}

/* If a worker and its master were killed, nobody clears the worker's lines. */
bool bb__board_others_are_done(const struct bb_board *board, const struct bb__board_line *own, bool all)
{
    unsigned used = atomic_load(&board->used);
    for (unsigned i = 0; i < used; i++) {
        const struct bb__board_line *line = &board->lines[i];
        int pid = atomic_load(&line->pid);
        if (line == own || pid == 0 || atomic_load(&line->done)) continue;
        if ((all || atomic_load(&line->leaves)) && !is_gone(pid)) return false;
    }
    return true;
}

static bool takes_more(const struct bb__board_line *line)
{
    return !atomic_load_explicit(&line->leaves, memory_order_relaxed) &&
           !atomic_load_explicit(&line->paused, memory_order_relaxed);
}

static bool would_take(const struct bb__board_line *line)
{
    unsigned char idle = atomic_load_explicit(&line->idle, memory_order_relaxed);
    return (idle == BB_IDLE || idle == BB_IDLE_DOUBTED) && takes_more(line);
}

static void change_idle(struct bb_board *board, int own_pid, enum bb__board_idle from, enum bb__board_idle to)
{
    unsigned used = atomic_load(&board->used);
    for (unsigned i = 0; i < used; i++) {
        unsigned char idle = (unsigned char)from;
        if (atomic_load(&board->lines[i].pid) == own_pid) continue;
        (void)atomic_compare_exchange_strong(&board->lines[i].idle, &idle, (unsigned char)to);
    }
}

void bb__board_doubt(struct bb_board *board, int own_pid)
{
    change_idle(board, own_pid, BB_IDLE, BB_IDLE_DOUBTED);
}

void bb__board_blame(struct bb_board *board, int own_pid)
{
    change_idle(board, own_pid, BB_IDLE_DOUBTED, BB_IDLE_SILENT);
}

static bool all_are_idle(const struct bb_board *board, unsigned used, int pid)
{
    for (unsigned i = 0; i < used; i++)
        if (atomic_load_explicit(&board->lines[i].pid, memory_order_relaxed) == pid &&
            !would_take(&board->lines[i]))
            return false;
    return true;
}

bool bb__board_process_is_idle(const struct bb_board *board, int own_pid)
{
    unsigned used = atomic_load_explicit(&board->used, memory_order_relaxed);
    int looked_at = own_pid;
    for (unsigned i = 0; i < used; i++) {
        int pid = atomic_load_explicit(&board->lines[i].pid, memory_order_relaxed);
        if (pid == 0 || pid == own_pid || pid == looked_at || !would_take(&board->lines[i])) continue;
        if (all_are_idle(board, used, pid)) return true;
        looked_at = pid;
    }
    return false;
}

unsigned bb__board_idle_elsewhere(const struct bb_board *board, int own_pid, unsigned most)
{
    unsigned used = atomic_load_explicit(&board->used, memory_order_relaxed), idle = 0;
    for (unsigned i = 0; i < used && idle < most; i++) {
        const struct bb__board_line *line = &board->lines[i];
        if (!would_take(line)) continue;
        int pid = atomic_load_explicit(&line->pid, memory_order_relaxed);
        idle += pid != 0 && pid != own_pid;
    }
    return idle;
}

unsigned bb__board_idle(const struct bb_board *board, unsigned most)
{
    return bb__board_idle_elsewhere(board, 0, most);
}

static bool could_take(const struct bb__board_line *line, uint64_t now)
{
    uint64_t began = atomic_load_explicit(&line->began, memory_order_relaxed);
    return atomic_load_explicit(&line->pid, memory_order_relaxed) != 0 && takes_more(line) &&
           (began == 0 || now < began + LONG);
}

struct bb__board_sum bb__board_sum(const struct bb_board *board, uint64_t now)
{
    unsigned used = atomic_load_explicit(&board->used, memory_order_relaxed);
    struct bb__board_sum sum = {0};
    for (unsigned i = 0; i < used; i++) {
        sum.requests += atomic_load_explicit(&board->lines[i].requests, memory_order_relaxed);
        sum.lanes += could_take(&board->lines[i], now);
    }
    return sum;
}

/* If two are equally slow, the first one counts as slower. */
static bool is_slower(const struct bb__board_line *line, const struct bb__board_line *own)
{
    uint64_t one = atomic_load(&line->taking), other = atomic_load(&own->taking);
    return one < other || (one == other && line < own);
}

struct bb__board_waits bb__board_waits(const struct bb_board *board, const struct bb__board_line *own)
{
    unsigned used = atomic_load(&board->used);
    struct bb__board_waits found = {0};
    for (unsigned i = 0; i < used; i++) {
        const struct bb__board_line *line = &board->lines[i];
        if (atomic_load(&line->pid) == 0 || atomic_load(&line->leaves)) continue;
        found.lanes++;
        if (atomic_load(&line->taking) == 0) continue;
        found.waiting++;
        found.slower += is_slower(line, own);
    }
    return found;
}

bool bb__board_begin_to_usher(struct bb_board *board, int own_pid)
{
    int usher = 0;
    if (atomic_compare_exchange_strong(&board->usher, &usher, own_pid)) return true;
    return is_gone(usher) && atomic_compare_exchange_strong(&board->usher, &usher, own_pid);
}

void bb__board_end_to_usher(struct bb_board *board)
{
    atomic_store(&board->usher, 0);
}
