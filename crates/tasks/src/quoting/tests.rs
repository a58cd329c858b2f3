//! Values within lines of a shell, also read by a real one.

use std::process::Command;

use super::{ShellFamily, ShellLine};
use crate::definition::TaskDialect::VsCode;
use crate::template::tests::context;

const HOSTILE: &str = "/p/a b; rm -rf ~";

/// Returns the line, or the sentence of the error.
fn line(family: ShellFamily, template: &str, file: &str) -> String {
    let mut line = ShellLine::new(family);
    let pushed = line.push_template(template, VsCode, &context(Some(file)));
    pushed.map_or_else(|error| format!("error: {error}"), |()| line.into_text())
}

#[test]
fn values_are_quoted_as_their_place_requires() {
    for (template, expected) in [
        ("cat ${file}", "cat '/p/a b; rm -rf ~'"),
        ("cat '${file}'", "cat '/p/a b; rm -rf ~'"),
        ("cat \"${file}\"", "cat \"/p/a b; rm -rf ~\""),
        ("cat x${file}y", "cat x'/p/a b; rm -rf ~'y"),
        ("echo \"it's\" ${file}", "echo \"it's\" '/p/a b; rm -rf ~'"),
        (
            "(cd /p && cat ${file})",
            "(cd /p && cat '/p/a b; rm -rf ~')",
        ),
        ("echo a#b ${file}", "echo a#b '/p/a b; rm -rf ~'"),
        ("echo \\\" ${file}", "echo \\\" '/p/a b; rm -rf ~'"),
        ("cat ${workspaceFolder}", "cat /p"),
        ("ls ${input:name}", "ls --all x"),
        ("ls \"${input:name}\"", "ls \"--all x\""),
    ] {
        assert_eq!(line(ShellFamily::Posix, template, HOSTILE), expected);
    }
}

#[test]
fn places_that_cannot_be_followed_take_plain_values_only() {
    for template in [
        "echo $(basename ${file})",
        "echo `basename ${file}`",
        "echo $'${file}'",
        "cat <<EOF\n${file}\nEOF",
        "echo x # it's ${file}",
        "[[ ${file} -eq 1 ]]",
        "((x = ${file}))",
        "echo \"${HOME:-${file}}\"",
        "echo \\${file}",
        "echo $${file}",
        "diff <(cat ${file}) x",
    ] {
        let refused = line(ShellFamily::Posix, template, HOSTILE);
        assert!(refused.starts_with("error: "), "{template}: {refused}");
        assert!(!refused.contains("rm -rf"), "{template}: {refused}");
    }
    let plain = line(ShellFamily::Posix, "echo $(basename ${file})", "/p/a.rs");
    assert_eq!(plain, "echo $(basename /p/a.rs)");
    let other = line(ShellFamily::Other, "cat ${file}", HOSTILE);
    assert!(other.starts_with("error: the value of ${file}"), "{other}");
}

#[test]
fn fish_has_escapes_within_single_quotes() {
    let name = "/p/it's \\";
    let quoted = line(ShellFamily::Fish, "cat ${file}", name);
    assert_eq!(quoted, "cat '/p/it\\'s \\\\'");
    let double = line(ShellFamily::Fish, "cat \"${file}\"", "/p/$x`y");
    assert_eq!(double, "cat \"/p/\\$x`y\"");
    assert_eq!(ShellFamily::of("/usr/bin/fish"), ShellFamily::Fish);
    assert_eq!(ShellFamily::of("zsh"), ShellFamily::Posix);
    assert_eq!(ShellFamily::of("/bin/tcsh"), ShellFamily::Other);
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a real shell is the judge of quotes"
)]
fn a_shell_reads_each_value_as_one_word() {
    let names = [
        "/p/a b; rm -rf ~",
        "/p/$(touch x)`touch x`",
        "/p/'; echo '",
        "/p/\"; echo \"",
        "/p/back\\",
        "/p/line\nfeed",
        "/p/*?[a]{b,c}~!#",
        "/p/-n",
    ];
    for name in names {
        for template in [
            "printf '<%s>' ${file}",
            "printf '<%s>' \"${file}\"",
            "printf '<%s>' '${file}'",
            "(printf '<%s>' ${file})",
        ] {
            let script = line(ShellFamily::Posix, template, name);
            let output = Command::new("sh").args(["-c", &script]).output();
            let output = output.expect("sh runs");
            let text = String::from_utf8(output.stdout).expect("text");
            assert_eq!(text, format!("<{name}>"), "{script}");
        }
    }
}

#[test]
fn weak_quotes_leave_variables_to_the_shell() {
    let mut line = ShellLine::new(ShellFamily::Posix);
    let context = context(Some("/p/$a"));
    let pushed = line.push_weak("$HOME \"x\" ${file}", VsCode, &context);
    assert_eq!(pushed, Ok(()));
    assert_eq!(line.into_text(), "\"$HOME \\\"x\\\" /p/\\$a\"");
    let mut line = ShellLine::new(ShellFamily::Posix);
    assert_eq!(line.push_word("a'b"), Some(()));
    assert_eq!(line.into_text(), "'a'\\''b'");
}
