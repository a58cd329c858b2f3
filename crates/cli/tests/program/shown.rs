//! Foreign text as the user sees it: complete, and printable.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use base::{AbsPath, LineFeeds, printable};
use host::process::{LaunchRequest, SpawnedProcess, TerminalSize, spawn};
use serde_json::{Value, json};

use super::home::Home;

/// Text that controls a terminal and reverses letters.
const STEERING: &str = "a\u{1b}]52;c;eA==\u{7}b\u{1b}[2Kc\rd\u{202e}e";

fn call(tool: &str, arguments: &Value) -> Value {
    json!([
        { "match": { "step": 1, "tools": [tool] }, "reply": [{ "call": { "tool": tool, "arguments": arguments } }] },
        { "reply": [{ "text": "Done." }] }
    ])
}

fn is_raw(char: char) -> bool {
    (char.is_control() && !matches!(char, '\n' | '\t')) || char == '\u{202e}'
}

#[test]
fn text_of_models_and_commands_is_printable_but_as_json() {
    let home = Home::new(&json!([{ "reply": [{ "text": STEERING }] }]));
    let left = home.task("say it");
    let shown = printable(STEERING, LineFeeds::Keep);
    assert_eq!(left.output.trim_end(), shown, "{left:?}");
    let left = home.run(&["run", "--model", "mock/m", "--json", "say it"]);
    let said: String = left
        .output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event["event"] == "text")
        .filter_map(|event| event["text"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(said, STEERING, "{left:?}");

    let arguments = json!({ "command": "printf 'x\\033]0;title\\007y\\n'; ls" });
    let home = Home::new(&call("exec_command", &arguments));
    home.write("project/a\u{1b}]0;t\u{7}.txt", "");
    let left = home.run(&["run", "--model", "mock/m", "--yes", "look"]);
    assert!(!left.output.contains(is_raw), "{left:?}");
    assert!(!left.errors.contains(is_raw), "{left:?}");
}

#[test]
fn piped_results_of_a_search_stay_as_they_are() {
    let home = Home::new(&json!([]));
    home.write("project/a.txt", &format!("needle {STEERING}\n"));
    let left = home.run(&["grep", "needle"]);
    let row = format!("a.txt:1:needle {STEERING}\n");
    assert!(left.output.ends_with(&row), "{left:?}");
}

/// The program in a terminal.
struct Terminal {
    program: SpawnedProcess,
    heard: Arc<(Mutex<String>, Condvar)>,
}

impl Terminal {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let command = home.command(arguments);
        let variables = command.get_envs();
        let variables =
            variables.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let launch = LaunchRequest {
            program: command.get_program().to_owned(),
            arguments: command.get_args().map(ToOwned::to_owned).collect(),
            folder: AbsPath::new(home.path("project")).expect("absolute"),
            variables: variables.collect(),
            terminal: Some(TerminalSize {
                rows: 40,
                columns: 200,
            }),
            sandbox: None,
        };
        let heard: Arc<(Mutex<String>, Condvar)> = Arc::default();
        let told = heard.clone();
        let mut whole = Vec::new();
        let sink = move |bytes: &[u8]| {
            whole.extend_from_slice(bytes);
            let text = String::from_utf8_lossy(&whole).replace("\r\n", "\n");
            *told.0.lock().expect("the text") = text;
            told.1.notify_all();
        };
        let program = spawn(&launch, Box::new(sink));
        Self {
            program: program.expect("the program"),
            heard,
        }
    }

    fn text(&self) -> String {
        self.heard.0.lock().expect("the text").clone()
    }

    fn wait_for(&self, words: &str) {
        let (text, changed) = &*self.heard;
        let text = text.lock().expect("the text");
        let patience = Duration::from_secs(60);
        let waited = changed.wait_timeout_while(text, patience, |text| !text.contains(words));
        let (text, result) = waited.expect("the text");
        assert!(!result.timed_out(), "{words}: {text}");
    }

    fn type_line(&self, line: &str) {
        assert!(self.program.write(format!("{line}\n").into_bytes()));
    }
}

#[test]
fn the_terminal_shows_the_whole_command_before_yes_counts() {
    for (command, shown) in [
        ("ls #\nrm victim.txt", "  │ ls #\n  │ rm victim.txt\n"),
        ("rm victim.txt #\rls -la", "  │ rm victim.txt #␍ls -la\n"),
        ("rm victim.txt\u{1b}[2K #", "  │ rm victim.txt␛[2K #\n"),
        (
            "rm victim.txt # \u{202e}sl",
            "  │ rm victim.txt # <U+202E>sl\n",
        ),
    ] {
        let home = Home::new(&call("exec_command", &json!({ "command": command })));
        home.write("project/victim.txt", "here");
        let terminal = Terminal::start(&home, &["run", "--model", "mock/m", "look"]);
        terminal.wait_for("Allow?");
        let text = terminal.text();
        assert!(text.contains(shown), "{text}");
        assert!(!text.contains(is_raw), "{text:?}");
        terminal.type_line("n");
        terminal.wait_for("Done.");
        assert!(home.path("project/victim.txt").exists());
    }
}

#[test]
fn yes_counts_only_after_the_whole_command() {
    let command = format!("{}rm victim.txt", "true\n".repeat(60));
    let home = Home::new(&call("exec_command", &json!({ "command": command })));
    home.write("project/victim.txt", "here");
    let terminal = Terminal::start(&home, &["run", "--model", "mock/m", "look"]);
    for left in [41, 21, 1] {
        terminal.wait_for(&format!("  {left} more line"));
        assert!(
            !terminal.text().contains("rm victim.txt"),
            "{}",
            terminal.text()
        );
        terminal.type_line("y");
    }
    terminal.wait_for("Allow?");
    assert!(
        terminal.text().contains("  │ rm victim.txt\n"),
        "{}",
        terminal.text()
    );
    assert!(home.path("project/victim.txt").exists());
    terminal.type_line("y");
    terminal.wait_for("Done.");
    assert!(!home.path("project/victim.txt").exists());
}

#[test]
fn writing_a_guarded_file_shows_what_is_written() {
    let arguments = json!({ "path": ".git/hooks/pre-commit", "content": "#!/bin/sh\nrm -rf ~\n" });
    let home = Home::new(&call("write", &arguments));
    home.write("project/.git/HEAD", "ref: refs/heads/main\n");
    let terminal = Terminal::start(&home, &["run", "--model", "mock/m", "look"]);
    terminal.wait_for("Allow?");
    for line in [
        "  │ path: .git/hooks/pre-commit\n",
        "  │   #!/bin/sh\n  │   rm -rf ~\n",
    ] {
        assert!(terminal.text().contains(line), "{}", terminal.text());
    }
    terminal.type_line("n");
    terminal.wait_for("Done.");
}

#[test]
fn failure_is_printed_once_and_retry_on_stderr() {
    let reply = json!([{ "text": "Done." }]);
    let home =
        Home::new(&json!([{ "faults": [{ "fault": { "authentication": {} } }], "reply": reply }]));
    let left = home.task("say it");
    assert_eq!(left.code, Some(97), "{left:?}");
    assert_eq!(left.output, "", "{left:?}");
    let end = left.errors.lines().find(|line| line.contains("failed: "));
    let (_, why) = end
        .and_then(|line| line.split_once("failed: "))
        .expect("an end");
    let why = why.split(" (").next().expect("a sentence");
    assert_eq!(left.errors.matches(why).count(), 1, "{left:?}");

    let home = Home::new(&json!([
        { "faults": [{ "first": 1, "fault": { "overloaded": {} } }], "reply": reply }
    ]));
    let left = home.task("say it");
    assert_eq!((left.code, &*left.output), (Some(0), "Done.\n"), "{left:?}");
    assert!(left.errors.contains("Trying again in"), "{left:?}");
}
