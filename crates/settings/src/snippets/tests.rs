//! Tests of snippet files.

use super::parse_snippets;

fn check(text: &str, language: Option<&str>, snippets: &[&str], problems: &[&str]) {
    let (parsed, found) = parse_snippets("a.json", text, language);
    let parsed: Vec<String> = parsed
        .iter()
        .map(|it| {
            let (prefixes, languages) = (it.prefixes.join(" "), it.languages.join(" "));
            format!(
                "{} [{prefixes}] ({languages}) {:?} {}",
                it.name, it.body, it.description
            )
        })
        .collect();
    assert_eq!(parsed, snippets, "{text}");
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, problems, "{text}");
}

#[test]
fn files_of_vscode_are_read() {
    let text = r#"{
        // A loop.
        "For": {
            "prefix": ["for", "loop"],
            "body": ["for ${1:i} in $2 {", "\t$0", "}"],
            "description": "a loop",
        },
        "One": { "body": "one", "isFileTemplate": true },
    }"#;
    let expected = [
        r#"For [for loop] (rust) "for ${1:i} in $2 {\n\t$0\n}" a loop"#,
        r#"One [] (rust) "one" "#,
    ];
    check(text, Some("rust"), &expected, &[]);
}

#[test]
fn a_scope_names_the_languages() {
    let text =
        r#"{ "A": { "prefix": "a", "scope": "rust, python", "body": "x" }, "B": { "body": "" } }"#;
    check(
        text,
        None,
        &[r#"A [a] (rust python) "x" "#, r#"B [] () "" "#],
        &[],
    );
}

#[test]
fn mistakes_are_reported_with_their_position() {
    check("", None, &[], &[]);
    let text = "{\n\"A\": { \"prefx\": \"a\", \"body\": 1 },\n\"B\": 2,\n\"C\": {} }";
    let problems = [
        "a.json:2:8: unknown key \"prefx\" in a snippet; did you mean \"prefix\"?",
        "a.json:2:30: expected a string or a list of strings, found a number",
        "a.json:3:6: expected { \"prefix\", \"body\" }, found a number",
        "a.json:4:1: the snippet \"C\" has no body",
    ];
    check(text, None, &[r#"A [] () "" "#], &problems);
    let problem = "a.json:1:1: snippets are an object { name: snippet }, found a list";
    check("[]", None, &[], &[problem]);
}
