//! Command lines and their results.

use std::ffi::OsString;
use std::process::ExitCode;

use super::{Streams, run};

/// Lines that hide, move or disguise the command they run.
pub(crate) fn hostile_lines() -> Vec<String> {
    let lines = include_str!("../../base/src/printable/hostile-lines.json");
    serde_json::from_str(lines).expect("a list of lines")
}

fn answer(arguments: &[&str]) -> (bool, String, String) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let arguments = std::iter::once("burin-agent").chain(arguments.iter().copied());
    let code = run(
        arguments.map(OsString::from),
        &mut Streams {
            input: &mut std::io::empty(),
            output: &mut output,
            errors: &mut errors,
        },
    );
    let text = |bytes| String::from_utf8(bytes).expect("the answer is text");
    (code == ExitCode::SUCCESS, text(output), text(errors))
}

#[test]
fn help_uses_stdout_and_usage_errors_use_stderr() {
    let (is_good, output, errors) = answer(&["--help"]);
    assert!(is_good && output.contains("doctor") && errors.is_empty());
    let (is_good, output, errors) = answer(&["dokter"]);
    assert!(!is_good && output.is_empty() && errors.contains("dokter"));
}

#[test]
fn package_files_are_printed_as_an_object() {
    let (is_good, output, errors) = answer(&["--package-files"]);
    assert!(is_good && errors.is_empty(), "{errors}");
    let files: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    assert!(files["man/burin-agent-run.1"].is_string());
}

#[test]
fn acp_help_explains_the_editor_setup() {
    let (is_good, output, _) = answer(&["acp", "--help"]);
    assert!(
        is_good && output.contains("configure the editor to run"),
        "{output}"
    );
    let (_, output, _) = answer(&["--help"]);
    assert!(
        output.contains("Run as an agent of another editor"),
        "{output}"
    );
}

#[test]
fn a_pipe_is_refused_in_a_sentence() {
    let (is_good, _, errors) = answer(&["write", "/dev/null"]);
    assert!(!is_good);
    assert_eq!(
        errors,
        "burin-agent: cannot save /dev/null: it is a pipe, socket or device, not a regular file\n"
    );
}

#[test]
fn names_in_errors_and_lists_reach_no_terminal_raw() {
    for name in [
        "a\u{1b}]0;title\u{7}b",
        "a\rb",
        "a\u{202e}b",
        "a\u{1b}]52;c;eA==\u{7}",
    ] {
        let (is_good, output, errors) = answer(&["apply", name]);
        assert!(!is_good && output.is_empty(), "{output}");
        assert!(errors.contains('a') && errors.ends_with('\n'), "{errors:?}");
        let is_raw = |char: char| char != '\n' && (char.is_control() || char == '\u{202e}');
        assert!(!errors.contains(is_raw), "{errors:?}");
    }
}
