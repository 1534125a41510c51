/* news.c: see news.h. */
#include "news.h"

#include <string.h>

void bb__news_add(struct bb__news_ring *ring, int status, int error, const char *text, const char *peer)
{
    if (ring->count == BB_NEWS_MAX) return;
    struct bb_news *news = &ring->items[(ring->first + ring->count++) % BB_NEWS_MAX];
    *news = (struct bb_news){.status = status, .error = error, .text = text};
    if (peer) strncpy(news->peer, peer, sizeof news->peer - 1);
}

int bb__news_take(struct bb__news_ring *ring, struct bb_news *news)
{
    if (ring->count == 0) return BB_AGAIN;
    *news = ring->items[ring->first];
    ring->first = (ring->first + 1) % BB_NEWS_MAX;
    ring->count--;
    return BB_OK;
}
