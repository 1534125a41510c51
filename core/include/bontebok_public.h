/* bontebok_public.h: the part of bontebok.h about the setting `public`: files that the core serves without
 * the host. For GET and HEAD the core looks for a file below the directories before it calls the host. If
 * there is none, the host gets the request. bontebok.h includes this file. */
#ifndef BONTEBOK_PUBLIC_H
#define BONTEBOK_PUBLIC_H

#include "bontebok_settings.h"

/* The open directories, and the fields that responses get. */
struct bb_public;

/* Opens the directories of settings->public, and reads settings->public_headers. The directories stay open,
 * so all workers that get this object serve the same directories, even if a directory is renamed, or a link
 * to it is changed. Call this before the application is loaded, and before fork(). The caller owns *created.
 * Returns BB_OK; *created is NULL if settings->public is empty. BB_ENOMEM. BB_EFORMAT: a line of
 * public_headers is wrong; BB_ESYSTEM with errno: a directory cannot be opened or read. In both cases `fault`
 * is a sentence that begins with the name of the setting: "public: /srv/x: No such file or directory". */
int bb_public_open(struct bb_public **created, const struct bb_settings *settings, char fault[BB_FAULT_MAX]);

/* Closes the directories. Call this after bb_worker_free(). NULL is allowed. */
void bb_public_free(struct bb_public *pub);

struct bb_worker;

/* Lets the worker serve the files. The caller owns `pub`, which must outlive the worker. NULL: no files.
 * Reads the names in the directories, so a slow disk delays this call. Call it after bb_worker_scoreboard(),
 * and before bb_worker_start_io_thread() and the first bb_lane_new(). Returns BB_OK, BB_ENOMEM. */
int bb_worker_public(struct bb_worker *worker, const struct bb_public *pub);

#endif
