/* metrics_file.c: the memory of the metrics, which processes share by fork or as a file. See metrics.h, and
 * bontebok_metrics.h for the contracts. */
#include "metrics/memory_file.h"
#include "metrics/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* 0: the address space has no room for this number of lanes. */
static size_t size_of(unsigned count)
{
    uint64_t size = sizeof(struct bb__metrics_memory) + (uint64_t)count * sizeof(struct bb__metrics_block);
    return size <= PTRDIFF_MAX ? (size_t)size : 0;
}

static struct bb__metrics_layout layout_of(unsigned count)
{
    return (struct bb__metrics_layout){"bontebok totals", BB_METRICS_LAYOUT,
                                       sizeof(struct bb__metrics_memory), sizeof(struct bb__metrics_block),
                                       count};
}

unsigned bb_metrics_layout(void)
{
    return BB_METRICS_LAYOUT;
}

static int map(struct bb_metrics **metrics, unsigned count, int fd)
{
    struct bb_metrics *made = malloc(sizeof *made);
    if (!made) return BB_ENOMEM;
    made->count = count;
    made->memory = bb__memory_map(fd, size_of(count), &made->writable);
    if (!made->memory) {
        free(made);
        return BB_ESYSTEM;
    }
    *metrics = made;
    return BB_OK;
}

int bb_metrics_new(struct bb_metrics **metrics, unsigned lanes)
{
    if (map(metrics, lanes, -1) != BB_OK) return BB_ENOMEM;
    (*metrics)->memory->layout = layout_of(lanes);
    return BB_OK;
}

void bb_metrics_free(struct bb_metrics *metrics)
{
    if (!metrics) return;
    (void)munmap(metrics->memory, size_of(metrics->count));
    free(metrics);
}

int bb_metrics_file(unsigned lanes)
{
    const struct bb__metrics_layout layout = layout_of(lanes);
    errno = EFBIG;
    if (lanes > BB_MEMORY_FILE_LANES) return BB_ESYSTEM;
    return bb__memory_file("bontebok-metrics", size_of(lanes), &layout, sizeof layout);
}

int bb_metrics_attach(struct bb_metrics **metrics, int fd)
{
    struct bb__metrics_layout found;
    uint64_t size;
    int code = bb__memory_file_read(fd, &found, sizeof found, &size);
    if (code != BB_OK) return code;
    const struct bb__metrics_layout expected = layout_of(found.count);
    if (memcmp(&found, &expected, sizeof found) != 0 || found.count > BB_MEMORY_FILE_LANES) return BB_ELAYOUT;
    if (size != size_of(found.count)) return BB_ELAYOUT;
    return map(metrics, found.count, fd);
}

bool bb_metrics_is_writable(const struct bb_metrics *metrics)
{
    return metrics->writable;
}
