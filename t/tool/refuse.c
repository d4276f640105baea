#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

/*
 * A machine that refuses: run a program under a system call filter as a
 * container runtime sets one.
 *	refuse ERRNO CALL[,CALL]... PROGRAM [WORD]...
 * where CALL may be "userns", the making of user namespaces, or "netlink", that
 * of sockets of that kind.
 */

#ifndef CLONE_NEWUSER
#define CLONE_NEWUSER 0x10000000
#endif
#define ARG0 offsetof(struct seccomp_data, args)
#define NUMBER offsetof(struct seccomp_data, nr)

static const struct {
	const char *name;
	unsigned int nr;
	unsigned int flag; /* Only with this among the bits of its first
			    * argument; 0: always. */
} calls[] = {
    {"userns", SYS_unshare, CLONE_NEWUSER},
    {"userns", SYS_clone, CLONE_NEWUSER},
    {"netlink", SYS_socket, AF_NETLINK},
    {"mount", SYS_mount, 0},
    {"umount2", SYS_umount2, 0},
    {"mount_setattr", SYS_mount_setattr, 0},
    {"open_tree", SYS_open_tree, 0},
    {"pivot_root", SYS_pivot_root, 0},
    {"chroot", SYS_chroot, 0},
    {"sethostname", SYS_sethostname, 0},
    {"seccomp", SYS_seccomp, 0},
    {"landlock", SYS_landlock_create_ruleset, 0},
};

static struct sock_filter program[256];
static unsigned short n;

static void
put(unsigned short code, unsigned char yes, unsigned char no, unsigned int k)
{

	program[n++] = (struct sock_filter){code, yes, no, k};
}

static void
deny(size_t i, unsigned int err)
{

	if (calls[i].flag) {
		put(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, calls[i].nr);
		put(BPF_LD | BPF_W | BPF_ABS, 0, 0, ARG0);
		put(BPF_JMP | BPF_JSET | BPF_K, 0, 1, calls[i].flag);
		put(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | err);
		put(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	} else {
		put(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, calls[i].nr);
		put(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | err);
	}
}

int
main(int argc, char **argv)
{
	struct sock_fprog all = {.filter = program};
	char *names, *name;
	unsigned int err;
	size_t i;
	int known;

	if (argc < 4)
		return (2);
	err = (unsigned int)strtoul(argv[1], NULL, 10);
	put(BPF_LD | BPF_W | BPF_ABS, 0, 0, NUMBER);
	for (names = argv[2]; (name = strsep(&names, ",")) != NULL;) {
		for (i = known = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			if (strcmp(calls[i].name, name) == 0) {
				deny(i, err);
				known = 1;
			}
		if (!known)
			return (2);
	}
	put(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	all.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &all)) {
		perror("refuse");
		return (1);
	}
	(void)execvp(argv[3], argv + 3);
	perror(argv[3]);
	return (127);
}
