//! What a session tells, as text for people or as lines of JSON.

use std::io;
use std::time::Duration;

use agent::engine::{self, Start};
use agent::record::{Record, TurnEnd};
use agent::session::Event;
use agent::tool::Shown;
use agent::{Outcome, Stored};
use base::{LineFeeds, count_of, printable};
use model::Cost;
use serde_json::{Value, json};

use super::Records;
use crate::Streams;

/// How it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// Lines of JSON.
    Json,
}

/// Lines of a command's output, or of an error, that are shown.
const LINES: usize = 8;

/// Prints events.
pub(super) struct Printer {
    form: Form,
    shows_prompt: bool,
    /// What the prompts are made of, where they are to be shown.
    records: Records,
    /// Pieces of the prompt that were printed.
    printed: usize,
    is_mid_line: bool,
    cost: Option<u64>,
    /// A failure of the model that was not printed yet, as the end of the turn may say the same.
    failure: Option<String>,
}

impl Printer {
    pub(super) fn new(form: Form, shows_prompt: bool) -> Self {
        Self {
            form,
            shows_prompt,
            records: Vec::new(),
            printed: 0,
            is_mid_line: false,
            cost: Some(0),
            failure: None,
        }
    }

    pub(super) fn begin(
        &self,
        id: &str,
        start: &Start,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        match self.form {
            Form::Text => Ok(()),
            Form::Json => line(
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

    /// Takes over what came before.
    pub(super) fn remember(&mut self, records: Records) {
        if self.shows_prompt {
            self.records = records;
        }
    }

    pub(super) fn print(
        &mut self,
        event: &Event,
        start: &Start,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if let Event::Fill { cost_nano, .. } = event {
            self.cost = *cost_nano;
        }
        if self.shows_prompt
            && let Event::Recorded(stored) = event
        {
            self.records.push(stored.as_ref().clone());
            if matches!(stored.record, Record::Asked { .. }) {
                self.show_prompt(start, streams)?;
            }
        }
        match self.form {
            Form::Json => match json_of(event) {
                Some(value) => line(streams, &value),
                None => Ok(()),
            },
            Form::Text => self.print_text(event, "", streams),
        }
    }

    pub(super) fn end(
        &mut self,
        id: &str,
        end: &TurnEnd,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if self.form == Form::Json {
            return Ok(());
        }
        self.end_line(streams)?;
        let cost = match self.cost {
            Some(nano) => Cost(nano).to_string(),
            None => "at a price that is not known".to_owned(),
        };
        let how = end_text(end);
        if let Some(message) = self.failure.take_if(|message| !how.contains(&**message)) {
            notice("", &message, streams);
        }
        // Where standard error is closed there is nobody to tell.
        writeln!(
            streams.errors,
            "burin-agent: {how} ({cost}); go on with --resume {id}"
        )
        .ok();
        Ok(())
    }

    fn show_prompt(&mut self, start: &Start, streams: &mut Streams<'_>) -> io::Result<()> {
        let listing = engine::listing(start, &self.records);
        // A prompt that was made shorter is shown from its beginning.
        if self.printed > listing.len() {
            self.printed = 0;
        }
        let new = &listing[self.printed..];
        self.printed = listing.len();
        self.end_line(streams)?;
        for (origin, text) in new {
            let origin = serde_json::to_value(origin).unwrap_or(Value::Null);
            match self.form {
                Form::Json => line(
                    streams,
                    &json!({ "event": "prompt_piece", "origin": origin, "bytes": text.len(), "text": text }),
                )?,
                Form::Text => {
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

    fn print_text(
        &mut self,
        event: &Event,
        indent: &str,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        match event {
            Event::Text(text) if indent.is_empty() => {
                streams.output.write_all(text.as_bytes())?;
                self.is_mid_line = text
                    .chars()
                    .last()
                    .map_or(self.is_mid_line, |last| last != '\n');
                streams.output.flush()
            }
            Event::Restarted => {
                self.end_line(streams)?;
                notice(indent, "the answer broke off and begins again", streams);
                Ok(())
            }
            Event::Waiting { why, pause } => {
                self.end_line(streams)?;
                let text = format!("{why} Trying again in {} s", seconds(*pause));
                notice(indent, &text, streams);
                Ok(())
            }
            Event::Recorded(stored) => self.print_record(stored, indent, streams),
            Event::Child { event, .. } => self.print_text(event, &format!("{indent}    "), streams),
            _ => Ok(()),
        }
    }

    fn print_record(
        &mut self,
        stored: &Stored,
        indent: &str,
        streams: &mut Streams<'_>,
    ) -> io::Result<()> {
        if !matches!(stored.record, Record::TurnEnded { .. })
            && let Some(message) = self.failure.take()
        {
            self.end_line(streams)?;
            notice(indent, &message, streams);
        }
        match &stored.record {
            Record::CallBegan { title, .. } => {
                let title = printable(title, LineFeeds::Escape);
                self.say(indent, &format!("▸ {title}"), streams)
            }
            Record::CallEnded {
                tool,
                outcome,
                content,
                shown,
                millis,
                ..
            } => {
                let said = agent::parts::texts(content);
                let text = match (outcome, shown.first()) {
                    (Outcome::Ok, Some(shown)) => shown_text(shown),
                    (Outcome::Ok, None) => String::new(),
                    _ => some_lines(&said),
                };
                let mark = if *outcome == Outcome::Ok {
                    "✓"
                } else {
                    "✗"
                };
                let text = format!("{mark} {tool}, {millis} ms{text}{}", notes(shown));
                self.say(indent, &text, streams)
            }
            Record::Failed { message, .. } => {
                self.failure = Some(message.clone());
                Ok(())
            }
            Record::Noted { text } => self.say(indent, &format!("· {text}"), streams),
            Record::Compacted { bytes, .. } => {
                let text = format!(
                    "· the conversation was made shorter: {} to {} bytes",
                    bytes.0, bytes.1
                );
                self.say(indent, &text, streams)
            }
            Record::Switched { from, to, .. } => {
                self.say(indent, &format!("· {to} goes on where {from} was"), streams)
            }
            _ => Ok(()),
        }
    }

    fn say(&mut self, indent: &str, text: &str, streams: &mut Streams<'_>) -> io::Result<()> {
        self.end_line(streams)?;
        for line in text.lines() {
            writeln!(streams.output, "{indent}{line}")?;
        }
        streams.output.flush()
    }

    fn end_line(&mut self, streams: &mut Streams<'_>) -> io::Result<()> {
        match std::mem::take(&mut self.is_mid_line) {
            true => streams.output.write_all(b"\n"),
            false => Ok(()),
        }
    }
}

/// Says something about the run beside its output.
fn notice(indent: &str, text: &str, streams: &mut Streams<'_>) {
    // Where standard error is closed there is nobody to tell.
    writeln!(streams.errors, "{indent}burin-agent: {text}").ok();
}

/// How a turn ended, in words.
pub(crate) fn end_text(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Done => "done".to_owned(),
        TurnEnd::Stopped => "stopped".to_owned(),
        TurnEnd::Refused => "the model declined".to_owned(),
        TurnEnd::Looped { what } => format!("stopped, since it went in circles: {what}"),
        TurnEnd::OutOfBudget { what } => format!("stopped by a budget: {what}"),
        TurnEnd::Failed { what, .. } => format!("failed: {what}"),
        TurnEnd::Interrupted => "the program died in the middle of it".to_owned(),
    }
}

fn shown_text(shown: &Shown) -> String {
    match shown {
        Shown::Diff { path, old, new } => {
            let lines =
                |text: &Option<String>| text.as_deref().map_or(0, |text| text.lines().count());
            format!(
                "\n  {path}: {} before, {} now",
                count_of(lines(old), "line"),
                lines(new)
            )
        }
        Shown::Command { code, output, .. } => {
            let code = code.map_or_else(|| "still runs".to_owned(), |code| format!("code {code}"));
            format!(", {code}{}", some_lines(output))
        }
        Shown::Places(places) => format!(", {}", count_of(places.len(), "place")),
        Shown::Plan(todos) => {
            let lines = todos
                .iter()
                .map(|todo| format!("\n  [{:?}] {}", todo.state, todo.text));
            lines.collect()
        }
        Shown::Text(text) => some_lines(text),
    }
}

/// What is said beside the first of what is shown, whole.
fn notes(shown: &[Shown]) -> String {
    let texts = shown.iter().skip(1).filter_map(|shown| match shown {
        Shown::Text(text) => Some(text.lines()),
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

fn seconds(pause: Duration) -> u64 {
    pause.as_secs_f64().ceil() as u64
}

/// A line of JSON.
pub(crate) fn line(streams: &mut Streams<'_>, value: &Value) -> io::Result<()> {
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

/// An event as JSON; `None` for what only eyes need.
pub(crate) fn json_of(event: &Event) -> Option<Value> {
    Some(match event {
        Event::Recorded(stored) => json!({ "event": "record", "record": json_record(stored) }),
        Event::Text(text) => json!({ "event": "text", "text": text }),
        Event::Thought(text) => json!({ "event": "thought", "text": text }),
        Event::CallDelta {
            call,
            name,
            fragment,
        } => json!({ "event": "call_delta", "call": call, "name": name, "fragment": fragment }),
        Event::Restarted => json!({ "event": "restarted" }),
        Event::Progress { call, text } => {
            json!({ "event": "progress", "call": call, "text": text })
        }
        Event::Asking { number, question } => {
            json!({ "event": "asking", "question": number, "text": question.text, "options": question.options })
        }
        Event::Decided(decision) => {
            let chosen = decision.chosen.as_ref().map(|lane| lane.model.to_string());
            json!({ "event": "decided", "model": chosen, "reason": decision.because() })
        }
        Event::Waiting { why, pause } => {
            json!({ "event": "waiting", "why": why, "seconds": pause.as_secs_f64() })
        }
        Event::Fill {
            used,
            limit,
            cost_nano,
        } => json!({ "event": "fill", "used": used, "limit": limit, "cost_nano": cost_nano }),
        Event::Child { session, event } => {
            json!({ "event": "child", "session": session.as_ref(), "told": json_of(event)? })
        }
        Event::Compacting { is_over } => json!({ "event": "compacting", "is_over": is_over }),
        Event::Forked { session } => json!({ "event": "forked", "session": session }),
        Event::GivenBack(prompt) => json!({ "event": "given_back", "text": prompt.text }),
        Event::Idle(end) => json!({ "event": "idle", "end": end }),
        Event::Closed => json!({ "event": "closed" }),
    })
}
