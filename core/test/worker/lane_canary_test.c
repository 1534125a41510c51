/* lane_canary_test.c: the workers of a new release (the canary) serve beside the former workers. A lane
 * passes idle connections on to the other group, and sends messages back that are for the other group. The
 * host of the test has one lane. The lane of the other group exists only on the scoreboard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lane/accept_case.h"
#include "support/fake_clock.h"
#include "support/fake_micros.h"

/* pid of the other group's process */
#define OTHER 1

struct scene {
    struct bb_scoreboard *scoreboard;
    struct bb__slot *other;
    struct host *host;
    struct client *client;
};

/* own: the group of the host's lane. */
static void share(struct scene *scene, enum bb__group own)
{
    int canary = own == BB_GROUP_CANARY ? getpid() : OTHER;
    bb_scoreboard_share_with(scene->scoreboard, &canary, 1);
}

static struct scene begin(enum bb__group own)
{
    struct scene scene;
    assert_int_equal(bb_scoreboard_new(&scene.scoreboard, 8), BB_OK);
    scene.host = new_host(0);
    scene.host->worker->shared.queue.has_peers = true;
    scene.other = bb__scoreboard_claim(scene.scoreboard);
    atomic_store(&scene.other->pid, OTHER);
    bb__scoreboard_set_idle(scene.other, true);
    host_enter_scoreboard(scene.host, scene.scoreboard);
    share(&scene, own);
    scene.client = new_served(scene.host);
    host_settle(scene.host);
    return scene;
}

static void end(struct scene *scene)
{
    client_free(scene->client);
    host_free(scene->host);
    bb_scoreboard_free(scene->scoreboard);
}

static void ask(struct scene *scene)
{
    client_say(scene->client, REQUEST);
    assert_response(scene->client, 200, "GET / ");
    host_settle(scene->host);
}

/* Takes a message that is for the group out of the queue. */
static void assert_message(const struct scene *scene, enum bb__group group)
{
    char bytes[BB_SHARED_QUEUE_BYTES];
    struct bb__shared_message message;
    struct bb__conn_context context = {.group = (uint8_t)group};
    assert_int_equal(bb__shared_queue_take(&scene->host->worker->shared.queue, bytes, &message), BB_OK);
    assert_int_equal(message.fd_count, 1);
    assert_false(bb__conn_is_for_others(&context, bytes, &message));
    context.group = (uint8_t)bb__canary_other(group);
    assert_true(bb__conn_is_for_others(&context, bytes, &message));
    close(message.fds[0]);
}

static bool is_empty(const struct scene *scene)
{
    struct bb__shared_stamp first;
    return bb__shared_queue_look(&scene->host->worker->shared.queue, &first) != BB_OK;
}

/* Puts the client's connection into the queue, as a lane of another process does. */
static void pass_to(struct scene *scene, enum bb__group group)
{
    struct bb_lane *lane = scene->host->lane;
    assert_true(bb__conn_set_pass_one_idle(&lane->set, &lane->context, lane->set.conns,
                                           &scene->host->worker->shared.queue, group));
}

/* Both groups have one lane, so each one serves every second request. */
static void test_a_lane_passes_its_idle_connection_to_the_other_group(void **state)
{
    LINUX_ONLY;
    for (int own = BB_GROUP_FORMER; own <= BB_GROUP_CANARY; own++) {
        struct scene scene = begin((enum bb__group)own);
        for (int i = 0; i < 2; i++) ask(&scene);
        assert_int_equal(host_connections(scene.host), 1);
        ask(&scene);
        assert_int_equal(host_connections(scene.host), 0);
        assert_true(scene.host->lane->intake.avoids_queue);
        assert_message(&scene, bb__canary_other((enum bb__group)own));
        end(&scene);
    }
}

static void test_a_connection_stays_if_the_other_group_is_not_idle(void **state)
{
    LINUX_ONLY;
    struct scene scene = begin(BB_GROUP_FORMER);
    bb__scoreboard_set_idle(scene.other, false);
    for (int i = 0; i < 20; i++) ask(&scene);
    assert_int_equal(host_connections(scene.host), 1);
    end(&scene);
}

static void test_a_connection_stays_without_a_canary(void **state)
{
    LINUX_ONLY;
    struct scene scene = begin(BB_GROUP_FORMER);
    bb_scoreboard_share_with(scene.scoreboard, NULL, 0);
    for (int i = 0; i < 20; i++) ask(&scene);
    assert_int_equal(host_connections(scene.host), 1);
    end(&scene);
}

static struct client *hasty;

/* The client sends its next request before it gets the response. */
static void app_is_asked_again(struct host *host, const struct bb_request *request)
{
    if (host->served < 20) assert_int_equal(write(hasty->fd, REQUEST, strlen(REQUEST)), strlen(REQUEST));
    app_echo(host, request);
}

static void test_a_connection_stays_if_the_worker_has_a_queue_of_its_own(void **state)
{
    (void)state;
    struct scene scene = begin(BB_GROUP_FORMER);
    scene.host->worker->shared.queue.has_peers = false;
    for (int i = 0; i < 8; i++) ask(&scene);
    assert_int_equal(host_connections(scene.host), 1);
    end(&scene);
}

static void test_a_connection_with_unread_bytes_stays(void **state)
{
    LINUX_ONLY;
    struct scene scene = begin(BB_GROUP_FORMER);
    hasty = scene.client;
    scene.host->app = app_is_asked_again;
    client_say(scene.client, REQUEST);
    for (int i = 0; i < 10; i++) host_settle(scene.host);
    assert_int_equal(scene.host->served, 20);
    /* Only the last response is followed by no request. */
    assert_int_equal(host_connections(scene.host), 0);
    assert_message(&scene, BB_GROUP_CANARY);
    end(&scene);
}

static void test_a_message_for_the_other_group_is_sent_back(void **state)
{
    LINUX_ONLY;
    struct scene scene = begin(BB_GROUP_FORMER);
    pass_to(&scene, BB_GROUP_CANARY);
    host_settle(scene.host);
    assert_int_equal(host_connections(scene.host), 0);
    assert_true(would_wait(scene.host)); /* although the message is in the queue */
    assert_message(&scene, BB_GROUP_CANARY);
    end(&scene);
}

/* The three attempts of workers that cannot use a message remain for the other group. */
static void test_a_message_for_the_other_group_keeps_its_attempts(void **state)
{
    LINUX_ONLY;
    struct bb__shared_stamp first;
    struct scene scene = begin(BB_GROUP_FORMER);
    pass_to(&scene, BB_GROUP_CANARY);
    host_settle(scene.host);
    assert_int_equal(bb__shared_queue_look(&scene.host->worker->shared.queue, &first), BB_OK);
    assert_int_equal(first.sent_back, 0);
    end(&scene);
}

/* All lanes of the other group are busy. */
static void test_a_message_that_nobody_else_takes_is_taken(void **state)
{
    LINUX_ONLY;
    struct scene scene = begin(BB_GROUP_FORMER);
    pass_to(&scene, BB_GROUP_CANARY);
    for (int i = 0; i < 2; i++) {
        host_settle(scene.host);
        assert_int_equal(host_connections(scene.host), 0);
        fake_clock_advance(BB_AVOID_TIME);
    }
    host_settle(scene.host);
    assert_int_equal(host_connections(scene.host), 1);
    assert_true(is_empty(&scene));
    ask(&scene);
    end(&scene);
}

static void test_a_message_for_the_own_group_is_taken(void **state)
{
    LINUX_ONLY;
    for (int own = BB_GROUP_FORMER; own <= BB_GROUP_CANARY; own++) {
        struct scene scene = begin((enum bb__group)own);
        pass_to(&scene, (enum bb__group)own);
        host_settle(scene.host);
        assert_int_equal(host_connections(scene.host), 1);
        end(&scene);
    }
}

/* The canary has failed, for example. */
static void test_any_message_is_taken_when_there_is_no_canary_any_more(void **state)
{
    LINUX_ONLY;
    struct scene scene = begin(BB_GROUP_FORMER);
    pass_to(&scene, BB_GROUP_CANARY);
    fake_clock_advance(1000);
    host_settle(scene.host);
    assert_int_equal(host_connections(scene.host), 1);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lane_passes_its_idle_connection_to_the_other_group),
        cmocka_unit_test(test_a_connection_stays_if_the_other_group_is_not_idle),
        cmocka_unit_test(test_a_connection_stays_without_a_canary),
        cmocka_unit_test(test_a_connection_stays_if_the_worker_has_a_queue_of_its_own),
        cmocka_unit_test(test_a_connection_with_unread_bytes_stays),
        cmocka_unit_test(test_a_message_for_the_other_group_is_sent_back),
        cmocka_unit_test(test_a_message_for_the_other_group_keeps_its_attempts),
        cmocka_unit_test(test_a_message_that_nobody_else_takes_is_taken),
        cmocka_unit_test(test_a_message_for_the_own_group_is_taken),
        cmocka_unit_test(test_any_message_is_taken_when_there_is_no_canary_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
