/* Asks a server for 1 kB values by key, in the server's own protocol: the load on Waxwing's broker and on its rivals.
 *
 *   peer_load ask PROTOCOL PORT CONNECTIONS DEPTH KEYS   connects, prints "ready", and for each line on stdin that
 *                                                        holds a number of seconds asks for so long and prints JSON
 *   peer_load answer PROTOCOL PORT BYTES                 prints "ready" and answers until stdin ends
 *
 * PROTOCOL is waxwing or coap (UDP, one request outstanding per socket), redis, nats, nats-kv or mqtt (TCP, DEPTH
 * outstanding per connection; more than one is pipelining). NATS and MQTT route requests to a responder, which
 * is what `answer` is. Keys are room0000 to room<KEYS - 1>, drawn uniformly; every answer is checked.
 *
 * One thread, level-triggered epoll; a single connection blocks in recv instead, which saves it that system call.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    KEY_BYTES = 8,           /* room0000 */
    VALUE_BYTES = 1000,      /* no answer is shorter */
    MOST_CONNECTIONS = 1024,
    MOST_DEPTH = 1024,
    MOST_SAMPLES = 1 << 23,
    IN_BYTES = 1 << 20,
    OUT_BYTES = 1 << 21,
    REQUEST_BYTES = 256,     /* no request is longer */
    MOST_SECONDS = 10,       /* a burst without a single answer ends after so long */
    LOST_MS = 200,           /* a datagram that is away for so long is asked for again, and counted */
};
static const uint64_t SECOND = 1000000000;

struct connection {
    int fd;
    char name[24];                  /* that no other connection has, of this process or another */
    uint64_t count;                 /* of the requests made: the next one's number */
    unsigned key;                   /* of the last request; datagrams are checked against it */
    uint64_t sent[MOST_DEPTH];      /* when each request in flight was sent, a ring */
    unsigned oldest, in_flight;
    char *in;                       /* streams: what has come of an answer that is not whole yet */
    size_t held;
};

struct protocol {
    const char *name;
    bool is_stream;
    /* Write what opens a connection; 0 for nothing. `is_answering` for the side that answers. */
    size_t (*open)(const struct connection *c, char *out, bool is_answering);
    /* What the last bytes of the server's greeting look like; NULL where there is no greeting. */
    const char *greeting;
    size_t greeting_bytes;
    size_t (*request)(struct connection *c, char *out);
    /* Length of the first whole message in `in`, 0 when it is not whole yet, -1 when it makes no sense. `*is_answer`,
     * true on entry, is left so where it answers a request. */
    long (*answer)(const struct connection *c, const char *in, size_t bytes, bool *is_answer);
    /* The side that answers: as `answer` for a request; what is to be sent goes to `out`. */
    long (*serve)(const char *in, size_t bytes, char *out, size_t *out_bytes, size_t value_bytes);
};

static char value[1 << 16];
static uint64_t unix_ms_at_start;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "peer_load: %s: %s\n", what, errno ? strerror(errno) : "not as expected");
    exit(1);
}

static uint64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static uint32_t random_below(uint32_t bound) { /* xorshift64* */
    static uint64_t state = 88172645463325252u;
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (uint32_t)(((state * 2685821657736338717u) >> 32) * bound >> 32);
}

static bool has(const char *in, size_t bytes, const char *wanted, size_t wanted_bytes) {
    return memmem(in, bytes, wanted, wanted_bytes) != NULL;
}

static void key_of(const struct connection *c, char text[KEY_BYTES + 1]) {
    snprintf(text, KEY_BYTES + 1, "room%04u", c->key % 10000);
}

static bool names_key(const struct connection *c, const char *in, size_t bytes) {
    char key[KEY_BYTES + 1];
    key_of(c, key);
    return has(in, bytes, key, KEY_BYTES);
}

/* --- waxwing: code 32, a request without acknowledgements; a datagram is a message -------------------------------- */

static size_t waxwing_request(struct connection *c, char *out) {
    return (size_t)sprintf(out, "32|%llu|temperature|room%04u|building1",
                           (unsigned long long)(unix_ms_at_start + c->count), c->key);
}

static long waxwing_answer(const struct connection *c, const char *in, size_t bytes, bool *is_answer) {
    (void)is_answer;
    bool is_ours = bytes >= VALUE_BYTES && in[0] == '4' && in[1] == '|' && names_key(c, in, 120);
    return is_ours ? (long)bytes : -1;
}

/* --- coap: a confirmable GET, answered with the acknowledgement (RFC 7252) ---------------------------------------- */

static size_t coap_request(struct connection *c, char *out) {
    uint16_t id = (uint16_t)c->count;
    /* version 1, CON, token of 2 bytes; GET; message id; token = id; option 11 (Uri-Path) of 8 bytes */
    char head[] = {0x42, 0x01, (char)(id >> 8), (char)id, (char)(id >> 8), (char)id, (char)0xb8};
    memcpy(out, head, sizeof head);
    char key[KEY_BYTES + 1];
    key_of(c, key);
    memcpy(out + sizeof head, key, KEY_BYTES);
    return sizeof head + KEY_BYTES;
}

static long coap_answer(const struct connection *c, const char *in, size_t bytes, bool *is_answer) {
    (void)is_answer;
    uint16_t id = (uint16_t)(c->count - 1);
    char head[] = {0x62, 0x45, (char)(id >> 8), (char)id, (char)(id >> 8), (char)id}; /* ACK, 2.05 Content */
    return bytes >= VALUE_BYTES && memcmp(in, head, sizeof head) == 0 ? (long)bytes : -1;
}

/* --- redis: GET (RESP 2) ------------------------------------------------------------------------------------------ */

static size_t redis_request(struct connection *c, char *out) {
    return (size_t)sprintf(out, "*2\r\n$3\r\nGET\r\n$8\r\nroom%04u\r\n", c->key);
}

static long redis_answer(const struct connection *c, const char *in, size_t bytes, bool *is_answer) {
    (void)is_answer;
    (void)c;
    const char *end = memchr(in, '\n', bytes);
    if (end == NULL) return 0;
    long size = in[0] == '$' ? atol(in + 1) : -1;
    if (size < VALUE_BYTES) return -1;
    long whole = end + 1 - in + size + 2;
    return (size_t)whole <= bytes ? whole : 0;
}

/* --- nats: a request is a publication that names the inbox of its answer ------------------------------------------ */

static size_t nats_open(const struct connection *c, char *out, bool is_answering) {
    const char *options = "{\"verbose\":false,\"pedantic\":false,\"headers\":true,\"protocol\":1}";
    if (is_answering) return (size_t)sprintf(out, "CONNECT %s\r\nSUB value.* 1\r\nPING\r\n", options);
    return (size_t)sprintf(out, "CONNECT %s\r\nSUB inbox.%s 1\r\nPING\r\n", options, c->name);
}

static size_t nats_request(struct connection *c, char *out) {
    return (size_t)sprintf(out, "PUB value.room%04u inbox.%s 0\r\n\r\n", c->key, c->name);
}

/* JetStream's direct access to a key-value bucket: the server itself answers. */
static size_t nats_kv_request(struct connection *c, char *out) {
    const char *subject = "$JS.API.DIRECT.GET.KV_values.$KV.values";
    return (size_t)sprintf(out, "PUB %s.room%04u inbox.%s 0\r\n\r\n", subject, c->key, c->name);
}

/* MSG or HMSG: the line's last word is the number of bytes that follow it. */
static long nats_message(const char *in, size_t bytes, long *size) {
    const char *end = memchr(in, '\r', bytes);
    if (end == NULL || end + 1 == in + bytes) return 0;
    if (in[0] == 'P' || in[0] == 'I' || in[0] == '+') return *size = -1, end + 2 - in; /* PING and the like */
    if (memcmp(in, "MSG ", 4) != 0 && memcmp(in, "HMSG", 4) != 0) return -1;
    const char *word = end;
    while (word[-1] != ' ') word--;
    *size = atol(word);
    long whole = end + 2 - in + *size + 2;
    return (size_t)whole <= bytes ? whole : 0;
}

static long nats_answer(const struct connection *c, const char *in, size_t bytes, bool *is_answer) {
    (void)c;
    long size = 0, whole = nats_message(in, bytes, &size);
    *is_answer = size >= 0;
    return whole > 0 && size >= 0 && size < VALUE_BYTES ? -1 : whole;
}

static long nats_serve(const char *in, size_t bytes, char *out, size_t *out_bytes, size_t value_bytes) {
    long size = 0, whole = nats_message(in, bytes, &size);
    if (whole <= 0) return whole;
    if (size < 0) {
        if (in[1] == 'I') *out_bytes = (size_t)sprintf(out, "PONG\r\n");
        return whole;
    }
    const char *inbox = memmem(in, (size_t)whole, "inbox.", 6);
    if (inbox == NULL) return -1;
    *out_bytes = (size_t)sprintf(out, "PUB %.*s %zu\r\n", (int)strcspn(inbox, " "), inbox, value_bytes);
    memcpy(out + *out_bytes, value, value_bytes);
    memcpy(out + *out_bytes + value_bytes, "\r\n", 2);
    *out_bytes += value_bytes + 2;
    return whole;
}

/* --- mqtt 3.1.1, QoS 0: ask/<connection>/<key> is answered at answer/<connection> --------------------------------- */

static size_t mqtt_string(char *out, const char *text) {
    size_t size = strlen(text);
    out[0] = (char)(size >> 8), out[1] = (char)size;
    memcpy(out + 2, text, size);
    return size + 2;
}

static size_t mqtt_open(const struct connection *c, char *out, bool is_answering) {
    char topic[48];
    snprintf(topic, sizeof topic, is_answering ? "ask/#" : "answer/%s", c->name);
    size_t size = 2;
    size += mqtt_string(out + size, "MQTT");
    memcpy(out + size, "\4\2\0\0", 4); /* version 4, clean session, no keep-alive */
    size += 4;
    size += mqtt_string(out + size, c->name);
    out[0] = 0x10, out[1] = (char)(size - 2);
    char *subscribe = out + size;
    size_t more = 4 + mqtt_string(subscribe + 4, topic);
    subscribe[more++] = 0;
    subscribe[0] = (char)0x82, subscribe[1] = (char)(more - 2), subscribe[2] = 0, subscribe[3] = 1;
    return size + more;
}

static size_t mqtt_request(struct connection *c, char *out) {
    char topic[48];
    snprintf(topic, sizeof topic, "ask/%s/room%04u", c->name, c->key);
    size_t size = mqtt_string(out + 2, topic);
    out[0] = 0x30, out[1] = (char)size;
    return size + 2;
}

/* Length of the packet at `in`, 0 when it is not whole; `*head` bytes of it come before the topic. */
static long mqtt_packet(const char *in, size_t bytes, size_t *head) {
    size_t size = 0;
    for (size_t i = 1; i < bytes && i < 5; i++) {
        size |= (size_t)(in[i] & 0x7f) << 7 * (i - 1);
        if (in[i] & 0x80) continue;
        *head = i + 1;
        return i + 1 + size <= bytes ? (long)(i + 1 + size) : 0;
    }
    return 0;
}

static long mqtt_answer(const struct connection *c, const char *in, size_t bytes, bool *is_answer) {
    (void)is_answer;
    (void)c;
    size_t head;
    long whole = mqtt_packet(in, bytes, &head);
    return whole > 0 && ((in[0] & 0xf0) != 0x30 || whole < VALUE_BYTES) ? -1 : whole;
}

static long mqtt_serve(const char *in, size_t bytes, char *out, size_t *out_bytes, size_t value_bytes) {
    size_t head;
    long whole = mqtt_packet(in, bytes, &head);
    if (whole <= 0 || (in[0] & 0xf0) != 0x30) return whole;
    const char *name = in + head + 2 + strlen("ask/");
    char topic[48], body[64];
    snprintf(topic, sizeof topic, "answer/%.*s", (int)strcspn(name, "/"), name);
    size_t topic_bytes = mqtt_string(body, topic), size = topic_bytes + value_bytes, at = 0;
    out[at++] = 0x30;
    for (size_t left = size;; left >>= 7) {
        out[at++] = (char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
        if (left <= 0x7f) break;
    }
    memcpy(out + at, body, topic_bytes);
    memcpy(out + at + topic_bytes, value, value_bytes);
    *out_bytes = at + size;
    return whole;
}

static const struct protocol PROTOCOLS[] = {
    {"waxwing", false, NULL, NULL, 0, waxwing_request, waxwing_answer, NULL},
    {"coap", false, NULL, NULL, 0, coap_request, coap_answer, NULL},
    {"redis", true, NULL, NULL, 0, redis_request, redis_answer, NULL},
    {"nats", true, nats_open, "PONG\r\n", 6, nats_request, nats_answer, nats_serve},
    {"nats-kv", true, nats_open, "PONG\r\n", 6, nats_kv_request, nats_answer, NULL},
    {"mqtt", true, mqtt_open, "\x90\3\0\1\0", 5, mqtt_request, mqtt_answer, mqtt_serve},
};

/* --- connections -------------------------------------------------------------------------------------------------- */

static void connect_to(struct connection *c, const struct protocol *p, int port, bool is_answering) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, p->is_stream ? SOCK_STREAM : SOCK_DGRAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof to) < 0) fail("connect");
    c->in = malloc(IN_BYTES);
    if (c->in == NULL) fail("malloc");
    if (!p->is_stream) return;
    int on = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (p->open == NULL) return;
    char out[512];
    size_t size = p->open(c, out, is_answering);
    if (send(c->fd, out, size, 0) != (ssize_t)size) fail("greet");
    size_t held = 0;
    while (held < p->greeting_bytes || memcmp(c->in + held - p->greeting_bytes, p->greeting, p->greeting_bytes) != 0) {
        ssize_t came = recv(c->fd, c->in + held, IN_BYTES - held, 0);
        if (came <= 0) fail("be greeted");
        held += (size_t)came;
    }
}

static void send_whole(int fd, const char *out, size_t size) {
    while (size > 0) {
        ssize_t sent = send(fd, out, size, 0);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) fail("send");
        out += sent, size -= (size_t)sent;
    }
}

/* --- ask ---------------------------------------------------------------------------------------------------------- */

static char out_buffer[OUT_BYTES];
static uint32_t *samples;
static uint64_t answered, bad, lost;
static unsigned keys;

/* Send `count` requests in one go. */
static void ask(struct connection *c, const struct protocol *p, unsigned count) {
    size_t size = 0;
    uint64_t now = now_ns(CLOCK_MONOTONIC);
    for (; count > 0; count--) {
        c->key = random_below(keys);
        size += p->request(c, out_buffer + size);
        c->count++;
        c->sent[(c->oldest + c->in_flight++) % MOST_DEPTH] = now;
    }
    send_whole(c->fd, out_buffer, size);
}

static void note_answer(struct connection *c, uint64_t now) {
    if (c->in_flight == 0) {
        bad++;
        return;
    }
    if (answered < MOST_SAMPLES) samples[answered] = (uint32_t)(now - c->sent[c->oldest]);
    answered++;
    c->oldest = (c->oldest + 1) % MOST_DEPTH;
    c->in_flight--;
}

/* Take in what has come; how many answers that made whole. */
static unsigned take_in(struct connection *c, const struct protocol *p) {
    ssize_t came = recv(c->fd, c->in + c->held, IN_BYTES - c->held, 0);
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (came <= 0) fail("receive");
    uint64_t now = now_ns(CLOCK_MONOTONIC);
    size_t size = c->held + (size_t)came, at = 0;
    unsigned whole = 0;
    while (at < size) {
        bool is_answer = true;
        long length = p->answer(c, c->in + at, size - at, &is_answer);
        if (length == 0) break;
        if (length < 0) {
            bad++;
            if (p->is_stream) fail("understand an answer");
            break; /* a late datagram, or none of ours: what was asked is still in flight */
        }
        at += (size_t)length;
        if (!is_answer) continue;
        note_answer(c, now);
        whole++;
    }
    c->held = p->is_stream ? size - at : 0;
    memmove(c->in, c->in + at, c->held);
    return whole;
}

/* Ask again where an answer has been away for long. Streams lose nothing. */
static void ask_again(struct connection *all, const struct protocol *p, unsigned count) {
    uint64_t now = now_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < count && !p->is_stream; i++) {
        struct connection *c = &all[i];
        if (c->in_flight == 0 || now - c->sent[c->oldest] < (uint64_t)LOST_MS * 1000000) continue;
        c->in_flight = 0;
        lost++;
        ask(c, p, 1);
    }
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double cpu_seconds(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

/* Take in what is there, waiting at most LOST_MS, and where `is_asking` ask for as much again. */
static void turn(int poller, struct connection *all, const struct protocol *p, unsigned count, bool is_asking) {
    struct epoll_event events[MOST_CONNECTIONS] = {{.data.ptr = all}};
    int ready = count == 1 ? 1 : epoll_wait(poller, events, MOST_CONNECTIONS, LOST_MS);
    for (int i = 0; i < ready; i++) {
        struct connection *c = events[i].data.ptr;
        unsigned whole = take_in(c, p);
        if (whole > 0 && is_asking) ask(c, p, whole);
    }
}

static bool is_idle(const struct connection *all, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (all[i].in_flight > 0) return false;
    return true;
}

/* Throw away what came after the last burst had given it up. */
static void forget(const struct connection *all, const struct protocol *p, unsigned count) {
    for (unsigned i = 0; i < count && !p->is_stream; i++)
        while (recv(all[i].fd, all[i].in, IN_BYTES, MSG_DONTWAIT) >= 0) continue;
}

static void burst(int poller, struct connection *all, const struct protocol *p, unsigned count, unsigned depth,
                  double seconds) {
    answered = bad = lost = 0;
    forget(all, p, count);
    double cpu = cpu_seconds();
    uint64_t began = now_ns(CLOCK_MONOTONIC), now = began, last_check = began, end = began + (uint64_t)(seconds * 1e9);
    for (unsigned i = 0; i < count; i++) ask(&all[i], p, depth);
    /* A server that others keep off its core for a whole burst has not failed: wait for its first answer. */
    while (now < end || (answered == 0 && now < began + MOST_SECONDS * SECOND)) {
        turn(poller, all, p, count, true);
        now = now_ns(CLOCK_MONOTONIC);
        if (now - last_check > (uint64_t)LOST_MS * 1000000) {
            ask_again(all, p, count);
            last_check = now;
        }
    }
    cpu = cpu_seconds() - cpu;
    uint64_t counted = answered, kept = answered < MOST_SAMPLES ? answered : MOST_SAMPLES;
    if (kept == 0) fail("get a single answer");
    qsort(samples, kept, sizeof *samples, by_size);
    double p50_us = samples[kept / 2] / 1e3, p99_us = samples[kept * 99 / 100] / 1e3;
    /* What is still in flight is answered now; no answer of this burst is to be taken for one of the next. */
    while (!is_idle(all, count) && now_ns(CLOCK_MONOTONIC) - now < SECOND) turn(poller, all, p, count, false);
    for (unsigned i = 0; i < count; i++) all[i].in_flight = 0;
    printf("{\"requests\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"p50_us\": %.3f, \"p99_us\": %.3f, "
           "\"late\": %llu, \"bad\": %llu, \"lost\": %llu}\n",
           (unsigned long long)counted, (double)(now - began) / 1e9, cpu, p50_us, p99_us,
           (unsigned long long)(answered - counted), (unsigned long long)bad, (unsigned long long)lost);
    fflush(stdout);
}

static int run_asking(const struct protocol *p, int port, unsigned count, unsigned depth) {
    static struct connection all[MOST_CONNECTIONS];
    samples = malloc(MOST_SAMPLES * sizeof *samples);
    int poller = epoll_create1(0);
    if (samples == NULL || poller < 0) fail("begin");
    struct timeval tick = {.tv_usec = LOST_MS * 1000};
    for (unsigned i = 0; i < count; i++) {
        snprintf(all[i].name, sizeof all[i].name, "%d-%u", (int)getpid(), i);
        connect_to(&all[i], p, port, false);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, all[i].fd, &event) < 0) fail("epoll");
        setsockopt(all[i].fd, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof tick);
    }
    puts("ready");
    fflush(stdout);
    char line[32];
    while (fgets(line, sizeof line, stdin) != NULL) burst(poller, all, p, count, depth, atof(line));
    return 0;
}

/* --- answer ------------------------------------------------------------------------------------------------------- */

static int run_answering(const struct protocol *p, int port, size_t value_bytes) {
    static struct connection c;
    memset(value, 'v', sizeof value);
    snprintf(c.name, sizeof c.name, "%d", (int)getpid());
    connect_to(&c, p, port, true);
    puts("ready");
    fflush(stdout);
    struct pollfd watched[] = {{.fd = c.fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    while (poll(watched, 2, -1) > 0 || errno == EINTR) {
        if (watched[1].revents) return 0; /* nothing is ever written there: whoever started this is gone */
        if (!watched[0].revents) continue;
        ssize_t came = recv(c.fd, c.in + c.held, IN_BYTES - c.held, 0);
        if (came <= 0) return 0; /* the server has ended */
        size_t size = c.held + (size_t)came, at = 0, out = 0;
        while (at < size) {
            size_t more = 0;
            long length = p->serve(c.in + at, size - at, out_buffer + out, &more, value_bytes);
            if (length == 0) break;
            if (length < 0) fail("understand a request");
            at += (size_t)length, out += more;
            if (out > OUT_BYTES / 2) send_whole(c.fd, out_buffer, out), out = 0;
        }
        send_whole(c.fd, out_buffer, out);
        c.held = size - at;
        memmove(c.in, c.in + at, c.held);
    }
    return 0;
}

static const struct protocol *find(const char *name) {
    for (size_t i = 0; i < sizeof PROTOCOLS / sizeof *PROTOCOLS; i++)
        if (strcmp(PROTOCOLS[i].name, name) == 0) return &PROTOCOLS[i];
    fprintf(stderr, "peer_load: no protocol is called %s\n", name);
    exit(2);
}

int main(int count, char **words) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    unix_ms_at_start = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    signal(SIGPIPE, SIG_IGN);
    if (count == 5 && strcmp(words[1], "answer") == 0) {
        size_t size = strtoul(words[4], NULL, 10);
        const struct protocol *p = find(words[2]);
        if (p->serve != NULL && size <= sizeof value) return run_answering(p, atoi(words[3]), size);
    }
    if (count == 7 && strcmp(words[1], "ask") == 0) {
        const struct protocol *p = find(words[2]);
        unsigned connections = (unsigned)atoi(words[4]), depth = (unsigned)atoi(words[5]);
        keys = (unsigned)atoi(words[6]);
        bool fits = connections >= 1 && connections <= MOST_CONNECTIONS && depth >= 1 && depth <= MOST_DEPTH &&
                    keys >= 1 && keys <= 10000 && (p->is_stream || depth == 1) && REQUEST_BYTES * depth <= OUT_BYTES;
        if (fits) return run_asking(p, atoi(words[3]), connections, depth);
    }
    fprintf(stderr, "usage: peer_load ask PROTOCOL PORT CONNECTIONS DEPTH KEYS\n"
                    "       peer_load answer PROTOCOL PORT BYTES\n");
    return 2;
}
