#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// The kernel's messages about links, addresses and routes, and the thread that waits for them.

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CSignetSystem.h"

int signet_netlink_open(void) {
    int number = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (number < 0) return -1;
    struct sockaddr_nl own = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE
            | RTMGRP_IPV6_ROUTE,
    };
    if (bind(number, (const struct sockaddr *)&own, sizeof own) == 0) return number;
    int error = errno;
    close(number);
    errno = error;
    return -1;
}

int signet_netlink_ask(int socket, int kind, unsigned number) {
    struct {
        struct nlmsghdr head;
        struct rtgenmsg body;
    } question = {
        .head = {
            .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
            .nlmsg_type = (unsigned short)kind,
            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
            .nlmsg_seq = number,
        },
        .body = {.rtgen_family = AF_UNSPEC},
    };
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent;
    do {
        sent = sendto(
            socket, &question, question.head.nlmsg_len, 0, (const struct sockaddr *)&kernel,
            sizeof kernel);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

int signet_wake_open(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int signet_wake(int wake) {
    return eventfd_write(wake, 1) == 0;
}

int signet_wake_wait(int wake, int milliseconds) {
    struct pollfd waiting = {.fd = wake, .events = POLLIN};
    return poll(&waiting, 1, milliseconds) > 0;
}

// Reads one datagram of the kernel. Returns its size, 0 if there is none, or -1.
static ssize_t receive(int socket, void *buffer, size_t capacity) {
    struct sockaddr_nl sender = {0};
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {
        .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1};
    ssize_t count = recvmsg(socket, &message, 0);
    if (count < 0) return errno == EINTR || errno == EAGAIN ? 0 : -1;
    // Another process may send to this socket too.
    if (message.msg_namelen != sizeof sender || sender.nl_pid != 0) return 0;
    if (message.msg_flags & MSG_TRUNC) {
        errno = ENOBUFS;
        return -1;
    }
    return count;
}

ssize_t signet_netlink_receive(int socket, int wake, void *buffer, size_t capacity) {
    for (;;) {
        struct pollfd waiting[] = {
            {.fd = wake, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
        if (poll(waiting, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        if (waiting[0].revents) return 0;
        ssize_t count = receive(socket, buffer, capacity);
        if (count != 0) return count;
    }
}

int signet_run_thread(const char *name, void *(*body)(void *), void *context) {
    // The program's own threads handle its signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        errno = error;
        return 0;
    }
    pthread_setname_np(thread, name);
    pthread_detach(thread);
    return 1;
}
