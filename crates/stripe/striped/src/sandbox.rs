//! Privileges that each process gives up before its work.
//!
//! The tunnel process parses input from unauthenticated sources. It has no capabilities, and cannot
//! run programs, open files or create sockets. It can request its channels' sockets from the
//! monitor, and connect them to any address. If the kernel supports seccomp, system calls not
//! listed here fail with EPERM, so that an unforeseen call of a library does not end the process.
//!
//! Over Ethernet, the process keeps `CAP_NET_RAW` and may open sockets, to reopen links when an
//! interface returns.
//!
//! Source: capabilities(7), seccomp(2), prctl(2) (`PR_SET_NO_NEW_PRIVS`, `PR_SET_PDEATHSIG`).

use std::collections::BTreeMap;
use std::error::Error;
use std::io;

use caps::errors::CapsError;
use caps::{CapSet, Capability, CapsHashSet};
use nix::errno::Errno;
use nix::libc;
use nix::sys::prctl::{set_dumpable, set_keepcaps, set_no_new_privs, set_pdeathsig};
use nix::sys::signal::Signal;
use nix::unistd::{Pid, User, getppid, setgroups, setresgid, setresuid};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

const CALLS: [libc::c_long; 44] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_close,
    libc::SYS_fcntl,
    libc::SYS_dup,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_ppoll,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_getrusage,
    libc::SYS_getrandom,
    libc::SYS_uname,
    libc::SYS_futex,
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_tgkill,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_exit,
    libc::SYS_exit_group,
];
/// System calls allowed only if their third argument does not make memory executable.
const CALLS_OF_MEMORY: [libc::c_long; 2] = [libc::SYS_mmap, libc::SYS_mprotect];

/// System calls for sockets from the monitor: channels and metrics.
const CALLS_OF_CONNECTIONS: [libc::c_long; 2] = [libc::SYS_connect, libc::SYS_accept4];

const CALLS_OF_SOCKETS: [libc::c_long; 3] = [libc::SYS_socket, libc::SYS_bind, libc::SYS_ioctl];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kept {
    Connections,
    RawSockets,
}

/// Gives up privileges and ties the process's life to the monitor's. Returns whether the seccomp
/// filter is active.
pub(crate) fn enter(user: Option<&User>, monitor: Pid, kept: Kept) -> Result<bool, Box<dyn Error>> {
    // Requires CAP_SETPCAP; a process without it has few capabilities anyway.
    let _: Result<(), _> = caps::clear(None, CapSet::Bounding);
    if let Some(user) = user {
        set_keepcaps(true)?;
        setgroups(&[])?;
        setresgid(user.gid, user.gid, user.gid)?;
        setresuid(user.uid, user.uid, user.uid)?;
    }
    for set in [CapSet::Ambient, CapSet::Inheritable] {
        caps::clear(None, set)?;
    }
    keep(match kept {
        Kept::Connections => &[],
        Kept::RawSockets => &[Capability::CAP_NET_RAW],
    })?;
    // The memory of this process contains the private key.
    set_dumpable(false)?;
    set_no_new_privs()?;
    // This must be last, as a change of user resets it.
    set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != monitor {
        return Err("the half that runs this one has died".into());
    }
    Ok(filter(kept)?)
}

pub(crate) fn keep_network(is_other_user: bool) -> io::Result<()> {
    let kept = [
        Capability::CAP_NET_ADMIN,
        Capability::CAP_NET_RAW,
        Capability::CAP_NET_BIND_SERVICE,
        Capability::CAP_KILL,
    ];
    keep(&kept[..if is_other_user { 4 } else { 3 }]).map_err(io::Error::other)?;
    set_no_new_privs()?;
    Ok(())
}

fn keep(capabilities: &[Capability]) -> Result<(), CapsError> {
    let had = caps::read(None, CapSet::Permitted)?;
    let kept: CapsHashSet = capabilities.iter().copied().filter(|one| had.contains(one)).collect();
    caps::set(None, CapSet::Effective, &kept)?;
    caps::set(None, CapSet::Permitted, &kept)
}

/// Installs the seccomp filter; returns false if the kernel lacks support.
fn filter(kept: Kept) -> Result<bool, seccompiler::Error> {
    let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(false) };
    let program = program(architecture, kept).map_err(seccompiler::Error::Backend)?;
    match apply_filter(&program) {
        Ok(()) => Ok(true),
        Err(seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error))
            if is_unknown(&error) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn is_unknown(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::EINVAL | Errno::ENOSYS))
}

fn program(architecture: TargetArch, kept: Kept) -> Result<BpfProgram, seccompiler::BackendError> {
    let executable = u64::try_from(libc::PROT_EXEC).expect("a flag");
    let no_program = || {
        let masked = SeccompCmpOp::MaskedEq(executable);
        let condition = SeccompCondition::new(2, SeccompCmpArgLen::Dword, masked, 0)?;
        SeccompRule::new(vec![condition])
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        calls(kept).map(|call| (call, Vec::new())).collect();
    for call in CALLS_OF_MEMORY {
        rules.insert(call, vec![no_program()?]);
    }
    let refused = SeccompAction::Errno(u32::try_from(libc::EPERM).expect("a small number"));
    SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture)?.try_into()
}

fn calls(kept: Kept) -> impl Iterator<Item = libc::c_long> {
    let of_sockets: &[_] = match kept {
        Kept::Connections => &[],
        Kept::RawSockets => &CALLS_OF_SOCKETS,
    };
    CALLS.iter().chain(&CALLS_OF_CONNECTIONS).chain(of_sockets).copied()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::UnixStream;
    use std::process::Command;
    use std::thread;

    use super::*;

    #[test]
    fn filter_compiles_for_every_supported_architecture() {
        for name in ["x86_64", "aarch64", "riscv64"] {
            let architecture = TargetArch::try_from(name).expect("it is known");
            let [less, more] = [Kept::Connections, Kept::RawSockets]
                .map(|kept| program(architecture, kept).expect("a filter").len());
            assert!(0 < less && less < more, "{name}");
        }
    }

    const NEVER: [libc::c_long; 30] = [
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_openat,
        libc::SYS_openat2,
        libc::SYS_open_by_handle_at,
        libc::SYS_unlinkat,
        libc::SYS_renameat2,
        libc::SYS_memfd_create,
        libc::SYS_socketpair,
        libc::SYS_listen,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_kill,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_mount,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_setresuid,
        libc::SYS_capset,
        libc::SYS_prctl,
    ];

    #[test]
    fn filter_allows_no_escaping_calls() {
        for (kept, count) in [(Kept::Connections, 46), (Kept::RawSockets, 49)] {
            let all: Vec<_> = calls(kept).collect();
            let unique: std::collections::BTreeSet<_> = all.iter().copied().collect();
            assert_eq!((all.len(), unique.len()), (count, count), "{kept:?}");
            let refused = NEVER.iter().chain(&CALLS_OF_MEMORY);
            let refused: Vec<_> = refused.filter(|call| unique.contains(call)).collect();
            assert_eq!(refused, Vec::<&i64>::new(), "{kept:?}");
            let sockets = CALLS_OF_SOCKETS.iter().filter(|call| unique.contains(call)).count();
            assert_eq!(sockets, if kept == Kept::RawSockets { 3 } else { 0 });
        }
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the thread of the test goes on without a filter"
    )]
    fn filtered_thread_keeps_its_descriptors_but_opens_no_more() -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let asking = TcpStream::connect(listener.local_addr()?)?;
        let [here, there] = [UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?];
        let at = there.local_addr()?;
        let tried = thread::spawn(move || {
            let is_filtered = filter(Kept::Connections).expect("a filter");
            let errno = |done: io::Result<()>| done.err().and_then(|error| error.raw_os_error());
            let more = [
                errno(File::open("/proc/self/status").map(drop)),
                errno(UdpSocket::bind("127.0.0.1:0").map(drop)),
                errno(TcpStream::connect(at).map(drop)),
                errno(UnixStream::pair().map(drop)),
                errno(Command::new("/bin/true").spawn().map(drop)),
                errno(nix::unistd::pipe().map(drop).map_err(io::Error::from)),
                errno(set_keepcaps(true).map_err(io::Error::from)),
            ];
            let had = listener.accept().map(drop).and(here.connect(at)).and(here.send(b"x"));
            (is_filtered, more, had.map_err(|error| error.to_string()))
        });
        let (is_filtered, more, had) = tried.join().expect("it goes on");
        assert!(is_filtered, "this kernel has no filter");
        assert_eq!(more, [Some(libc::EPERM); 7]);
        assert_eq!((had, there.recv(&mut [0])?), (Ok(1), 1));
        drop(asking);
        Ok(())
    }
}
