#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "jail/filter.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
/* cppcheck-suppress preprocessorErrorDirective */
#error "no system call filter for this processor"
#endif

/* Younger than some kernel headers we are compiled with. */
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

/* Every CLONE_NEW* flag. */
#define NEW_NAMESPACE 0x7e020080U

#define ARG(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define SAY(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define IF(how, k, yes, no) BPF_JUMP(BPF_JMP | (how) | BPF_K, (k), (yes), (no))
#define FAIL(e) SAY(SECCOMP_RET_ERRNO | (e))

/* Rules that end, or leave the call's number loaded. */
#define DENY(nr) IF(BPF_JEQ, (nr), 0, 1), FAIL(EPERM)
#define ABSENT(nr) IF(BPF_JEQ, (nr), 0, 1), FAIL(ENOSYS)
#define NUMBER LOAD(offsetof(struct seccomp_data, nr))

/* A socket of another kind than unix. */
#define UNIX_ONLY(nr)                                                      \
	IF(BPF_JEQ, (nr), 0, 4), LOAD(ARG(0)), IF(BPF_JEQ, AF_UNIX, 1, 0), \
	    FAIL(EAFNOSUPPORT), SAY(SECCOMP_RET_ALLOW)

/* mknod() of a device, its mode in argument ${n}; FIFOs stay possible. */
#define NO_DEVICE(nr, n)                                            \
	IF(BPF_JEQ, (nr), 0, 6), LOAD(ARG(n)),                      \
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, S_IFMT),            \
	    IF(BPF_JEQ, S_IFCHR, 1, 0), IF(BPF_JEQ, S_IFBLK, 0, 1), \
	    FAIL(EPERM), SAY(SECCOMP_RET_ALLOW)

/* clang-format off */
static struct sock_filter program[] = {
	LOAD(offsetof(struct seccomp_data, arch)),
	IF(BPF_JEQ, ARCH, 1, 0),
	SAY(SECCOMP_RET_KILL_PROCESS),
	NUMBER,
#if defined(__x86_64__)
	IF(BPF_JGE, 0x40000000U, 0, 1), /* x32 */
	FAIL(ENOSYS),
#endif

	/* glibc and Python fall back to the older call. */
	ABSENT(SYS_clone3),
	ABSENT(SYS_io_uring_setup),
	ABSENT(SYS_io_uring_enter),
	ABSENT(SYS_io_uring_register),

	/* Other processes, the supervisor above all. */
	DENY(SYS_ptrace),
	DENY(SYS_process_vm_readv),
	DENY(SYS_process_vm_writev),
	DENY(SYS_kcmp),
	DENY(SYS_pidfd_getfd),

	/* Mounts and namespaces. */
	DENY(SYS_mount),
	DENY(SYS_umount2),
	DENY(SYS_pivot_root),
	DENY(SYS_chroot),
	DENY(SYS_open_tree),
	DENY(SYS_move_mount),
	DENY(SYS_fsopen),
	DENY(SYS_fsconfig),
	DENY(SYS_fsmount),
	DENY(SYS_fspick),
	DENY(SYS_mount_setattr),
	DENY(SYS_unshare),
	DENY(SYS_setns),

	/* Large surfaces without a use here; keyrings are not per session. */
	DENY(SYS_keyctl),
	DENY(SYS_add_key),
	DENY(SYS_request_key),
	DENY(SYS_bpf),
	DENY(SYS_perf_event_open),
	DENY(SYS_userfaultfd),
	DENY(SYS_personality),
	DENY(SYS_syslog),
	DENY(SYS_fanotify_init),

	/* Memory that no limit of a process counts. */
	DENY(SYS_memfd_create),
	DENY(SYS_memfd_secret),
	DENY(SYS_shmget),
	DENY(SYS_shmat),
	DENY(SYS_msgget),
	DENY(SYS_semget),
	DENY(SYS_mq_open),

	IF(BPF_JEQ, SYS_clone, 0, 4),
	LOAD(ARG(0)),
	IF(BPF_JSET, NEW_NAMESPACE, 0, 1),
	FAIL(EPERM),
	SAY(SECCOMP_RET_ALLOW),
	UNIX_ONLY(SYS_socket),
	UNIX_ONLY(SYS_socketpair),
#ifdef SYS_mknod
	NO_DEVICE(SYS_mknod, 1),
#endif
	NO_DEVICE(SYS_mknodat, 2),
	SAY(SECCOMP_RET_ALLOW),
};
/* clang-format on */

int
filter_drop(void)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2];
	int cap;

	/* EINVAL is how the kernel says that it knows no more of them. */
	for (cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) && errno == EINVAL)
			break;
	memset(none, 0, sizeof(none));
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    syscall(SYS_capset, &h, none) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return (-1);
	return (0);
}

int
filter_load(void)
{
	struct sock_fprog all = {sizeof(program) / sizeof(program[0]), program};

	return ((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &all));
}
