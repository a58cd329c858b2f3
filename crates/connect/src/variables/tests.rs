//! Expansion of variables.

use super::*;

fn check(text: &str, expected: Result<&str, &str>) {
    let variables = Variables::from([
        ("HOME".to_owned(), "/home/ada".to_owned()),
        ("TOKEN".to_owned(), "s3cret".to_owned()),
        ("EMPTY".to_owned(), String::new()),
    ]);
    let workspace = AbsPath::new("/project/engine").expect("absolute");
    let expansion = Expansion {
        variables: &variables,
        workspace: &workspace,
    };
    match (expansion.expand(text), expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
        (Err(found), Err(expected)) => {
            assert!(found.to_string().contains(expected), "{found}");
        }
        (found, _) => panic!("{text} became {found:?}, not {expected:?}"),
    }
}

#[test]
fn expressions_in_braces_are_expanded() {
    check("plain $5", Ok("plain $5"));
    check("Bearer ${env:TOKEN}", Ok("Bearer s3cret"));
    check("${TOKEN}", Ok("s3cret"));
    check("${workspaceFolder}/a", Ok("/project/engine/a"));
    check("${workspaceFolderBasename}", Ok("engine"));
    check("${userHome}${/}x", Ok("/home/ada/x"));
    check("${NONE:-8080}${EMPTY:-x}${TOKEN:-y}", Ok("8080xs3cret"));
    check("${env:NONE}", Err("the variable NONE is not set"));
    check("${NONE", Err("without its `}`"));
}
