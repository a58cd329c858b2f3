//! Skipped tests, test data, spellings of names and a volume that folds them, for the tests of every crate.
//!
//! Knows: `base`. Must not be: a dependency outside tests.
//! Invariant: a skip is one line on the real standard error, which the test harness does not capture, so that
//! `make test` can count and name it.
//! Start at `skip`.

#[cfg(target_os = "linux")]
mod folding_volume;
mod spelling;
#[cfg(not(target_os = "linux"))]
mod system_volume;

#[cfg(target_os = "linux")]
pub use folding_volume::FoldingVolume;
pub use spelling::{Spellings, spelling_count};
#[cfg(not(target_os = "linux"))]
pub use system_volume::FoldingVolume;

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Environment variable that turns every skip into a failure.
pub const NO_SKIPS: &str = "BURIN_NO_SKIPS";

/// Start of the line that reports a skipped test; its name and the reason follow.
const SKIPPED: &str = "skipped: ";
/// Start of the line that reports a skipped part of a test.
const SKIPPED_IN_PART: &str = "skipped in part: ";

/// Reports that the current test is skipped for `reason`. The caller returns.
///
/// # Panics
/// If the environment variable `BURIN_NO_SKIPS` is set to `1`.
#[track_caller]
pub fn skip(reason: impl Display) {
    report(SKIPPED, &reason);
}

/// Reports that the current test goes on without one of its parts.
///
/// # Panics
/// If the environment variable `BURIN_NO_SKIPS` is set to `1`.
#[track_caller]
pub fn skip_part(reason: impl Display) {
    report(SKIPPED_IN_PART, &reason);
}

/// Reports the skips in `output` again, so that they are counted. `output` is the output of another
/// test process that this process captured.
pub fn relay_skips(output: &str) {
    let starts = [SKIPPED, SKIPPED_IN_PART];
    let is_skip = |line: &&str| starts.iter().any(|start| line.starts_with(start));
    let lines: Vec<&str> = output.lines().filter(is_skip).collect();
    if !lines.is_empty() {
        write_uncaptured(&(lines.join("\n") + "\n"));
    }
}

/// Returns the path of a file or folder in `tests/data` of the repository. Does not check that it
/// exists.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data")
        .join(name)
}

#[track_caller]
fn report(start: &str, reason: &dyn Display) {
    let test = test_name();
    let is_allowed = std::env::var_os(NO_SKIPS).is_none_or(|value| value != "1");
    assert!(
        is_allowed,
        "{NO_SKIPS} is set, but {test} is {start}{reason}"
    );
    write_uncaptured(&skip_line(start, &test, reason));
}

/// One line, so that the reason of one test is never taken for another's.
fn skip_line(start: &str, test: &str, reason: &dyn Display) -> String {
    let mut text = format!("{start}{test}: ");
    for word in reason.to_string().split_whitespace() {
        write!(text, "{word} ").expect("a string takes text");
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// The name of the test binary and, from the thread that the harness started, that of the test. With one test thread
/// the harness uses the main thread; the caller's position names the test then.
#[track_caller]
fn test_name() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let stem = program.file_stem().unwrap_or_default().to_string_lossy();
    let binary = match stem.rsplit_once('-') {
        Some((name, _hash)) => name,
        None => &stem,
    };
    match std::thread::current().name() {
        Some(name) if name != "main" => format!("{binary}::{name}"),
        _ => format!("{binary}::{}", std::panic::Location::caller()),
    }
}

/// The harness captures what `eprintln!` prints, but not this. One write, so that lines of several tests do not mix.
fn write_uncaptured(text: &str) {
    // A closed standard error must not fail the test.
    drop(std::io::stderr().write_all(text.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::{SKIPPED, data, skip_line, test_name};

    #[test]
    fn a_skip_is_one_line_with_name_and_reason() {
        let text = skip_line(SKIPPED, "host::save::owner", &"only root\n  can do this ");
        assert_eq!(text, "skipped: host::save::owner: only root can do this\n");
    }

    #[test]
    fn a_test_knows_its_name() {
        let thread = std::thread::Builder::new().name("tests::named".to_owned());
        let named = thread.spawn(test_name).expect("a thread");
        assert_eq!(
            named.join().expect("no panic"),
            "test_support::tests::named"
        );
    }

    #[test]
    fn test_data_is_in_the_repository() {
        assert!(data("README.md").is_file());
    }
}
