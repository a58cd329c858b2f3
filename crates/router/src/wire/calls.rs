//! The tool calls of one answer: numbered, named apart, their arguments complete before they end.

use std::collections::HashSet;

use model::{Content, Event, Request, StopReason, ToolInput};

use super::text_input::{Ending, TextInput};

/// How a call's arguments come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As JSON.
    Json,
    /// As the text itself.
    Text,
}

/// The calls of one answer, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Tools that take text: on wires without such tools it comes wrapped.
    text_tools: HashSet<String>,
    /// Every id of the conversation and of this answer.
    taken: HashSet<String>,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    form: Form,
    wrapping: Option<TextInput>,
    /// The arguments as the wire wrote them.
    arguments: String,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The wire ended it, but it is cut: whether that is an error depends on why the answer stopped.
    Cut,
    Ended,
}

/// Arguments that are not what was streamed before, or are cut though the answer is not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contradiction;

impl Calls {
    pub(crate) fn new(request: &Request) -> Self {
        let text_tools = request.tools.iter().filter_map(|tool| match tool.input {
            ToolInput::Text { .. } => Some(tool.name.clone()),
            ToolInput::Json(_) => None,
        });
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let taken = parts.filter_map(|part| match &part.content {
            Content::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        Self {
            text_tools: text_tools.collect(),
            taken: taken.collect(),
            calls: Vec::new(),
        }
    }

    /// How many calls began.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// A call begins. Its id is kept if nobody else has it.
    pub(crate) fn start(&mut self, id: &str, name: &str, form: Form, out: &mut Vec<Event>) -> u32 {
        let index = self.calls.len() as u32;
        let is_wrapped = form == Form::Json && self.text_tools.contains(name);
        self.calls.push(Call {
            form,
            wrapping: is_wrapped.then(TextInput::default),
            arguments: String::new(),
            state: State::Open,
        });
        out.push(Event::ToolStart {
            index,
            id: self.own_id(id),
            name: name.to_owned(),
        });
        index
    }

    /// More of a call's arguments.
    pub(crate) fn fragment(&mut self, index: u32, fragment: &str, out: &mut Vec<Event>) {
        let Some(call) = self.calls.get_mut(index as usize) else {
            return;
        };
        if call.state != State::Open || fragment.is_empty() {
            return;
        }
        call.arguments.push_str(fragment);
        let fragment = match &mut call.wrapping {
            Some(wrapping) => wrapping.feed(fragment),
            None => fragment.to_owned(),
        };
        if !fragment.is_empty() {
            out.push(Event::ToolArgsDelta { index, fragment });
        }
    }

    /// A call's arguments, whole, whatever came of them before.
    pub(crate) fn whole(
        &mut self,
        index: u32,
        arguments: &str,
        out: &mut Vec<Event>,
    ) -> Result<(), Contradiction> {
        let Some(call) = self.calls.get(index as usize) else {
            return Ok(());
        };
        if call.state != State::Open {
            return Ok(());
        }
        let rest = arguments.strip_prefix(call.arguments.as_str());
        let rest = rest.ok_or(Contradiction)?.to_owned();
        self.fragment(index, &rest, out);
        Ok(())
    }

    /// The wire ends a call.
    pub(crate) fn end(&mut self, index: u32, out: &mut Vec<Event>) {
        let Some(call) = self.calls.get_mut(index as usize) else {
            return;
        };
        if call.state != State::Open {
            return;
        }
        let rest = match &mut call.wrapping {
            Some(wrapping) => wrapping.finish(),
            None if call.form == Form::Text => Ending::Complete(String::new()),
            None => json_ending(&call.arguments),
        };
        match rest {
            Ending::Cut => call.state = State::Cut,
            Ending::Complete(fragment) => {
                call.state = State::Ended;
                if !fragment.is_empty() {
                    out.push(Event::ToolArgsDelta { index, fragment });
                }
                out.push(Event::ToolEnd { index });
            }
        }
    }

    /// The answer stops for `reason`: every call ends, but for one that the limit cut.
    pub(crate) fn close(
        &mut self,
        reason: StopReason,
        out: &mut Vec<Event>,
    ) -> Result<(), Contradiction> {
        for index in 0..self.calls.len() as u32 {
            self.end(index, out);
        }
        for (index, call) in self.calls.iter_mut().enumerate() {
            if call.state != State::Cut || reason == StopReason::MaxTokens {
                continue;
            }
            // Text that is cut looks whole to its tool; JSON that is cut does not, and the tool says so.
            if call.wrapping.is_some() {
                return Err(Contradiction);
            }
            call.state = State::Ended;
            out.push(Event::ToolEnd {
                index: index as u32,
            });
        }
        Ok(())
    }

    /// An id that no other call of the conversation has.
    fn own_id(&mut self, id: &str) -> String {
        let stem = if id.is_empty() { "call" } else { id };
        let mut own = if id.is_empty() { "call_1" } else { id }.to_owned();
        let mut number = 2;
        while self.taken.contains(&own) {
            own = format!("{stem}_{number}");
            number += 1;
        }
        self.taken.insert(own.clone());
        own
    }
}

fn json_ending(arguments: &str) -> Ending {
    if arguments.trim().is_empty() {
        // A call without arguments is an empty object on every wire.
        return Ending::Complete("{}".to_owned());
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(arguments) {
        Ok(_) => Ending::Complete(String::new()),
        Err(_) => Ending::Cut,
    }
}

#[cfg(test)]
mod tests;
