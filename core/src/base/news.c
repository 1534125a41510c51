/* news.c: see news.h. */
#include "base/news.h"

#include <string.h>

/* ms */
#define TELL_EVERY 1000

static bool push(struct bb__news_ring *ring, const struct bb_news *news)
{
    if (ring->count == BB_NEWS_MAX) return false;
    ring->items[(ring->first + ring->count++) % BB_NEWS_MAX] = *news;
    return true;
}

void bb__news_add(struct bb__news_ring *ring, int status, int error, const char *text, const char *peer)
{
    struct bb_news news = {.status = status, .error = error, .text = text};
    if (peer) strncpy(news.peer, peer, sizeof news.peer - 1);
    (void)push(ring, &news);
}

void bb__news_put(struct bb__news_ring *ring, const struct bb_news *news)
{
    (void)push(ring, news);
}

void bb__news_add_paced(struct bb__news_ring *ring, struct bb__news_pace *pace, uint64_t now,
                        const struct bb_news *news)
{
    struct bb_news told = *news;
    told.left_out = pace->left_out;
    if ((pace->told > 0 && now - pace->told < TELL_EVERY) || !push(ring, &told)) {
        pace->left_out++;
        ring->left_out++;
        pace->latest = *news;
    } else {
        ring->left_out -= pace->left_out;
        *pace = (struct bb__news_pace){.told = now};
    }
}

void bb__news_tell_rest(struct bb__news_ring *ring, struct bb__news_pace *pace, uint64_t now)
{
    if (pace->left_out == 0 || now - pace->told < TELL_EVERY) return;
    pace->left_out--; /* the one that tells */
    ring->left_out--;
    bb__news_add_paced(ring, pace, now, &pace->latest);
}

int bb__news_take(struct bb__news_ring *ring, struct bb_news *news)
{
    if (ring->count == 0) return BB_AGAIN;
    *news = ring->items[ring->first];
    ring->first = (ring->first + 1) % BB_NEWS_MAX;
    ring->count--;
    return BB_OK;
}
