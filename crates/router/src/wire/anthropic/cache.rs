//! Where a request's cached prefix may end.
//!
//! A breakpoint costs nothing by itself; only four are taken, one hour ones must come before five minute ones,
//! and a look-up reaches some twenty blocks back from a breakpoint. So: the system blocks that ask for it, the
//! end of the conversation, and the end of the turn before, which is what the last request wrote.
//! Nothing is marked where no system block asks: a request that is sent once should not pay for a write.

use std::collections::VecDeque;

use model::{CacheMark, Request};
use serde_json::{Value, json};

use super::super::body::Items;
use super::super::options::WireOptions;

/// How many breakpoints a request may hold.
const MOST: usize = 4;

/// The fewest bytes that a token stands for in what we send: a prefix shorter than this many bytes a token
/// is surely too short to be cached.
const BYTES_A_TOKEN: u64 = 2;

/// The user's messages at whose ends the conversation may be marked.
const ENDS: usize = 2;

/// A conversation whose latest messages can still be marked; those before them are written.
pub(super) struct Latest {
    written: Items,
    messages: VecDeque<Value>,
    /// How many of them are the user's.
    users: usize,
    /// Bytes of all messages' texts.
    bytes: u64,
}

impl Latest {
    pub(super) fn new(written: Items) -> Self {
        Self {
            written,
            messages: VecDeque::new(),
            users: 0,
            bytes: 0,
        }
    }

    pub(super) fn push(&mut self, message: Value) {
        self.bytes += size(&message);
        self.users += usize::from(is_users(&message));
        self.messages.push_back(message);
        while self.users > ENDS
            && let Some(oldest) = self.messages.pop_front()
        {
            self.users -= usize::from(is_users(&oldest));
            self.written.push(&oldest);
        }
    }

    /// All of them, written.
    pub(super) fn finish(mut self) -> Items {
        for message in &self.messages {
            self.written.push(message);
        }
        self.written
    }
}

/// Puts the breakpoints.
pub(super) fn mark(
    request: &Request,
    options: &WireOptions,
    tools: &[Value],
    system: &mut [Value],
    latest: &mut Latest,
) {
    let marks: Vec<CacheMark> = request
        .system
        .iter()
        .filter(|block| !block.text.is_empty())
        .map(|block| block.cache)
        .collect();
    if !options.cache_marks || marks.iter().all(|mark| *mark == CacheMark::None) {
        return;
    }
    let minimum = options.cache_minimum.0.saturating_mul(BYTES_A_TOKEN);
    let mut bytes: u64 = tools.iter().map(size).sum();
    let mut wanted = Vec::new();
    for (at, mark) in marks.iter().enumerate() {
        bytes += size(&system[at]);
        if *mark != CacheMark::None && bytes >= minimum {
            wanted.push((at, *mark));
        }
    }
    bytes += latest.bytes;
    let ends = if bytes >= minimum {
        user_ends(&latest.messages)
    } else {
        Vec::new()
    };
    // The last ones cover most; the conversation's own come first.
    let room = MOST - ends.len();
    let dropped = wanted.len().saturating_sub(room);
    let mut is_short = false;
    for (at, mark) in wanted.into_iter().skip(dropped) {
        is_short |= mark == CacheMark::Short;
        let long = json!({ "type": "ephemeral", "ttl": "1h" });
        let short = json!({ "type": "ephemeral" });
        system[at]["cache_control"] = if is_short { short } else { long };
    }
    for at in ends {
        if let Some(Value::Array(blocks)) = latest.messages[at].get_mut("content")
            && let Some(last) = blocks.last_mut()
        {
            last["cache_control"] = json!({ "type": "ephemeral" });
        }
    }
}

/// The last messages that the user wrote.
fn user_ends(messages: &VecDeque<Value>) -> Vec<usize> {
    let all = messages.iter().enumerate();
    let users = all.filter(|(_, message)| is_users(message));
    users.map(|(at, _)| at).collect()
}

fn is_users(message: &Value) -> bool {
    message["role"] == "user"
}

fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}
