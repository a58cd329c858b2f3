//! Handing a conversation to another model: the history it may read, the note it receives, and the
//! cost.

use model::{Cost, Message, ModelId, PartContent, Price, TokenCount, Usage, strip_foreign_parts};

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

/// Builds the note to a model that takes over. `called` lists the tool names used so far, `offered`
/// the tool names this model has.
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

/// The cost of the next request when the present model continues and when another takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCost {
    /// The cost of the prompt for the present model, which has it cached; `None` where the price is
    /// unknown.
    pub stay: Option<Cost>,
    /// The cost of the prompt for the other model, which reads it for the first time.
    pub switch: Option<Cost>,
}

/// Estimates the cost of switching models. `prompt` is the size of the prompt, `warm` the part of
/// it in the present model's cache. Answers are not counted, since their length is unknown.
pub fn switch_cost(
    prompt: TokenCount,
    warm: TokenCount,
    present: Option<&Price>,
    other: Option<&Price>,
) -> SwitchCost {
    let warm = TokenCount(warm.0.min(prompt.0));
    let stay = Usage {
        input: prompt.minus(warm),
        cache_read: warm,
        ..Usage::default()
    };
    // Where cache writes are billed, the whole prompt is written to the cache.
    let writes = other.is_some_and(|price| price.rates(prompt).cache_write_5m.is_some());
    let switch = if writes {
        Usage {
            cache_write_5m: prompt,
            ..Usage::default()
        }
    } else {
        Usage {
            input: prompt,
            ..Usage::default()
        }
    };
    SwitchCost {
        stay: present.and_then(|price| price.cost(&stay)),
        switch: other.and_then(|price| price.cost(&switch)),
    }
}

#[cfg(test)]
mod tests;
