//! The tool calls of one answer: numbered, with unique ids, their arguments complete before they
//! end.

use std::collections::HashSet;

use model::{ModelRequest, PartContent, StopReason, StreamEvent, ToolInput};

use super::text_input::{InputEnd, TextInput};

/// Format of a call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentForm {
    /// JSON, usually one object.
    Json,
    /// Plain text, not wrapped.
    Text,
}

/// The calls of one answer, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct ToolCalls {
    /// Tools with text input; wires without such tools wrap the text in JSON.
    text_tools: HashSet<String>,
    /// All ids of the conversation and of this answer.
    taken: HashSet<String>,
    calls: Vec<PendingCall>,
}

#[derive(Debug)]
struct PendingCall {
    form: ArgumentForm,
    wrapping: Option<TextInput>,
    /// The arguments as received on the wire.
    arguments: String,
    state: ToolCallState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolCallState {
    Open,
    /// The wire ended the call, but its arguments are truncated: the stop reason decides whether
    /// that is an error.
    Cut,
    Ended,
}

/// Arguments that contradict those streamed before, or that are truncated in a complete answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contradiction;

impl ToolCalls {
    /// Creates the state for the answer to `request`. The call ids in `request` count as used.
    pub(crate) fn new(request: &ModelRequest) -> Self {
        let text_tools = request.tools.iter().filter_map(|tool| match tool.input {
            ToolInput::Text { .. } => Some(tool.name.clone()),
            ToolInput::Json(_) => None,
        });
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let taken = parts.filter_map(|part| match &part.content {
            PartContent::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        Self {
            text_tools: text_tools.collect(),
            taken: taken.collect(),
            calls: Vec::new(),
        }
    }

    /// Returns the number of calls started.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Starts a call and returns its index, from 0. Keeps `id` if it is unused, and assigns another
    /// id otherwise. Appends events to `out`.
    pub(crate) fn start(
        &mut self,
        id: &str,
        name: &str,
        form: ArgumentForm,
        out: &mut Vec<StreamEvent>,
    ) -> u32 {
        let index = self.calls.len() as u32;
        let is_wrapped = form == ArgumentForm::Json && self.text_tools.contains(name);
        self.calls.push(PendingCall {
            form,
            wrapping: is_wrapped.then(TextInput::default),
            arguments: String::new(),
            state: ToolCallState::Open,
        });
        out.push(StreamEvent::ToolStart {
            index,
            id: self.own_id(id),
            name: name.to_owned(),
        });
        index
    }

    /// Adds a fragment of a call's arguments. Ignores the fragment if it is empty, or if the call
    /// is unknown or has ended.
    pub(crate) fn fragment(&mut self, index: u32, fragment: &str, out: &mut Vec<StreamEvent>) {
        let Some(call) = self.calls.get_mut(index as usize) else {
            return;
        };
        if call.state != ToolCallState::Open || fragment.is_empty() {
            return;
        }
        call.arguments.push_str(fragment);
        let fragment = match &mut call.wrapping {
            Some(wrapping) => wrapping.feed(fragment),
            None => fragment.to_owned(),
        };
        if !fragment.is_empty() {
            out.push(StreamEvent::ToolArgsDelta { index, fragment });
        }
    }

    /// Sets a call's complete arguments. Emits the part that is missing after the fragments. Fails
    /// if the arguments do not begin with the fragments.
    pub(crate) fn set_arguments(
        &mut self,
        index: u32,
        arguments: &str,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), Contradiction> {
        let Some(call) = self.calls.get(index as usize) else {
            return Ok(());
        };
        if call.state != ToolCallState::Open {
            return Ok(());
        }
        let rest = arguments.strip_prefix(call.arguments.as_str());
        let rest = rest.ok_or(Contradiction)?.to_owned();
        self.fragment(index, &rest, out);
        Ok(())
    }

    /// Ends a call whose arguments are complete. Ignores a call that is unknown or has ended. If
    /// the arguments are truncated, leaves the call to `close`.
    pub(crate) fn finish_call(&mut self, index: u32, out: &mut Vec<StreamEvent>) {
        let Some(call) = self.calls.get_mut(index as usize) else {
            return;
        };
        if call.state != ToolCallState::Open {
            return;
        }
        let rest = match &mut call.wrapping {
            Some(wrapping) => wrapping.finish(),
            None if call.form == ArgumentForm::Text => InputEnd::Complete(String::new()),
            None => json_ending(&call.arguments),
        };
        match rest {
            InputEnd::Cut => call.state = ToolCallState::Cut,
            InputEnd::Complete(fragment) => {
                call.state = ToolCallState::Ended;
                if !fragment.is_empty() {
                    out.push(StreamEvent::ToolArgsDelta { index, fragment });
                }
                out.push(StreamEvent::ToolEnd { index });
            }
        }
    }

    /// Ends every call when the answer stops for `reason`. If the answer stops at the token limit,
    /// truncated calls stay open. Otherwise, a call with truncated JSON ends as it is, and the tool
    /// reports the error; a call with truncated text fails the answer.
    pub(crate) fn close(
        &mut self,
        reason: StopReason,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), Contradiction> {
        for index in 0..self.calls.len() as u32 {
            self.finish_call(index, out);
        }
        for (index, call) in self.calls.iter_mut().enumerate() {
            if call.state != ToolCallState::Cut || reason == StopReason::MaxTokens {
                continue;
            }
            // A tool cannot see that text is truncated; truncated JSON is invalid, and the tool
            // reports it.
            if call.wrapping.is_some() {
                return Err(Contradiction);
            }
            call.state = ToolCallState::Ended;
            out.push(StreamEvent::ToolEnd {
                index: index as u32,
            });
        }
        Ok(())
    }

    /// Returns an id that is unique in the conversation.
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

fn json_ending(arguments: &str) -> InputEnd {
    if arguments.trim().is_empty() {
        // A call without arguments becomes an empty object on every wire.
        return InputEnd::Complete("{}".to_owned());
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(arguments) {
        Ok(_) => InputEnd::Complete(String::new()),
        Err(_) => InputEnd::Cut,
    }
}

#[cfg(test)]
mod tests;
