/* The datagrams of Radiator that the benchmark's C programs use, big-endian. Fields: docs/radiator.md. */
#ifndef WAXWING_RADIATOR_DATAGRAMS_H
#define WAXWING_RADIATOR_DATAGRAMS_H

#include "common.h"
#include <endian.h>

enum { REGISTER = 1, REGISTERED = 2, CONTEXT = 5, ACCEPTED = 6, PUSH = 7, ACK = 8 };
enum { OK = 0, TOKEN = 4, DIRECT = 65535, BITMAP_BYTES = 32 };
enum { MOST_CLIENTS = 2000, MOST_BODY = 1400 };

struct __attribute__((packed, may_alias)) head { char magic[3]; uint8_t kind; };
struct __attribute__((packed, may_alias)) registering { struct head head; uint32_t req; uint64_t instance, token; uint8_t flags, id_length; };
struct __attribute__((packed, may_alias)) registered { struct head head; uint32_t req; uint8_t code; uint64_t epoch; uint8_t rest[16]; };
struct __attribute__((packed, may_alias)) context { struct head head; uint32_t req; uint64_t instance, called_at; uint8_t codec; char body[]; };
struct __attribute__((packed, may_alias)) accepted { struct head head; uint32_t req; uint8_t code; uint16_t retry_ms; };
struct __attribute__((packed, may_alias)) push {
    struct head head;
    uint64_t epoch, propagation;
    uint16_t chain, position, length, attempt;
    uint8_t codec;
    uint16_t segment, segments;
    uint8_t mac[8];
    char part[MOST_BODY];
};
struct __attribute__((packed, may_alias)) ack {
    struct head head;
    uint64_t epoch, propagation;
    uint16_t chain, attempt, base;
    uint8_t bitmap[BITMAP_BYTES];
};

static inline struct head head_of(uint8_t kind)
{
    return (struct head){{'R', 'D', 1}, kind};
}

#endif
