//! The client editor: writes its messages by hand, and checks every message it receives.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use host::TempFolder;
use serde_json::{Value, json};

use crate::agent::ARGUMENTS;

/// Timeout, longer than any step takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// A prompt for which the demo model has a script that reads and changes files and runs commands.
pub(super) const FIX: &str = "Fix the failing test";

/// The process and its output.
pub(super) struct Editor {
    home: TempFolder,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    next: u64,
    /// Ids of requests without an answer so far.
    asked: Vec<Value>,
    /// All received messages, in order.
    pub(super) heard: Vec<Value>,
    /// The kind of choice that answers every permission request; `None` leaves requests open.
    pub(super) leave: Option<&'static str>,
}

impl Editor {
    pub(super) fn start() -> Self {
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
            for line in output.split(b'\n').map_while(Result::ok) {
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
            asked: Vec::new(),
            heard: Vec::new(),
            leave: Some("allow_once"),
        }
    }

    /// Starts and initializes the agent for a client without capabilities; returns the response.
    pub(super) fn greeted() -> (Self, Value) {
        let mut editor = Self::start();
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        let hello = editor.ask("initialize", hello);
        (editor, hello["result"].clone())
    }

    /// Starts an initialized agent with a session in a project.
    pub(super) fn at_work() -> (Self, Value) {
        let (mut editor, _) = Self::greeted();
        let project = editor.project("project");
        let session = editor.session(&project);
        (editor, session)
    }

    pub(super) fn project(&self, name: &str) -> PathBuf {
        let folder = self.home.path().as_path().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::canonicalize(folder).expect("a real path")
    }

    pub(super) fn session(&mut self, folder: &Path) -> Value {
        let made = self.ask("session/new", json!({ "cwd": folder, "mcpServers": [] }));
        let id = made["result"]["sessionId"].as_str();
        assert!(id.is_some_and(|it| !it.is_empty()), "{made}");
        made["result"].clone()
    }

    pub(super) fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("its input");
        writeln!(input, "{text}").expect("it listens");
    }

    pub(super) fn send(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        self.send_as(json!(self.next), method, params)
    }

    pub(super) fn send_as(&mut self, id: Value, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&message.to_string());
        self.asked.push(id.clone());
        id
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.write(&message.to_string());
    }

    /// Returns the next message; `None` if the output has ended.
    fn next(&mut self) -> Option<Value> {
        loop {
            let line = match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => String::from_utf8(line).expect("UTF-8"),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("it says nothing; heard: {:#?}", self.heard)
                }
            };
            // The test harness prints text before the first message.
            let from = match (self.heard.is_empty(), line.find('{')) {
                (true, None) => continue,
                (true, Some(from)) => from,
                (false, _) => 0,
            };
            let message: Value = serde_json::from_str(&line[from..])
                .unwrap_or_else(|error| panic!("{error}: {line}"));
            self.check(&message);
            self.heard.push(message.clone());
            self.answer(&message);
            return Some(message);
        }
    }

    pub(super) fn hear(&mut self) -> Value {
        self.next().expect("it says something")
    }

    /// Checks the properties that hold for every message.
    fn check(&mut self, message: &Value) {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if message.get("method").is_some() {
            return;
        }
        let (result, error) = (message.get("result"), message.get("error"));
        assert!(result.is_some() != error.is_some(), "{message}");
        let id = message.get("id").expect("an answer names its question");
        if id.is_null() {
            assert!(error.is_some(), "{message}");
            return;
        }
        // Notifications get no response, and no request gets two.
        let of = self.asked.iter().position(|asked| asked == id);
        self.asked
            .swap_remove(of.unwrap_or_else(|| panic!("nobody asked: {message}")));
    }

    /// Answers a permission request; other requests are unknown to this editor.
    fn answer(&mut self, message: &Value) {
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else {
            return;
        };
        let answer = match (method, self.leave) {
            ("session/request_permission", None) => return,
            ("session/request_permission", Some(kind)) => {
                let offered = message["params"]["options"].as_array().expect("choices");
                let chosen = offered.iter().find(|choice| choice["kind"] == kind);
                let id_of_choice = &chosen.expect("a choice of that kind")["optionId"];
                let outcome = json!({ "outcome": "selected", "optionId": id_of_choice });
                json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } })
            }
            _ => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "not here" } })
            }
        };
        self.write(&answer.to_string());
    }

    /// Cancels a permission request.
    pub(super) fn take_back(&mut self, asked: &Value) {
        let outcome = json!({ "outcome": { "outcome": "cancelled" } });
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome });
        self.write(&answer.to_string());
    }

    pub(super) fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.hear();
            if is_it(&message) {
                return message;
            }
        }
    }

    pub(super) fn answer_to(&mut self, id: &Value) -> Value {
        self.until(|message| message["id"] == *id && message.get("method").is_none())
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer_to(&id)
    }

    pub(super) fn begin(&mut self, session: &Value, text: &str) -> Value {
        self.send("session/prompt", prompt(session, json!([words(text)])))
    }

    /// Runs a whole turn and returns its stop reason.
    pub(super) fn turn(&mut self, session: &Value, parts: Value) -> Value {
        let end = self.ask("session/prompt", prompt(session, parts));
        assert!(end["result"]["stopReason"].is_string(), "{end}");
        end["result"]["stopReason"].clone()
    }

    /// Starts a turn and leaves its first permission request open; returns the turn's id and the
    /// request.
    pub(super) fn stuck(&mut self, session: &Value) -> (Value, Value) {
        self.leave = None;
        let turn = self.begin(session, FIX);
        let asked = self.until(|message| message["method"] == "session/request_permission");
        (turn, asked)
    }

    /// Loads or resumes a session; returns the response and the updates before it.
    pub(super) fn reopen(
        &mut self,
        method: &str,
        session: &Value,
        folder: &Value,
    ) -> (Value, Vec<Value>) {
        let before = self.heard.len();
        let params = json!({ "sessionId": session["sessionId"], "cwd": folder, "mcpServers": [] });
        let opened = self.ask(method, params);
        assert!(opened["result"].is_object(), "{method}: {opened}");
        let told = &self.heard[before..];
        (opened["result"].clone(), updates(told, session))
    }

    /// Closes the agent's input, and checks that it exits cleanly; returns its last messages.
    pub(super) fn hang_up(mut self) -> Vec<Value> {
        self.input = None;
        let before = self.heard.len();
        while self.next().is_some() {}
        let code = self.child.wait().expect("its end").code();
        assert_eq!(code, Some(0));
        self.heard.split_off(before)
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(super) fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

pub(super) fn prompt(session: &Value, parts: Value) -> Value {
    json!({ "sessionId": session["sessionId"], "prompt": parts })
}

pub(super) fn only(session: &Value) -> Value {
    json!({ "sessionId": session["sessionId"] })
}

/// Returns the updates of a session.
pub(super) fn updates(told: &[Value], session: &Value) -> Vec<Value> {
    let of_session = told.iter().filter(|message| {
        message["method"] == "session/update"
            && message["params"]["sessionId"] == session["sessionId"]
    });
    of_session
        .map(|message| message["params"]["update"].clone())
        .collect()
}
