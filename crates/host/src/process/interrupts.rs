//! Children hear Ctrl+C, whatever our own launcher did.
//!
//! A program started in the background of a shell without job control has the interrupt ignored, and what is ignored
//! stays ignored in every child, where no shell can take it back: Ctrl+C in an agent's terminal would do nothing.
//! A signal with a handler falls back to its default in a child, so ours becomes a handler that does nothing.

use std::ffi::c_int;
use std::sync::Once;

extern "C" fn unheard(_: c_int) {}

/// Makes sure that children started from now on hear interrupts. What they mean to this program stays the same.
pub(super) fn are_heard_by_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            handle_ignored(signal);
        }
    });
}

#[expect(
    unsafe_code,
    reason = "the system's table of signals has no safe wrapper here"
)]
fn handle_ignored(signal: c_int) {
    // SAFETY: the structures live through the calls, all-zero is a valid `sigaction`, and the handler touches nothing,
    // so it may run at any moment on any thread.
    unsafe {
        let mut is: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &raw mut is) != 0
            || is.sa_sigaction != libc::SIG_IGN
        {
            return;
        }
        let mut new: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(c_int) = unheard;
        new.sa_sigaction = handler as usize;
        new.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &raw const new, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::are_heard_by_children;
    use crate::again::{is_again, run_again};

    /// The signals that a shell started by us ignores, as a mask.
    fn ignored_by_a_shell() -> u64 {
        let output = std::process::Command::new("sh")
            .args(["-c", "grep SigIgn /proc/$$/status"])
            .output()
            .expect("sh");
        let line = String::from_utf8_lossy(&output.stdout).into_owned();
        let mask = line.split_whitespace().nth(1).unwrap_or_default();
        u64::from_str_radix(mask, 16).expect("a mask")
    }

    #[test]
    fn a_child_of_a_background_program_hears_ctrl_c() {
        if !std::path::Path::new("/proc/self/status").exists() {
            eprintln!("skipped: there is no /proc here");
            return;
        }
        let interrupts = (1 << (libc::SIGINT - 1)) | (1 << (libc::SIGQUIT - 1));
        if is_again() {
            assert_eq!(ignored_by_a_shell() & interrupts, interrupts, "the case");
            are_heard_by_children();
            assert_eq!(ignored_by_a_shell() & interrupts, 0);
            return;
        }
        let ignoring = ["sh", "-c", "trap '' INT QUIT; exec \"$@\"", "sh"];
        let name = "process::interrupts::tests::a_child_of_a_background_program_hears_ctrl_c";
        run_again(name, &ignoring, &[]).expect("sh");
    }
}
