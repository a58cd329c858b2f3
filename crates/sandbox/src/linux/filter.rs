//! The seccomp filter: which system calls are allowed, denied, or reported to `watch`.
//!
//! Invariant: a denied call never gets past the filter, whatever the process's memory contains:
//! only registers are examined. Reported calls are answered by `watch`.

use libc::c_long;

/// The filter's decision about a call.
#[derive(Clone, Copy)]
enum FilterAction {
    Allow,
    Kill,
    Errno(i32),
    Ask,
}

impl FilterAction {
    /// Returns the value by which a filter requests this action from the kernel.
    fn value(self) -> u32 {
        match self {
            Self::Allow => 0x7fff_0000,
            Self::Kill => 0x8000_0000,
            Self::Errno(errno) => 0x0005_0000 | errno as u32,
            Self::Ask => 0x7fc0_0000,
        }
    }
}

/// Calls that are always denied. They are reported only to record the denial: the answer is always
/// an error.
pub(super) const DENIED: &[(c_long, &str)] = &[
    (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_process_vm_writev, "process_vm_writev"),
    (libc::SYS_process_madvise, "process_madvise"),
    (libc::SYS_pidfd_getfd, "pidfd_getfd"),
    (libc::SYS_kcmp, "kcmp"),
    (libc::SYS_bpf, "bpf"),
    (libc::SYS_userfaultfd, "userfaultfd"),
    (libc::SYS_keyctl, "keyctl"),
    (libc::SYS_add_key, "add_key"),
    (libc::SYS_request_key, "request_key"),
    (libc::SYS_perf_event_open, "perf_event_open"),
    (libc::SYS_io_uring_setup, "io_uring_setup"),
    (libc::SYS_io_uring_enter, "io_uring_enter"),
    (libc::SYS_io_uring_register, "io_uring_register"),
    (libc::SYS_mount, "mount"),
    (libc::SYS_umount2, "umount2"),
    (libc::SYS_move_mount, "move_mount"),
    (libc::SYS_open_tree, "open_tree"),
    (467, "open_tree_attr"),
    (libc::SYS_fsopen, "fsopen"),
    (libc::SYS_fsconfig, "fsconfig"),
    (libc::SYS_fsmount, "fsmount"),
    (libc::SYS_fspick, "fspick"),
    (libc::SYS_mount_setattr, "mount_setattr"),
    (libc::SYS_pivot_root, "pivot_root"),
    (libc::SYS_chroot, "chroot"),
    (libc::SYS_unshare, "unshare"),
    (libc::SYS_setns, "setns"),
    (libc::SYS_open_by_handle_at, "open_by_handle_at"),
    (libc::SYS_name_to_handle_at, "name_to_handle_at"),
    (libc::SYS_fanotify_init, "fanotify_init"),
    (libc::SYS_kexec_load, "kexec_load"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_kexec_file_load, "kexec_file_load"),
    (libc::SYS_init_module, "init_module"),
    (libc::SYS_finit_module, "finit_module"),
    (libc::SYS_delete_module, "delete_module"),
    (libc::SYS_swapon, "swapon"),
    (libc::SYS_swapoff, "swapoff"),
    (libc::SYS_reboot, "reboot"),
    (libc::SYS_quotactl, "quotactl"),
    (443, "quotactl_fd"),
    (libc::SYS_acct, "acct"),
    (libc::SYS_settimeofday, "settimeofday"),
    (libc::SYS_clock_settime, "clock_settime"),
    (libc::SYS_sethostname, "sethostname"),
    (libc::SYS_setdomainname, "setdomainname"),
    (libc::SYS_syslog, "syslog"),
    (libc::SYS_vhangup, "vhangup"),
    (libc::SYS_nfsservctl, "nfsservctl"),
    (libc::SYS_lookup_dcookie, "lookup_dcookie"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_iopl, "iopl"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_ioperm, "ioperm"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_modify_ldt, "modify_ldt"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_uselib, "uselib"),
];

/// Calls that change something by path, reported to record denials and to keep missing protected
/// names from being created.
const CHANGING: &[c_long] = &[
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_fchownat,
    libc::SYS_truncate,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_connect,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_renameat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
];

/// The namespace flags of `clone`.
pub(super) const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// Terminal requests that inject input, or change the console.
const TYPING: [u32; 4] = [
    libc::TIOCSTI as u32,
    0x541c, // TIOCLINUX
    0x541d, // TIOCCONS
    0x5423, // TIOCSETD
];

const WRITING: u32 =
    (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND) as u32;

/// The flags that make `open` create a file.
const MAKING: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u32;

/// The set-user-id and set-group-id bits.
const SET_ID: u32 = 0o6000;

#[cfg(target_arch = "x86_64")]
const MACHINE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const MACHINE: u32 = 0xc000_00b7;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

#[derive(Clone, Copy)]
struct Instruction {
    code: u16,
    /// The number of instructions to skip if the test holds, and if it does not.
    jumps: [u8; 2],
    value: u32,
}

fn load(from: u32) -> Instruction {
    let (code, jumps) = (LOAD, [0, 0]);
    Instruction {
        code,
        jumps,
        value: from,
    }
}

/// Loads the lower half of an argument; the kernel ignores the upper halves of the arguments tested
/// here as well.
fn argument(ix: u32) -> Instruction {
    load(16 + 8 * ix)
}

fn test(code: u16, value: u32, jumps: [u8; 2]) -> Instruction {
    Instruction { code, jumps, value }
}

fn answer(verdict: FilterAction) -> Instruction {
    Instruction {
        code: RETURN,
        jumps: [0, 0],
        value: verdict.value(),
    }
}

/// Returns `verdict` if any of the bits is set in an argument.
fn any_bit(ix: u32, bits: u32, verdict: FilterAction) -> Vec<Instruction> {
    vec![
        argument(ix),
        test(ANY_BIT, bits, [0, 1]),
        answer(verdict),
        answer(FilterAction::Allow),
    ]
}

/// Refuses set-user-id and set-group-id modes, since the file's owner outside the sandbox is the
/// user. Returns `verdict` for other modes.
fn mode(ix: u32, verdict: FilterAction) -> Vec<Instruction> {
    vec![
        argument(ix),
        test(ANY_BIT, SET_ID, [0, 1]),
        answer(FilterAction::Errno(libc::EPERM)),
        answer(verdict),
    ]
}

/// Tests an `open` call with flags at `ix` followed by the mode of a new file.
fn opening(ix: u32) -> Vec<Instruction> {
    vec![
        argument(ix),
        test(ANY_BIT, MAKING, [0, 3]),
        argument(ix + 1),
        test(ANY_BIT, SET_ID, [0, 1]),
        answer(FilterAction::Errno(libc::EPERM)),
        argument(ix),
        test(ANY_BIT, WRITING, [0, 1]),
        answer(FilterAction::Ask),
        answer(FilterAction::Allow),
    ]
}

/// Returns `hit` if the argument is one of the values, otherwise `miss`.
fn one_of(
    ix: u32,
    mask: u32,
    values: &[u32],
    hit: FilterAction,
    miss: FilterAction,
) -> Vec<Instruction> {
    let mut block = vec![argument(ix), test(AND, mask, [0, 0])];
    for value in values {
        block.push(test(EQUAL, *value, [0, 1]));
        block.push(answer(hit));
    }
    block.push(answer(miss));
    block
}

fn sockets() -> Vec<Instruction> {
    const KIND: u32 = 0xf;
    let unknown = FilterAction::Errno(libc::EAFNOSUPPORT);
    let no = FilterAction::Errno(libc::EPERM);
    // Datagram sockets name their receiver in memory, which a filter cannot read; stream sockets
    // have to connect.
    let streams = [libc::SOCK_STREAM as u32, libc::SOCK_SEQPACKET as u32];
    let local = one_of(1, KIND, &streams, FilterAction::Allow, no);
    let raw = [libc::SOCK_RAW as u32, 10, libc::SOCK_RDM as u32];
    let internet = one_of(1, KIND, &raw, no, FilterAction::Allow);
    let mut block = vec![
        argument(0),
        test(EQUAL, libc::AF_UNIX as u32, [3, 0]),
        test(EQUAL, libc::AF_INET as u32, [2 + local.len() as u8, 0]),
        test(EQUAL, libc::AF_INET6 as u32, [1 + local.len() as u8, 0]),
        answer(unknown),
    ];
    // The jumps above skip the answer and, for internet sockets, the local rule.
    block.extend(local);
    block.extend(internet);
    block
}

/// Returns the calls with a rule, in no order, and for each the instructions that decide about it.
/// A call without a rule is allowed.
fn rules() -> Vec<(c_long, Vec<Instruction>)> {
    let mut rules = vec![
        (libc::SYS_openat, opening(2)),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, opening(1)),
        // Its flags are in memory, which a filter cannot read. Programs fall back on `openat`.
        (
            libc::SYS_openat2,
            vec![answer(FilterAction::Errno(libc::ENOSYS))],
        ),
        (libc::SYS_fchmod, mode(1, FilterAction::Allow)),
        (libc::SYS_fchmodat, mode(2, FilterAction::Ask)),
        (452, mode(2, FilterAction::Ask)), // fchmodat2
        (libc::SYS_mknodat, mode(2, FilterAction::Ask)),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, mode(1, FilterAction::Ask)),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, mode(1, FilterAction::Ask)),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, mode(1, FilterAction::Ask)),
        (
            libc::SYS_ioctl,
            one_of(1, u32::MAX, &TYPING, FilterAction::Ask, FilterAction::Allow),
        ),
        (
            libc::SYS_clone,
            any_bit(0, NEW_NAMESPACES, FilterAction::Ask),
        ),
        // Its flags are in memory, which a filter cannot read. Libraries fall back on `clone`.
        (
            libc::SYS_clone3,
            vec![answer(FilterAction::Errno(libc::ENOSYS))],
        ),
        (libc::SYS_socket, sockets()),
        (libc::SYS_socketpair, sockets()),
        (libc::SYS_personality, personality()),
        (
            libc::SYS_utimensat,
            one_of(1, u32::MAX, &[0], FilterAction::Allow, FilterAction::Ask),
        ),
    ];
    let ask = |number: &c_long| (*number, vec![answer(FilterAction::Ask)]);
    rules.extend(CHANGING.iter().map(ask));
    rules.extend(DENIED.iter().map(|(number, _)| ask(number)));
    rules
}

/// Allows the default personality, queries, and disabling address space randomization.
fn personality() -> Vec<Instruction> {
    let usual = [0, u32::MAX, 0x0004_0000];
    let no = FilterAction::Errno(libc::EPERM);
    one_of(0, u32::MAX, &usual, FilterAction::Allow, no)
}

/// Arranges the rules, sorted by call number, as a binary decision tree. The kernel evaluates a new
/// filter for every existing call, and a linear list would be scanned for each.
fn tree(rules: &[(c_long, Vec<Instruction>)]) -> Vec<Instruction> {
    if let [] | [_] | [_, _] = rules {
        let mut list = Vec::new();
        for (number, block) in rules {
            list.push(test(EQUAL, *number as u32, [0, block.len() as u8]));
            list.extend_from_slice(block);
        }
        list.push(answer(FilterAction::Allow));
        return list;
    }
    let (low, high) = rules.split_at(rules.len() / 2);
    let below = tree(low);
    let mut choice = vec![
        test(AT_LEAST, high[0].0 as u32, [0, 1]),
        test(JUMP, below.len() as u32, [0, 0]),
    ];
    choice.extend(below);
    choice.extend(tree(high));
    choice
}

/// Returns the filter as the kernel's byte code.
pub(super) fn program() -> Vec<u8> {
    let mut program = vec![
        load(ARCHITECTURE),
        test(EQUAL, MACHINE, [1, 0]),
        answer(FilterAction::Kill),
        load(NUMBER),
    ];
    if cfg!(target_arch = "x86_64") {
        // The x32 ABI: the same calls under other numbers.
        program.push(test(AT_LEAST, 0x4000_0000, [0, 1]));
        program.push(answer(FilterAction::Kill));
    }
    let mut rules = rules();
    rules.sort_by_key(|(number, _)| *number);
    program.extend(tree(&rules));
    let mut bytes = Vec::with_capacity(8 * program.len());
    for Instruction { code, jumps, value } in program {
        bytes.extend(code.to_ne_bytes());
        bytes.extend(jumps);
        bytes.extend(value.to_ne_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{
        AND, ANY_BIT, AT_LEAST, EQUAL, FilterAction, Instruction, JUMP, LOAD, MACHINE, RETURN,
        program, rules,
    };

    /// Evaluates the filter for a call as the kernel does.
    fn run(program: &[Instruction], number: u32, arguments: [u32; 4]) -> u32 {
        let (mut at, mut held) = (0, 0);
        loop {
            let Instruction { code, jumps, value } = program[at];
            at += 1;
            let holds = match code {
                LOAD => {
                    held = match value {
                        0 => number,
                        4 => MACHINE,
                        place => arguments[(place as usize - 16) / 8],
                    };
                    continue;
                }
                AND => {
                    held &= value;
                    continue;
                }
                JUMP => {
                    at += value as usize;
                    continue;
                }
                RETURN => return value,
                EQUAL => held == value,
                AT_LEAST => held >= value,
                ANY_BIT => held & value != 0,
                other => panic!("{other:#x} is not an instruction"),
            };
            at += usize::from(jumps[usize::from(!holds)]);
        }
    }

    fn read(bytes: &[u8]) -> Vec<Instruction> {
        let instruction = |bytes: &[u8]| Instruction {
            code: u16::from_ne_bytes([bytes[0], bytes[1]]),
            jumps: [bytes[2], bytes[3]],
            value: u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
        };
        bytes.chunks_exact(8).map(instruction).collect()
    }

    #[test]
    fn every_call_meets_its_own_rule_and_no_other() {
        let (program, rules) = (read(&program()), rules());
        let values = [0, 1, 2, 3, 0o6755, 0x5412, 0x4000, u32::MAX];
        for number in 0..1_000 {
            let mut own = rules.iter().filter(|(its, _)| *its == i64::from(number));
            let block = own.next().map(|(_, block)| block);
            assert!(own.next().is_none(), "{number} has two rules");
            for value in values {
                for other in values {
                    let arguments = [other, value, other, value];
                    let wanted = match block {
                        Some(block) => run(block, number, arguments),
                        None => FilterAction::Allow.value(),
                    };
                    let met = run(&program, number, arguments);
                    assert_eq!(met, wanted, "call {number} with {arguments:x?}");
                }
            }
        }
    }
}
