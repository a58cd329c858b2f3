//! Tests of the demo model. Its tool calls run on a copy of the sample project.

#![expect(
    clippy::disallowed_methods,
    reason = "these tests implement the tools in a temporary folder"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use futures::StreamExt;
use model::{
    Effort, Fim, Message, MessagePart, ModelClient, ModelId, ModelRequest, PartContent, Role,
    Sampling, StopReason, StreamEvent, TokenCount, ToolChoice, ToolInput, ToolSpec,
};
use serde_json::Value;
use tempfile::TempDir;

use super::{DemoClient, SAMPLE};

/// A conversation with the demo model in a copy of the sample project.
struct Session {
    folder: TempDir,
    request: ModelRequest,
    /// The calls of the model, as `name path-or-command`.
    calls: Vec<String>,
}

impl Session {
    fn new(tools: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in SAMPLE {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let spec = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            input: ToolInput::Json(Value::Null),
        };
        Self {
            folder,
            request: ModelRequest {
                model: ModelId::parse("demo/demo").expect("a name"),
                system: Vec::new(),
                messages: Vec::new(),
                tools: tools.iter().map(spec).collect(),
                tool_choice: ToolChoice::Auto,
                parallel_tools: true,
                max_output: TokenCount(4000),
                effort: Some(Effort::Low),
                sampling: Sampling::default(),
                response_schema: None,
                stop: Vec::new(),
                prediction: None,
                conversation: None,
                omit: Vec::new(),
            },
            calls: Vec::new(),
        }
    }

    fn with_all_tools() -> Self {
        Self::new(&["read", "edit", "write", "list", "grep", "exec_command"])
    }

    /// Sends a prompt, runs every call, and returns the text of the last answer.
    async fn ask(&mut self, client: &DemoClient, question: &str) -> String {
        self.request
            .messages
            .push(Message::text(Role::User, question));
        for _ in 0..8 {
            let events: Vec<StreamEvent> = client.send(self.request.clone()).collect().await;
            let (parts, reason) = parts_of(&events);
            let text = parts.iter().filter_map(|part| match &part.content {
                PartContent::Text(text) => Some(text.as_str()),
                _ => None,
            });
            let text: String = text.collect();
            let results: Vec<MessagePart> = parts
                .iter()
                .filter_map(|part| self.run(&part.content))
                .collect();
            let answer = Message::new(Role::Assistant, parts);
            self.request.messages.push(answer);
            if reason == StopReason::EndTurn {
                assert!(results.is_empty(), "calls in an answer that ends the turn");
                return text;
            }
            let results = Message::new(Role::User, results);
            self.request.messages.push(results);
        }
        panic!("no end after eight answers");
    }

    fn path(&self, arguments: &Value) -> PathBuf {
        self.folder
            .path()
            .join(arguments["path"].as_str().expect("a path"))
    }

    /// Runs the part if it is a tool call, and returns its result.
    fn run(&mut self, content: &PartContent) -> Option<MessagePart> {
        let PartContent::ToolCall {
            id,
            name,
            arguments,
        } = content
        else {
            return None;
        };
        let arguments: Value = serde_json::from_str(arguments).expect("arguments are JSON");
        let target = arguments.get("command").or(arguments.get("path"));
        let target = target.and_then(Value::as_str).unwrap_or_default();
        self.calls.push(format!("{name} {target}"));
        let outcome = match name.as_str() {
            "read" => fs::read_to_string(self.path(&arguments)).map_err(|error| error.to_string()),
            "write" => write(&self.path(&arguments), &arguments),
            "edit" => edit(&self.path(&arguments), &arguments),
            "list" => Ok(list(&self.path(&arguments), "").join("\n")),
            "grep" => Ok(self.grep(&arguments)),
            "exec_command" => Ok(self.execute(target)),
            other => panic!("there is no tool {other}"),
        };
        let is_error = outcome.is_err();
        let text = outcome.unwrap_or_else(|error| error);
        Some(MessagePart::new(PartContent::ToolResult {
            call: id.clone(),
            content: vec![PartContent::Text(text)],
            is_error,
        }))
    }

    fn grep(&self, arguments: &Value) -> String {
        let root = self.path(arguments);
        let pattern = arguments["pattern"].as_str().expect("a pattern");
        let mut found = Vec::new();
        for path in list(&root, "") {
            let Ok(text) = fs::read_to_string(root.join(&path)) else {
                continue;
            };
            let lines = text
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains(pattern));
            found.extend(lines.map(|(ix, line)| format!("{path}:{}:{line}", ix + 1)));
        }
        if found.is_empty() {
            return format!("no match for {pattern}");
        }
        found.join("\n")
    }

    fn execute(&self, command: &str) -> String {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(self.folder.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .expect("a shell");
        let code = output.status.code().unwrap_or(-1);
        let text = [output.stdout, output.stderr].concat();
        format!("{}\nexit status {code}", String::from_utf8_lossy(&text))
    }
}

fn edit(path: &Path, arguments: &Value) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let field = |name: &str| arguments[name].as_str().expect("a text").to_owned();
    let (old, new) = (field("old_string"), field("new_string"));
    let count = text.matches(&old).count();
    let is_all = arguments["replace_all"].as_bool().unwrap_or(false);
    if count == 0 || (count > 1 && !is_all) {
        return Err(format!("{count} matches"));
    }
    fs::write(path, text.replace(&old, &new)).map_err(|error| error.to_string())?;
    Ok("edited".to_owned())
}

fn write(path: &Path, arguments: &Value) -> Result<String, String> {
    let content = arguments["content"].as_str().expect("a text");
    fs::create_dir_all(path.parent().expect("a parent")).map_err(|error| error.to_string())?;
    fs::write(path, content).map_err(|error| error.to_string())?;
    Ok("written".to_owned())
}

/// Returns the files below a folder, as sorted paths with `/`.
fn list(root: &Path, below: &str) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join(below)).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        if entry.path().is_dir() {
            files.extend(list(root, &path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Assembles the parts of an answer, and returns its stop reason.
fn parts_of(events: &[StreamEvent]) -> (Vec<MessagePart>, StopReason) {
    let mut parts: Vec<MessagePart> = Vec::new();
    for event in events {
        match event {
            StreamEvent::TextDelta(more) => match parts.last_mut().map(|part| &mut part.content) {
                Some(PartContent::Text(text)) => text.push_str(more),
                _ => parts.push(MessagePart::text(more)),
            },
            StreamEvent::ToolStart { id, name, .. } => {
                parts.push(MessagePart::new(PartContent::ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                }))
            }
            StreamEvent::ToolArgsDelta { fragment, .. } => {
                let Some(PartContent::ToolCall { arguments, .. }) =
                    parts.last_mut().map(|part| &mut part.content)
                else {
                    panic!("arguments without a call");
                };
                arguments.push_str(fragment);
            }
            StreamEvent::Stop { reason, .. } => return (parts, *reason),
            StreamEvent::Failed(failure) => panic!("{failure}"),
            _ => {}
        }
    }
    panic!("no end");
}

fn client() -> DemoClient {
    DemoClient::new().unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test(start_paused = true)]
async fn the_failing_test_is_fixed_and_only_once() {
    let (client, mut session) = (client(), Session::with_all_tools());
    let text = session.ask(&client, "Please fix the failing test").await;
    assert!(text.starts_with("All 21 tests pass."), "{text}");
    let expected = [
        "exec_command python3 -m unittest",
        "grep .",
        "read todo/dates.py",
        "read tests/test_dates.py",
        "edit todo/dates.py",
        "edit tests/test_dates.py",
        "exec_command python3 -m unittest",
    ];
    assert_eq!(session.calls, expected);
    assert!(
        session.execute("python3 -m unittest").contains("\nOK\n"),
        "the tests pass"
    );
    let text = session.ask(&client, "and fix the tests again").await;
    assert!(text.contains("nothing to fix"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn demo_adds_a_feature_and_reports_the_bug() {
    let (client, mut session) = (client(), Session::with_all_tools());
    let text = session.ask(&client, "Add a count command").await;
    assert!(text.contains("its test passes"), "{text}");
    assert!(text.contains("test_a_weekday_is_never_today"), "{text}");
    let output = session.execute("TODO_FILE=list.json python3 -m todo count");
    assert!(output.contains("0 to do, 0 done"), "{output}");
    session.ask(&client, "fix the failing test").await;
    let text = session.ask(&client, "add the count command, please").await;
    assert!(text.contains("there already"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_rename_reaches_every_file() {
    let (client, mut session) = (client(), Session::with_all_tools());
    let text = session
        .ask(&client, "rename find_task across the project")
        .await;
    assert!(text.contains("is now `task_by_id`"), "{text}");
    assert!(
        session
            .execute("grep -r find_task . || echo gone")
            .contains("gone")
    );
}

#[tokio::test(start_paused = true)]
async fn command_documentation_is_written_from_the_help_output() {
    let (client, mut session) = (client(), Session::with_all_tools());
    let text = session.ask(&client, "Document the commands").await;
    assert!(text.contains("I read it back"), "{text}");
    let page = fs::read_to_string(session.folder.path().join("docs/commands.md")).expect("a page");
    assert!(page.contains("take a task off the list"), "{page}");
}

#[tokio::test(start_paused = true)]
async fn the_code_is_explained_after_reading_it() {
    let (client, mut session) = (client(), Session::with_all_tools());
    let text = session.ask(&client, "Explain the code").await;
    assert!(text.contains("`build_parser`"), "{text}");
    assert!(session.calls.contains(&"read todo/store.py".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn unexpected_tool_results_end_the_task() {
    let (client, mut session) = (client(), Session::with_all_tools());
    let path = session.folder.path().join("todo/dates.py");
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(
        &path,
        text.replace("days = (weekday", "days = 0 + (weekday"),
    )
    .expect("a file");
    let text = session.ask(&client, "fix the failing test").await;
    assert!(text.contains("I stop here"), "{text}");
    assert!(!session.calls.iter().any(|call| call.starts_with("edit")));
    let empty = tempfile::tempdir().expect("a folder");
    session.folder = empty;
    let text = session.ask(&client, "rename find_task").await;
    assert!(text.contains("I stop here"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn other_prompts_are_answered_with_a_description_of_the_demo() {
    let client = client();
    for tools in [&["read", "edit", "exec_command"][..], &[]] {
        let text = Session::new(tools)
            .ask(&client, "What is the capital of France?")
            .await;
        assert!(
            text.contains("demo model: a script, not a language model"),
            "{text}"
        );
        assert!(text.contains("ANTHROPIC_API_KEY") && text.contains("burin-agent models"));
    }
    let text = Session::new(&[]).ask(&client, "fix the failing test").await;
    assert!(text.contains("here I have none"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn answers_stream_at_reading_speed() {
    let client = client();
    let start = tokio::time::Instant::now();
    let mut session = Session::new(&[]);
    let text = session.ask(&client, "hello").await;
    let tokens = text.len() as f64 / 4.0;
    let seconds = start.elapsed().as_secs_f64();
    let expected = tokens / 70.0;
    assert!(
        seconds > expected && seconds < expected + 1.0,
        "{seconds} s for {tokens} tokens"
    );
}

#[tokio::test(start_paused = true)]
async fn completion_is_empty() {
    let model = ModelId::parse("demo/demo").expect("a name");
    let request = Fim::gap(model, "fn main() {", "}", TokenCount(5));
    let events: Vec<StreamEvent> = client().complete(request).collect().await;
    let has_text = events
        .iter()
        .any(|event| matches!(event, StreamEvent::TextDelta(_)));
    assert!(!has_text, "the demo model does not complete code");
    let reason = StopReason::EndTurn;
    let raw = "end_turn".to_owned();
    assert_eq!(events.last(), Some(&StreamEvent::Stop { reason, raw }));
}

#[test]
fn sample_lists_every_file_of_its_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/demo/repo");
    let found: Vec<String> = list(&root, "")
        .into_iter()
        .filter(|path| !path.contains("__pycache__"))
        .collect();
    let mut listed: Vec<&str> = SAMPLE.iter().map(|(path, _)| *path).collect();
    listed.sort_unstable();
    assert_eq!(found, listed);
    let bytes: usize = SAMPLE.iter().map(|(_, text)| text.len()).sum();
    assert!(bytes < 60_000, "{bytes} bytes");
}

#[test]
fn the_demo_script_has_no_faults() {
    let script = crate::Script::parse("demo", super::SCRIPT).expect("a script");
    assert!(script.schedule.is_none());
    assert!(script.rules.iter().all(|rule| rule.faults.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn lines_are_rewritten_with_the_instruction_as_a_comment() {
    let client = DemoClient::new().expect("the script is valid");
    let check = async |question: &str, expected: &str| {
        let mut session = Session::new(&[]);
        assert_eq!(session.ask(&client, question).await, expected);
    };
    check(
        "File: a.py\n\nLine 2, to be rewritten:\n```python\n    fix()\n```\n\nfix the test",
        "```python\n    # Demo model, a script: fix the test\n    fix()\n```\n",
    )
    .await;
    check(
        "Lines 1 to 2, to be rewritten:\n```c++\na\nb\n```\n\nx",
        "```c++\n// Demo model, a script: x\na\nb\n```\n",
    )
    .await;
    check(
        "Line 2, to be rewritten:\n```rust\na\n```\n\nEarlier instruction: x\nYour text of the lines so far, to be \
         rewritten again:\n```rust\nb\n```\n\ny",
        "```rust\n// Demo model, a script: y\nb\n```\n",
    )
    .await;
    check(
        "Line 3 is blank. Write the text that goes there:\n```rust\n  \n```\n\nx",
        "```rust\n  // Demo model, a script: x\n```\n",
    )
    .await;
    check(
        "Line 3, to be rewritten:\n````\n```\n````\n\nx",
        "````\n(Demo model, a script: x)\n```\n````\n",
    )
    .await;
}
