//! Prints an external agent's events, as text or as lines of JSON.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use base::{AbsPath, count_of};
use connect::acp::host::HostedAgentEvent;
use connect::acp::protocol::{
    CallContent, CallStatus, CallUpdate, ContextUsage, PermissionChoice, PermissionChoiceKind,
    PlanItem, PlanState, PromptStop, Update, Voice,
};
use serde_json::{Value, json};

use super::changes::ChangedFiles;
use crate::Streams;
use crate::cursor::OutputCursor;
use crate::run::show::{OutputFormat, print_json_line, some_lines};

/// Prints an external agent's events.
pub(super) struct HostedPrinter {
    form: OutputFormat,
    name: String,
    root: AbsPath,
    /// The session's id, once it has started.
    session: Option<String>,
    /// The calls so far, and how much of each was printed.
    calls: HashMap<String, PrintedCall>,
    usage: Option<ContextUsage>,
    cursor: OutputCursor,
}

#[derive(Default)]
struct PrintedCall {
    call: CallUpdate,
    is_announced: bool,
    is_ended: bool,
}

impl HostedPrinter {
    pub(super) fn new(form: OutputFormat, name: &str, root: &AbsPath) -> Self {
        Self {
            form,
            name: name.to_owned(),
            root: root.clone(),
            session: None,
            calls: HashMap::new(),
            usage: None,
            cursor: OutputCursor::default(),
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.session.is_some()
    }

    /// Notes that the session has started; prints that only as JSON.
    pub(super) fn print_session_start(
        &mut self,
        session: &str,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        self.session = Some(session.to_owned());
        match self.form {
            OutputFormat::Text => Ok(()),
            OutputFormat::Json => print_json_line(
                streams,
                &json!({
                    "event": "session",
                    "id": session,
                    "agent": self.name,
                    "root": self.root.as_path().to_string_lossy(),
                }),
            ),
        }
    }

    /// Prints an event, unless it belongs to the history of a resumed session or is not shown.
    /// Fails if the output cannot be written.
    pub(super) fn print(
        &mut self,
        event: &HostedAgentEvent,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        match event {
            // Updates before the session starts are the past of a resumed session.
            HostedAgentEvent::Update(_) if !self.has_begun() => Ok(()),
            HostedAgentEvent::Update(update) => match self.form {
                OutputFormat::Json => match json_of(update) {
                    Some(value) => print_json_line(streams, &value),
                    None => Ok(()),
                },
                OutputFormat::Text => self.print_update(update, streams),
            },
            HostedAgentEvent::Problem(text) | HostedAgentEvent::Noise(text) => {
                log::debug!("{}: {text}", self.name);
                match (self.form, event) {
                    (OutputFormat::Json, _) => {
                        print_json_line(streams, &json!({ "event": "noise", "text": text }))
                    }
                    (OutputFormat::Text, HostedAgentEvent::Problem(_)) => {
                        self.cursor.print_lines("", &format!("· {text}"), streams)
                    }
                    (OutputFormat::Text, _) => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Returns the call with this update merged into it.
    pub(super) fn merged_call(&self, call: &CallUpdate) -> CallUpdate {
        let known = self.calls.get(&call.id);
        let mut whole = known.map_or_else(CallUpdate::default, |known| known.call.clone());
        whole.merge(call.clone());
        whole
    }

    /// Reports a permission request to a driving program.
    pub(super) fn asking(
        &mut self,
        number: u64,
        call: &CallUpdate,
        choices: &[PermissionChoice],
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if self.form == OutputFormat::Text {
            return self.cursor.end_line(streams);
        }
        let choices = choices.iter().map(
            |choice| json!({ "id": choice.id, "name": choice.name, "kind": kind(choice.kind) }),
        );
        let choices: Vec<_> = choices.collect();
        print_json_line(
            streams,
            &json!({
                "event": "leave", "number": number, "call": call.id, "title": call.title,
                "input": call.input, "choices": choices
            }),
        )
    }

    /// Prints an update as text, or nothing for those that text does not show. Remembers the usage.
    fn print_update(&mut self, update: &Update, streams: &mut Streams<'_>) -> io::Result<()> {
        match update {
            Update::Said {
                voice: Voice::Agent,
                piece,
                ..
            } => self.cursor.print_text(&piece.text(), streams),
            Update::Call(update) => self.print_call(update, streams),
            Update::Plan(items) => {
                let lines: Vec<_> = items.iter().map(plan_line).collect();
                self.cursor.print_lines("", &lines.join("\n"), streams)
            }
            Update::Notice { text, .. } => {
                self.cursor.print_lines("", &format!("· {text}"), streams)
            }
            Update::Compaction { is_over: true, .. } => {
                self.cursor
                    .print_lines("", "· the conversation was made shorter", streams)
            }
            Update::Usage(usage) => {
                self.usage = Some(usage.clone());
                Ok(())
            }
            Update::Said { .. }
            | Update::Compaction { .. }
            | Update::Commands(_)
            | Update::Mode(_)
            | Update::Options(_)
            | Update::Title(_) => Ok(()),
        }
    }

    /// Prints the title of a call once it is known, and its result once it has ended; each only
    /// once.
    fn print_call(&mut self, update: &CallUpdate, streams: &mut Streams<'_>) -> io::Result<()> {
        let shown = self.calls.entry(update.id.clone()).or_default();
        shown.call.merge(update.clone());
        let mut lines = Vec::new();
        let title = shown.call.title.clone().unwrap_or_default();
        if !shown.is_announced && !title.is_empty() {
            shown.is_announced = true;
            lines.push(format!("▸ {title}"));
        }
        if !shown.is_ended
            && let Some(state @ (CallStatus::Done | CallStatus::Failed)) = shown.call.state
        {
            shown.is_ended = true;
            let mark = if state == CallStatus::Done {
                "✓"
            } else {
                "✗"
            };
            let content = shown.call.content.iter().flatten();
            let came: String = content
                .map(|it| content_summary(it, &self.root, state))
                .collect();
            lines.push(format!("{mark} {title}{came}"));
        }
        if lines.is_empty() {
            Ok(())
        } else {
            self.cursor.print_lines("", &lines.join("\n"), streams)
        }
    }

    /// Prints the files that a turn changed and how it ended. `agent` is its name in the command
    /// that resumes the session.
    pub(super) fn print_turn_end(
        &mut self,
        agent: &str,
        end: &PromptStop,
        changed: &ChangedFiles,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if self.form == OutputFormat::Json {
            let value = json!({
                "event": "idle", "end": end_name(end), "why": why(end),
                "new": changed.new, "changed": changed.changed, "gone": changed.gone,
                "knows_all_changes": changed.is_complete
            });
            return print_json_line(streams, &value);
        }
        let kinds = [
            ("new", &changed.new),
            ("changed", &changed.changed),
            ("gone", &changed.gone),
        ];
        for (kind, paths) in kinds {
            for path in paths {
                self.cursor
                    .print_lines("", &format!("· {kind}: {}", path.display()), streams)?;
            }
        }
        if !changed.is_complete {
            self.cursor.print_lines(
                "",
                "· more files may have changed: they were too many to follow",
                streams,
            )?;
        }
        self.cursor.end_line(streams)?;
        let used = self.usage.as_ref().map_or_else(String::new, |usage| {
            let cost = usage.cost.as_ref();
            let cost = cost.map_or_else(String::new, |(sum, unit)| format!(", {sum:.4} {unit}"));
            format!(" ({} of {} tokens{cost})", usage.used, usage.size)
        });
        let session = self.session.as_deref().unwrap_or_default();
        let text = format!(
            "burin-agent: {}{used}; continue with --agent {agent} --resume {session}",
            end_text(end)
        );
        // If standard error is closed, the message cannot be shown.
        writeln!(streams.errors, "{text}").ok();
        Ok(())
    }
}

/// Summarizes a call's content in a few lines.
fn content_summary(content: &CallContent, root: &AbsPath, state: CallStatus) -> String {
    match content {
        CallContent::Diff { path, old, new } => {
            let path = path.strip_prefix(root.as_path()).unwrap_or(path);
            let before = old.as_deref().map_or(0, |old| old.lines().count());
            format!(
                "\n  {}: {} before, {} now",
                path.display(),
                count_of(before, "line"),
                new.lines().count()
            )
        }
        CallContent::Piece(piece) if state == CallStatus::Failed => some_lines(&piece.text()),
        CallContent::Piece(_) | CallContent::Terminal(_) => String::new(),
    }
}

fn plan_line(item: &PlanItem) -> String {
    let mark = match item.state {
        PlanState::Open => " ",
        PlanState::Doing => "~",
        PlanState::Done => "x",
    };
    format!("  [{mark}] {}", item.text)
}

fn kind(kind: PermissionChoiceKind) -> &'static str {
    match kind {
        PermissionChoiceKind::AllowOnce => "allow_once",
        PermissionChoiceKind::AllowAlways => "allow_always",
        PermissionChoiceKind::RejectOnce => "reject_once",
        PermissionChoiceKind::RejectAlways => "reject_always",
    }
}

fn end_name(end: &PromptStop) -> &'static str {
    match end {
        PromptStop::Done => "done",
        PromptStop::Stopped => "stopped",
        PromptStop::Refused => "refused",
        PromptStop::TooLong => "too_long",
        PromptStop::TooMany => "too_many",
        PromptStop::Failed(_) => "failed",
    }
}

/// Returns the message of a failed turn; `None` for any other end.
fn why(end: &PromptStop) -> Option<&str> {
    match end {
        PromptStop::Failed(why) => Some(why),
        _ => None,
    }
}

fn end_text(end: &PromptStop) -> String {
    match end {
        PromptStop::Done => "done".to_owned(),
        PromptStop::Stopped => "stopped".to_owned(),
        PromptStop::Refused => "the agent declined".to_owned(),
        PromptStop::TooLong => "the answer was cut off, because it was too long".to_owned(),
        PromptStop::TooMany => "stopped, because it made too many model requests".to_owned(),
        PromptStop::Failed(what) => format!("failed: {what}"),
    }
}

/// Returns an update as JSON; `None` if only windows need it.
fn json_of(update: &Update) -> Option<Value> {
    Some(match update {
        Update::Said { voice, piece, .. } => {
            let event = match voice {
                Voice::Agent => "text",
                Voice::Thought => "thought",
                Voice::User => "person",
            };
            json!({ "event": event, "text": piece.text() })
        }
        Update::Call(call) => json!({
            "event": "call",
            "call": call.id,
            "title": call.title,
            "kind": call.kind.map(|kind| format!("{kind:?}").to_lowercase()),
            "state": call.state.map(|state| format!("{state:?}").to_lowercase()),
            "content": call.content.as_ref().map(|all| all.iter().map(content).collect::<Vec<_>>()),
            "places": call.places.as_ref().map(|all| {
                let place = |path: &Path, line| json!({ "path": path, "line": line });
                all.iter().map(|it| place(&it.path, it.line)).collect::<Vec<_>>()
            }),
            "input": call.input,
            "output": call.output,
        }),
        Update::Plan(items) => {
            let item = |item: &PlanItem| {
                let state = format!("{:?}", item.state).to_lowercase();
                json!({ "text": item.text, "state": state })
            };
            json!({ "event": "plan", "items": items.iter().map(item).collect::<Vec<_>>() })
        }
        Update::Usage(usage) => {
            let cost = usage
                .cost
                .as_ref()
                .map(|(sum, unit)| json!({ "sum": sum, "unit": unit }));
            json!({ "event": "fill", "used": usage.used, "limit": usage.size, "cost": cost })
        }
        Update::Notice { is_warning, text } => {
            json!({ "event": "notice", "is_warning": is_warning, "text": text })
        }
        Update::Compaction {
            is_over, summary, ..
        } => {
            json!({ "event": "compaction", "is_over": is_over, "summary": summary })
        }
        Update::Mode(mode) => json!({ "event": "mode", "mode": mode }),
        Update::Title(title) => json!({ "event": "title", "title": title }),
        Update::Commands(_) | Update::Options(_) => return None,
    })
}

fn content(content: &CallContent) -> Value {
    match content {
        CallContent::Piece(piece) => json!({ "text": piece.text() }),
        CallContent::Diff { path, old, new } => json!({ "path": path, "old": old, "new": new }),
        CallContent::Terminal(id) => json!({ "terminal": id }),
    }
}
