/* What the benchmark's C programs share: addresses, clocks, cores, and an end with whoever started them. */
#ifndef WAXWING_COMMON_H
#define WAXWING_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    DATAGRAM = 65536,         /* no UDP datagram is longer */
    BUFFER_BYTES = 4 << 20,   /* asked of the kernel for a socket; its usual 208 kB holds 92 datagrams of 1 kB */
};

static inline void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "wrong usage");
    exit(1);
}

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t unix_ms(void)
{
    return clock_ns(CLOCK_REALTIME) / 1000000;
}

/* "127.0.0.1:7001" */
static inline struct sockaddr_in parse_address(const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    char host[64];
    const char *colon = strrchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof host)
        fail(text);
    memcpy(host, text, colon - text);
    host[colon - text] = 0;
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        fail(text);
    address.sin_port = htons(atoi(colon + 1));
    return address;
}

/* A bound UDP socket with large buffers. */
static inline int open_socket(struct sockaddr_in bind_to)
{
    int sock = socket(AF_INET, SOCK_DGRAM, 0), size = BUFFER_BYTES;
    if (sock < 0)
        fail("socket");
    setsockopt(sock, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    if (bind(sock, (struct sockaddr *)&bind_to, sizeof bind_to) < 0)
        fail("bind");
    return sock;
}

static inline void pin(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) < 0)
        fail("sched_setaffinity");
}

static inline void die_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1)
        exit(1);
}

#endif
