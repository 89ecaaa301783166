/* Receives and sends datagrams in batches, for overlay.runtime.datagrams: system calls, and nothing else.
 *
 * Built by `make accelerator`, optional. A slot to receive into has two parts, so that datagrams of the usual size lie
 * close together and the pages behind the long ones are touched only when such a one comes.
 *
 * Datagrams in a row to one destination, of one size but for a shorter last one, are a train: one message that the
 * kernel takes through its stack once and cuts up at the end (UDP_SEGMENT, udp(7)). Each is received as itself.
 */
#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

/* After SINGLES consecutive batches of one datagram, the next LOOK datagrams are received one by one: an unsuccessful
 * attempt to receive a second one costs a third of a system call. */
enum { BATCH = 32, SINGLES = 4, LOOK = 64 };
/* Not a power of two: the beginnings of slots are then in different sets of a cache. */
enum { HEAD_BYTES = 2048 + 64, REST_BYTES = 65536 - HEAD_BYTES };

/* A train is one packet to the kernel. */
enum { TRAIN_BYTES = 65000 };
/* After a refused train, such as one of datagrams longer than a link takes, so many datagrams go one by one. */
enum { NO_TRAINS = 4096 };

struct slots {
    char rests[BATCH][REST_BYTES]; /* first, since their pages are given back */
    char heads[BATCH][HEAD_BYTES];
    struct sockaddr_in6 names[BATCH];
};

typedef struct {
    PyObject_HEAD
    int fd, singles, alone_for, has_trains, no_trains_for;
    PyObject *addresses, *names; /* sockaddr bytes to (host, port), and back; they fill themselves */
    /* The last of either, since one peer often speaks again and again. */
    struct sockaddr_in6 from_name;
    socklen_t from_length;
    PyObject *from, *to, *to_name;
    struct slots *slots;
    struct mmsghdr in[BATCH];
    struct iovec in_parts[BATCH][2];
} CompiledSocket;

struct outgoing {
    struct mmsghdr messages[BATCH];
    struct iovec parts[BATCH]; /* those of a message lie side by side */
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(uint16_t))];
    } sizes[BATCH]; /* of a train's datagrams */
};

static int init(CompiledSocket *self, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    PyObject *addresses, *names;
    if (self->slots) {
        PyErr_SetString(PyExc_TypeError, "it is a socket already");
        return -1;
    }
    if (!PyArg_ParseTuple(args, "iOO", &self->fd, &addresses, &names))
        return -1;
    /* Uninitialised: most of it is never touched. */
    if (posix_memalign((void **)&self->slots, sysconf(_SC_PAGESIZE), sizeof *self->slots)) {
        self->slots = NULL;
        PyErr_NoMemory();
        return -1;
    }
    self->addresses = Py_NewRef(addresses);
    self->names = Py_NewRef(names);
    for (int i = 0; i < BATCH; i++) {
        self->in_parts[i][0] = (struct iovec){self->slots->heads[i], HEAD_BYTES};
        self->in_parts[i][1] = (struct iovec){self->slots->rests[i], REST_BYTES};
        self->in[i].msg_hdr = (struct msghdr){.msg_name = &self->slots->names[i], .msg_iov = self->in_parts[i], .msg_iovlen = 2};
    }
    /* Asked, as kernels before 4.18 send a train as one long datagram, and call that a success. */
    self->has_trains = !getsockopt(self->fd, IPPROTO_UDP, UDP_SEGMENT, &(int){0}, &(socklen_t){sizeof(int)});
    return 0;
}

static void dealloc(CompiledSocket *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(self->addresses);
    Py_XDECREF(self->names);
    Py_XDECREF(self->from);
    Py_XDECREF(self->to);
    Py_XDECREF(self->to_name);
    free(self->slots);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Where datagram i came from; a new reference. */
static PyObject *source_of(CompiledSocket *self, int i)
{
    struct msghdr *header = &self->in[i].msg_hdr;
    socklen_t length = header->msg_namelen;
    if (self->from && length == self->from_length && !memcmp(header->msg_name, &self->from_name, length))
        return Py_NewRef(self->from);
    PyObject *name = PyBytes_FromStringAndSize(header->msg_name, length);
    PyObject *source = name ? PyObject_GetItem(self->addresses, name) : NULL;
    if (source && length <= sizeof self->from_name) {
        Py_XSETREF(self->from, Py_NewRef(source));
        memcpy(&self->from_name, PyBytes_AS_STRING(name), length);
        self->from_length = length;
    }
    Py_XDECREF(name);
    return source;
}

/* The sockaddr of a destination; a new reference. */
static PyObject *name_of(CompiledSocket *self, PyObject *to)
{
    if (to == self->to)
        return Py_NewRef(self->to_name);
    PyObject *name = PyObject_GetItem(self->names, to);
    if (name && !PyBytes_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "a sockaddr is bytes");
        Py_CLEAR(name);
    }
    if (name) {
        Py_XSETREF(self->to, Py_NewRef(to));
        Py_XSETREF(self->to_name, Py_NewRef(name));
    }
    return name;
}

static PyObject *datagram(CompiledSocket *self, int i)
{
    Py_ssize_t length = self->in[i].msg_len, head = Py_MIN(length, HEAD_BYTES);
    PyObject *source = source_of(self, i);
    PyObject *data = PyBytes_FromStringAndSize(NULL, length);
    PyObject *pair = source && data ? PyTuple_Pack(2, data, source) : NULL;
    if (data) {
        memcpy(PyBytes_AS_STRING(data), self->slots->heads[i], head);
        memcpy(PyBytes_AS_STRING(data) + head, self->slots->rests[i], length - head);
    }
    Py_XDECREF(source);
    Py_XDECREF(data);
    return pair;
}

/* Up to `most` datagrams into the slots; how many. */
static int take(CompiledSocket *self, int most, int may_wait)
{
    if (most > 1)
        return recvmmsg(self->fd, self->in, most, may_wait ? MSG_WAITFORONE : MSG_DONTWAIT, NULL);
    ssize_t length = recvmsg(self->fd, &self->in[0].msg_hdr, may_wait ? 0 : MSG_DONTWAIT);
    self->in[0].msg_len = length;
    return length < 0 ? -1 : 1;
}

static PyObject *receive(CompiledSocket *self, PyObject *wait)
{
    int most = self->alone_for > 0 ? 1 : BATCH, count;
    for (int i = 0; i < most; i++)
        self->in[i].msg_hdr.msg_namelen = sizeof self->slots->names[i];
    Py_BEGIN_ALLOW_THREADS
    count = take(self, most, wait == Py_True);
    Py_END_ALLOW_THREADS
    if (count < 0) {
        if (errno != EAGAIN && errno != EINTR)
            return PyErr_SetFromErrno(PyExc_OSError);
        if (errno == EINTR && PyErr_CheckSignals())
            return NULL;
        count = 0;
    }
    self->singles = count == 1 && most > 1 ? self->singles + 1 : 0;
    if (most == 1)
        self->alone_for -= count;
    else if (self->singles == SINGLES)
        self->alone_for = LOOK;
    PyObject *received = PyList_New(count);
    int is_long = 0;
    for (int i = 0; received && i < count; i++) {
        is_long |= self->in[i].msg_len > HEAD_BYTES;
        PyObject *pair = datagram(self, i);
        if (!pair)
            Py_CLEAR(received);
        else
            PyList_SET_ITEM(received, i, pair);
    }
    if (is_long) /* rare, and strangers shall not decide how much memory a broker keeps */
        madvise(self->slots->rests, sizeof self->slots->rests, MADV_DONTNEED);
    return received;
}

/* Put a datagram behind the last of `count` messages, if it is the next of its train; whether it was. */
static int couple(CompiledSocket *self, struct outgoing *out, int count, struct iovec *part, int is_same_destination)
{
    if (!is_same_destination || !self->has_trains || self->no_trains_for > 0)
        return 0;
    struct msghdr *train = &out->messages[count - 1].msg_hdr;
    size_t size = train->msg_iov->iov_len, carried = size * train->msg_iovlen;
    if (part[-1].iov_len < size || part->iov_len > size || !part->iov_len || carried + part->iov_len > TRAIN_BYTES)
        return 0;
    struct cmsghdr *header = &out->sizes[count - 1].header;
    *header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(uint16_t)), .cmsg_level = IPPROTO_UDP, .cmsg_type = UDP_SEGMENT};
    *(uint16_t *)CMSG_DATA(header) = size;
    train->msg_control = header;
    train->msg_controllen = sizeof out->sizes[count - 1];
    train->msg_iovlen++;
    return 1;
}

static int transmit(CompiledSocket *self, struct mmsghdr *messages, int count);

/* Send the datagrams of a refused train one by one; as transmit. */
static int uncouple(CompiledSocket *self, const struct msghdr *train)
{
    struct mmsghdr messages[BATCH];
    int count = train->msg_iovlen;
    for (int i = 0; i < count; i++)
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = train->msg_name,
            .msg_namelen = train->msg_namelen,
            .msg_iov = &train->msg_iov[i],
            .msg_iovlen = 1,
        };
    int lost = transmit(self, messages, count);
    if (lost >= 0 && lost < count) /* else it was not for being a train */
        self->no_trains_for = NO_TRAINS;
    return lost;
}

/* Send some of these messages; how many. */
static int give(CompiledSocket *self, struct mmsghdr *messages, int count, int flags)
{
    struct msghdr *first = &messages->msg_hdr;
    if (count > 1 || first->msg_iovlen > 1)
        return sendmmsg(self->fd, messages, count, flags);
    struct iovec *part = first->msg_iov;
    return sendto(self->fd, part->iov_base, part->iov_len, flags, first->msg_name, first->msg_namelen) < 0 ? -1 : 1;
}

/* Send all of these; how many datagrams the system refused, or -1 with an exception that a signal brought. */
static int transmit(CompiledSocket *self, struct mmsghdr *messages, int count)
{
    int lost = 0;
    for (int sent = 0; sent < count;) {
        /* With the lock, which costs more to give away than most sends would keep others waiting; not to wait with it. */
        int done = give(self, messages + sent, count - sent, MSG_DONTWAIT);
        if (done < 0 && errno == EAGAIN) {
            Py_BEGIN_ALLOW_THREADS
            done = give(self, messages + sent, count - sent, 0);
            Py_END_ALLOW_THREADS
        }
        if (done > 0)
            sent += done;
        else if (errno != EINTR) {
            struct msghdr *refused = &messages[sent++].msg_hdr;
            int of_it = refused->msg_iovlen > 1 ? uncouple(self, refused) : 1;
            if (of_it < 0)
                return -1;
            lost += of_it;
        } else if (PyErr_CheckSignals())
            return -1;
    }
    return lost;
}

static PyObject *send_all(CompiledSocket *self, PyObject *datagrams)
{
    /* A tuple of our own: looking up names and signal handlers run Python, which may change a list meanwhile. */
    PyObject *ours = PySequence_Tuple(datagrams), *names[BATCH];
    Py_ssize_t total = ours ? PyTuple_GET_SIZE(ours) : 0, next = 0;
    struct outgoing out;
    long lost = 0;
    int failed = !ours;
    while (!failed && next < total) {
        int parts = 0, count = 0;
        for (; !failed && parts < BATCH && next < total; next++) {
            PyObject *pair = PyTuple_GET_ITEM(ours, next);
            if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyBytes_Check(PyTuple_GET_ITEM(pair, 0))) {
                PyErr_SetString(PyExc_TypeError, "a datagram is (bytes, address)");
                failed = 1;
                break;
            }
            PyObject *data = PyTuple_GET_ITEM(pair, 0), *name = name_of(self, PyTuple_GET_ITEM(pair, 1));
            if (name) {
                struct iovec *part = &out.parts[parts];
                *part = (struct iovec){PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)};
                if (!couple(self, &out, count, part, parts && name == names[parts - 1]))
                    out.messages[count++].msg_hdr = (struct msghdr){
                        .msg_name = PyBytes_AS_STRING(name),
                        .msg_namelen = PyBytes_GET_SIZE(name),
                        .msg_iov = part,
                        .msg_iovlen = 1,
                    };
                names[parts++] = name;
            } else if (PyErr_ExceptionMatches(PyExc_OSError)) { /* an address of another family */
                PyErr_Clear();
                lost++;
            } else
                failed = 1;
        }
        self->no_trains_for = Py_MAX(0, self->no_trains_for - parts);
        int refused = failed ? -1 : transmit(self, out.messages, count);
        failed |= refused < 0;
        lost += refused;
        while (parts > 0)
            Py_DECREF(names[--parts]);
    }
    Py_XDECREF(ours);
    return failed ? NULL : PyLong_FromLong(lost);
}

static PyMethodDef methods[] = {
    {"receive", (PyCFunction)receive, METH_O, NULL},
    {"send", (PyCFunction)send_all, METH_O, NULL},
    {0},
};
static PyType_Slot slots[] = {{Py_tp_init, init}, {Py_tp_dealloc, dealloc}, {Py_tp_methods, methods}, {0}};
static PyType_Spec spec = {"overlay.runtime._datagrams.CompiledSocket", sizeof(CompiledSocket), 0, Py_TPFLAGS_DEFAULT, slots};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_datagrams", .m_size = -1};

PyMODINIT_FUNC PyInit__datagrams(void)
{
    PyObject *made = PyModule_Create(&module), *type = PyType_FromSpec(&spec);
    if (made && type && PyModule_AddObjectRef(made, "CompiledSocket", type))
        Py_CLEAR(made);
    Py_XDECREF(type);
    return made;
}
