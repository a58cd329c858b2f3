//! Scripts of shells: bash-language-server.

use super::super::installed::Registry;
use super::project;

const UTIL: &str = "# Twice the value.\ndouble() {\n    echo $(($1 * 2))\n}\n";
const USER: &str = "source ./util.sh\n\ndouble 2\n";
const FILES: [&str; 4] = ["a.sh", "b.sh", "main.sh", "util.sh"];

#[test]
fn scripts_are_edited_across_files() {
    let files = [
        ("util.sh", UTIL),
        ("a.sh", USER),
        ("b.sh", USER),
        ("main.sh", "source ./util.sh\n\ndou\n"),
    ];
    let Some(mut client) = project(Registry::Npm, &["bash-language-server"], &files) else {
        return;
    };
    client.show("main.sh");
    client.complete("main.sh", "dou", "double");
    client.insert_after("main.sh", "double", " 3");
    let hover = client.hover("main.sh", "double 3");
    assert!(hover.contains("Twice the value."), "{hover}");
    client.expect_references("main.sh", "double 3", "util.sh", &FILES);
    client.rename_in("main.sh", "double 3", "twice", &FILES);
    // Without ShellCheck it finds no problems.
    client.wait_for_diagnostics("main.sh", &[]);
    client.end();
}
