//! Handing a conversation to another model: the history it may read, and the note it receives.

use model::{Message, ModelId, PartContent, strip_foreign_parts};

/// Returns the conversation as `model` may read it. Removes the parts that only other models can
/// read; the remaining messages are still valid.
pub fn for_model(mut messages: Vec<Message>, model: &ModelId) -> Vec<Message> {
    if strip_foreign_parts(&mut messages, model).parts == 0 {
        return messages;
    }
    let mut whole: Vec<Message> = Vec::with_capacity(messages.len());
    for mut message in messages {
        // An empty text whose only purpose was to carry a removed signature is dropped too.
        message.parts.retain(|part| {
            !matches!(&part.content, PartContent::Text(text) if text.trim().is_empty() && part.opaque.is_none())
        });
        let says_nothing = |part: &model::MessagePart| match &part.content {
            PartContent::Reasoning(_) => true,
            PartContent::Text(text) => text.trim().is_empty(),
            _ => false,
        };
        if message.parts.iter().all(|part| says_nothing(part)) {
            continue;
        }
        match whole.last_mut().filter(|last| last.role == message.role) {
            Some(last) => last.parts.append(&mut message.parts),
            None => whole.push(message),
        }
    }
    whole
}

/// Builds the note to a model that takes over a conversation, in English. `from` and `to` name the
/// models, `called` the tools used so far, and `offered` the tools of the new model; the note warns
/// of those that it does not have.
pub fn note(from: &str, to: &str, called: &[&str], offered: &[&str]) -> String {
    let foreign: Vec<&str> = called
        .iter()
        .copied()
        .filter(|name| !offered.contains(name))
        .collect();
    let mut note = format!(
        "You ({to}) take over this conversation here; until now {from} answered. Its private reasoning is not shown to \
         you; its messages, tool calls and their results are. Go on from what is written, and check what you rely on."
    );
    if !foreign.is_empty() {
        note.push_str(&format!(
            " These tools in the history are not yours, so do not call them: {}. Use your own for the same.",
            foreign.join(", ")
        ));
    }
    note
}

#[cfg(test)]
mod tests;
