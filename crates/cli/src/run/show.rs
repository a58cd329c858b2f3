//! Prints a session's events, as text or as lines of JSON.

use std::io;
use std::time::Duration;

use agent::engine::{self, SessionOptions};
use agent::record::{SessionRecord, TurnEnd};
use agent::session::AgentEvent;
use agent::tool::ToolDisplay;
use agent::{CallOutcome, Stored};
use base::{LineFeeds, count_of, printable};
use model::Cost;
use serde_json::{Value, json};

use super::Records;
use crate::Streams;
use crate::cursor::OutputCursor;

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Text for a terminal.
    Text,
    /// JSON, one event a line.
    Json,
}

/// Lines of a command's output, or of an error, that are shown.
const LINES: usize = 8;

/// Prints a session's events.
pub(super) struct EventPrinter {
    form: OutputFormat,
    shows_prompt: bool,
    /// The records that prompts are built from, if prompts are shown.
    records: Records,
    /// Pieces of the prompt that were printed.
    printed: usize,
    cursor: OutputCursor,
    cost: Option<u64>,
    /// A failure of the model, held back because the turn's end may repeat it.
    failure: Option<String>,
}

impl EventPrinter {
    pub(super) fn new(form: OutputFormat, shows_prompt: bool) -> Self {
        Self {
            form,
            shows_prompt,
            records: Vec::new(),
            printed: 0,
            cursor: OutputCursor::default(),
            cost: Some(0),
            failure: None,
        }
    }

    /// Prints the start of a session; only as JSON.
    pub(super) fn print_session_start(
        &self,
        id: &str,
        start: &SessionOptions,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        match self.form {
            OutputFormat::Text => Ok(()),
            OutputFormat::Json => print_json_line(
                streams,
                &json!({
                    "event": "session",
                    "id": id,
                    "root": start.root.as_path().to_string_lossy(),
                    "model": start.model,
                }),
            ),
        }
    }

    /// Adds the records of the session's past.
    pub(super) fn remember(&mut self, records: Records) {
        if self.shows_prompt {
            self.records = records;
        }
    }

    /// Prints an event, unless it has no form to print. With `--show-prompt`, prints new pieces of
    /// the prompt before a request is sent.
    pub(super) fn print(
        &mut self,
        event: &AgentEvent,
        start: &SessionOptions,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if self.shows_prompt
            && let AgentEvent::Recorded(stored) = event
        {
            self.records.push(stored.as_ref().clone());
            if matches!(stored.record, SessionRecord::Asked { .. }) {
                self.show_prompt(start, streams)?;
            }
        }
        self.print_event(event, streams)
    }

    /// Prints an event, unless it has no form to print.
    pub(super) fn print_event(
        &mut self,
        event: &AgentEvent,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if let AgentEvent::Fill { cost_nano, .. } = event {
            self.cost = *cost_nano;
        }
        match self.form {
            OutputFormat::Json => match json_of(event) {
                Some(value) => print_json_line(streams, &value),
                None => Ok(()),
            },
            OutputFormat::Text => self.print_text(event, "", streams),
        }
    }

    /// Prints how a turn ended, what it cost and how to resume the session; only as text.
    pub(super) fn print_turn_end(
        &mut self,
        id: &str,
        end: &TurnEnd,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if self.form == OutputFormat::Json {
            return Ok(());
        }
        self.cursor.end_line(streams)?;
        let cost = match self.cost {
            Some(nano) => Cost(nano).to_string(),
            None => "at an unknown price".to_owned(),
        };
        let how = end.to_string();
        if let Some(message) = self.failure.take_if(|message| !how.contains(&**message)) {
            notice("", &message, streams);
        }
        // If standard error is closed, the message cannot be shown.
        writeln!(
            streams.errors,
            "burin-agent: {how} ({cost}); continue with --resume {id}"
        )
        .ok();
        Ok(())
    }

    /// Prints the pieces of the prompt that are new since the last call; all of them if it became
    /// shorter.
    fn show_prompt(&mut self, start: &SessionOptions, streams: &mut Streams<'_>) -> io::Result<()> {
        let listing = engine::prompt_parts(start, &self.records);
        // A prompt that was made shorter is shown from its beginning.
        if self.printed > listing.len() {
            self.printed = 0;
        }
        let new = &listing[self.printed..];
        self.printed = listing.len();
        self.cursor.end_line(streams)?;
        for (origin, text) in new {
            let origin = serde_json::to_value(origin).unwrap_or(Value::Null);
            match self.form {
                OutputFormat::Json => print_json_line(
                    streams,
                    &json!({ "event": "prompt_piece", "origin": origin, "bytes": text.len(), "text": text }),
                )?,
                OutputFormat::Text => {
                    let text = text.trim_end().replace('\n', "\n  │ ");
                    writeln!(
                        streams.output,
                        "  ┌ {origin} {} bytes\n  │ {text}",
                        text.len()
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Prints an event as text, or nothing for those that text does not show. Events of a subagent
    /// are indented by four columns more than `indent`.
    fn print_text(
        &mut self,
        event: &AgentEvent,
        indent: &str,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        match event {
            AgentEvent::Text(text) if indent.is_empty() => self.cursor.print_text(text, streams),
            AgentEvent::Restarted => {
                self.cursor.end_line(streams)?;
                notice(indent, "the answer broke off and begins again", streams);
                Ok(())
            }
            AgentEvent::Waiting { why, pause } => {
                self.cursor.end_line(streams)?;
                let text = format!("{why} Trying again in {} s", seconds(*pause));
                notice(indent, &text, streams);
                Ok(())
            }
            AgentEvent::Recorded(stored) => self.print_record(stored, indent, streams),
            AgentEvent::Child { event, .. } => {
                self.print_text(event, &format!("{indent}    "), streams)
            }
            _ => Ok(()),
        }
    }

    /// Prints a record as text, or nothing for those that text does not show. Holds a failure back
    /// until the next record, since the end of the turn may repeat it.
    fn print_record(
        &mut self,
        stored: &Stored,
        indent: &str,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if !matches!(stored.record, SessionRecord::TurnEnded { .. })
            && let Some(message) = self.failure.take()
        {
            self.cursor.end_line(streams)?;
            notice(indent, &message, streams);
        }
        match &stored.record {
            SessionRecord::CallBegan { title, .. } => {
                let title = printable(title, LineFeeds::Escape);
                self.cursor
                    .print_lines(indent, &format!("▸ {title}"), streams)
            }
            SessionRecord::CallEnded {
                tool,
                outcome,
                content,
                shown,
                millis,
                ..
            } => {
                let texts = agent::stored_parts::texts(content);
                let text = match (outcome, shown.first()) {
                    (CallOutcome::Ok, Some(shown)) => shown_text(shown),
                    (CallOutcome::Ok, None) => String::new(),
                    _ => some_lines(&texts),
                };
                let mark = if *outcome == CallOutcome::Ok {
                    "✓"
                } else {
                    "✗"
                };
                let text = format!("{mark} {tool}, {millis} ms{text}{}", notes(shown));
                self.cursor.print_lines(indent, &text, streams)
            }
            SessionRecord::Failed { message, .. } => {
                self.failure = Some(message.clone());
                Ok(())
            }
            SessionRecord::Noted { text } => {
                self.cursor
                    .print_lines(indent, &format!("· {text}"), streams)
            }
            SessionRecord::Compacted { bytes, .. } => {
                let text = format!(
                    "· the conversation was made shorter: {} to {} bytes",
                    bytes.0, bytes.1
                );
                self.cursor.print_lines(indent, &text, streams)
            }
            SessionRecord::Switched { from, to, .. } => {
                self.cursor
                    .print_lines(indent, &format!("· {to} continues after {from}"), streams)
            }
            _ => Ok(()),
        }
    }
}

/// Prints a notice about the run to standard error.
fn notice(indent: &str, text: &str, streams: &mut Streams<'_>) {
    // If standard error is closed, the message cannot be shown.
    writeln!(streams.errors, "{indent}burin-agent: {text}").ok();
}

fn shown_text(shown: &ToolDisplay) -> String {
    match shown {
        ToolDisplay::Diff { path, old, new } => {
            let lines =
                |text: &Option<String>| text.as_deref().map_or(0, |text| text.lines().count());
            format!(
                "\n  {path}: {} before, {} now",
                count_of(lines(old), "line"),
                lines(new)
            )
        }
        ToolDisplay::Command { code, output, .. } => {
            let code = code.map_or_else(|| "still runs".to_owned(), |code| format!("code {code}"));
            format!(", {code}{}", some_lines(output))
        }
        ToolDisplay::Places(places) => format!(", {}", count_of(places.len(), "place")),
        ToolDisplay::Plan(todos) => {
            let lines = todos
                .iter()
                .map(|todo| format!("\n  [{:?}] {}", todo.state, todo.text));
            lines.collect()
        }
        ToolDisplay::Text(text) => some_lines(text),
    }
}

/// Joins the notes that follow the first part, in full.
fn notes(shown: &[ToolDisplay]) -> String {
    let texts = shown.iter().skip(1).filter_map(|shown| match shown {
        ToolDisplay::Text(text) => Some(text.lines()),
        _ => None,
    });
    texts.flatten().map(|line| format!("\n  {line}")).collect()
}

/// The last lines of a text, each indented.
pub(crate) fn some_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let left_out = lines.len().saturating_sub(LINES);
    let more = match left_out {
        0 => String::new(),
        left_out => format!("\n  … {} before", count_of(left_out, "line")),
    };
    let last = lines[left_out..].iter().map(|line| format!("\n  {line}"));
    more + &last.collect::<String>()
}

/// Returns a pause in seconds, rounded up.
fn seconds(pause: Duration) -> u64 {
    pause.as_secs_f64().ceil() as u64
}

/// A line of JSON.
pub(crate) fn print_json_line(streams: &mut Streams<'_>, value: &Value) -> io::Result<()> {
    writeln!(streams.output, "{value}")?;
    streams.output.flush()
}

/// A record as a line of JSON.
pub(crate) fn json_record(stored: &Stored) -> Value {
    let mut value = serde_json::to_value(&stored.record).unwrap_or(Value::Null);
    if let Value::Object(members) = &mut value {
        members.insert("seq".to_owned(), stored.seq.into());
        members.insert("at_ms".to_owned(), stored.at_ms.into());
    }
    value
}

/// Returns an event as JSON; `None` if it is only for display.
pub(crate) fn json_of(event: &AgentEvent) -> Option<Value> {
    Some(match event {
        AgentEvent::Recorded(stored) => json!({ "event": "record", "record": json_record(stored) }),
        AgentEvent::Text(text) => json!({ "event": "text", "text": text }),
        AgentEvent::Thought(text) => json!({ "event": "thought", "text": text }),
        AgentEvent::CallDelta {
            call,
            name,
            fragment,
        } => json!({ "event": "call_delta", "call": call, "name": name, "fragment": fragment }),
        AgentEvent::Restarted => json!({ "event": "restarted" }),
        AgentEvent::Progress { call, text } => {
            json!({ "event": "progress", "call": call, "text": text })
        }
        AgentEvent::Asking { number, question } => {
            json!({ "event": "asking", "question": number, "text": question.text, "options": question.options })
        }
        AgentEvent::Decided(decision) => {
            let chosen = decision.chosen.as_ref().map(|lane| lane.model.to_string());
            json!({ "event": "decided", "model": chosen, "reason": decision.reason_clause() })
        }
        AgentEvent::Waiting { why, pause } => {
            json!({ "event": "waiting", "why": why, "seconds": pause.as_secs_f64() })
        }
        AgentEvent::Fill { fill, cost_nano } => json!({
            "event": "fill",
            "used": fill.tokens,
            "limit": fill.window,
            "is_estimate": fill.is_estimate,
            "compact_at": fill.compact_at,
            "parts": fill.parts.iter().map(|(part, tokens)| (part.name(), tokens)).collect::<Vec<_>>(),
            "cost_nano": cost_nano,
        }),
        AgentEvent::Child { session, event } => {
            json!({ "event": "child", "session": session.as_ref(), "told": json_of(event)? })
        }
        AgentEvent::Compacting { is_over } => json!({ "event": "compacting", "is_over": is_over }),
        AgentEvent::Forked { session } => json!({ "event": "forked", "session": session }),
        AgentEvent::GivenBack(prompt) => json!({ "event": "given_back", "text": prompt.text }),
        AgentEvent::Idle(end) => json!({ "event": "idle", "end": end }),
        AgentEvent::Closed => json!({ "event": "closed" }),
    })
}
