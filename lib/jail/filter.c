#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
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
#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE 62
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_statmount
#define SYS_statmount 457
#define SYS_listmount 458
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_getxattrat 464
#define SYS_listxattrat 465
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif

/* A socket's type without its flags. */
#define SOCKET_KIND 0xfU

/* Every CLONE_NEW* flag. */
#define NEW_NAMESPACE 0x7e020080U

/* In namespaces that is the supervisor. */
#define FIRST_PROCESS 1

/* Of ioprio_set(2), which no header names. */
#define IOPRIO_WHO_PROCESS 1

/* Of fcntl(2): tell me of what is done in this directory. */
#define TELLS_OF_DIRECTORY 1026 /* F_NOTIFY */

/* The bytes of shared memory without a name that one mapping can make. */
#define SHARED_MOST (FILTER_SHARED_MIB << 20)

#define ARG(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define SAY(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define IF(how, k, yes, no) BPF_JUMP(BPF_JMP | (how) | BPF_K, (k), (yes), (no))
#define FAIL(e) SAY(SECCOMP_RET_ERRNO | (e))

/* Rules that end, or leave the call's number loaded. */
#define DENY(nr) IF(BPF_JEQ, (nr), 0, 1), FAIL(EPERM)
#define ABSENT(nr) IF(BPF_JEQ, (nr), 0, 1), FAIL(ENOSYS)
#define UNKNOWN(nr) IF(BPF_JEQ, (nr), 0, 1), FAIL(EOPNOTSUPP)
#define NOTHING(nr) IF(BPF_JEQ, (nr), 0, 1), FAIL(0) /* Done, it says. */
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

/* A call whose argument ${n} is another number than ${k}. */
#define ONLY(nr, n, k)                                                 \
	IF(BPF_JEQ, (nr), 0, 4), LOAD(ARG(n)), IF(BPF_JEQ, (k), 1, 0), \
	    FAIL(EPERM), NUMBER

/* A call whose argument ${n} is the number ${k}. */
#define NOT(nr, n, k)                                                  \
	IF(BPF_JEQ, (nr), 0, 4), LOAD(ARG(n)), IF(BPF_JEQ, (k), 0, 1), \
	    FAIL(EPERM), NUMBER

/* A call whose argument ${n} has one of the bits ${k}. */
#define WITHOUT(nr, n, k, e)                                            \
	IF(BPF_JEQ, (nr), 0, 4), LOAD(ARG(n)), IF(BPF_JSET, (k), 0, 1), \
	    FAIL(e), NUMBER

/* A setting of sockets that takes a program for the kernel. */
#define NO_SOCKET_FILTER(option)                         \
	IF(BPF_JEQ, SYS_setsockopt, 0, 6), LOAD(ARG(1)), \
	    IF(BPF_JEQ, SOL_SOCKET, 0, 3), LOAD(ARG(2)), \
	    IF(BPF_JEQ, (option), 0, 1), FAIL(EPERM), NUMBER

/* Bits of a mode with which a program runs as somebody else. */
#define SETS_ID (S_ISUID | S_ISGID)

/* A file's mode in argument ${n}, with such bits. */
#define NO_SETS_ID(nr, n)                                                   \
	IF(BPF_JEQ, (nr), 0, 4), LOAD(ARG(n)), IF(BPF_JSET, SETS_ID, 0, 1), \
	    FAIL(EPERM), NUMBER

/* The same of an open(), whose flags before the mode say whether it counts. */
#define MAKES (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
#define NO_SETS_ID_OPEN(nr, n)                                                \
	IF(BPF_JEQ, (nr), 0, 6), LOAD(ARG((n)-1)), IF(BPF_JSET, MAKES, 0, 3), \
	    LOAD(ARG(n)), IF(BPF_JSET, SETS_ID, 0, 1), FAIL(EPERM), NUMBER

/* What the supervisor is to do. */
#define ASK(nr) IF(BPF_JEQ, (nr), 0, 1), SAY(SECCOMP_RET_USER_NOTIF)

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

	/*
	 * Shared memory without a name outlives what a process has of it in
	 * its addresses, so nobody sees how much there is: it is bounded when
	 * it is made.  Large pages are the machine's.
	 */
	IF(BPF_JEQ, SYS_mmap, 0, 10),
	LOAD(ARG(3)),
	IF(BPF_JSET, MAP_HUGETLB, 7, 0),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_SHARED | MAP_ANONYMOUS),
	IF(BPF_JEQ, MAP_SHARED | MAP_ANONYMOUS, 0, 4),
	LOAD(ARG(1) + 4),
	IF(BPF_JEQ, 0, 0, 3),
	LOAD(ARG(1)),
	IF(BPF_JGT, SHARED_MOST, 1, 0),
	SAY(SECCOMP_RET_ALLOW),
	FAIL(ENOMEM),

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
	DENY(SYS_process_madvise),
	DENY(SYS_process_mrelease),
	DENY(SYS_move_pages),
	DENY(SYS_migrate_pages),
	NOT(SYS_prlimit64, 0, FIRST_PROCESS),
	ONLY(SYS_setpriority, 0, PRIO_PROCESS),
	NOT(SYS_setpriority, 1, FIRST_PROCESS),
	ONLY(SYS_ioprio_set, 0, IOPRIO_WHO_PROCESS),
	NOT(SYS_ioprio_set, 1, FIRST_PROCESS),
	NOT(SYS_sched_setaffinity, 0, FIRST_PROCESS),
	NOT(SYS_sched_setscheduler, 0, FIRST_PROCESS),
	NOT(SYS_sched_setparam, 0, FIRST_PROCESS),
	NOT(SYS_sched_setattr, 0, FIRST_PROCESS),
	NOT(SYS_prctl, 0, PR_SCHED_CORE),

	/* The supervisor looks at what its processes hold. */
	IF(BPF_JEQ, SYS_prctl, 0, 6),
	LOAD(ARG(0)),
	IF(BPF_JEQ, PR_SET_DUMPABLE, 0, 3),
	LOAD(ARG(1)),
	IF(BPF_JEQ, 1, 1, 0),
	FAIL(EPERM),
	NUMBER,
	WITHOUT(SYS_close_range, 2, CLOSE_RANGE_UNSHARE, EINVAL),

	/* What others do with files that both may read. */
#ifdef SYS_inotify_init
	ABSENT(SYS_inotify_init),
#endif
	ABSENT(SYS_inotify_init1),
	ABSENT(SYS_cachestat),
	IF(BPF_JEQ, SYS_fcntl, 0, 4),
	LOAD(ARG(1)),
	IF(BPF_JEQ, TELLS_OF_DIRECTORY, 0, 1),
	FAIL(EINVAL),
	NUMBER,

	/* What all of the machine wait for, or share. */
	NOTHING(SYS_sync),
	NOTHING(SYS_syncfs),
	DENY(SYS_quotactl),
	DENY(SYS_quotactl_fd),
	ABSENT(SYS_io_setup),
	ABSENT(SYS_io_destroy),
	ABSENT(SYS_io_submit),
	ABSENT(SYS_io_cancel),
	ABSENT(SYS_io_getevents),
	ABSENT(SYS_io_pgetevents),

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
	ABSENT(SYS_vmsplice), /* Pages stay, and with them large ones. */
	ABSENT(SYS_landlock_create_ruleset),
	ABSENT(SYS_landlock_add_rule),
	ABSENT(SYS_landlock_restrict_self),
	ABSENT(SYS_seccomp),
	NOT(SYS_prctl, 0, PR_SET_SECCOMP),
	NO_SOCKET_FILTER(SO_ATTACH_FILTER),
	NO_SOCKET_FILTER(SO_ATTACH_BPF),
	NO_SOCKET_FILTER(SO_ATTACH_REUSEPORT_CBPF),
	NO_SOCKET_FILTER(SO_ATTACH_REUSEPORT_EBPF),

	/* Threads have their process's descriptors, where we look for them. */
	IF(BPF_JEQ, SYS_clone, 0, 6),
	LOAD(ARG(0)),
	IF(BPF_JSET, NEW_NAMESPACE, 2, 0),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, CLONE_THREAD | CLONE_FILES),
	IF(BPF_JEQ, CLONE_THREAD, 0, 1),
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

/* The other one has seen to the processor. */
static struct sock_filter lone[] = {
	NUMBER,

	/*
	 * A unix socket finds others by paths, which no rule confines.  Those
	 * of these two kinds send to none but their peer; SOCK_RAW is another
	 * word for SOCK_DGRAM.
	 */
	ONLY(SYS_socketpair, 0, AF_UNIX),
	IF(BPF_JEQ, SYS_socketpair, 0, 6),
	LOAD(ARG(1)),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCKET_KIND),
	IF(BPF_JEQ, SOCK_STREAM, 2, 0),
	IF(BPF_JEQ, SOCK_SEQPACKET, 1, 0),
	FAIL(EPERM),
	SAY(SECCOMP_RET_ALLOW),
	DENY(SYS_socket),
	DENY(SYS_connect),
	DENY(SYS_bind),
	DENY(SYS_listen),
	DENY(SYS_accept),
	DENY(SYS_accept4),

	/* Numbers that all of the user share. */
	DENY(SYS_shmctl),
	DENY(SYS_shmdt),
	DENY(SYS_msgsnd),
	DENY(SYS_msgrcv),
	DENY(SYS_msgctl),
	DENY(SYS_semop),
	DENY(SYS_semtimedop),
	DENY(SYS_semctl),
	DENY(SYS_mq_unlink),

	/* Other processes of the user: one's own number is 0. */
	ONLY(SYS_prlimit64, 0, 0),
	ONLY(SYS_setpriority, 1, 0),
	ONLY(SYS_ioprio_set, 1, 0),
	ONLY(SYS_sched_setaffinity, 0, 0),
	ONLY(SYS_sched_setscheduler, 0, 0),
	ONLY(SYS_sched_setparam, 0, 0),
	ONLY(SYS_sched_setattr, 0, 0),

	/* The mounts of the whole machine. */
	DENY(SYS_listmount),
	DENY(SYS_statmount),

	/* No mount says that programs here run as nobody else. */
#ifdef SYS_open
	NO_SETS_ID_OPEN(SYS_open, 2),
	NO_SETS_ID(SYS_creat, 1),
	NO_SETS_ID(SYS_mknod, 1),
#endif
	NO_SETS_ID_OPEN(SYS_openat, 3),
	ABSENT(SYS_openat2), /* Its mode cannot be seen. */
	NO_SETS_ID(SYS_mknodat, 2),
	NO_SETS_ID(SYS_fchmod, 1),

	/* Files of the user that cannot be opened, by their names. */
	UNKNOWN(SYS_getxattr),
	UNKNOWN(SYS_lgetxattr),
	UNKNOWN(SYS_listxattr),
	UNKNOWN(SYS_llistxattr),
	ABSENT(SYS_getxattrat),
	ABSENT(SYS_listxattrat),
#ifdef SYS_chown
	DENY(SYS_chown),
	DENY(SYS_lchown),
#endif
	DENY(SYS_fchownat),
	DENY(SYS_setxattr),
	DENY(SYS_lsetxattr),
	DENY(SYS_removexattr),
	DENY(SYS_lremovexattr),
	ABSENT(SYS_setxattrat),
	ABSENT(SYS_removexattrat),
	ABSENT(SYS_file_setattr),
#ifdef SYS_utime
	ABSENT(SYS_utime),
	ABSENT(SYS_utimes),
	ABSENT(SYS_futimesat),
	ASK(SYS_chmod),
#endif
	ASK(SYS_fchmodat),
	ASK(SYS_fchmodat2),
	IF(BPF_JEQ, SYS_utimensat, 0, 5),
	LOAD(ARG(1)),
	IF(BPF_JEQ, 0, 0, 2),
	LOAD(ARG(1) + 4),
	IF(BPF_JEQ, 0, 1, 0), /* Of a descriptor. */
	SAY(SECCOMP_RET_USER_NOTIF),
	SAY(SECCOMP_RET_ALLOW),
};
/* Nobody finds the open files that are on their way in a pair. */
static struct sock_filter shut[] = {
	NUMBER,
	DENY(SYS_sendmsg),
	DENY(SYS_sendmmsg),
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

#define COUNT(a) ((unsigned short)(sizeof(a) / sizeof((a)[0])))

static int
load(struct sock_filter *p, unsigned short n, unsigned int flags)
{
	struct sock_fprog all = {n, p};

	return (
	    (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &all));
}

int
filter_load(void)
{

	return (load(program, COUNT(program), 0));
}

int
filter_lone(void)
{

	return (load(lone, COUNT(lone), SECCOMP_FILTER_FLAG_NEW_LISTENER));
}

int
filter_shut(void)
{

	return (load(shut, COUNT(shut), 0));
}
