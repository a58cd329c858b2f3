//! Placement of cache breakpoints in a request.
//!
//! Breakpoints are free, but only four are accepted, one-hour ones must precede five-minute ones,
//! and a lookup reaches about twenty blocks back from a breakpoint. They are placed at the system
//! blocks that ask for it, at the end of the conversation, and at the end of the previous turn,
//! which the last request wrote. Without a marked system block there are none: a request that is
//! sent once should not pay for a cache write.

use std::collections::VecDeque;

use model::{CacheMark, ModelRequest};
use serde_json::{Value, json};

use super::super::body::BodyItems;
use super::super::options::WireOptions;

/// Maximum number of breakpoints in a request.
const MAX_BREAKPOINTS: usize = 4;

/// Minimum bytes per token in our requests: a prefix with fewer bytes per required token is
/// certainly too short to be cached.
const BYTES_A_TOKEN: u64 = 2;

/// Number of the last user messages at whose ends the conversation may be marked.
const MARKED_USER_MESSAGES: usize = 2;

/// A conversation whose latest messages can still be marked; earlier ones are already written.
pub(super) struct CacheMarker {
    written: BodyItems,
    messages: VecDeque<Value>,
    /// Number of user messages among them.
    users: usize,
    /// Total bytes of all messages' texts.
    bytes: u64,
}

impl CacheMarker {
    /// Creates the marker for a conversation whose messages in `written` are already serialized.
    pub(super) fn new(written: BodyItems) -> Self {
        Self {
            written,
            messages: VecDeque::new(),
            users: 0,
            bytes: 0,
        }
    }

    /// Adds a message, and serializes the oldest messages that can no longer be marked.
    pub(super) fn push(&mut self, message: Value) {
        self.bytes += size(&message);
        self.users += usize::from(is_users(&message));
        self.messages.push_back(message);
        while self.users > MARKED_USER_MESSAGES
            && let Some(oldest) = self.messages.pop_front()
        {
            self.users -= usize::from(is_users(&oldest));
            self.written.push(&oldest);
        }
    }

    /// Writes the remaining messages and returns the list.
    pub(super) fn finish(mut self) -> BodyItems {
        for message in &self.messages {
            self.written.push(message);
        }
        self.written
    }
}

/// Places at most four breakpoints in the request: `tools` and `system` are its parts before
/// `latest`, the end of the conversation.
pub(super) fn mark(
    request: &ModelRequest,
    options: &WireOptions,
    tools: &[Value],
    system: &mut [Value],
    latest: &mut CacheMarker,
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
    // The last ones cover most; those of the conversation take precedence.
    let room = MAX_BREAKPOINTS - ends.len();
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

/// Returns the indices of the last user messages.
fn user_ends(messages: &VecDeque<Value>) -> Vec<usize> {
    let all = messages.iter().enumerate();
    let users = all.filter(|(_, message)| is_users(message));
    users.map(|(at, _)| at).collect()
}

/// Returns whether the message has the role `user`, which includes tool results.
fn is_users(message: &Value) -> bool {
    message["role"] == "user"
}

/// Returns the total bytes of the strings in a value, without the names of members.
fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}
