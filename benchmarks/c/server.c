/* The yardstick: what a broker does for its clients, in C, and nothing else.
 *
 *   server [--bind HOST:PORT] [--batch N [--trains]] [--next HOST:PORT] [--everywhere] [--core N]
 *
 * It stores what message 2 brings in a hash table, answers 32 by one Response (4), 3 by ACK 101, Response and ACK 102,
 * 2 by the two ACKs and 1 by 9. What it lacks it passes on to --next with the sender's address as another hop, and a
 * Response with hops back to the last of them. So several of it are a chain. It keeps no pending table, no limits, no
 * counters, no journal and checks nothing: the broker is measured against the least that the exchange can cost.
 *
 * Without --batch each datagram is one recvfrom and one sendto; with it up to N are received by one recvmmsg and all
 * that is to be sent for them leaves by one sendmmsg; with --trains datagrams in a row to one address, of one size but
 * for a shorter last one, are one message that the kernel cuts up (UDP_SEGMENT), as a broker's are. --everywhere binds
 * all of 127/8 and answers from whichever of its addresses was asked, so that one process is a thousand neighbours.
 *
 * It says its HOST:PORT on standard output once it answers, and dies with the process that started it.
 */
#include "common.h"
#include <netinet/udp.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum {
    MOST_BATCH = 256,
    MOST_OUT = 3 * MOST_BATCH, /* the full exchange: ACK 101, Response, ACK 102 */
    SCRATCH = 256,             /* an ACK is shorter */
    CONTROL = CMSG_SPACE(sizeof(struct in_pktinfo)),
    TRAIN = 32,
    TRAIN_BYTES = 65000,
};

/* ---- the table: open addressing, linear probing, doubled when half full */

struct entry {
    char *response; /* the whole message 4, as it is sent */
    size_t length;
    const char *key; /* type|id|scope, inside the response */
    size_t key_length;
    int64_t stamp, valid_end;
};

static struct entry *table;
static size_t slots, used;

static uint64_t hash(const char *key, size_t length)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)key[i]) * 1099511628211u;
    return h;
}

static struct entry *slot_of(const char *key, size_t length)
{
    size_t at = hash(key, length) & (slots - 1);
    while (table[at].response && (table[at].key_length != length || memcmp(table[at].key, key, length)))
        at = (at + 1) & (slots - 1);
    return &table[at];
}

static void grow(void)
{
    struct entry *old = table;
    size_t count = slots;
    slots = slots ? 2 * slots : 256;
    table = calloc(slots, sizeof *table);
    if (!table)
        fail("calloc");
    for (size_t i = 0; i < count; i++)
        if (old[i].response)
            *slot_of(old[i].key, old[i].key_length) = old[i];
    free(old);
}

/* ---- the way out */

static int sock, batch, trains, everywhere, queued, queued_responses;
static struct mmsghdr out[MOST_OUT];
static struct iovec out_parts[MOST_OUT];
static struct sockaddr_in out_to[MOST_OUT];
static char scratch[MOST_OUT][SCRATCH];
static char (*long_scratch)[DATAGRAM]; /* for what carries hops */
static char control_out[MOST_OUT][CONTROL];
static struct in_addr asked_at; /* with --everywhere: which of our addresses the datagram at hand came to */

/* Makes trains of the messages that are queued; how many messages these are. */
static int couple(void)
{
    int count = 0;
    for (int i = 0; i < queued; i++) {
        struct msghdr *train = count ? &out[count - 1].msg_hdr : 0;
        size_t coupled = train ? train->msg_iovlen : TRAIN, size = train ? train->msg_iov->iov_len : 0;
        size_t length = out_parts[i].iov_len;
        if (coupled < TRAIN && length <= size && train->msg_iov[coupled - 1].iov_len == size
            && coupled * size + length <= TRAIN_BYTES && !memcmp(train->msg_name, &out_to[i], sizeof *out_to)) {
            train->msg_iovlen++;
            train->msg_control = control_out[count - 1];
            train->msg_controllen = CMSG_SPACE(sizeof(uint16_t));
            struct cmsghdr *head = CMSG_FIRSTHDR(train);
            *head = (struct cmsghdr){
                .cmsg_len = CMSG_LEN(sizeof(uint16_t)), .cmsg_level = IPPROTO_UDP, .cmsg_type = UDP_SEGMENT};
            memcpy(CMSG_DATA(head), &(uint16_t){size}, sizeof(uint16_t));
        } else
            out[count++] = out[i];
    }
    return count;
}

static void flush(void)
{
    int count = trains ? couple() : queued;
    for (int sent = 0; sent < count;) {
        int n = sendmmsg(sock, out + sent, count - sent, 0);
        if (n < 0 && errno != EINTR && errno != ENOBUFS && errno != ECONNREFUSED)
            fail("sendmmsg");
        if (n > 0)
            sent += n;
    }
    queued = queued_responses = 0;
}

static char *room(size_t length)
{
    return length <= SCRATCH ? scratch[queued] : long_scratch[queued];
}

/* Sends `data`, which must stay as it is until the batch is flushed. */
static void emit(const char *data, size_t length, struct sockaddr_in to)
{
    if (!batch && !everywhere) {
        while (sendto(sock, data, length, 0, (struct sockaddr *)&to, sizeof to) < 0)
            if (errno != EINTR && errno != ENOBUFS && errno != ECONNREFUSED)
                fail("sendto");
        return;
    }
    struct msghdr *message = &out[queued].msg_hdr;
    out_to[queued] = to;
    out_parts[queued] = (struct iovec){(void *)(uintptr_t)data, length};
    *message = (struct msghdr){.msg_name = &out_to[queued], .msg_namelen = sizeof to,
                               .msg_iov = &out_parts[queued], .msg_iovlen = 1};
    if (everywhere) {
        message->msg_control = control_out[queued];
        message->msg_controllen = CONTROL;
        struct cmsghdr *head = CMSG_FIRSTHDR(message);
        head->cmsg_level = IPPROTO_IP;
        head->cmsg_type = IP_PKTINFO;
        head->cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo));
        struct in_pktinfo from = {.ipi_spec_dst = asked_at};
        memcpy(CMSG_DATA(head), &from, sizeof from);
    }
    queued++;
    if (!batch)
        flush();
}

/* ---- texts that seldom change, kept */

static char *put(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

static char *put_now(char *at)
{
    static int64_t shown;
    static char text[24];
    static size_t length;
    int64_t now = unix_ms();
    if (now != shown)
        length = sprintf(text, "%lld", (long long)(shown = now));
    return put(at, text, length);
}

/* host, `separator`, port */
static char *put_address(char *at, struct sockaddr_in address, char separator)
{
    static struct sockaddr_in shown;
    static char text[32], shown_separator;
    static size_t length;
    if (address.sin_port != shown.sin_port || address.sin_addr.s_addr != shown.sin_addr.s_addr
        || separator != shown_separator) {
        char host[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &address.sin_addr, host, sizeof host);
        length = sprintf(text, "%s%c%u", host, separator, ntohs(address.sin_port));
        shown = address;
        shown_separator = separator;
    }
    return put(at, text, length);
}

#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static void acknowledge(const char *status, const char *operation, struct sockaddr_in to)
{
    char *begin = room(SCRATCH), *at = PUT(begin, "5|");
    at = PUT(put_now(at), "|ACK|Status:");
    at = PUT(put(at, status, 3), "|Operation ");
    at = PUT(put(at, operation, strlen(operation)), "|Requested by ");
    emit(begin, put_address(at, to, ':') - begin, to);
}

/* ---- what comes in */

/* The end of the field that begins at `at`: the next separator, or the end of the datagram. */
static char *field_end(char *at, char *end)
{
    char *separator = memchr(at, '|', end - at);
    return separator ? separator : end;
}

static void store(char *data, char *end, struct sockaddr_in from)
{
    char *field[9], *at = data + 2; /* stamp size flag provider type id scope begin end, then the payload */
    for (int i = 0; i < 9; i++) {
        field[i] = at;
        at = field_end(at, end) + 1;
        if (at > end)
            return;
    }
    acknowledge("101", "ContextUpdateAdvertisement", from);
    if (2 * (used + 1) > slots)
        grow();
    size_t key_length = field[7] - 1 - field[4];
    struct entry *entry = slot_of(field[4], key_length);
    int64_t stamp = strtoll(field[0], 0, 10);
    if (!entry->response || stamp > entry->stamp) {
        if (queued_responses)
            flush(); /* one of them may be what is replaced now */
        used += !entry->response;
        free(entry->response);
        char *response = malloc(end - data);
        if (!response)
            fail("malloc");
        char *to = PUT(response, "4|");
        to = put(to, field[0], field[2] - field[0]); /* stamp|size| */
        to = put(to, field[3], field[4] - field[3]); /* provider| */
        entry->key = to;
        to = put(to, field[4], end - field[4]);
        entry->response = response;
        entry->length = to - response;
        entry->key_length = key_length;
        entry->stamp = stamp;
        entry->valid_end = strtoll(field[8], 0, 10);
    }
    acknowledge("102", "ContextUpdateAdvertisement", from);
}

/* `data` and another hop, its sender, to --next. Requests travel as code 3. */
static void forward(char *key, char *data, char *end, struct sockaddr_in from, struct sockaddr_in next)
{
    char *stamp = memchr(data, '|', key - data);
    char *begin = room(end - data + 64), *at = PUT(begin, "3");
    at = PUT(put(at, stamp, end - stamp), "|");
    emit(begin, put_address(at, from, '|') - begin, next);
}

static void answer(char *data, char *end, struct sockaddr_in from, const struct sockaddr_in *next)
{
    int is_quiet = data[1] == '2'; /* 32 */
    char *key = field_end(data + (is_quiet ? 3 : 2), end) + 1;
    char *key_end = field_end(field_end(field_end(key, end) + 1, end) + 1, end);
    int is_consumers = key_end == end; /* without hops */
    if (is_consumers && !is_quiet)
        acknowledge("101", "ContextRequest", from);
    struct entry *entry = slot_of(key, key_end - key);
    if (!entry->response || entry->valid_end <= unix_ms()) {
        if (next)
            forward(key, data, end, from, *next);
        return;
    }
    if (is_consumers) {
        queued_responses++;
        emit(entry->response, entry->length, from);
        if (!is_quiet)
            acknowledge("102", "ContextRequest", from);
        return;
    }
    char *begin = room(entry->length + (end - key_end)), *at = put(begin, entry->response, entry->length);
    emit(begin, put(at, key_end, end - key_end) - begin, from);
}

/* A Response on its way back: without its last hop, to that hop. */
static void pass_back(char *data, char *end)
{
    char *port = memrchr(data, '|', end - data);
    char *host = port ? memrchr(data, '|', port - data) : 0;
    char text[64];
    if (!host || end - host > (long)sizeof text)
        return;
    *(char *)mempcpy(text, host + 1, end - host - 1) = 0;
    text[port - host - 1] = ':';
    char *begin = room(host - data);
    emit(begin, put(begin, data, host - data) - begin, parse_address(text));
}

static void handle(char *data, size_t length, struct sockaddr_in from, struct sockaddr_in self, const struct sockaddr_in *next)
{
    char *end = data + length;
    if (length < 3)
        return;
    if (data[0] == '3')
        answer(data, end, from, next);
    else if (data[0] == '2')
        store(data, end, from);
    else if (data[0] == '4')
        pass_back(data, end);
    else if (data[0] == '1') {
        char *begin = room(SCRATCH), *at = PUT(put_now(PUT(begin, "9|")), "|Ctx_Broker|");
        emit(begin, put_address(at, self, ':') - begin, from);
    }
}

static struct in_addr destination(struct msghdr *message)
{
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head))
        if (head->cmsg_level == IPPROTO_IP && head->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(head), sizeof info);
            return info.ipi_addr;
        }
    return (struct in_addr){0};
}

int main(int argc, char **argv)
{
    struct sockaddr_in bind_to = parse_address("127.0.0.1:0"), next;
    int has_next = 0;
    for (int i = 1; i < argc; i++) {
        char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(option, "--everywhere"))
            everywhere = 1;
        else if (!strcmp(option, "--trains"))
            trains = 1;
        else if (i++, !strcmp(option, "--bind"))
            bind_to = parse_address(value);
        else if (!strcmp(option, "--batch"))
            batch = atoi(value);
        else if (!strcmp(option, "--next"))
            next = parse_address(value), has_next = 1;
        else if (!strcmp(option, "--core"))
            pin(atoi(value));
        else
            fail(option);
    }
    if (batch < 0 || batch > MOST_BATCH || (trains && (!batch || everywhere)))
        fail("--batch");
    die_with_parent();
    sock = open_socket(bind_to);
    if (everywhere)
        setsockopt(sock, IPPROTO_IP, IP_PKTINFO, &everywhere, sizeof everywhere);
    struct sockaddr_in self;
    getsockname(sock, (struct sockaddr *)&self, &(socklen_t){sizeof self});
    grow();
    int count = batch ? batch : 1;
    char(*data)[DATAGRAM] = malloc((size_t)count * DATAGRAM); /* pages that no datagram reaches are never taken */
    long_scratch = malloc((size_t)3 * count * DATAGRAM);
    if (!data || !long_scratch)
        fail("malloc");
    printf("%s:%u\n", inet_ntoa(self.sin_addr), ntohs(self.sin_port));
    fflush(stdout);

    struct mmsghdr in[MOST_BATCH];
    struct iovec parts[MOST_BATCH];
    struct sockaddr_in from[MOST_BATCH];
    char control[MOST_BATCH][CONTROL];
    for (;;) {
        if (!batch && !everywhere) {
            ssize_t n = recvfrom(sock, data[0], DATAGRAM, 0, (struct sockaddr *)from, &(socklen_t){sizeof *from});
            if (n >= 0)
                handle(data[0], n, from[0], self, has_next ? &next : 0);
            continue;
        }
        for (int i = 0; i < count; i++) {
            parts[i] = (struct iovec){data[i], DATAGRAM};
            in[i].msg_hdr = (struct msghdr){.msg_name = &from[i], .msg_namelen = sizeof from[i],
                                            .msg_iov = &parts[i], .msg_iovlen = 1};
            if (everywhere)
                in[i].msg_hdr.msg_control = control[i], in[i].msg_hdr.msg_controllen = CONTROL;
        }
        int n = recvmmsg(sock, in, count, MSG_WAITFORONE, 0);
        for (int i = 0; i < n; i++) {
            if (everywhere)
                asked_at = destination(&in[i].msg_hdr);
            handle(data[i], in[i].msg_len, from[i], self, has_next ? &next : 0);
        }
        flush();
    }
}
