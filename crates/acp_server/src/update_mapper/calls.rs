//! Maps tool calls and the calls of subagents to ACP call updates.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use agent::record::{SessionRecord, StoredContent, StoredPart};
use agent::spawn::SPAWN_AGENT;
use agent::tool::{ToolClass, ToolDisplay};
use agent::tool_names::by_name;
use agent::{CallOutcome, stored_parts};
use base::{AbsPath, LineFeeds, printable};
use connect::acp::protocol::{
    CallContent, CallKind, CallLocation, CallStatus, CallUpdate, MessageContent, Update,
};
use serde_json::{Value, json};

/// The bytes of a running command's output that are shown: its tail.
const TAIL: usize = 4 << 10;

/// The calls of a session and of its subagents.
pub(super) struct CallTracker {
    root: AbsPath,
    known: BTreeMap<String, TrackedCall>,
    /// Calls with unsent output or subagent activity.
    held: BTreeSet<String>,
    /// For each subagent the call that it works for.
    owners: HashMap<String, String>,
    /// Calls of subagents that the editor knows, because it was asked to permit them.
    asked: BTreeSet<String>,
    /// The inputs of running calls, those of subagents included.
    inputs: HashMap<String, Value>,
}

/// The state of one tool call.
struct TrackedCall {
    /// Our name for the tool; the model's where it is not ours.
    tool: String,
    kind: CallKind,
    state: CallStatus,
    /// The tail of the command's output.
    output: String,
    /// The content that the call returned.
    result: Vec<CallContent>,
    /// The calls that its subagents made.
    doings: Vec<SubagentCall>,
}

/// A call of a subagent.
struct SubagentCall {
    id: String,
    title: String,
    has_failed: bool,
}

impl CallTracker {
    /// Creates a tracker without calls. Paths below `root` are shown relative to `root`.
    pub(super) fn new(root: AbsPath) -> Self {
        Self {
            root,
            known: BTreeMap::new(),
            held: BTreeSet::new(),
            owners: HashMap::new(),
            asked: BTreeSet::new(),
            inputs: HashMap::new(),
        }
    }

    /// Returns the update for a call that the model begins to write.
    pub(super) fn writes(&mut self, call: &str, name: &str) -> Vec<Update> {
        let known = self.tracked_call(call, name);
        known.state = CallStatus::Pending;
        vec![Update::Call(CallUpdate {
            title: Some(one_line(name)),
            kind: Some(known.kind),
            state: Some(CallStatus::Pending),
            ..CallUpdate::new(call)
        })]
    }

    /// Returns the updates for a call that the model has written completely.
    pub(super) fn on_call_requested(
        &mut self,
        call: &str,
        name: &str,
        arguments: &str,
    ) -> Vec<Update> {
        let mut updates = self.writes(call, name);
        if let Some(Update::Call(update)) = updates.first_mut() {
            let input = input(arguments);
            self.inputs.insert(call.to_owned(), input.clone());
            update.input = Some(input);
        }
        updates
    }

    /// Marks calls that will never be complete as failed for the reason `why`, and returns the
    /// updates.
    pub(super) fn broken(&mut self, calls: &[String], why: &str) -> Vec<Update> {
        let updates = calls.iter().map(|call| {
            if let Some(known) = self.known.get_mut(call) {
                known.state = CallStatus::Failed;
            }
            let why = CallContent::Piece(MessageContent::Text(why.to_owned()));
            Update::Call(CallUpdate {
                state: Some(CallStatus::Failed),
                content: Some(vec![why]),
                ..CallUpdate::new(call)
            })
        });
        updates.collect()
    }

    /// Returns the update for a call that needs permission.
    pub(super) fn on_permission_request(&mut self, call: &str, title: &str) -> Vec<Update> {
        vec![Update::Call(CallUpdate {
            title: Some(one_line(title)),
            ..CallUpdate::new(call)
        })]
    }

    /// Returns the update for a call that starts.
    pub(super) fn on_call_start(&mut self, record: &SessionRecord) -> Vec<Update> {
        let SessionRecord::CallBegan {
            call,
            tool,
            class,
            title,
            input,
            ..
        } = record
        else {
            return Vec::new();
        };
        let places = self.locations(input);
        let known = self.tracked_call(call, tool);
        known.tool.clone_from(tool);
        known.kind = kind(tool, Some(*class));
        known.state = CallStatus::Running;
        vec![Update::Call(CallUpdate {
            title: Some(one_line(title)),
            kind: Some(known.kind),
            state: Some(CallStatus::Running),
            input: Some(input.clone()),
            places: (!places.is_empty()).then_some(places),
            ..CallUpdate::new(call)
        })]
    }

    /// Adds output of a running call. The next `flush_output` returns an update for this output.
    pub(super) fn printed(&mut self, call: &str, text: &str) {
        let Some(known) = self.known.get_mut(call) else {
            return;
        };
        // The subagent's own events show what it does.
        if known.state != CallStatus::Running || known.tool == SPAWN_AGENT {
            return;
        }
        known.output.push_str(text);
        if let Some(mut cut) = known.output.len().checked_sub(2 * TAIL) {
            cut += TAIL;
            while !known.output.is_char_boundary(cut) {
                cut += 1;
            }
            known.output.drain(..cut);
        }
        self.held.insert(call.to_owned());
    }

    /// Returns the update for a call that ended.
    pub(super) fn on_call_end(&mut self, record: &SessionRecord) -> Vec<Update> {
        let SessionRecord::CallEnded {
            call,
            tool,
            outcome,
            content,
            shown,
            millis,
            ..
        } = record
        else {
            return Vec::new();
        };
        let (result, places) = self.result(tool, *outcome, content, shown);
        self.held.remove(call);
        self.inputs.remove(call);
        let known = self.tracked_call(call, tool);
        known.state = match outcome {
            CallOutcome::Ok => CallStatus::Done,
            _ => CallStatus::Failed,
        };
        known.result = result;
        known.output = String::new();
        vec![Update::Call(CallUpdate {
            state: Some(known.state),
            content: Some(known.content()),
            places: (!places.is_empty()).then_some(places),
            output: Some(json!({ "outcome": outcome.name(), "millis": millis })),
            ..CallUpdate::new(call)
        })]
    }

    /// Marks every call that is still open at the end of its turn as failed, and returns the
    /// updates.
    pub(super) fn end_all(&mut self) -> Vec<Update> {
        let is_open =
            |known: &TrackedCall| matches!(known.state, CallStatus::Pending | CallStatus::Running);
        let open = self.known.iter().filter(|(_, known)| is_open(known));
        let open: Vec<String> = open.map(|(call, _)| call.clone()).collect();
        self.broken(&open, "The turn ended before this did.")
    }

    /// Returns the updates for a record of a subagent.
    pub(super) fn child(&mut self, session: &str, record: &SessionRecord) -> Vec<Update> {
        match record {
            SessionRecord::Began {
                parent: Some(parent),
                ..
            } => {
                let above = self.owners.get(&parent.session).cloned();
                let owner = above.unwrap_or_else(|| parent.call.clone());
                self.owners.insert(session.to_owned(), owner);
                Vec::new()
            }
            SessionRecord::Answered { parts, .. } => {
                for part in parts {
                    if let StoredContent::Call { id, arguments, .. } = &part.content {
                        let id = child_call(session, id);
                        self.inputs.insert(id, input(arguments));
                    }
                }
                Vec::new()
            }
            SessionRecord::LeaveAsked { call, title, .. } => {
                let id = child_call(session, call);
                self.asked.insert(id.clone());
                vec![Update::Call(CallUpdate {
                    title: Some(one_line(title)),
                    kind: Some(CallKind::Other),
                    state: Some(CallStatus::Pending),
                    ..CallUpdate::new(id)
                })]
            }
            SessionRecord::CallBegan { call, title, .. } => {
                self.does(session, call, title);
                self.asked_about(session, call, CallStatus::Running, &[])
            }
            SessionRecord::CallEnded {
                call,
                outcome,
                content,
                ..
            } => {
                self.inputs.remove(&child_call(session, call));
                let state = match outcome {
                    CallOutcome::Ok => CallStatus::Done,
                    _ => CallStatus::Failed,
                };
                if state == CallStatus::Failed {
                    self.has_failed(session, call);
                }
                self.asked_about(session, call, state, content)
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether there is output for the next `flush_output`.
    pub(super) fn has_pending_output(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns the updates that were held back.
    pub(super) fn flush_output(&mut self) -> Vec<Update> {
        let held = std::mem::take(&mut self.held);
        let updates = held.into_iter().filter_map(|call| {
            let content = self.known.get(&call)?.content();
            Some(Update::Call(CallUpdate {
                content: Some(content),
                ..CallUpdate::new(call)
            }))
        });
        updates.collect()
    }

    /// Returns the id of a running call of this tool.
    pub(super) fn running(&self, tool: &str) -> Option<String> {
        let is_it = |known: &TrackedCall| known.tool == tool && known.state == CallStatus::Running;
        let found = self.known.iter().find(|(_, known)| is_it(known));
        found.map(|(call, _)| call.clone())
    }

    /// Returns the input of a call that has not ended.
    pub(super) fn input(&self, call: &str) -> Option<Value> {
        self.inputs.get(call).cloned()
    }

    /// Returns the protocol's kind of a call, or `Other` for an unknown call.
    pub(super) fn kind(&self, call: &str) -> CallKind {
        let known = self.known.get(call);
        known.map_or(CallKind::Other, |known| known.kind)
    }

    fn tracked_call(&mut self, call: &str, name: &str) -> &mut TrackedCall {
        self.known.entry(call.to_owned()).or_insert_with(|| {
            let tool = by_name(name).unwrap_or(name);
            TrackedCall {
                tool: tool.to_owned(),
                kind: kind(tool, None),
                state: CallStatus::Pending,
                output: String::new(),
                result: Vec::new(),
                doings: Vec::new(),
            }
        })
    }

    fn does(&mut self, session: &str, call: &str, title: &str) {
        let Some(owner) = self.owners.get(session) else {
            return;
        };
        if let Some(known) = self.known.get_mut(owner) {
            known.doings.push(SubagentCall {
                id: child_call(session, call),
                title: one_line(title),
                has_failed: false,
            });
            self.held.insert(owner.clone());
        }
    }

    fn has_failed(&mut self, session: &str, call: &str) {
        let id = child_call(session, call);
        let Some(owner) = self.owners.get(session) else {
            return;
        };
        let known = self.known.get_mut(owner);
        let doing = known.and_then(|known| known.doings.iter_mut().find(|it| it.id == id));
        if let Some(doing) = doing {
            doing.has_failed = true;
            self.held.insert(owner.clone());
        }
    }

    /// Returns the update for a subagent's call, if the editor knows the call.
    fn asked_about(
        &self,
        session: &str,
        call: &str,
        state: CallStatus,
        content: &[StoredPart],
    ) -> Vec<Update> {
        let id = child_call(session, call);
        if !self.asked.contains(&id) {
            return Vec::new();
        }
        let text = stored_parts::texts(content);
        vec![Update::Call(CallUpdate {
            state: Some(state),
            content: (!text.is_empty()).then(|| vec![code_block(&text)]),
            ..CallUpdate::new(id)
        })]
    }

    /// The files that arguments name.
    fn locations(&self, input: &Value) -> Vec<CallLocation> {
        let names = ["path", "file_path", "from", "to"];
        let paths = names.iter().filter_map(|name| input.get(*name)?.as_str());
        let line = ["line", "offset"]
            .iter()
            .find_map(|name| input.get(*name)?.as_u64());
        let line = line.and_then(|line| u32::try_from(line).ok());
        paths
            .map(|path| self.location(path, line.filter(|it| *it > 0)))
            .collect()
    }

    fn location(&self, path: &str, line: Option<u32>) -> CallLocation {
        CallLocation {
            path: self.root.join(path).as_path().to_owned(),
            line,
        }
    }

    /// Returns the content of a finished call and the locations that it found.
    fn result(
        &self,
        tool: &str,
        outcome: CallOutcome,
        content: &[StoredPart],
        shown: &[ToolDisplay],
    ) -> (Vec<CallContent>, Vec<CallLocation>) {
        let (mut result, mut places) = (Vec::new(), Vec::new());
        let mut has_output = false;
        for shown in shown {
            match shown {
                ToolDisplay::Diff { path, old, new } => {
                    places.push(self.location(path, None));
                    result.push(CallContent::Diff {
                        path: self.root.join(path).as_path().to_owned(),
                        old: old.clone(),
                        new: new.clone().unwrap_or_default(),
                    });
                }
                ToolDisplay::Command { .. } => {
                    has_output = true;
                    result.push(command(shown));
                }
                ToolDisplay::Places(found) => {
                    let found = found
                        .iter()
                        .map(|(path, line, _)| self.location(path, Some(*line)));
                    places.extend(found);
                }
                ToolDisplay::Text(text) => {
                    result.push(CallContent::Piece(MessageContent::Text(text.clone())))
                }
                ToolDisplay::Plan(_) => {}
            }
        }
        let is_told = !result.is_empty() && outcome == CallOutcome::Ok;
        if !is_told && !has_output {
            let text = stored_parts::texts(content);
            if !text.is_empty() {
                result.push(if is_prose(tool) || outcome != CallOutcome::Ok {
                    CallContent::Piece(MessageContent::Text(text))
                } else {
                    code_block(&text)
                });
            }
        }
        result.extend(content.iter().filter_map(picture));
        (result, places)
    }
}

impl TrackedCall {
    /// All that there is to see of it.
    fn content(&self) -> Vec<CallContent> {
        let mut content = self.result.clone();
        if !self.output.is_empty() {
            let cut = self.output.len().saturating_sub(TAIL);
            let cut = (cut..).find(|cut| self.output.is_char_boundary(*cut));
            content.push(code_block(&self.output[cut.unwrap_or_default()..]));
        }
        if !self.doings.is_empty() {
            let line = |doing: &SubagentCall| {
                if doing.has_failed {
                    format!("- {} (failed)\n", doing.title)
                } else {
                    format!("- {}\n", doing.title)
                }
            };
            let lines = self.doings.iter().map(line).collect();
            content.push(CallContent::Piece(MessageContent::Text(lines)));
        }
        content
    }
}

/// Returns the id under which the editor knows the call `call` of the subagent `session`.
pub(crate) fn child_call(session: &str, call: &str) -> String {
    format!("{session}/{call}")
}

/// Whether a tool's output is Markdown; the output of other tools is file or program text.
fn is_prose(tool: &str) -> bool {
    matches!(tool, SPAWN_AGENT | "plan" | "ask_user" | "memory" | "skill")
}

fn kind(tool: &str, class: Option<ToolClass>) -> CallKind {
    match (tool, class) {
        (
            "grep" | "glob" | "semantic_search" | "symbols" | "definition" | "references"
            | "web_search",
            _,
        ) => CallKind::Search,
        ("read" | "list" | "skill" | "diagnostics" | "hover", _) => CallKind::Read,
        ("delete", _) => CallKind::Delete,
        ("move", _) => CallKind::Move,
        ("fetch", _) => CallKind::Fetch,
        ("plan", _) => CallKind::Think,
        ("exec_command" | "write_stdin" | "run_tests", _) => CallKind::Execute,
        ("edit" | "edit_lines" | "edit_blocks" | "apply_patch" | "write" | "memory", _) => {
            CallKind::Edit
        }
        (_, Some(ToolClass::Read)) => CallKind::Read,
        (_, Some(ToolClass::Edit)) => CallKind::Edit,
        (_, Some(ToolClass::Execute)) => CallKind::Execute,
        (_, Some(ToolClass::Network)) => CallKind::Fetch,
        _ => CallKind::Other,
    }
}

/// Returns a command with its output and its exit.
fn command(shown: &ToolDisplay) -> CallContent {
    let ToolDisplay::Command {
        command,
        code,
        output,
    } = shown
    else {
        return CallContent::Piece(MessageContent::Text(String::new()));
    };
    let end = match code {
        Some(0) => String::new(),
        Some(code) => format!("[exit code {code}]\n"),
        None => "[it still runs]\n".to_owned(),
    };
    let newline = if output.is_empty() || output.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    code_block(&format!("$ {command}\n{output}{newline}{end}"))
}

/// Parses the arguments that a model wrote; arguments that are not JSON become a string.
fn input(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments))
}

/// A foreign text on one line.
fn one_line(text: &str) -> String {
    printable(text, LineFeeds::Escape).into_owned()
}

/// Wraps a text in code fences that the text itself cannot close. Makes control characters visible.
pub(crate) fn code_block(text: &str) -> CallContent {
    let text = &*printable(text, LineFeeds::Keep);
    let longest = text.split(|letter| letter != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default().max(2) + 1);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    CallContent::Piece(MessageContent::Text(format!(
        "{fence}\n{text}{newline}{fence}"
    )))
}

/// Converts an image; `None` for other content.
fn picture(part: &StoredPart) -> Option<CallContent> {
    match &part.content {
        StoredContent::Image { media_type, data } => {
            Some(CallContent::Piece(MessageContent::Image {
                media_type: media_type.clone(),
                data: data.clone(),
            }))
        }
        _ => None,
    }
}
