//! Makes child processes receive Ctrl+C regardless of how Burin itself was launched.
//!
//! A program started in the background of a shell without job control has SIGINT ignored. An
//! ignored signal stays ignored in every child, and no shell can undo that, so Ctrl+C in an agent's
//! terminal would do nothing. A signal with a handler reverts to its default in a child, so this
//! module installs a handler that does nothing.

use std::ffi::c_int;
use std::sync::Once;

extern "C" fn ignore_signal(_: c_int) {}

/// Makes children started from now on receive interrupts. The signals' effect on Burin itself stays
/// the same.
pub(super) fn restore_for_children() {
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
    // SAFETY: the structures outlive the calls, an all-zero `sigaction` is valid, and the handler
    // touches nothing, so it may run at any moment on any thread.
    unsafe {
        let mut is: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &raw mut is) != 0
            || is.sa_sigaction != libc::SIG_IGN
        {
            return;
        }
        let mut new: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(c_int) = ignore_signal;
        new.sa_sigaction = handler as usize;
        new.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &raw const new, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::restore_for_children;
    use crate::reexec::{is_reexec, reexec_test};

    /// Returns the mask of signals ignored by a shell started here.
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
            return test_support::skip("needs /proc");
        }
        let interrupts = (1 << (libc::SIGINT - 1)) | (1 << (libc::SIGQUIT - 1));
        if is_reexec() {
            assert_eq!(ignored_by_a_shell() & interrupts, interrupts, "the case");
            restore_for_children();
            assert_eq!(ignored_by_a_shell() & interrupts, 0);
            return;
        }
        let ignoring = ["sh", "-c", "trap '' INT QUIT; exec \"$@\"", "sh"];
        let name = "process::interrupts::tests::a_child_of_a_background_program_hears_ctrl_c";
        reexec_test(name, &ignoring, &[]).expect("sh");
    }
}
