//! Decisions about calls: `--yes` answers permission requests and nothing else, an invalid
//! permissions file allows nothing, and commands that run without permission show no secrets.

use serde_json::{Value, json};

use super::home::{Home, Left, is_there};

/// A home whose model makes these calls, one after the other.
fn calling(calls: &[(&str, Value)]) -> Home {
    let mut rules: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(ix, (tool, arguments))| {
            json!({ "match": { "step": ix + 1 },
                "reply": [{ "call": { "tool": tool, "arguments": arguments } }] })
        })
        .collect();
    rules.push(json!({ "reply": [{ "text": "Done." }] }));
    let home = Home::new(&Value::Array(rules));
    home.write("project/a.txt", "one\n");
    home.write("project/victim.txt", "victim\n");
    home
}

fn commands(lines: &[&str]) -> Vec<(&'static str, Value)> {
    let call = |line: &&str| ("exec_command", json!({ "command": line }));
    lines.iter().map(call).collect()
}

fn with_yes(home: &Home) -> Left {
    let left = home.run(&["run", "--model", "mock/m", "--yes", "go"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(left.output.contains("Done."), "{left:?}");
    left
}

/// Returns all text that the model was sent.
fn told(home: &Home) -> String {
    let asked = home.asked();
    asked.last().expect("a request").to_string()
}

#[test]
fn yes_keeps_deny_rules_and_protected_files() {
    let home = calling(&[
        ("exec_command", json!({ "command": "rm victim.txt" })),
        (
            "exec_command",
            json!({ "command": "true; sudo --user root rm victim.txt" }),
        ),
        ("exec_command", json!({ "command": "r=rm; $r victim.txt" })),
        ("exec_command", json!({ "command": "echo made > made.txt" })),
        ("read", json!({ "path": "private/p.txt" })),
        ("read", json!({ "path": ".env" })),
        ("exec_command", json!({ "command": "cat private/p.txt" })),
        (
            "write",
            json!({ "path": "private/new.txt", "content": "x" }),
        ),
        (
            "write",
            json!({ "path": ".git/hooks/pre-commit", "content": "x" }),
        ),
        (
            "write",
            json!({ "path": ".vscode/tasks.json", "content": "{}" }),
        ),
        ("write", json!({ "path": ".envrc", "content": "x" })),
        ("write", json!({ "path": "b.txt", "content": "written\n" })),
        (
            "exec_command",
            json!({ "command": "apply_patch <<'E'\n*** Begin Patch\n*** Add File: .git/hooks/post-commit\n+x\n*** End Patch\nE" }),
        ),
    ]);
    home.write("project/private/p.txt", "PRIVATE-1");
    home.write("project/.env", "SECRET=ENV-2");
    home.write(".ssh/id_rsa", "KEY-3");
    home.write(
        "config/permissions.json",
        r#"{ "permissions": { "deny": ["Bash(rm:*)", "Read(**/private/**)", "Edit(private/**)"] } }"#,
    );
    let left = with_yes(&home);
    for there in ["victim.txt", "made.txt", "b.txt"] {
        assert!(
            is_there(&home.path(&format!("project/{there}"))),
            "{there}: {left:?}"
        );
    }
    for gone in [
        "private/new.txt",
        ".git/hooks/pre-commit",
        ".git/hooks/post-commit",
        ".vscode",
        ".envrc",
    ] {
        assert!(
            !is_there(&home.path(&format!("project/{gone}"))),
            "{gone}: {left:?}"
        );
    }
    let told = told(&home);
    for secret in ["PRIVATE-1", "ENV-2", "KEY-3"] {
        assert!(!told.contains(secret), "{secret} was told: {told}");
    }
    assert!(told.contains("steers git, agents or the editor"), "{told}");
    assert!(left.errors.contains("Deny rules hold"), "{left:?}");
}

#[test]
fn yes_reads_no_keys_and_nothing_outside() {
    let home = calling(&[
        ("read", json!({ "path": "../.ssh/id_rsa" })),
        ("read", json!({ "path": "../outside/o.txt" })),
        ("read", json!({ "path": "link.txt" })),
        (
            "grep",
            json!({ "pattern": "OUTSIDE", "path": "../outside" }),
        ),
    ]);
    home.write(".ssh/id_rsa", "KEY-3");
    home.write("outside/o.txt", "OUTSIDE-4");
    std::os::unix::fs::symlink("../outside/o.txt", home.path("project/link.txt")).expect("a link");
    let left = with_yes(&home);
    let told = told(&home);
    for secret in ["KEY-3", "OUTSIDE-4"] {
        assert!(
            !told.contains(secret),
            "{secret} was told: {told}\n{left:?}"
        );
    }
}

#[test]
fn a_permissions_file_with_comments_is_obeyed() {
    let home = calling(&commands(&["rm victim.txt", "echo made > made.txt"]));
    home.write(
        "config/permissions.json",
        "// mine\n{\n  \"permissions\": {\n    \"deny\": [\n      \"Bash(rm:*)\", // never\n    ],\n  },\n}\n",
    );
    let left = with_yes(&home);
    assert!(is_there(&home.path("project/victim.txt")), "{left:?}");
    assert!(is_there(&home.path("project/made.txt")), "{left:?}");
}

#[test]
fn a_permissions_file_that_is_not_understood_allows_nothing() {
    for (text, place) in [
        (
            "{ \"permissions\": { \"deny\": [\"Bash(rm:*)\" }",
            "permissions.json:1:",
        ),
        (
            "{\n  \"permissions\": { \"deny\": [\"Bash(rm\"] } }",
            "permissions.json:2:",
        ),
        ("{ \"sandbox\": { \"off\": true }, ", "permissions.json:1:"),
        ("{ \"sandbox\": { \"of\": true } }", "permissions.json:1:"),
    ] {
        let home = calling(&commands(&["rm victim.txt", "ls", "touch ../made.txt"]));
        home.write("config/permissions.json", text);
        let left = with_yes(&home);
        assert!(
            is_there(&home.path("project/victim.txt")),
            "{text}: {left:?}"
        );
        assert!(!is_there(&home.path("made.txt")), "{text}: {left:?}");
        assert!(left.errors.contains(place), "{text}: {left:?}");
        assert!(
            left.errors
                .contains("every call of an agent needs permission"),
            "{text}: {left:?}"
        );
        assert!(!told(&home).contains("exit code 0"), "{text}: {left:?}");
        let after = std::fs::read_to_string(home.path("config/permissions.json"));
        assert_eq!(after.expect("read"), text, "left as it was");
    }
}

#[test]
fn commands_that_run_unasked_show_no_secrets_and_write_nothing() {
    let lines = [
        "grep -r SECRET .",
        "grep -rn SECRET . --include='*'",
        "rg -uu SECRET",
        "cat *",
        "cat notes.txt",
        "cat twin.txt",
        "cat sub/*",
        "head -c 100 sub/link",
        "cat keys/id_rsa",
        "cat out/o.txt",
        "grep -R OUTSIDE out",
        "cat <<E\n`touch backtick`\nE",
        "printf -v 'a[$(touch printfv)]' x",
        "[[ 1 -eq 'a[$(touch condition)]' ]]",
        "sort --out=sorted a.txt",
        "cat a.txt",
    ];
    let home = calling(&commands(&lines));
    home.write("project/.env", "SECRET=ENV-2\n");
    home.write("project/sub/.env.local", "SECRET=ENV-5\n");
    home.write("project/sub/plain.txt", "plain\n");
    home.write(".ssh/id_rsa", "SECRET KEY-3\n");
    home.write("outside/o.txt", "OUTSIDE-4\n");
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, home.path(&format!("project/{name}"))).expect("a link");
    };
    link(".env", "notes.txt");
    link("../.env", "sub/link");
    link("../.ssh", "keys");
    link("../outside", "out");
    std::fs::hard_link(home.path("project/.env"), home.path("project/twin.txt")).expect("a link");
    let left = home.task("look");
    assert_eq!(left.code, Some(0), "{left:?}");
    let told = told(&home);
    for secret in ["ENV-2", "ENV-5", "KEY-3", "OUTSIDE-4"] {
        assert!(!told.contains(secret), "{secret} was told: {told}");
    }
    assert!(told.contains("plain"), "other files are shown: {told}");
    for made in ["backtick", "printfv", "condition", "sorted"] {
        assert!(!is_there(&home.path(&format!("project/{made}"))), "{made}");
    }
}

#[test]
fn rules_that_are_kept_are_listed_and_removed() {
    let home = calling(&[]);
    let root = home.path("project").display().to_string();
    let text = json!({
        "permissions": { "deny": ["Bash(rm:*)"] },
        "projects": { root.clone(): { "allow": ["Bash(cargo test:*)"] }, "/other": { "allow": ["Bash(make)"] } }
    });
    home.write("config/permissions.json", &format!("// mine\n{text:#}\n"));
    let listed = home.run(&["permissions", "list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(
        listed.output.contains("deny  Bash(rm:*)  (all projects)"),
        "{listed:?}"
    );
    assert!(
        listed
            .output
            .contains(&format!("allow Bash(cargo test:*)  ({root})")),
        "{listed:?}"
    );
    assert!(!listed.output.contains("Bash(make)"), "{listed:?}");
    let all = home.run(&["permissions", "list", "--all", "--json"]);
    let all: Value = serde_json::from_str(&all.output).expect("JSON");
    assert_eq!(all.as_array().map(Vec::len), Some(3), "{all}");
    let missing = home.run(&["permissions", "remove", "Bash(rm:*)"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.errors.contains("--everywhere"), "{missing:?}");
    for arguments in [
        &["permissions", "remove", "Bash(cargo test:*)"][..],
        &["permissions", "remove", "--everywhere", "Bash(rm:*)"],
    ] {
        let removed = home.run(arguments);
        assert_eq!(removed.code, Some(0), "{removed:?}");
    }
    let after = std::fs::read_to_string(home.path("config/permissions.json")).expect("read");
    assert!(
        after.contains("// mine") && after.contains("Bash(make)"),
        "{after}"
    );
    assert!(
        !after.contains("cargo test") && !after.contains("Bash(rm"),
        "{after}"
    );
}

/// The answer "always" stores exactly the rule that the question named, for this project.
#[test]
fn always_keeps_the_rule_that_the_question_names() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;

    let home = calling(&commands(&["frobnicate --x y"]));
    home.write("config/permissions.json", "{ // mine\n}\n");
    let mut child = home.start(
        &["run", "--json", "--model", "mock/m", "go"],
        Stdio::piped(),
    );
    let mut input = child.stdin.take().expect("an input");
    let mut output = BufReader::new(child.stdout.take().expect("an output"));
    let mut asked = None;
    let mut line = String::new();
    while output.read_line(&mut line).expect("a line") > 0 {
        let value: Value = serde_json::from_str(&line).unwrap_or_default();
        let text = value.to_string();
        if text.contains("leave_asked") || text.contains("\"rules\"") {
            let rules = find(&value, "rules");
            let call = find(&value, "call");
            if let (Some(rules), Some(call)) = (rules, call) {
                asked = Some(rules.clone());
                let answer = json!({ "command": "decide", "call": call, "decision": "always" });
                writeln!(input, "{answer}").expect("written");
            }
        }
        if value["event"] == "asking" {
            let answer =
                json!({ "command": "reply", "question": value["question"], "text": "Skip" });
            writeln!(input, "{answer}").expect("written");
        }
        line.clear();
    }
    drop(input);
    child.wait().expect("its end");
    assert_eq!(asked, Some(json!(["Bash(frobnicate --x y)"])));
    let text = std::fs::read_to_string(home.path("config/permissions.json")).expect("read");
    assert!(text.contains("// mine"), "{text}");
    assert!(text.contains("Bash(frobnicate --x y)"), "{text}");
    let root = home.path("project").display().to_string();
    assert!(text.contains(&root), "{text}");
}

/// Returns the first member of this name, anywhere within a value.
fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => match members.get(name) {
            Some(found) => Some(found),
            None => members.values().find_map(|value| find(value, name)),
        },
        Value::Array(values) => values.iter().find_map(|value| find(value, name)),
        _ => None,
    }
}

#[test]
fn consent_to_hooks_is_listed_with_results_and_revoked() {
    let home = calling(&[]);
    let hook = |command: &str| json!([{ "hooks": [{ "type": "command", "command": command }] }]);
    let hooks =
        json!({ "hooks": { "Stop": hook("echo no >&2; exit 3"), "SessionStart": hook("true") } });
    home.write("project/.claude/settings.json", &hooks.to_string());
    home.write("project/AGENTS.md", "Be brief.");
    let listed = |expected: &[&str]| {
        let left = home.run(&["trust", "list"]);
        assert_eq!(left.code, Some(0), "{left:?}");
        for text in expected {
            assert!(left.output.contains(text), "{text}: {left:?}");
        }
    };
    listed(&[
        "is not trusted",
        "(not allowed)",
        "true: has not run",
        "AGENTS.md (not active)",
    ]);
    let ran = home.run(&["run", "--model", "mock/m", "--trust-hooks", "go"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    listed(&["(allowed)", "true: succeeded", "failed with code 3: no"]);
    assert_eq!(home.run(&["trust", "revoke-hooks"]).code, Some(0));
    assert_eq!(home.run(&["trust", "add"]).code, Some(0));
    listed(&["is trusted", "(not allowed)", "AGENTS.md (active)"]);
    let refused = home.run(&["run", "--model", "mock/m", "go"]);
    assert!(refused.errors.contains("do not run"), "{refused:?}");
    assert_eq!(home.run(&["trust", "revoke"]).code, Some(0));
    listed(&["is not trusted"]);
    let sandbox = home.run(&["permissions", "sandbox"]);
    assert!(sandbox.output.contains("no network"), "{sandbox:?}");
}
