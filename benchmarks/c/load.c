/* A load generator in C: keeps a number of requests outstanding over one socket, and checks every answer.
 *
 *   load --to HOST:PORT [--op quiet|full|put|ping] [--window 64] [--ms 250 | --count N] [--keys 1000] [--first 0]
 *        [--in-order] [--payload 1000] [--spin] [--core N]
 *
 * Requests (code 32 where quiet, code 3 where full) and updates (put) are for the entities `sensor|room<n>|lab` with n
 * from --first on, --keys of them: at random, or each once with --in-order; puts go through them in order. A request is
 * matched to its answer by entity: the one outstanding at a place in the window has n = place (mod window). ACKs name no
 * entity and are matched by their order. After a second of silence what is open counts as lost.
 *
 * --spin polls, so that the generator never waits to be woken and the server is what limits; without it the generator
 * sleeps in the kernel. Prints one line of JSON: requests, seconds, lost, bad, p50_us, p99_us, cpu_us.
 */
#include "common.h"
#include <math.h>
#include <sys/resource.h>

enum { MOST_WINDOW = 1024, RECEIVE = 64, REQUEST = 66000, SLOT_BYTES = 2048, VALID_MS = 86400000 };

static const int64_t SILENCE_NS = 1000000000;

enum op { QUIET, FULL, PUT, PING };

static const char *const names[] = {"quiet", "full", "put", "ping"};

struct place {
    int64_t sent;
    long key, turn;
    int is_open;
};

static enum op op = QUIET;
static int sock, window = 64, payload = 1000, is_spinning, in_order;
static long keys = 1000, first, count, asked, answered, lost, bad, put_key;
static int64_t ends, stamp;
static struct place places[MOST_WINDOW];
static int fifo[MOST_WINDOW], fifo_head, fifo_length; /* places whose last datagram is still to come, oldest first */
static uint32_t *latencies;
static size_t latencies_room;
static char *filler;

static uint64_t chance(void)
{
    static uint64_t state = 88172645463325252u; /* xorshift64 */
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void push(int place)
{
    fifo[(fifo_head + fifo_length++) % MOST_WINDOW] = place;
}

static int pop(void)
{
    if (!fifo_length)
        return -1;
    int place = fifo[fifo_head];
    fifo_head = (fifo_head + 1) % MOST_WINDOW;
    fifo_length--;
    return place;
}

/* The next request of a place, or 0 where it has none left. */
static int compose(int place, char *data)
{
    struct place *it = &places[place];
    if (op == PING)
        return sprintf(data, "1|%lld", (long long)stamp++);
    if (op == PUT) {
        int64_t now = unix_ms();
        it->key = first + put_key;
        put_key = (put_key + 1) % keys;
        return sprintf(data, "2|%lld|%d|U|meter|sensor|room%ld|lab|%lld|%lld|%s", (long long)now, payload, it->key,
                       (long long)now - 1000, (long long)now + VALID_MS, filler);
    }
    long turns = (keys - place + window - 1) / window; /* how many of the keys are this place's */
    long turn = in_order ? it->turn : (long)(chance() % turns);
    if (turn >= turns)
        return 0;
    it->turn = turn + 1;
    it->key = first + place + window * turn;
    return sprintf(data, "%s|%lld|sensor|room%ld|lab", op == QUIET ? "32" : "3", (long long)stamp++, it->key);
}

static void finish(int place, int64_t now)
{
    if (place < 0 || !places[place].is_open) {
        bad++;
        return;
    }
    places[place].is_open = 0;
    if ((size_t)answered == latencies_room) {
        latencies_room = latencies_room ? 2 * latencies_room : 1 << 16;
        latencies = realloc(latencies, latencies_room * sizeof *latencies);
        if (!latencies)
            fail("realloc");
    }
    latencies[answered++] = (uint32_t)(now - places[place].sent);
}

/* The place that a Response answers; -1 where it is not what was asked for. */
static int place_of(char *data, size_t length)
{
    char *at = data, *end = data + length; /* 4|stamp|size|provider|type|id|scope|begin|end|payload */
    for (int field = 0; field < 5; field++) {
        at = memchr(at, '|', end - at);
        if (!at++)
            return -1;
    }
    if (end - at < 5 || memcmp(at, "room", 4) || length <= (size_t)payload)
        return -1;
    long key = strtol(at + 4, 0, 10);
    int place = (int)((key - first) % window);
    return key >= first && places[place].is_open && places[place].key == key ? place : -1;
}

static void receive(char *data, size_t length, int64_t now)
{
    data[length] = 0;
    if (op == PING) {
        if (data[0] == '9')
            finish(pop(), now);
        else
            bad++;
        return;
    }
    if (data[0] == '4' && op != PUT) {
        int place = place_of(data, length);
        if (op == QUIET || place < 0)
            finish(place, now);
        else
            push(place); /* its ACK 102 is still to come */
        return;
    }
    char *status = op == QUIET || data[0] != '5' ? 0 : strstr(data, "Status:");
    if (!status || strncmp(status, "Status:10", 9))
        bad++;
    else if (status[9] == '2')
        finish(pop(), now);
}

/* Asks at every free place. Whether anything is outstanding. */
static int send_all(int64_t now)
{
    static struct mmsghdr messages[MOST_WINDOW];
    static struct iovec parts[MOST_WINDOW];
    static char(*data)[REQUEST];
    if (!data && !(data = malloc((size_t)window * REQUEST)))
        fail("malloc");
    int due = 0, open = 0;
    for (int place = 0; place < window; place++) {
        struct place *it = &places[place];
        open += it->is_open;
        if (it->is_open || (count ? asked >= count : now >= ends))
            continue;
        int length = compose(place, data[due]);
        if (!length)
            continue;
        it->is_open = 1;
        it->sent = now;
        asked++;
        if (op == PUT || op == PING)
            push(place);
        parts[due] = (struct iovec){data[due], (size_t)length};
        messages[due].msg_hdr = (struct msghdr){.msg_iov = &parts[due], .msg_iovlen = 1};
        due++;
    }
    for (int sent = 0; sent < due;) {
        int n = due == 1 ? (send(sock, parts[0].iov_base, parts[0].iov_len, 0) < 0 ? -1 : 1)
                         : sendmmsg(sock, messages + sent, due - sent, 0);
        if (n < 0 && errno != EINTR && errno != ENOBUFS && errno != EAGAIN)
            fail("send");
        if (n > 0)
            sent += n;
    }
    return open + due;
}

static void give_up(void)
{
    for (int place = 0; place < window; place++)
        lost += places[place].is_open, places[place].is_open = 0;
    fifo_length = 0;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double quantile(double q)
{
    return answered ? latencies[(long)ceil(q * answered) - 1] / 1e3 : 0;
}

static void run(void)
{
    static char data[RECEIVE][SLOT_BYTES + 1];
    struct mmsghdr messages[RECEIVE];
    struct iovec parts[RECEIVE];
    for (int i = 0; i < RECEIVE; i++) {
        parts[i] = (struct iovec){data[i], SLOT_BYTES};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    int64_t heard = clock_ns(CLOCK_MONOTONIC), now = heard;
    while (send_all(now)) {
        int n;
        if (window == 1 && op != FULL && op != PUT) {
            ssize_t length = recv(sock, data[0], SLOT_BYTES, is_spinning ? MSG_DONTWAIT : 0);
            n = length < 0 ? -1 : 1;
            messages[0].msg_len = (unsigned)length;
        } else {
            n = recvmmsg(sock, messages, RECEIVE, is_spinning ? MSG_DONTWAIT : MSG_WAITFORONE, 0);
        }
        now = clock_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < n; i++)
            receive(data[i], messages[i].msg_len, now);
        if (n > 0)
            heard = now;
        else if (now - heard > SILENCE_NS)
            give_up(), heard = now;
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in to = {0};
    double ms = 250;
    for (int i = 1; i < argc; i++) {
        char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(option, "--spin"))
            is_spinning = 1;
        else if (!strcmp(option, "--in-order"))
            in_order = 1;
        else if (i++, !strcmp(option, "--to"))
            to = parse_address(value);
        else if (!strcmp(option, "--op")) {
            for (op = QUIET; op <= PING && strcmp(names[op], value); op++)
                ;
            if (op > PING)
                fail(option);
        } else if (!strcmp(option, "--window"))
            window = atoi(value);
        else if (!strcmp(option, "--ms"))
            ms = atof(value);
        else if (!strcmp(option, "--count"))
            count = atol(value);
        else if (!strcmp(option, "--keys"))
            keys = atol(value);
        else if (!strcmp(option, "--first"))
            first = atol(value);
        else if (!strcmp(option, "--payload"))
            payload = atoi(value);
        else if (!strcmp(option, "--core"))
            pin(atoi(value));
        else
            fail(option);
    }
    if (!to.sin_port || window < 1 || window > MOST_WINDOW || payload < 1 || payload > 60000 || keys < window)
        fail("--to, --window, --payload or --keys");
    die_with_parent();
    filler = malloc((size_t)payload + 1);
    if (!filler)
        fail("malloc");
    memset(filler, 'x', (size_t)payload);
    memcpy(filler, "degC=21.5;hPa=1013;note=", payload < 24 ? (size_t)payload : 24);
    filler[payload] = 0;
    sock = open_socket(parse_address("127.0.0.1:0"));
    if (connect(sock, (struct sockaddr *)&to, sizeof to) < 0)
        fail("connect");
    struct timeval silence = {.tv_sec = SILENCE_NS / 1000000000};
    setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
    stamp = unix_ms();
    int64_t began = clock_ns(CLOCK_MONOTONIC);
    ends = began + (int64_t)(ms * 1e6);
    run();
    double seconds = (double)(clock_ns(CLOCK_MONOTONIC) - began) / 1e9;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    qsort(latencies, (size_t)answered, sizeof *latencies, compare);
    printf("{\"requests\": %ld, \"seconds\": %.6f, \"lost\": %ld, \"bad\": %ld, \"p50_us\": %.2f, \"p99_us\": %.2f, "
           "\"cpu_us\": %.0f}\n",
           answered, seconds, lost, bad, quantile(0.5), quantile(0.99),
           (double)usage.ru_utime.tv_sec * 1e6 + (double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_sec * 1e6
               + (double)usage.ru_stime.tv_usec);
    return 0;
}
