/* Sends each datagram back to where it came from: what no server on UDP can be ahead of. Prints its address. */
#include "common.h"

int main(void)
{
    int sock = socket(AF_INET, SOCK_DGRAM, 0), size = BUFFER_BYTES;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    if (sock < 0 || bind(sock, (struct sockaddr *)&at, sizeof at) || getsockname(sock, (struct sockaddr *)&at, &length))
        fail("bind");
    setsockopt(sock, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    printf("127.0.0.1:%d\n", ntohs(at.sin_port));
    fflush(stdout);
    static char data[DATAGRAM];
    for (;;) {
        struct sockaddr_in from;
        socklen_t named = sizeof from;
        ssize_t got = recvfrom(sock, data, sizeof data, 0, (struct sockaddr *)&from, &named);
        if (got >= 0)
            sendto(sock, data, got, 0, (struct sockaddr *)&from, named);
    }
}
