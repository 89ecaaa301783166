/* The yardstick of Radiator's exchange in C: a message is accepted, pushed to every client, and each acknowledges.
 *
 *   exchange [--batch N] [--core N]
 *
 * It registers clients as the server does (token, then key), answers a CONTEXT by ACCEPTED, sends its body unchanged as
 * a PUSH to all clients, and notes in a bitmap who has acknowledged it. With --batch, N datagrams are received by one
 * recvmmsg and sent by one sendmmsg. It inflates and parses nothing, computes no MAC, repeats nothing, and has no table
 * of attributes, no limits and no journal. It prints its HOST:PORT, and ends with the process that started it.
 */
#include "datagrams.h"

enum { MOST_BATCH = 64, OPEN = 1024 };

static struct sockaddr_in clients[MOST_CLIENTS];
static int count, place_of_port[65536];
static uint64_t propagations;
static struct { int left; uint8_t has[MOST_CLIENTS / 8]; } ledger[OPEN];

static int sock, batch = 1;
static struct mmsghdr out[MOST_BATCH];
static struct iovec out_parts[MOST_BATCH];

static void send_one(const void *data, size_t length, const struct sockaddr_in *to)
{
    sendto(sock, data, length, 0, (const struct sockaddr *)to, sizeof *to);
}

static void enlist(const struct registering *request, const struct sockaddr_in *from)
{
    struct registered answer = {head_of(REGISTERED), request->req, TOKEN, htobe64(1), {0}};
    size_t length = sizeof answer - 8;
    if (request->token) {
        answer.code = OK;
        length = sizeof answer;
        int port = ntohs(from->sin_port);
        if (!place_of_port[port] && count < MOST_CLIENTS) {
            clients[count] = *from;
            place_of_port[port] = ++count;
        }
    } else {
        answer.rest[7] = 1;
    }
    send_one(&answer, length, from);
}

static void push_to_all(const struct context *request, size_t length, const struct sockaddr_in *from)
{
    struct accepted answer = {head_of(ACCEPTED), request->req, OK, 0};
    send_one(&answer, sizeof answer, from);
    size_t body = length - sizeof *request;
    struct push push = {head_of(PUSH), htobe64(1), htobe64(++propagations), DIRECT, 0, 0, 0, request->codec, 0, htobe16(1), {0}, {0}};
    if (body > MOST_BODY)
        return;
    memcpy(push.part, request->body, body);
    size_t size = sizeof push - MOST_BODY + body;
    memset(&ledger[propagations % OPEN], 0, sizeof ledger[0]);
    ledger[propagations % OPEN].left = count;
    if (batch == 1) {
        for (int i = 0; i < count; i++)
            send_one(&push, size, &clients[i]);
        return;
    }
    for (int at = 0; at < count; at += batch) {
        int many = count - at < batch ? count - at : batch;
        for (int i = 0; i < many; i++) {
            out_parts[i] = (struct iovec){&push, size};
            out[i].msg_hdr = (struct msghdr){&clients[at + i], sizeof clients[0], &out_parts[i], 1, NULL, 0, 0};
        }
        for (int sent = 0; sent < many;) {
            int done = sendmmsg(sock, out + sent, many - sent, 0);
            sent += done > 0 ? done : 1;
        }
    }
}

static void note(const struct ack *ack, const struct sockaddr_in *from)
{
    int place = place_of_port[ntohs(from->sin_port)] - 1;
    uint64_t propagation = be64toh(ack->propagation);
    if (place < 0 || propagation > propagations || propagation + OPEN <= propagations)
        return;
    uint8_t *has = &ledger[propagation % OPEN].has[place / 8], bit = 1 << (place % 8);
    if (!(*has & bit)) {
        *has |= bit;
        ledger[propagation % OPEN].left--;
    }
}

static void handle(const void *data, size_t length, const struct sockaddr_in *from)
{
    const struct head *head = data;
    if (length < sizeof *head || memcmp(head->magic, "RD\1", 3))
        return;
    if (head->kind == ACK && length == sizeof(struct ack))
        note(data, from);
    else if (head->kind == CONTEXT && length > sizeof(struct context))
        push_to_all(data, length, from);
    else if (head->kind == REGISTER && length > sizeof(struct registering))
        enlist(data, from);
}

int main(int argc, char **argv)
{
    static char data[MOST_BATCH][2048];
    static struct sockaddr_in from[MOST_BATCH];
    static struct mmsghdr in[MOST_BATCH];
    static struct iovec in_parts[MOST_BATCH];
    die_with_parent();
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            fail(argv[i]);
        if (!strcmp(argv[i], "--batch"))
            batch = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--core"))
            pin(atoi(argv[i + 1]));
        else
            fail(argv[i]);
    }
    if (batch < 1 || batch > MOST_BATCH)
        fail("--batch");
    struct sockaddr_in me = parse_address("127.0.0.1:0");
    socklen_t length = sizeof me;
    sock = open_socket(me);
    getsockname(sock, (struct sockaddr *)&me, &length);
    printf("127.0.0.1:%d\n", ntohs(me.sin_port));
    fflush(stdout);
    for (int i = 0; i < MOST_BATCH; i++) {
        in_parts[i] = (struct iovec){data[i], sizeof data[i]};
        in[i].msg_hdr = (struct msghdr){&from[i], sizeof from[i], &in_parts[i], 1, NULL, 0, 0};
    }
    for (;;) {
        if (batch == 1) {
            length = sizeof from[0];
            ssize_t got = recvfrom(sock, data[0], sizeof data[0], 0, (struct sockaddr *)&from[0], &length);
            if (got > 0)
                handle(data[0], got, &from[0]);
            continue;
        }
        int many = recvmmsg(sock, in, batch, MSG_WAITFORONE, NULL);
        for (int i = 0; i < many; i++) {
            handle(data[i], in[i].msg_len, &from[i]);
            in[i].msg_hdr.msg_namelen = sizeof from[i];
        }
    }
}
