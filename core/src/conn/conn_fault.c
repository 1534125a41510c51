/* conn_fault.c: the reasons why the host (the program that calls the core) never sees a request, or why a
 * response ends early, and the texts of these reasons for the log. See conn.h. */
#include "conn/conn.h"
#include "http/h1_reply.h"

static const struct {
    int status;
    const char *text;
} faults[] = {
    [BB_FAULT_SPOOL_FULL] = {507, "spool: SpoolMax reached"},
    [BB_FAULT_SPOOL_UNWRITABLE] = {507, "spool: a request body cannot be written"},
    [BB_FAULT_SPOOL_NONE] = {503, "spool: no memory or no file for a request body"},
    [BB_FAULT_UNKNOWN] = {501, "CONNECT, a method of more than 32 bytes, or an unknown transfer coding"},
    [BB_FAULT_VERSION] = {505, "an HTTP version other than 1.x"},
    [BB_FAULT_CLIENT_GONE] = {BB_STATUS_CLIENT_GONE,
                              "the client has closed the connection: its request is not served"},
    [BB_FAULT_CROWDED] = {503, "no room for more connections: an incomplete request is rejected"},
    [BB_FAULT_QUEUE_FULL] = {503, "MaxQueue: too many requests wait for a worker"},
    [BB_FAULT_UNWATCHED] = {0, "epoll failed: a connection cannot be watched, and is reset"},
    [BB_FAULT_UNSENT] = {0, "shared queue: a request cannot be passed on"},
    [BB_FAULT_USELESS] = {503, "a request was passed on by a worker of another version or configuration"},
    [BB_FAULT_QUEUE_TIME] = {503, "QueueTimeout: no worker has had time for a request"},
    [BB_FAULT_FILE_SHORTER] = {0, "a file became shorter while it was sent: its connection is reset"},
    [BB_FAULT_FILE_UNREADABLE] = {0, "a file cannot be read while it is sent: its connection is reset"},
};

int bb__conn_report_fault(const struct bb__conn *conn, struct bb__conn_context *context, enum bb__fault fault,
                          int error)
{
    struct bb_event event = {.status = faults[fault].status, .error = error, .text = faults[fault].text};
    memcpy(event.peer, conn->peer, sizeof event.peer);
    bb__event_add_paced(&context->events, &context->fault_events[fault], context->now, &event);
    return event.status;
}

bool bb__conn_check_client_gone(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (!bb__sock_client_gone(conn->fd, context->settings->check_client_connection > 0)) return false;
    const struct bb__h1_error none = {.status = bb__conn_report_fault(conn, context, BB_FAULT_CLIENT_GONE, 0),
                                      .head_method = conn->head_method};
    if (context->log) bb__conn_log_rejected(conn, context, &none);
    return true;
}
