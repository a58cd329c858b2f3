//! External agents on the command line: one that follows its prompt literally, and four real ones.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::home::{Home, Left};
use super::npm::cached;

/// The agent that follows its prompt literally.
pub(super) fn echo() -> String {
    let test = std::env::current_exe().expect("our path");
    let folder = test.parent().and_then(|deps| deps.parent());
    let program = folder.expect("a target folder").join("examples/echo_agent");
    assert!(
        program.exists(),
        "{} is built with the tests",
        program.display()
    );
    program.display().to_string()
}

fn home() -> Home {
    Home::new(&json!([{ "reply": [{ "text": "Greetings from the mock." }] }]))
}

fn run(home: &Home, more: &[&str], task: &str) -> Left {
    let agent = echo();
    let mut arguments = vec!["run", "--agent", &agent];
    arguments.extend(more);
    arguments.push(task);
    home.run(&arguments)
}

fn events(output: &str) -> Vec<Value> {
    let lines = output.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn what_it_says_and_does_is_told() {
    let home = home();
    let left = run(&home, &[], "say hello there");
    assert_eq!(
        (left.code, left.output.as_str()),
        (Some(0), "hello there\n"),
        "{left:?}"
    );
    assert!(
        left.errors
            .contains("burin-agent: done; continue with --agent "),
        "{left:?}"
    );
    assert!(left.errors.contains("--resume s0"), "{left:?}");
    let left = run(&home, &[], "show");
    for words in [
        "  [~] look\n",
        "▸ edit a.txt\n✓ edit a.txt\n  a.txt: 1 line before, 1 now\n",
        "· slow today\n",
        "· the conversation was made shorter\n",
        "all shown\n",
    ] {
        assert!(left.output.contains(words), "{words}: {left:?}");
    }
    assert!(
        left.errors.contains("done (10 of 100 tokens, 0.5000 USD)"),
        "{left:?}"
    );

    let file = home.path("project/new.txt");
    let left = run(&home, &["--json"], &format!("write {}", file.display()));
    assert_eq!(left.code, Some(0), "{left:?}");
    let events = events(&left.output);
    let text = std::fs::read_to_string(file).expect("it was written");
    assert_eq!(text, "by the agent");
    assert_eq!(events[0]["event"], "session");
    assert_eq!(events[0]["root"], json!(home.path("project")));
    let last = events.last().expect("events");
    assert_eq!(
        (&last["event"], &last["end"]),
        (&json!("idle"), &json!("done"))
    );
    assert_eq!(last["new"], json!(["new.txt"]));
}

#[test]
fn every_end_has_its_code() {
    let home = home();
    let check = |task: &str, code: i32, words: &str| {
        let left = run(&home, &[], task);
        assert_eq!(left.code, Some(code), "{left:?}");
        assert!(left.errors.contains(words), "{left:?}");
    };
    check("refuse", 1, "the agent declined");
    check("fail no luck", 97, "failed: no luck");
    check("dance", 97, "dance is not known");
    check("die", 97, "the disk is full");
    let missing = home.run(&["run", "--agent", "nobody", "say it"]);
    assert!(
        missing
            .errors
            .contains("there are claude, codex, gemini, opencode"),
        "{missing:?}"
    );
    assert_eq!(missing.code, Some(1));
    let shell = home.run(&["run", "--agent", "/bin/false", "say it"]);
    assert_eq!(shell.code, Some(1));
    assert!(
        shell.errors.contains("false ended with code 1"),
        "{shell:?}"
    );
    let both = home.run(&["run", "--agent", "codex", "--model", "auto", "say it"]);
    assert_eq!(both.code, Some(2));
}

#[test]
fn leave_is_asked_for_unless_all_is_allowed() {
    let home = home();
    let left = run(&home, &[], "ask");
    assert!(left.output.contains("Some(\"no\")"), "{left:?}");
    assert!(
        left.errors
            .contains("requested permission: rm -rf build. No user is attached"),
        "{left:?}"
    );
    let left = run(&home, &["--yes"], "ask");
    assert!(left.output.contains("Some(\"yes\")"), "{left:?}");
    assert!(left.errors.contains("acts without asking"), "{left:?}");

    let agent = echo();
    let mut child = home.start(&["run", "--agent", &agent, "--json", "ask"], Stdio::piped());
    let mut input = child.stdin.take().expect("its input");
    let output = BufReader::new(child.stdout.take().expect("its output"));
    let mut all = String::new();
    for line in output.lines() {
        let line = line.expect("a line");
        let event: Value = serde_json::from_str(&line).expect("JSON");
        if event["event"] == "leave" {
            assert_eq!(event["title"], "rm -rf build");
            assert_eq!(event["choices"][1]["kind"], "allow_always");
            let choice = event["choices"][1]["id"].clone();
            let line = json!({ "command": "decide", "number": event["number"], "choice": choice });
            writeln!(input, "{line}").expect("it reads");
        }
        all.push_str(&line);
    }
    assert!(child.wait().expect("its end").success());
    assert!(all.contains("always"), "{all}");
}

#[test]
fn a_session_of_before_goes_on_without_being_told_again() {
    let home = home();
    let left = run(&home, &["--resume", "old"], "say more");
    assert_eq!(
        (left.code, left.output.as_str()),
        (Some(0), "more\n"),
        "{left:?}"
    );
    let left = run(&home, &["--resume", "unknown"], "say more");
    assert_eq!(left.code, Some(1));
    assert!(
        left.errors.contains("there is no session unknown"),
        "{left:?}"
    );
}

#[test]
fn an_interrupt_stops_the_turn() {
    let home = home();
    for task in ["hang", "deaf"] {
        let agent = echo();
        let mut child = home.start(&["run", "--agent", &agent, "--json", task], Stdio::piped());
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        assert!(line.contains("session"), "{line}");
        std::thread::sleep(Duration::from_millis(300));
        let began = Instant::now();
        let pid = child.id().to_string();
        let kill = std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status();
        assert!(kill.expect("kill").success());
        let code = child.wait().expect("its end").code();
        assert_eq!(code, Some(130), "{task}");
        assert!(
            began.elapsed() < Duration::from_secs(15),
            "{task}: {:?}",
            began.elapsed()
        );
    }
}

#[test]
fn servers_that_may_run_are_handed_on() {
    let home = home();
    let servers = |name: &str| json!({ "mcpServers": { name: { "command": "true" } } }).to_string();
    home.write("config/mcp.json", &servers("mine"));
    home.write("project/.mcp.json", &servers("theirs"));
    let check = |count: usize| {
        let left = run(&home, &[], "where");
        let expected = format!("{} {count}\n", home.path("project").display());
        assert_eq!(left.output, expected, "{left:?}");
    };
    check(1);
    assert_eq!(home.run(&["mcp", "approve", "theirs"]).code, Some(0));
    check(2);
}

#[test]
fn the_list_says_what_is_there() {
    let home = home();
    let left = home.run(&["agents"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    for id in ["claude", "codex", "gemini", "opencode"] {
        assert!(left.output.contains(id), "{left:?}");
    }
    let left = home.run(&["agents", "--json"]);
    let listed: Value = serde_json::from_str(&left.output).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(4));
}

/// Writes a script that runs a real agent without arguments and lets it reach only the mock server;
/// returns its path.
fn guarded(home: &Home, command: &[String], variables: &[(&str, String)]) -> String {
    let mut lines = vec!["#!/bin/sh".to_owned()];
    let nowhere = "http://127.0.0.1:9".to_owned();
    let local = "127.0.0.1,localhost".to_owned();
    let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
    let proxies = proxies.map(|name| (name, nowhere.clone()));
    let own = [("NO_PROXY", local.clone()), ("no_proxy", local)];
    for (name, value) in proxies.iter().chain(&own).chain(variables) {
        lines.push(format!("export {name}='{value}'"));
    }
    let words: Vec<_> = command.iter().map(|word| format!("'{word}'")).collect();
    lines.push(format!("exec {}\n", words.join(" ")));
    home.write("agent.sh", &lines.join("\n"));
    let path = home.path("agent.sh");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");
    path.display().to_string()
}

pub(super) fn installed(path: &str) -> Option<String> {
    let path: PathBuf = cached("BURIN_NPM_AGENTS", "npm-agents", path)?;
    Some(path.display().to_string())
}

fn greets(home: &Home, agent: &str, more: &[&str]) {
    let began = Instant::now();
    let mut arguments = vec!["run", "--agent", agent];
    arguments.extend(more);
    arguments.push("Please greet me.");
    let left = home.run(&arguments);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(left.output.contains("Greetings from the mock."), "{left:?}");
    eprintln!("{:?}: {}", began.elapsed(), left.errors.trim());
}

fn node(script: String) -> [String; 2] {
    ["node".to_owned(), script]
}

#[test]
fn claude_greets() {
    let path = "claude/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js";
    let Some(path) = installed(path) else {
        return;
    };
    let home = home();
    let variables = [
        ("ANTHROPIC_BASE_URL", home.model.url()),
        ("ANTHROPIC_API_KEY", "any".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("IS_SANDBOX", "1".to_owned()),
    ];
    let agent = guarded(&home, &node(path), &variables);
    greets(&home, &agent, &[]);
}

#[test]
fn gemini_greets() {
    let Some(path) = installed("gemini/node_modules/@google/gemini-cli/bundle/gemini.js") else {
        return;
    };
    let home = home();
    let [node, script] = node(path);
    let agent = guarded(&home, &[node, script, "--acp".to_owned()], &[]);
    let facts = json!({ "gateway": { "baseUrl": home.model.url(), "headers": { "x-test": "1" } } });
    greets(&home, &agent, &["--sign-in", &format!("gateway={facts}")]);
}

#[test]
fn codex_greets() {
    let Some(path) = installed("codex/node_modules/@zed-industries/codex-acp/bin/codex-acp.js")
    else {
        return;
    };
    let home = home();
    let config = format!(
        "model = \"gpt-5.2-codex\"\nmodel_provider = \"mock\"\n[model_providers.mock]\n\
         name = \"mock\"\nbase_url = \"{}/v1\"\nenv_key = \"OPENAI_API_KEY\"\n\
         wire_api = \"responses\"\n",
        home.model.url()
    );
    home.write("codex/config.toml", &config);
    let variables = [
        ("OPENAI_API_KEY", "any".to_owned()),
        ("CODEX_HOME", home.path("codex").display().to_string()),
    ];
    let agent = guarded(&home, &node(path), &variables);
    greets(&home, &agent, &["--sign-in", "openai-api-key"]);
}

#[test]
fn opencode_greets() {
    let Some(path) = installed("opencode/node_modules/opencode-linux-x64/bin/opencode") else {
        return;
    };
    let home = home();
    let config = json!({
        "autoupdate": false, "share": "disabled", "model": "mock/m1", "small_model": "mock/m1",
        "provider": { "mock": {
            "npm": "@ai-sdk/openai-compatible", "name": "mock",
            "options": { "baseURL": format!("{}/v1", home.model.url()), "apiKey": "x" },
            "models": { "m1": { "name": "m1", "limit": { "context": 128_000, "output": 8000 } } }
        } }
    });
    home.write(".config/opencode/opencode.json", &config.to_string());
    let agent = guarded(&home, &[path, "acp".to_owned()], &[]);
    greets(&home, &agent, &[]);
}
