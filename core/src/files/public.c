/* public.c: see public.h, and bontebok_public.h for the contracts. */
#include "files/public.h"
#include "files/file_open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned count_lines(const char *text)
{
    unsigned count = *text != '\0';
    for (; (text = strchr(text, '\n')); text++) count++;
    return count;
}

static int open_directory(struct bb_public *pub, const char *name, char fault[BB_FAULT_MAX])
{
    struct bb__public_directory *directory = &pub->directories[pub->directory_count];
    directory->fd = bb__directory_open(name);
    if (directory->fd < 0) {
        int error = errno;
        (void)snprintf(fault, BB_FAULT_MAX, "public: %.200s: %s", name, strerror(error));
        errno = error;
        return BB_ESYSTEM;
    }
    directory->is_local = bb__file_is_local(directory->fd);
    pub->directory_count++;
    return BB_OK;
}

static int open_directories(struct bb_public *pub, char *names, char fault[BB_FAULT_MAX])
{
    pub->directories = calloc(count_lines(names), sizeof *pub->directories);
    if (!pub->directories) return BB_ENOMEM;
    char *rest = names;
    int code = BB_OK;
    for (char *name; code == BB_OK && (name = strtok_r(rest, "\n", &rest));)
        code = open_directory(pub, name, fault);
    return code;
}

static int prepare(struct bb_public *pub, const struct bb_settings *settings, char fault[BB_FAULT_MAX])
{
    char *names = strdup(settings->public);
    int code = names ? open_directories(pub, names, fault) : BB_ENOMEM;
    free(names);
    if (code != BB_OK) return code;
    pub->text = strdup(settings->public_headers);
    pub->rules = calloc(count_lines(settings->public_headers) + 1, sizeof *pub->rules);
    return pub->text && pub->rules ? bb__field_rules_parse(pub, fault) : BB_ENOMEM;
}

int bb_public_open(struct bb_public **created, const struct bb_settings *settings, char fault[BB_FAULT_MAX])
{
    *created = NULL;
    if (settings->public[0] == '\0') return BB_OK;
    struct bb_public *pub = calloc(1, sizeof *pub);
    if (!pub) return BB_ENOMEM;
    int code = prepare(pub, settings, fault);
    if (code == BB_OK) {
        *created = pub;
        return BB_OK;
    }
    int error = errno;
    bb_public_free(pub);
    errno = error;
    return code;
}

void bb_public_free(struct bb_public *pub)
{
    if (!pub) return;
    while (pub->directory_count > 0) (void)close(pub->directories[--pub->directory_count].fd);
    free(pub->directories);
    free(pub->rules);
    free(pub->text);
    free(pub);
}
