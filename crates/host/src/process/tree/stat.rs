//! The fields of `/proc/…/stat` that tell processes and their relations apart.

use std::fs;

/// One process as `/proc` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcStat {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// The start time in ticks since boot.
    pub(super) began: u64,
    /// Whether it has ended and was not reaped.
    pub(super) is_dead: bool,
    /// Whether it is a thread of the kernel, which never has an environment.
    pub(super) is_kernel_thread: bool,
}

pub(super) fn all_processes() -> Vec<ProcStat> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter_map(|name| name.parse().ok())
        .filter_map(read_proc_stat)
        .collect()
}

pub(super) fn read_proc_stat(pid: i32) -> Option<ProcStat> {
    read_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The flag of a kernel thread in `/proc/…/stat`: `PF_KTHREAD` in the kernel's `sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Parses `/proc/…/stat`. The second field is a name in parentheses that may contain anything.
fn read_stat(pid: i32, line: &str) -> Option<ProcStat> {
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |ix: usize| fields.get(ix)?.parse().ok();
    Some(ProcStat {
        pid,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        began: fields.get(19)?.parse().ok()?,
        is_dead: matches!(*fields.first()?, "Z" | "X" | "x"),
        is_kernel_thread: fields.get(6)?.parse::<u64>().ok()? & KERNEL_THREAD != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::read_stat;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_confuse() {
        let line = "42 (a) b) S 1 7 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1";
        let seen = read_stat(42, line).expect("a line");
        assert_eq!((seen.parent, seen.group, seen.session), (1, 7, 9));
        assert_eq!((seen.began, seen.is_dead), (12345, false));
        assert!(!seen.is_kernel_thread);
        let kernel = "9 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 5 0 0 20 0 1 0 42 0 0";
        assert!(read_stat(9, kernel).expect("a line").is_kernel_thread);
        assert_eq!(read_stat(1, "1 (x"), None);
    }
}
