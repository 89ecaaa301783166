/* Clients of Radiator, as many as possible on one core: they register, send messages, and acknowledge pushes.
 *
 *   clients HOST:PORT CLIENTS BODIES
 *
 * BODIES is a file of compressed contexts, each after its length (2 bytes, big-endian). Once all are registered, it
 * prints "ready". Then for each number of seconds on standard input it sends message after message, OUTSTANDING at a
 * time, each when all clients have got an earlier one, and prints one line of JSON. A request is a push that arrived.
 * What has not arrived after PATIENCE is lost. Bodies are not inflated, and MACs not checked.
 */
#include "datagrams.h"
#include <sys/epoll.h>

enum { OUTSTANDING = 2, TRIES = 50, SLOTS = 1 << 12, MOST_TIMES = 1 << 20 };
static const int64_t PATIENCE = 500000000;

static int socks[MOST_CLIENTS], count, poller;
static char *bodies, *body;
static size_t bodies_length;
static struct sockaddr_in server;
static uint32_t req;

static float *times;
static long pushes, measured, bad;
static uint64_t first_propagation;
static int64_t sent_at[SLOTS];
static long contexts;

static void enlist(int i)
{
    char data[256], heard[2048];
    uint64_t token = 0;
    for (int done = 0, tries = 0; !done; tries++) {
        struct registering *request = (struct registering *)data;
        *request = (struct registering){head_of(REGISTER), htobe32(++req), htobe64(i + 1), token, 0, 0};
        int id = sprintf(data + sizeof *request, "client-%05d", i);
        request->id_length = id;
        memcpy(data + sizeof *request + id, "\0\2{}", 4);
        send(socks[i], data, sizeof *request + id + 4, 0);
        struct registered *answer = (struct registered *)heard;
        ssize_t got = recv(socks[i], heard, sizeof heard, 0);
        if (got >= (ssize_t)(sizeof *answer - 8) && answer->head.kind == REGISTERED) {
            if (answer->code == TOKEN)
                memcpy(&token, answer->rest, sizeof token);
            done = answer->code == OK;
        }
        if (tries == TRIES)
            fail("not registered");
    }
}

static void open_clients(void)
{
    struct timeval patience = {0, 200000};
    poller = epoll_create1(0);
    for (int i = 0; i < count; i++) {
        socks[i] = open_socket(parse_address("127.0.0.1:0"));
        if (connect(socks[i], (struct sockaddr *)&server, sizeof server) < 0)
            fail("connect");
        setsockopt(socks[i], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        enlist(i);
        struct epoll_event interest = {EPOLLIN, {.fd = socks[i]}};
        epoll_ctl(poller, EPOLL_CTL_ADD, socks[i], &interest);
    }
}

static void send_message(void)
{
    char data[2048];
    if (body >= bodies + bodies_length)
        body = bodies;
    size_t length = (uint8_t)body[0] << 8 | (uint8_t)body[1];
    int i = contexts % count;
    struct context *context = (struct context *)data;
    *context = (struct context){head_of(CONTEXT), htobe32(++req), htobe64(i + 1), 0, 1};
    memcpy(context->body, body + 2, length);
    body += 2 + length;
    sent_at[contexts++ % SLOTS] = clock_ns(CLOCK_MONOTONIC);
    send(socks[i], data, sizeof *context + length, 0);
}

static void hear(int sock)
{
    char data[65536];
    for (;;) {
        ssize_t got = recv(sock, data, sizeof data, MSG_DONTWAIT);
        if (got < 0)
            return;
        struct push *push = (struct push *)data;
        if (push->head.kind != PUSH)
            continue;
        if (got < (ssize_t)(sizeof *push - MOST_BODY) || be16toh(push->segments) != 1 || push->chain != DIRECT) {
            bad++;
            continue;
        }
        struct ack ack = {head_of(ACK), push->epoch, push->propagation, push->chain, push->attempt, htobe16(1), {0}};
        send(sock, &ack, sizeof ack, 0);
        uint64_t number = be64toh(push->propagation);
        if (!first_propagation)
            first_propagation = number;
        pushes++;
        if (measured < MOST_TIMES)
            times[measured++] = (clock_ns(CLOCK_MONOTONIC) - sent_at[(number - first_propagation) % SLOTS]) / 1e3;
    }
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void burst(double seconds)
{
    struct epoll_event ready[256];
    long before = pushes, lost = 0;
    int64_t began = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), heard_at = began;
    int64_t end = began + seconds * 1e9;
    measured = 0;
    long due = pushes + 0;
    long base = contexts;
    for (;;) {
        int64_t now = clock_ns(CLOCK_MONOTONIC);
        long open = (contexts - base) * count - (pushes - before) - lost;
        if (now < end)
            for (; open <= (long)(OUTSTANDING - 1) * count; open += count)
                send_message();
        else if (open <= 0)
            break;
        int many = epoll_wait(poller, ready, 256, 20);
        for (int i = 0; i < many; i++)
            hear(ready[i].data.fd);
        now = clock_ns(CLOCK_MONOTONIC);
        if (pushes != due) {
            due = pushes;
            heard_at = now;
        } else if (now - heard_at > PATIENCE) {
            lost += (contexts - base) * count - (pushes - before) - lost;
            heard_at = now;
        }
    }
    double took = (clock_ns(CLOCK_MONOTONIC) - began) / 1e9;
    qsort(times, measured, sizeof *times, ascending);
    printf("{\"requests\": %ld, \"seconds\": %f, \"cpu_seconds\": %f, \"p50_us\": %f, \"p99_us\": %f, \"late\": 0, "
           "\"bad\": %ld, \"lost\": %ld}\n",
           pushes - before, took, (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e9, measured ? times[measured / 2] : 0,
           measured ? times[measured * 99 / 100] : 0, bad, lost);
    fflush(stdout);
    bad = 0;
}

int main(int argc, char **argv)
{
    die_with_parent();
    if (argc != 4)
        fail("clients HOST:PORT CLIENTS BODIES");
    server = parse_address(argv[1]);
    count = atoi(argv[2]);
    FILE *file = fopen(argv[3], "rb");
    if (!file || count < 1 || count > MOST_CLIENTS)
        fail(argv[3]);
    bodies = body = malloc(1 << 24);
    times = malloc(MOST_TIMES * sizeof *times);
    bodies_length = fread(bodies, 1, 1 << 24, file);
    fclose(file);
    open_clients();
    puts("ready");
    fflush(stdout);
    double seconds;
    while (scanf("%lf", &seconds) == 1)
        burst(seconds);
    return 0;
}
