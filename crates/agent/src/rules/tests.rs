//! Calls, and the rules' decisions about them.

use base::AbsPath;
use futures::future::BoxFuture;
use model::{Profile, ToolSpec};
use serde_json::json;

use super::*;
use crate::tool::{ToolContext, ToolResult};

mod denied;
mod reading;
mod spelled;

struct Fake(&'static str, ToolClass);

impl Tool for Fake {
    fn name(&self) -> &str {
        self.0
    }

    fn spec(&self, _: &Profile) -> Option<ToolSpec> {
        None
    }

    fn class(&self) -> ToolClass {
        self.1
    }

    fn access(&self, _: &ToolCall, _: &ToolContext) -> Result<ToolAccess, ToolResult> {
        Ok(ToolAccess::default())
    }

    fn run<'a>(
        &'a self,
        _: &'a ToolCall,
        _access: &'a ToolAccess,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(ToolResult::ok("done")))
    }
}

fn call() -> ToolCall {
    ToolCall {
        id: "c".to_owned(),
        tool: "t".to_owned(),
        input: CallInput::Json(json!({})),
        waits: false,
    }
}

fn rules(permissions: Value) -> PermissionRules {
    let (rules, problems) = PermissionRules::of(
        &json!({ "permissions": permissions }),
        "/project",
        NameRules::EXACT,
    );
    assert_eq!(problems, []);
    rules
}

fn word(verdict: &RuleVerdict) -> &'static str {
    match verdict {
        RuleVerdict::Allow => "allow",
        RuleVerdict::Ask { .. } => "ask",
        RuleVerdict::Deny { .. } => "deny",
    }
}

fn run_access(command: &str) -> ToolAccess {
    ToolAccess {
        writes: vec![LockScope::Tree(String::new())],
        command: Some(command.to_owned()),
        ..ToolAccess::default()
    }
}

fn bash(rules: &PermissionRules, command: &str) -> &'static str {
    let tool = Fake("exec_command", ToolClass::Execute);
    word(&rules.evaluate(&tool, &call(), &run_access(command), SessionMode::Build))
}

fn file(
    rules: &PermissionRules,
    tool: &'static str,
    path: &str,
    mode: SessionMode,
) -> &'static str {
    let class = match tool {
        "read" | "grep" => ToolClass::Read,
        _ => ToolClass::Edit,
    };
    let scope = vec![LockScope::Path(path.to_owned())];
    let access = match class {
        ToolClass::Read => ToolAccess {
            reads: scope,
            ..ToolAccess::default()
        },
        _ => ToolAccess {
            writes: scope,
            ..ToolAccess::default()
        },
    };
    word(&rules.evaluate(&Fake(tool, class), &call(), &access, mode))
}

#[test]
fn read_only_commands_need_no_permission() {
    let rules = PermissionRules::default();
    let harmless = [
        "ls -la src",
        "cat README.md | head -5",
        "git status",
        "git diff HEAD~1 -- src",
        "git log --oneline -5 main..HEAD",
        "rg -n 'fn main' src",
        "grep -rn x . 2>/dev/null",
        "find . -name '*.rs' -type f",
        "sed -n '1,20p' src/a.rs",
        "cd src && ls",
        "wc -l src/*.rs",
        "cargo --version",
        "echo 'hi there' | wc -c",
        "sort a | uniq -c",
        "git branch -a",
        "test -f a && echo yes || echo no",
        "for f in a b; do echo x; done",
    ];
    for command in harmless {
        assert_eq!(bash(&rules, command), "allow", "{command}");
        assert!(is_read_only(command), "{command}");
    }
    let asked = [
        "rm -rf x",
        "cargo test",
        "cat ~/.ssh/id_rsa",
        "cat /etc/passwd",
        "cat ../secret",
        "cat .env",
        "cat $HOME/.netrc",
        "ls > out",
        "echo x >> a",
        "git push",
        "git commit -m x",
        "git diff --output=x",
        "git log --ext-diff",
        "git -c core.pager=x log",
        "find . -delete",
        "find . -name x -exec rm {} ;",
        "sort -o a b",
        "sort -no a",
        "sed -i s/a/b/ x",
        "sed -n 'w out' x",
        "rg --pre=x y",
        "PATH=. ls",
        "PATH=.; ls",
        "xargs rm < list",
        "bash -c ls",
        "eval ls",
        "echo $(rm x)",
        "echo `rm x`",
        "cat <(rm x)",
        "ls; rm x",
        "ls && $CMD",
        "./ls",
        "/bin/ls",
        "r\\m x",
        "ls (",
        "",
        "cd",
        "cd ..",
        "cat .e*",
        "git show HEAD:.env",
        "uniq a b",
        "tree -o x",
        "git branch new",
        "git config core.pager x",
        "env",
        "sudo ls",
        "awk 1 x",
        "f() { rm x; }; f",
        "cat < /etc/passwd",
        "grep --file=/etc/passwd x",
        "grep -f/etc/passwd x",
        "head {.env,a}",
        "git grep -O x",
        "export PATH=.",
        "ls\nrm x",
        "cat \"$(pwd)/../x\"",
    ];
    for command in asked {
        assert_eq!(bash(&rules, command), "ask", "{command}");
        assert!(!is_read_only(command), "{command}");
    }
}

#[test]
fn rules_match_simple_commands() {
    let rules = rules(json!({
        "allow": ["Bash(cargo test:*)", "Bash(npm run build)", "Bash(git checkout * --quiet)"],
        "ask": ["Bash(cargo test --release:*)"],
        "deny": ["Bash(rm:*)", "Bash(curl:*)"],
    }));
    let cases = [
        ("cargo test", "allow"),
        ("cargo test -p agent 2>&1 | tail -20", "allow"),
        ("RUST_LOG=debug cargo test", "allow"),
        ("timeout 60 cargo test", "allow"),
        ("cd crates && cargo test > out.log", "allow"),
        ("npm run build", "allow"),
        ("git checkout main --quiet", "allow"),
        ("cargo testing", "ask"),
        ("cargo test --release", "ask"),
        ("cargo test; make", "ask"),
        ("cargo test $(make)", "ask"),
        ("cargo test > ~/.bashrc", "ask"),
        ("cargo test > .git/hooks/pre-commit", "ask"),
        ("LD_PRELOAD=x cargo test", "ask"),
        ("RUSTC_WRAPPER=x cargo test", "ask"),
        ("sudo cargo test", "ask"),
        ("./cargo test", "ask"),
        ("npm run build && npm publish", "ask"),
        ("npm run build:all", "ask"),
        ("cargo test (", "ask"),
        ("rm x", "deny"),
        ("sudo rm x", "deny"),
        ("/bin/rm x", "deny"),
        ("cargo test && rm x", "deny"),
        ("bash -c 'ls; rm x'", "deny"),
        ("find . -exec rm {} +", "deny"),
        ("ls | xargs -n 1 rm", "deny"),
        ("echo $(rm x)", "deny"),
        ("env A=1 rm x", "deny"),
        ("timeout -k 1 5 nice rm x", "deny"),
        ("eval 'rm x'", "deny"),
        ("'r'm x", "deny"),
        ("rm x (", "deny"),
        ("if true; then curl x; fi", "deny"),
    ];
    for (command, expected) in cases {
        assert_eq!(bash(&rules, command), expected, "{command}");
    }
    let all = self::rules(json!({ "allow": ["Bash"], "deny": ["Bash(rm:*)"] }));
    // A line that is not understood may run what a rule forbids.
    assert_eq!(bash(&all, "make all (; anything"), "ask");
    let unlimited = self::rules(json!({ "allow": ["Bash"] }));
    assert_eq!(bash(&unlimited, "make all (; anything"), "allow");
    assert_eq!(bash(&all, "make && rm x"), "deny");
    let exact = self::rules(json!({ "allow": ["Bash(make (odd)"] }));
    assert_eq!(bash(&exact, "make (odd"), "allow");
    assert_eq!(bash(&exact, "make (odd; x"), "ask");
}

#[test]
fn file_access_depends_on_path_and_mode() {
    let none = PermissionRules::default();
    let build = |tool, path: &str| file(&none, tool, path, SessionMode::Build);
    assert_eq!(build("read", "src/main.rs"), "allow");
    assert_eq!(build("read", "/etc/hosts"), "ask");
    assert_eq!(build("read", ".env"), "ask");
    assert_eq!(build("read", "deep/.env.local"), "ask");
    assert_eq!(build("read", ".env.example"), "allow");
    assert_eq!(build("read", "keys/server.pem"), "ask");
    assert_eq!(build("read", ".git/config"), "allow");
    if let Some(home) = sensitive_paths::home() {
        assert_eq!(build("read", &format!("{home}/.ssh/id_rsa")), "deny");
        let other = format!("/System/Volumes/Data{home}/.SSH/id_rsa");
        assert_eq!(build("read", &other), "deny");
        assert_eq!(build("read", &format!("{home}/.sshx")), "ask");
    }
    assert_eq!(build("edit", "src/main.rs"), "allow");
    assert_eq!(build("edit", "/etc/hosts"), "deny");
    for steering in [
        ".git/config",
        "sub/.git/hooks/x",
        ".claude/settings.json",
        "AGENTS.md",
        "a/CLAUDE.md",
        ".vscode/tasks.json",
        ".GIT/config",
        ".github/workflows/ci.yml",
    ] {
        assert_eq!(build("edit", steering), "ask", "{steering}");
    }
    assert_eq!(build("edit", ".gitignore"), "allow");
    for mode in [SessionMode::Plan, SessionMode::Ask] {
        assert_eq!(file(&none, "edit", "src/main.rs", mode), "deny");
        assert_eq!(file(&none, "read", "src/main.rs", mode), "allow");
        let tool = Fake("exec_command", ToolClass::Execute);
        let judged =
            |command: &str| word(&none.evaluate(&tool, &call(), &run_access(command), mode));
        assert_eq!(
            (judged("git status"), judged("cargo test")),
            ("allow", "deny")
        );
    }
    let asks = rules(json!({ "edits": "ask" }));
    assert_eq!(
        file(&asks, "edit", "src/main.rs", SessionMode::Build),
        "ask"
    );
    let own = rules(json!({
        "allow": ["Read(//var/log/**)", "Edit(docs/**)"],
        "ask": ["Edit(/src/generated/**)"],
        "deny": ["Read(private/**)", "Write(*.lock)", "Edit(secret)"],
        "edits": "ask",
    }));
    let cases = [
        ("read", "/var/log/syslog", "allow"),
        ("read", "/var/logs", "ask"),
        ("grep", "private/a", "deny"),
        ("read", "private/deep/a", "deny"),
        ("edit", "docs/a.md", "allow"),
        ("apply_patch", "docs/a.md", "allow"),
        ("edit", "src/a.rs", "ask"),
        ("edit", "src/generated/a.rs", "ask"),
        ("write", "deep/Cargo.lock", "deny"),
        ("edit", "deep/Cargo.lock", "ask"),
        ("edit", "a/secret", "deny"),
        ("edit", "secret/inside", "deny"),
        ("edit", "docs/.git/x", "ask"),
    ];
    for (tool, path, expected) in cases {
        assert_eq!(
            file(&own, tool, path, SessionMode::Build),
            expected,
            "{tool} {path}"
        );
    }
}

#[test]
fn hosts_and_foreign_tools() {
    let rules = rules(
        json!({ "allow": ["Fetch(domain:docs.rs)", "WebFetch(domain:*.rust-lang.org)", "mcp__files"], "deny": ["mcp__files__delete", "Fetch(domain:evil.docs.rs)"] }),
    );
    let fetch = |host: &str| {
        let access = ToolAccess {
            host: Some(host.to_owned()),
            ..ToolAccess::default()
        };
        word(&rules.evaluate(
            &Fake("fetch", ToolClass::Network),
            &call(),
            &access,
            SessionMode::Build,
        ))
    };
    assert_eq!(fetch("docs.rs"), "allow");
    assert_eq!(fetch("Docs.RS"), "allow");
    assert_eq!(fetch("doc.rust-lang.org"), "allow");
    assert_eq!(fetch("rust-lang.org"), "ask");
    assert_eq!(fetch("xrust-lang.org"), "ask");
    assert_eq!(fetch("evil.docs.rs"), "deny");
    let foreign = |name: &'static str| {
        word(&rules.evaluate(
            &Fake(name, ToolClass::Foreign),
            &call(),
            &ToolAccess::default(),
            SessionMode::Build,
        ))
    };
    assert_eq!(foreign("mcp__files__read"), "allow");
    assert_eq!(foreign("mcp__files__delete"), "deny");
    assert_eq!(foreign("mcp__filesystem__read"), "ask");
}

#[test]
fn decision_becomes_a_rule_of_the_right_width() {
    let none = PermissionRules::default();
    let tool = Fake("exec_command", ToolClass::Execute);
    let cases: &[(&str, &[&str])] = &[
        ("cargo test -p agent", &["Bash(cargo test:*)"]),
        (
            "cd src && cargo build --release | tail",
            &["Bash(cargo build:*)"],
        ),
        ("npm run build", &["Bash(npm run build:*)"]),
        ("python3 -m unittest -v", &["Bash(python3 -m unittest:*)"]),
        ("pytest -q", &["Bash(pytest:*)"]),
        (
            "python3.11 -m unittest",
            &["Bash(python3.11 -m unittest:*)"],
        ),
        ("python3.11 x.py", &["Bash(python3.11 x.py)"]),
        (
            "python3 -m pip install x",
            &["Bash(python3 -m pip install x)"],
        ),
        ("aws s3 ls", &["Bash(aws s3 ls)"]),
        ("npx foo", &["Bash(npx foo)"]),
        ("npm install x", &["Bash(npm install x)"]),
        ("docker run alpine", &["Bash(docker run alpine)"]),
        ("tar xf a.tar", &["Bash(tar xf a.tar)"]),
        ("vim a", &["Bash(vim a)"]),
        ("sqlite3 a.db x", &["Bash(sqlite3 a.db x)"]),
        ("ssh host ls", &["Bash(ssh host ls)"]),
        ("make test", &["Bash(make test)"]),
        ("xargs rm", &["Bash(xargs rm)"]),
        ("env A=1 cargo test", &["Bash(env A=1 cargo test)"]),
        ("gcc-12 a.c", &["Bash(gcc-12 a.c)"]),
        ("node20 a.js", &["Bash(node20 a.js)"]),
        ("frobnicate x", &["Bash(frobnicate x)"]),
        ("git push origin main", &["Bash(git push:*)"]),
        ("git reset --hard", &["Bash(git reset --hard)"]),
        ("git config a.b c", &["Bash(git config a.b c)"]),
        ("cargo install x", &["Bash(cargo install x)"]),
        ("rm build/*", &["Bash(rm build/\\*)"]),
        ("foo a:*", &["Bash(foo a:\\*)"]),
        ("foo a\\ b", &["Bash(foo a\\\\ b)"]),
        ("cargo test $X; foo", &["Bash(cargo test $X; foo)"]),
        ("timeout 60 cargo test", &["Bash(cargo test:*)"]),
        (
            "cargo fmt && cargo clippy",
            &["Bash(cargo fmt:*)", "Bash(cargo clippy:*)"],
        ),
        ("rm -rf target", &["Bash(rm -rf target)"]),
        ("bash -c 'x'", &["Bash(bash -c 'x')"]),
        ("python3 script.py", &["Bash(python3 script.py)"]),
        ("git -C /x status", &["Bash(git -C /x status)"]),
        (
            "/usr/bin/timeout 5 rm x",
            &["Bash(/usr/bin/timeout 5 rm x)"],
        ),
        ("make (", &["Bash(make ()"]),
    ];
    for (command, expected) in cases {
        let found = none.rules_for(&tool, &run_access(command));
        assert_eq!(found, *expected, "{command}");
        assert_eq!(
            bash(&none.with_allowed(&found), command),
            "allow",
            "{command} by {found:?}"
        );
    }
    let exact = none.with_allowed(&["Bash(rm build/\\*)".to_owned()]);
    assert_eq!(bash(&exact, "rm build/*"), "allow");
    assert_eq!(bash(&exact, "rm build/x ../y"), "ask");
    let exact = none.with_allowed(&["Bash(foo a:\\*)".to_owned()]);
    assert_eq!(bash(&exact, "foo a: b"), "ask");
    assert_eq!(bash(&exact, "foo a"), "ask");
    let wide = none.with_allowed(&none.rules_for(&tool, &run_access("cargo test")));
    assert_eq!(bash(&wide, "cargo test --all"), "allow");
    assert_eq!(bash(&wide, "cargo run"), "ask");
    let read = ToolAccess {
        reads: vec![LockScope::Path("/var/log/syslog".to_owned())],
        ..ToolAccess::default()
    };
    let reader = Fake("read", ToolClass::Read);
    let found = none.rules_for(&reader, &read);
    assert_eq!(found, ["Read(//var/log/**)"]);
    assert_eq!(
        word(
            &none
                .with_allowed(&found)
                .evaluate(&reader, &call(), &read, SessionMode::Build)
        ),
        "allow"
    );
    let steering = ToolAccess {
        writes: vec![LockScope::Path(".git/config".to_owned())],
        ..ToolAccess::default()
    };
    let editor = Fake("edit", ToolClass::Edit);
    assert_eq!(none.rules_for(&editor, &steering), Vec::<String>::new());
    assert_eq!(
        none.rules_for(
            &Fake("mcp__a__b", ToolClass::Foreign),
            &ToolAccess::default()
        ),
        ["mcp__a__b"]
    );
}

#[test]
fn invalid_rules_are_reported_and_never_allow() {
    let text = json!({ "permissions": { "allow": ["Bash(ls", 3, "Bash(make:*)"], "deny": ["Edit({a)"], "ask": "x", "edits": "maybe" } });
    let (rules, problems) = PermissionRules::of(&text, "/project", NameRules::EXACT);
    assert_eq!(problems.len(), 5, "{problems:?}");
    let path = |problem: &PermissionProblem| problem.path.join("/");
    let paths: Vec<String> = problems.iter().map(path).collect();
    assert!(
        paths.contains(&"permissions/deny/0".to_owned()),
        "{paths:?}"
    );
    // An allow rule cannot override rules that may have been meant to deny.
    assert_eq!(bash(&rules, "make"), "ask");
    assert_eq!(file(&rules, "edit", "src/a.rs", SessionMode::Build), "deny");
    assert_eq!(
        PermissionRules::of(&json!({}), "/project", NameRules::EXACT).1,
        []
    );
    assert!(AbsPath::new("/").is_some());
}

#[test]
fn project_rules_apply_only_to_their_project() {
    let text = json!({ "permissions": { "deny": ["Bash(rm:*)"] }, "projects": {
        "/project": { "allow": ["Bash(make:*)", "Bash(rm:*)"] },
        "/other": { "allow": ["Bash(ninja:*)"] },
    } });
    let (rules, problems) = PermissionRules::of(&text, "/project", NameRules::EXACT);
    assert_eq!(problems, []);
    assert_eq!(bash(&rules, "make all"), "allow");
    assert_eq!(bash(&rules, "ninja"), "ask");
    assert_eq!(bash(&rules, "rm x"), "deny");
}

#[test]
fn rules_about_commands_hold_for_the_tool_that_runs_tests() {
    let rules = rules(json!({ "allow": ["Bash(cargo test:*)"], "deny": ["Bash(go:*)"] }));
    let check = |command: &str, expected: &str| {
        let tool = Fake("run_tests", ToolClass::Execute);
        let access = run_access(command);
        let verdict = rules.evaluate(&tool, &call(), &access, SessionMode::Build);
        assert_eq!(word(&verdict), expected, "{command}");
    };
    check("cargo test --no-fail-fast", "allow");
    check("python3 -m pytest", "ask");
    check("go test -json ./...", "deny");
    // A tool without a command is another tool.
    let other = Fake("other", ToolClass::Execute);
    let access = ToolAccess {
        writes: vec![LockScope::Tree(String::new())],
        ..ToolAccess::default()
    };
    let verdict = rules.evaluate(&other, &call(), &access, SessionMode::Build);
    assert_eq!(word(&verdict), "ask");
}
