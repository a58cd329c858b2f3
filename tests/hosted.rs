//! `burin-agent acp` as another editor has it: a process that is spoken to in lines over its input and output.
//!
//! The points are those that the protocol's compatibility kit lists for version 1: handshake, life of sessions, turns,
//! stopping, modes and options, signing in, what a client without abilities is never asked, extensions, and the
//! hygiene of the line itself.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use host::TempFolder;
use serde_json::{Value, json};

use crate::agent::ARGUMENTS;

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(60);

/// The process, and what it said.
struct Editor {
    home: TempFolder,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Everything that came, in order.
    heard: Vec<Value>,
    /// What every question for leave is answered with; `None` where it is not answered.
    leave: Option<Value>,
}

impl Editor {
    fn start() -> Self {
        let home = TempFolder::new().expect("a folder");
        let program = std::env::current_exe().expect("the path of this program");
        let own = home.path().as_path();
        let mut child = Command::new(program)
            .args([
                "agent::is_burin_agent",
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", own)
            .env(ARGUMENTS, "acp\n--model\ndemo")
            .env("BURIN_CONFIG_DIR", own.join("config"))
            .env("BURIN_STATE_DIR", own.join("state"))
            .env("BURIN_CACHE_DIR", own.join("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            home,
            child,
            lines,
            next: 0,
            heard: Vec::new(),
            leave: Some(json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } })),
        }
    }

    /// Said hello to, with a client that can do nothing.
    fn greeted() -> (Self, Value) {
        let mut editor = Self::start();
        let hello = editor.ask(
            "initialize",
            json!({ "protocolVersion": 1, "clientCapabilities": {} }),
        );
        (editor, hello["result"].clone())
    }

    fn project(&self, name: &str) -> PathBuf {
        let folder = self.home.path().as_path().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::canonicalize(folder).expect("a real path")
    }

    fn session(&mut self, folder: &Path) -> Value {
        let made = self.ask("session/new", json!({ "cwd": folder, "mcpServers": [] }));
        assert!(made["result"]["sessionId"].is_string(), "{made}");
        made["result"].clone()
    }

    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("its input");
        writeln!(input, "{text}").expect("it listens");
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&message.to_string());
        id
    }

    fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.write(&message.to_string());
    }

    /// The next message; each is one line and says that it is JSON-RPC.
    fn hear(&mut self) -> Value {
        loop {
            let line = self
                .lines
                .recv_timeout(PATIENCE)
                .expect("it says something");
            // What the test harness around the program prints; it writes the name of its test before the first line.
            let Some(from) = line.find('{') else {
                continue;
            };
            let message: Value = serde_json::from_str(&line[from..])
                .unwrap_or_else(|error| panic!("{error}: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            self.heard.push(message.clone());
            self.answer(&message);
            return message;
        }
    }

    /// Answers a question for leave; anything else that is asked is not known here.
    fn answer(&mut self, message: &Value) {
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else {
            return;
        };
        let answer = match (method, &self.leave) {
            ("session/request_permission", None) => return,
            ("session/request_permission", Some(leave)) => {
                json!({ "jsonrpc": "2.0", "id": id, "result": leave })
            }
            _ => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "not here" } })
            }
        };
        self.write(&answer.to_string());
    }

    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.hear();
            if is_it(&message) {
                return message;
            }
        }
    }

    fn answer_to(&mut self, id: u64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer_to(id)
    }

    fn prompt(&mut self, session: &Value, parts: Value) -> Value {
        let params = json!({ "sessionId": session["sessionId"], "prompt": parts });
        self.ask("session/prompt", params)
    }

    /// Closes its input; it ends by itself, and at once.
    fn hang_up(&mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().expect("its end").code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // It may be over already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn code(answer: &Value) -> i64 {
    let error = &answer["error"];
    assert!(
        error["message"].as_str().is_some_and(|it| !it.is_empty()),
        "an error says what is wrong: {answer}"
    );
    error["code"].as_i64().expect("a code")
}

#[test]
fn the_handshake_settles_on_a_version() {
    let (mut editor, hello) = Editor::greeted();
    assert_eq!(hello["protocolVersion"], 1);
    assert!(hello["agentCapabilities"].is_object(), "{hello}");
    assert!(hello["agentInfo"]["version"].is_string(), "{hello}");
    assert!(hello["authMethods"].is_array(), "{hello}");
    assert_eq!(editor.hang_up(), Some(0));
    // A version that nobody knows is answered with one that is known.
    let mut editor = Editor::start();
    let hello = editor.ask("initialize", json!({ "protocolVersion": 999 }));
    assert_eq!(hello["result"]["protocolVersion"], 1, "{hello}");
}

#[test]
fn sessions_are_made_listed_loaded_resumed_and_closed() {
    let (mut editor, hello) = Editor::greeted();
    let project = editor.project("project");
    let session = editor.session(&project);
    let other = editor.session(&project);
    assert_ne!(session["sessionId"], other["sessionId"]);
    let relative = editor.ask("session/new", json!({ "cwd": "here", "mcpServers": [] }));
    assert_eq!(code(&relative), -32602);
    let end = editor.prompt(
        &session,
        json!([{ "type": "text", "text": "Fix the failing test" }]),
    );
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    let can = &hello["agentCapabilities"];
    assert_eq!(can["loadSession"], true);
    let listed = editor.ask("session/list", json!({}));
    let listed = listed["result"]["sessions"].as_array().cloned();
    let listed = listed.expect("a list");
    let is_it = |it: &&Value| it["sessionId"] == session["sessionId"];
    let known = listed.iter().find(is_it).expect("the session");
    let cwd = known["cwd"].clone();
    let before = editor.heard.len();
    let params = json!({ "sessionId": session["sessionId"], "cwd": cwd, "mcpServers": [] });
    let loaded = editor.ask("session/load", params.clone());
    assert!(loaded["result"].is_object(), "{loaded}");
    let told = &editor.heard[before..];
    let has = |kind: &str| {
        told.iter()
            .any(|it| it["params"]["update"]["sessionUpdate"] == kind)
    };
    assert!(has("user_message_chunk") && has("agent_message_chunk") && has("tool_call"));
    let before = editor.heard.len();
    let resumed = editor.ask("session/resume", params);
    assert!(resumed["result"].is_object(), "{resumed}");
    let told = editor.heard[before..]
        .iter()
        .any(|it| it["params"]["update"]["sessionUpdate"] == "user_message_chunk");
    assert!(!told, "resuming tells nothing anew");
    let closed = editor.ask(
        "session/close",
        json!({ "sessionId": session["sessionId"] }),
    );
    assert!(closed["result"].is_object(), "{closed}");
    let gone = editor.ask(
        "session/load",
        json!({ "sessionId": "nobody", "cwd": project, "mcpServers": [] }),
    );
    code(&gone);
}

#[test]
fn a_turn_asks_a_client_without_abilities_for_nothing_but_leave() {
    let (mut editor, _) = Editor::greeted();
    let project = editor.project("project");
    let session = editor.session(&project);
    let end = editor.prompt(
        &session,
        json!([{ "type": "text", "text": "Fix the failing test" }]),
    );
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    let asked: Vec<&str> = editor
        .heard
        .iter()
        .filter(|message| message.get("id").is_some())
        .filter_map(|message| message["method"].as_str())
        .collect();
    assert!(!asked.is_empty(), "running the tests needs leave");
    assert!(
        asked.iter().all(|it| *it == "session/request_permission"),
        "{asked:?}"
    );
    let updates = editor
        .heard
        .iter()
        .filter(|message| message["method"] == "session/update");
    let mut count = 0;
    for update in updates {
        count += 1;
        assert_eq!(
            update["params"]["sessionId"], session["sessionId"],
            "{update}"
        );
        assert!(update["params"]["update"]["sessionUpdate"].is_string());
    }
    assert!(count > 5);
    // A turn with nothing in it, and one with what was offered to be understood.
    let embedded = json!([{ "type": "text", "text": "Look" }, { "type": "resource", "resource": {
        "uri": "file:///nowhere/a.txt", "mimeType": "text/plain", "text": "words" } }]);
    let end = editor.prompt(&session, embedded);
    assert!(end["result"]["stopReason"].is_string(), "{end}");
    assert_eq!(editor.hang_up(), Some(0));
}

#[test]
fn a_turn_that_is_stopped_says_so() {
    let (mut editor, _) = Editor::greeted();
    let project = editor.project("project");
    let session = editor.session(&project);
    editor.leave = None;
    let params = json!({ "sessionId": session["sessionId"],
        "prompt": [{ "type": "text", "text": "Fix the failing test" }] });
    let id = editor.send("session/prompt", params);
    let asked = editor.until(|message| message["method"] == "session/request_permission");
    editor.notify(
        "session/cancel",
        json!({ "sessionId": session["sessionId"] }),
    );
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "outcome": { "outcome": "cancelled" } } });
    editor.write(&answer.to_string());
    let end = editor.answer_to(id);
    assert_eq!(end["result"]["stopReason"], "cancelled", "{end}");
    // What is stopped without a turn does nothing, and the session goes on.
    editor.notify(
        "session/cancel",
        json!({ "sessionId": session["sessionId"] }),
    );
    editor.leave = Some(json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } }));
    let end = editor.prompt(
        &session,
        json!([{ "type": "text", "text": "Fix the failing test" }]),
    );
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
}

#[test]
fn modes_and_options_are_set_and_unknown_ones_refused() {
    let (mut editor, _) = Editor::greeted();
    let project = editor.project("project");
    let session = editor.session(&project);
    let id = &session["sessionId"];
    let modes = session["modes"]["availableModes"].as_array().cloned();
    for mode in modes.expect("modes") {
        let set = editor.ask(
            "session/set_mode",
            json!({ "sessionId": id, "modeId": mode["id"] }),
        );
        assert!(set["result"].is_object(), "{set}");
    }
    let set = editor.ask(
        "session/set_mode",
        json!({ "sessionId": id, "modeId": "dance" }),
    );
    code(&set);
    let options = session["configOptions"].as_array().cloned();
    let options = options.expect("options");
    assert!(!options.is_empty());
    for option in options {
        let params =
            json!({ "sessionId": id, "configId": option["id"], "value": option["currentValue"] });
        let set = editor.ask("session/set_config_option", params);
        assert!(set["result"]["configOptions"].is_array(), "{set}");
    }
    let params = json!({ "sessionId": id, "configId": "dance", "value": "waltz" });
    code(&editor.ask("session/set_config_option", params));
}

#[test]
fn what_is_not_known_is_refused_and_the_line_holds() {
    let (mut editor, hello) = Editor::greeted();
    let offered = hello["authMethods"].as_array().map_or(0, Vec::len);
    assert_eq!(offered, 0, "nobody signs in here");
    code(&editor.ask("authenticate", json!({ "methodId": "nobody" })));
    assert_eq!(code(&editor.ask("_burin.story/hello", json!({}))), -32601);
    assert_eq!(code(&editor.ask("session/dance", json!({}))), -32601);
    assert_eq!(
        code(&editor.ask("session/new", json!({ "cwd": 7 }))),
        -32602
    );
    editor.notify("_burin.story/told", json!({ "any": "thing" }));
    // Lines that are no message at all are answered or passed over; the next one is heard.
    editor.write("{ this is no JSON");
    editor.write("[]");
    editor.write(r#"{"jsonrpc":"2.0","method":7}"#);
    let project = editor.project("project");
    let params =
        json!({ "cwd": project, "mcpServers": [], "_meta": { "story": { "deep": [1, 2] } } });
    let made = editor.ask("session/new", params);
    assert!(made["result"]["sessionId"].is_string(), "{made}");
    let nobody = json!({ "sessionId": "nobody", "prompt": [{ "type": "text", "text": "x" }] });
    code(&editor.ask("session/prompt", nobody));
    assert_eq!(editor.hang_up(), Some(0));
}
