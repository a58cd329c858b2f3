//! One model goes on where another was: what it may see of the past, what it is told, and what it costs.

use model::{Content, Cost, Message, ModelId, Price, TokenCount, Usage, forget_others};

/// A conversation as a model may read it: what only others can read is taken out, and what is left is still valid.
pub fn for_model(mut messages: Vec<Message>, model: &ModelId) -> Vec<Message> {
    if forget_others(&mut messages, model).parts == 0 {
        return messages;
    }
    let mut whole: Vec<Message> = Vec::with_capacity(messages.len());
    for mut message in messages {
        // An empty text that was only there to carry a signature is no text any more.
        message.parts.retain(|part| {
            !matches!(&part.content, Content::Text(text) if text.trim().is_empty() && part.opaque.is_none())
        });
        let says_nothing = |part: &model::Part| match &part.content {
            Content::Reasoning(_) => true,
            Content::Text(text) => text.trim().is_empty(),
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

/// What a model is told that takes over. `called` are the names by which tools were called so far, `offered` those
/// that it has itself.
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

/// What the next request costs, if a model goes on or if another takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCost {
    /// The prompt as the present model reads it, from its cache; `None` where its price is not known.
    pub stay: Option<Cost>,
    /// The prompt as the other model reads it, for the first time.
    pub switch: Option<Cost>,
}

/// Predicts what switching costs for a prompt of so many tokens, of which so many are in the present model's cache.
/// Answers are not counted: nobody knows their length.
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
    // Where a cache is paid for, everything is written to it.
    let writes = other.is_some_and(|price| price.rates(prompt).cache_write_5m.is_some());
    let switch = match writes {
        true => Usage {
            cache_write_5m: prompt,
            ..Usage::default()
        },
        false => Usage {
            input: prompt,
            ..Usage::default()
        },
    };
    SwitchCost {
        stay: present.and_then(|price| price.cost(&stay)),
        switch: other.and_then(|price| price.cost(&switch)),
    }
}

#[cfg(test)]
mod tests;
