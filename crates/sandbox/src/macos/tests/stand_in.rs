//! The stand-in for the system's launcher: a script that runs this test program again.

use std::ffi::CString;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::linux::{kernel, landlock};
use crate::seatbelt::tests::evaluator::Filter;
use crate::seatbelt::tests::reader;

/// The variable with the file of arguments; it marks the stand-in itself.
const ARGUMENTS: &str = "BURIN_STAND_IN";

/// Exit codes of `sandbox-exec`.
const USAGE: i32 = 64;
const BAD_PROFILE: i32 = 65;

/// Writes the script. A file `exit` beside it makes it end with that code.
pub(super) fn write(folder: &Path) {
    let own = std::env::current_exe().expect("this program");
    let here = folder.display();
    let test = "macos::tests::stand_in::arguments_are_checked";
    let script = format!(
        "#!/bin/sh\n\
         if [ -e '{here}/exit' ]; then echo 'sandbox-exec: refused' >&2; exit \"$(cat '{here}/exit')\"; fi\n\
         printf '%s\\0' \"$@\" > '{here}/arguments'.$$\n\
         {ARGUMENTS}='{here}/arguments'.$$\n\
         export {ARGUMENTS}\n\
         exec '{}' --exact {test} --nocapture 9>&1 >/dev/null\n",
        own.display()
    );
    // `dd` writes the file: if this process held it open for writing while another test forked, the
    // script could not be executed (`ETXTBSY`).
    let mut copied = Command::new("dd")
        .arg(format!("of={here}/launcher"))
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("dd");
    copied
        .stdin
        .take()
        .expect("input")
        .write_all(script.as_bytes())
        .expect("a script");
    assert!(copied.wait().expect("dd").success());
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.join("launcher"), mode).expect("a mode");
}

#[test]
fn arguments_are_checked() {
    if let Some(file) = std::env::var_os(ARGUMENTS) {
        confine(Path::new(&file));
    }
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let code = |arguments: &[&str]| {
        let mut command = Command::new(folder.path().join("launcher"));
        let command = command.args(arguments).stderr(Stdio::null());
        command.status().expect("the stand-in").code()
    };
    let profile = "(version 1)(deny default)";
    assert_eq!(
        code(&["-p", "(version 1)(allow what)", "--", "/bin/true"]),
        Some(BAD_PROFILE)
    );
    assert_eq!(code(&["-p", profile, "/bin/true"]), Some(USAGE));
    assert_eq!(code(&["-f", profile, "--", "/bin/true"]), Some(USAGE));
    assert_eq!(code(&["-p", profile, "--", "/bin/true"]), Some(0));
    assert_eq!(code(&["-p", profile, "--", "/bin/false"]), Some(1));
}

/// Confines itself and executes the command given by the arguments in `file`.
fn confine(file: &Path) -> ! {
    let bytes = fs::read(file).expect("arguments");
    fs::remove_file(file).expect("arguments");
    let arguments: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let [b"-p", profile, b"--", program, arguments @ .., b""] = &arguments[..] else {
        std::process::exit(USAGE);
    };
    let rules = match reader::read(&String::from_utf8_lossy(profile)) {
        Ok(rules) => rules,
        Err(problem) => {
            writeln!(std::io::stderr(), "sandbox-exec: {problem}").expect("a message");
            std::process::exit(BAD_PROFILE);
        }
    };
    let writable = rules.iter().filter(|rule| {
        rule.allows
            && rule
                .operations
                .iter()
                .any(|operation| operation.starts_with("file-write"))
    });
    let paths = writable
        .flat_map(|rule| &rule.filters)
        .filter_map(|filter| match filter {
            Filter::Literal(path) | Filter::Subpath(path) => Some(path.text.clone()),
            _ => None,
        });
    restrict(&paths.collect::<Vec<_>>());
    let os = |bytes: &[u8]| std::ffi::OsStr::from_bytes(bytes).to_owned();
    kernel::duplicate(9, 1).expect("the output");
    kernel::close(9);
    let mut command = Command::new(os(program));
    command
        .args(arguments.iter().map(|argument| os(argument)))
        .env_remove(ARGUMENTS);
    let error = command.exec();
    panic!("cannot become the command: {error}");
}

/// Lets this thread write below these paths only.
fn restrict(paths: &[String]) {
    let version = landlock::version().expect("Landlock");
    let rules = kernel::landlock_create(Some(&landlock::handled(version))).expect("a ruleset");
    for path in paths {
        let Ok(path) = fs::canonicalize(path) else {
            continue;
        };
        let facts = fs::metadata(&path).expect("a path");
        let text = CString::new(path.as_os_str().as_bytes()).expect("a path");
        let held = kernel::open_path(libc::AT_FDCWD, &text, libc::O_PATH | libc::O_CLOEXEC)
            .expect("a path");
        let rights = if facts.is_dir() {
            landlock::folder(version)
        } else {
            landlock::file(version)
        };
        kernel::landlock_allow(rules, rights, held).expect("a rule");
    }
    kernel::control(libc::PR_SET_NO_NEW_PRIVS, 1, 0).expect("no new rights");
    kernel::landlock_restrict(rules).expect("Landlock");
}
