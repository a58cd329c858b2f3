//! Calls of tools as the editor is told of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use agent::record::{Record, StoredContent, StoredPart};
use agent::spawn::SPAWN_AGENT;
use agent::tool::{Shown, ToolClass};
use agent::tools::by_name;
use agent::{Outcome, parts};
use base::{AbsPath, LineFeeds, printable};
use connect::acp::words::{CallContent, CallKind, CallState, CallUpdate, Piece, Place, Update};
use serde_json::{Value, json};

/// Bytes of a running command's output that are told: the end of it.
const TAIL: usize = 4 << 10;

/// The calls of a session and of its subagents.
pub(super) struct Calls {
    root: AbsPath,
    known: BTreeMap<String, Known>,
    /// Calls whose output or whose subagents' doings were not told yet.
    held: BTreeSet<String>,
    /// For each subagent the call that it works for.
    owners: HashMap<String, String>,
    /// Calls of subagents that the editor was told of, since it is asked about them.
    asked: BTreeSet<String>,
    /// What calls were given that are not over, those of subagents included.
    inputs: HashMap<String, Value>,
}

/// What is known of a call.
struct Known {
    /// Our name for the tool; the model's where it is not ours.
    tool: String,
    kind: CallKind,
    state: CallState,
    /// The end of what it printed.
    output: String,
    /// What came of it.
    result: Vec<CallContent>,
    /// What its subagents did.
    doings: Vec<Doing>,
}

/// A call of a subagent.
struct Doing {
    id: String,
    title: String,
    has_failed: bool,
}

impl Calls {
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

    /// The model begins to write a call.
    pub(super) fn writes(&mut self, call: &str, name: &str) -> Vec<Update> {
        let known = self.known(call, name);
        known.state = CallState::Pending;
        vec![Update::Call(CallUpdate {
            title: Some(one_line(name)),
            kind: Some(known.kind),
            state: Some(CallState::Pending),
            ..CallUpdate::new(call)
        })]
    }

    /// The model has written a call.
    pub(super) fn called(&mut self, call: &str, name: &str, arguments: &str) -> Vec<Update> {
        let mut updates = self.writes(call, name);
        if let Some(Update::Call(update)) = updates.first_mut() {
            let input = input(arguments);
            self.inputs.insert(call.to_owned(), input.clone());
            update.input = Some(input);
        }
        updates
    }

    /// Calls that will never be whole.
    pub(super) fn broken(&mut self, calls: &[String], why: &str) -> Vec<Update> {
        let updates = calls.iter().map(|call| {
            if let Some(known) = self.known.get_mut(call) {
                known.state = CallState::Failed;
            }
            let why = CallContent::Piece(Piece::Text(why.to_owned()));
            Update::Call(CallUpdate {
                state: Some(CallState::Failed),
                content: Some(vec![why]),
                ..CallUpdate::new(call)
            })
        });
        updates.collect()
    }

    /// A call needs leave.
    pub(super) fn asked(&mut self, call: &str, title: &str) -> Vec<Update> {
        vec![Update::Call(CallUpdate {
            title: Some(one_line(title)),
            ..CallUpdate::new(call)
        })]
    }

    /// A call begins.
    pub(super) fn began(&mut self, record: &Record) -> Vec<Update> {
        let Record::CallBegan {
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
        let places = self.places(input);
        let known = self.known(call, tool);
        known.tool.clone_from(tool);
        known.kind = kind(tool, Some(*class));
        known.state = CallState::Running;
        vec![Update::Call(CallUpdate {
            title: Some(one_line(title)),
            kind: Some(known.kind),
            state: Some(CallState::Running),
            input: Some(input.clone()),
            places: (!places.is_empty()).then_some(places),
            ..CallUpdate::new(call)
        })]
    }

    /// A call that runs printed something.
    pub(super) fn printed(&mut self, call: &str, text: &str) {
        let Some(known) = self.known.get_mut(call) else {
            return;
        };
        // What subagents do is told from what they tell themselves.
        if known.state != CallState::Running || known.tool == SPAWN_AGENT {
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

    /// A call ended.
    pub(super) fn ended(&mut self, record: &Record) -> Vec<Update> {
        let Record::CallEnded {
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
        let known = self.known(call, tool);
        known.state = match outcome {
            Outcome::Ok => CallState::Done,
            _ => CallState::Failed,
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

    /// A turn is over: whatever still seems to run does not.
    pub(super) fn all_over(&mut self) -> Vec<Update> {
        let is_open =
            |known: &Known| matches!(known.state, CallState::Pending | CallState::Running);
        let open = self.known.iter().filter(|(_, known)| is_open(known));
        let open: Vec<String> = open.map(|(call, _)| call.clone()).collect();
        self.broken(&open, "The turn ended before this did.")
    }

    /// What a subagent writes down.
    pub(super) fn child(&mut self, session: &str, record: &Record) -> Vec<Update> {
        match record {
            Record::Began {
                parent: Some(parent),
                ..
            } => {
                let above = self.owners.get(&parent.session).cloned();
                let owner = above.unwrap_or_else(|| parent.call.clone());
                self.owners.insert(session.to_owned(), owner);
                Vec::new()
            }
            Record::Answered { parts, .. } => {
                for part in parts {
                    if let StoredContent::Call { id, arguments, .. } = &part.content {
                        let id = child_call(session, id);
                        self.inputs.insert(id, input(arguments));
                    }
                }
                Vec::new()
            }
            Record::LeaveAsked { call, title, .. } => {
                let id = child_call(session, call);
                self.asked.insert(id.clone());
                vec![Update::Call(CallUpdate {
                    title: Some(one_line(title)),
                    kind: Some(CallKind::Other),
                    state: Some(CallState::Pending),
                    ..CallUpdate::new(id)
                })]
            }
            Record::CallBegan { call, title, .. } => {
                self.does(session, call, title);
                self.asked_about(session, call, CallState::Running, &[])
            }
            Record::CallEnded {
                call,
                outcome,
                content,
                ..
            } => {
                self.inputs.remove(&child_call(session, call));
                let state = match outcome {
                    Outcome::Ok => CallState::Done,
                    _ => CallState::Failed,
                };
                if state == CallState::Failed {
                    self.has_failed(session, call);
                }
                self.asked_about(session, call, state, content)
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn has_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// What was held back.
    pub(super) fn held(&mut self) -> Vec<Update> {
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

    pub(super) fn running(&self, tool: &str) -> Option<String> {
        let is_it = |known: &Known| known.tool == tool && known.state == CallState::Running;
        let found = self.known.iter().find(|(_, known)| is_it(known));
        found.map(|(call, _)| call.clone())
    }

    pub(super) fn input(&self, call: &str) -> Option<Value> {
        self.inputs.get(call).cloned()
    }

    pub(super) fn kind(&self, call: &str) -> CallKind {
        let known = self.known.get(call);
        known.map_or(CallKind::Other, |known| known.kind)
    }

    fn known(&mut self, call: &str, name: &str) -> &mut Known {
        self.known.entry(call.to_owned()).or_insert_with(|| {
            let tool = by_name(name).unwrap_or(name);
            Known {
                tool: tool.to_owned(),
                kind: kind(tool, None),
                state: CallState::Pending,
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
            known.doings.push(Doing {
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

    /// How a subagent's call stands, where the editor knows it.
    fn asked_about(
        &self,
        session: &str,
        call: &str,
        state: CallState,
        content: &[StoredPart],
    ) -> Vec<Update> {
        let id = child_call(session, call);
        if !self.asked.contains(&id) {
            return Vec::new();
        }
        let text = parts::texts(content);
        vec![Update::Call(CallUpdate {
            state: Some(state),
            content: (!text.is_empty()).then(|| vec![fenced(&text)]),
            ..CallUpdate::new(id)
        })]
    }

    /// The files that arguments name.
    fn places(&self, input: &Value) -> Vec<Place> {
        let names = ["path", "file_path", "from", "to"];
        let paths = names.iter().filter_map(|name| input.get(*name)?.as_str());
        let line = ["line", "offset"]
            .iter()
            .find_map(|name| input.get(*name)?.as_u64());
        let line = line.and_then(|line| u32::try_from(line).ok());
        paths
            .map(|path| self.place(path, line.filter(|it| *it > 0)))
            .collect()
    }

    fn place(&self, path: &str, line: Option<u32>) -> Place {
        Place {
            path: self.root.join(path).as_path().to_owned(),
            line,
        }
    }

    /// What came of a call, and the places that it found.
    fn result(
        &self,
        tool: &str,
        outcome: Outcome,
        content: &[StoredPart],
        shown: &[Shown],
    ) -> (Vec<CallContent>, Vec<Place>) {
        let (mut result, mut places) = (Vec::new(), Vec::new());
        let mut has_output = false;
        for shown in shown {
            match shown {
                Shown::Diff { path, old, new } => {
                    places.push(self.place(path, None));
                    result.push(CallContent::Diff {
                        path: self.root.join(path).as_path().to_owned(),
                        old: old.clone(),
                        new: new.clone().unwrap_or_default(),
                    });
                }
                Shown::Command { .. } => {
                    has_output = true;
                    result.push(command(shown));
                }
                Shown::Places(found) => {
                    let found = found
                        .iter()
                        .map(|(path, line, _)| self.place(path, Some(*line)));
                    places.extend(found);
                }
                Shown::Text(text) => result.push(CallContent::Piece(Piece::Text(text.clone()))),
                Shown::Plan(_) => {}
            }
        }
        let is_told = !result.is_empty() && outcome == Outcome::Ok;
        if !is_told && !has_output {
            let text = parts::texts(content);
            if !text.is_empty() {
                result.push(match is_prose(tool) || outcome != Outcome::Ok {
                    true => CallContent::Piece(Piece::Text(text)),
                    false => fenced(&text),
                });
            }
        }
        result.extend(content.iter().filter_map(picture));
        (result, places)
    }
}

impl Known {
    /// All that there is to see of it.
    fn content(&self) -> Vec<CallContent> {
        let mut content = self.result.clone();
        if !self.output.is_empty() {
            let cut = self.output.len().saturating_sub(TAIL);
            let cut = (cut..).find(|cut| self.output.is_char_boundary(*cut));
            content.push(fenced(&self.output[cut.unwrap_or_default()..]));
        }
        if !self.doings.is_empty() {
            let line = |doing: &Doing| match doing.has_failed {
                true => format!("- {} (failed)\n", doing.title),
                false => format!("- {}\n", doing.title),
            };
            let lines = self.doings.iter().map(line).collect();
            content.push(CallContent::Piece(Piece::Text(lines)));
        }
        content
    }
}

/// The id of a subagent's call among ours.
pub(in crate::acp) fn child_call(session: &str, call: &str) -> String {
    format!("{session}/{call}")
}

/// What a tool's answer says in Markdown; of the others it is what files and programs hold.
fn is_prose(tool: &str) -> bool {
    matches!(tool, SPAWN_AGENT | "plan" | "ask_user" | "memory" | "skill")
}

fn kind(tool: &str, class: Option<ToolClass>) -> CallKind {
    match (tool, class) {
        ("grep" | "glob" | "semantic_search" | "symbols" | "web_search", _) => CallKind::Search,
        ("read" | "list" | "skill" | "diagnostics", _) => CallKind::Read,
        ("delete", _) => CallKind::Delete,
        ("move", _) => CallKind::Move,
        ("fetch", _) => CallKind::Fetch,
        ("plan", _) => CallKind::Think,
        ("exec_command" | "write_stdin", _) => CallKind::Execute,
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

/// A command, what it printed and how it ended.
fn command(shown: &Shown) -> CallContent {
    let Shown::Command {
        command,
        code,
        output,
    } = shown
    else {
        return CallContent::Piece(Piece::Text(String::new()));
    };
    let end = match code {
        Some(0) => String::new(),
        Some(code) => format!("[exit code {code}]\n"),
        None => "[it still runs]\n".to_owned(),
    };
    let newline = match output.is_empty() || output.ends_with('\n') {
        true => "",
        false => "\n",
    };
    fenced(&format!("$ {command}\n{output}{newline}{end}"))
}

/// What a call was given, of which a model wrote the JSON.
fn input(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments))
}

/// A foreign text on one line.
fn one_line(text: &str) -> String {
    printable(text, LineFeeds::Escape).into_owned()
}

/// A text between fences that it cannot close, with its control characters visible.
pub(in crate::acp) fn fenced(text: &str) -> CallContent {
    let text = &*printable(text, LineFeeds::Keep);
    let longest = text.split(|letter| letter != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default().max(2) + 1);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    CallContent::Piece(Piece::Text(format!("{fence}\n{text}{newline}{fence}")))
}

fn picture(part: &StoredPart) -> Option<CallContent> {
    match &part.content {
        StoredContent::Image { media_type, data } => Some(CallContent::Piece(Piece::Image {
            media_type: media_type.clone(),
            data: data.clone(),
        })),
        _ => None,
    }
}
