/* options.h: the command line of the load tool. It is checked completely before anything runs. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_TABLE, OUTPUT_PLAN };

/* A path of --also or --paths, which requests have instead of the URL's path. */
struct also {
    double share; /* --also: of all requests, in (0, 1] */
    const char *resource;
};

struct options {
    enum output output;
    uint64_t requests;    /* 0: as many as duration_ns allows */
    uint64_t duration_ns; /* 0: as long as `requests` take */
    unsigned connections, threads;
    bool close;      /* a new connection for each request */
    double rate;     /* due requests per second, over all threads; 0: due when a connection is free */
    bool is_poisson; /* due times are random, not evenly spaced */
    bool has_seed;
    uint64_t seed;
    struct also *also;
    size_t also_count;
    const char *paths_file; /* its paths are in `also` and take turns, and the URL's path gets no request */
    char *paths;            /* text of this file; NULL: none */
    uint64_t timeout_ns;
    uint64_t until_errors; /* the run stops after this many failed requests; 0: no limit */
    bool has_timeline;     /* prints a line for each second of the run */
    const char *method;    /* NULL: GET, or POST with a body */
    const char *body_file; /* or NULL */
    const char **fields;   /* "Name: value" */
    size_t field_count;
    char **urls;
    int url_count;
};

enum options_outcome { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_WRONG };

#define OPTIONS_MESSAGE_MAX 1024

/* Reads the command line. The options borrow argv's strings. OPTIONS_WRONG: `message` has the reason. Call
 * options_free() after each outcome. */
enum options_outcome options_parse(struct options *options, int argc, char **argv,
                                   char message[OPTIONS_MESSAGE_MAX]);
void options_free(struct options *options);

extern const char options_usage[];

#endif
