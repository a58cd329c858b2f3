//! Tests with scripts in place of login shells.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::*;
use crate::environment::{Recipient, variables};
use crate::reexec::{is_reexec, reexec_test};
use crate::temp::TempFolder;

/// Writes an executable script.
fn script(folder: &TempFolder, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name).as_path().to_owned();
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    path
}

/// Prints the environment as `print_environment_main` does.
fn printer(folder: &TempFolder) -> Vec<OsString> {
    let text = "printf '%s\\0' \"$1\"; env -0; printf '%s\\0' \"$1\"";
    vec![script(folder, "print it's", text).into()]
}

fn read_of(shell: &LoginShell, folder: &TempFolder) -> Result<Vec<Variable>, LoginError> {
    read(shell, &printer(folder), folder.path(), LONG)
}

/// Runs a shell with this start-up file.
fn run(start_up: &str, limit: Duration) -> (Result<Vec<Variable>, LoginError>, Duration) {
    let folder = TempFolder::new().expect("a folder");
    // Called with `-l -i -c COMMAND`.
    let shell = script(&folder, "zsh", &format!("{start_up}\neval \"$4\""));
    let began = Instant::now();
    let read = read(
        &LoginShell::new(shell),
        &printer(&folder),
        folder.path(),
        limit,
    );
    (read, began.elapsed())
}

fn value<'a>(variables: &'a [Variable], name: &str) -> Option<&'a str> {
    let found = variables.iter().find(|(known, _)| known == name);
    found.and_then(|(_, value)| value.to_str())
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn noise_and_background_processes_do_not_disturb() {
    let seconds = format!("7{}.5", std::process::id());
    let start_up = format!(
        "echo 'Welcome=home'; echo oops >&2; export FROM_RC='a\n=b'; export DYLD_X=1; sleep {seconds} &"
    );
    let (read, took) = run(&start_up, LONG);
    let variables = read.expect("an environment");
    assert_eq!(value(&variables, "FROM_RC"), Some("a\n=b"));
    for dropped in ["Welcome", "DYLD_X", RESOLVING, "PWD", "_"] {
        assert_eq!(value(&variables, dropped), None, "{dropped}");
    }
    let is_marked = |(name, _): &Variable| name.to_string_lossy().starts_with(MARK);
    assert!(!variables.iter().any(is_marked));
    assert!(took < LONG / 2, "{took:?}");
    let gone = || crate::process::sleepers(&seconds).is_empty();
    crate::process::wait_until("the end of the background process", gone);
}

#[test]
fn a_start_up_file_sees_that_it_is_resolved_and_has_no_terminal() {
    let start_up =
        format!("export SEEN=\"${RESOLVING}\"; test -t 0 || export NO_TERMINAL=1; read -r x");
    let (read, _) = run(&start_up, LONG);
    let variables = read.expect("an environment");
    assert_eq!(value(&variables, "SEEN"), Some("1"));
    assert_eq!(value(&variables, "NO_TERMINAL"), Some("1"));
}

#[test]
fn a_slow_shell_is_given_up() {
    let (read, took) = run("sleep 600", Duration::from_millis(200));
    assert!(matches!(read, Err(LoginError::Slow(_))), "{read:?}");
    assert!(took < LONG, "{took:?}");
}

#[test]
fn a_failing_or_missing_shell_is_reported() {
    let (read, _) = run("echo broken; exit 3", LONG);
    assert!(matches!(read, Err(LoginError::Silent)), "{read:?}");
    let folder = TempFolder::new().expect("a folder");
    let missing = LoginShell::new(folder.path().join("no-shell").as_path().to_owned());
    let answer = read_of(&missing, &folder);
    let error = answer.expect_err("no shell");
    let shown = sentence(&missing, &error);
    assert!(
        shown.contains("no-shell") && shown.ends_with('.'),
        "{shown}"
    );
}

#[test]
fn real_shells_print_their_environment() {
    for shell in ["/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/fish"] {
        if !std::path::Path::new(shell).exists() {
            test_support::skip_part(format_args!("there is no {shell}"));
            continue;
        }
        let folder = TempFolder::new().expect("a folder");
        let shell = LoginShell::new(shell.into());
        let variables = read_of(&shell, &folder).expect("an environment");
        assert!(value(&variables, "PATH").is_some(), "{shell:?}");
    }
}

#[test]
fn what_is_printed_is_parsed() {
    let pairs = [("A", "1=2"), ("B", ""), ("C", "x\ny")];
    let variables = pairs.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let text = printed("mark".as_ref(), variables.iter().cloned());
    let noisy = [b"mark mark\n", &text[..], b"bye"].concat();
    assert_eq!(parse(&noisy, b"mark").expect("both markers"), variables);
    for end in 0..text.len() {
        assert_eq!(parse(&text[..end], b"mark"), None, "{end}");
    }
}

#[test]
fn terminals_start_no_login_shell() {
    for (has_terminal, is_term_set, expected) in [
        (false, false, true),
        (true, false, false),
        (false, true, false),
        (true, true, false),
    ] {
        assert_eq!(is_desktop_start(has_terminal, is_term_set), expected);
    }
}

#[test]
fn the_cache_holds_no_secrets_and_ends_with_a_start_up_file() {
    let folder = TempFolder::new().expect("a folder");
    let (home, path) = (folder.path(), folder.path().join("cache"));
    let shell = LoginShell::new("/bin/bash".into());
    let pairs = [
        ("PATH", "/rc/bin"),
        ("API_KEY", "s3cret"),
        ("CARGO_HOME", "/c"),
    ];
    let variables = pairs.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    assert_eq!(cache::read(&path, &shell, home), None);
    cache::write(&path, &shell, home, &variables).expect("written");
    let text = std::fs::read(path.as_path()).expect("a file");
    assert!(!String::from_utf8_lossy(&text).contains("s3cret"));
    let mode = std::fs::metadata(path.as_path())
        .expect("a file")
        .permissions();
    assert_eq!(mode.mode() & 0o077, 0);
    let cached = cache::read(&path, &shell, home).expect("cached");
    assert_eq!(value(&cached, "PATH"), Some("/rc/bin"));
    assert_eq!(
        cache::read(&path, &LoginShell::new("/bin/zsh".into()), home),
        None
    );
    std::fs::write(home.join(".bashrc").as_path(), "export PATH=/new").expect("a file");
    assert_eq!(cache::read(&path, &shell, home), None);
}

#[test]
fn children_get_the_adopted_environment() {
    let test = "environment::login::tests::children_get_the_adopted_environment";
    if !is_reexec() {
        reexec_test(test, &["env"], &[]).expect("`env` runs a program");
        return;
    }
    let path = || {
        let variables = variables(Recipient::Foreign);
        value(&variables, "PATH").map(str::to_owned)
    };
    let of = |path: &str| vec![(OsString::from("PATH"), OsString::from(path))];
    // While the shell is read, a cache answers at once.
    current::begin(Instant::now() + LONG, Some(of("/cached")));
    assert_eq!(path().as_deref(), Some("/cached"));
    // Keys wait for the shell.
    let waiting = thread::spawn(|| crate::environment::text_variable("KEY"));
    let mut complete = of("/complete");
    complete.push(("KEY".into(), "from the shell".into()));
    current::finish(Some(complete));
    assert_eq!(
        waiting.join().expect("no panic").as_deref(),
        Some("from the shell")
    );
    assert_eq!(path().as_deref(), Some("/complete"));
    // A shell that fails leaves the cache in use.
    current::begin(Instant::now() + LONG, Some(of("/cached")));
    current::finish(None);
    assert_eq!(path().as_deref(), Some("/cached"));
}
