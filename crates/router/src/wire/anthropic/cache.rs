//! Where a request's cached prefix may end.
//!
//! A breakpoint costs nothing by itself; only four are taken, one hour ones must come before five minute ones,
//! and a look-up reaches some twenty blocks back from a breakpoint. So: the system blocks that ask for it, the
//! end of the conversation, and the end of the turn before, which is what the last request wrote.
//! Nothing is marked where no system block asks: a request that is sent once should not pay for a write.

use model::{CacheMark, Request};
use serde_json::{Value, json};

use super::super::options::WireOptions;

/// How many breakpoints a request may hold.
const MOST: usize = 4;

/// The fewest bytes that a token stands for in what we send: a prefix shorter than this many bytes a token
/// is surely too short to be cached.
const BYTES_A_TOKEN: u64 = 2;

/// Puts the breakpoints.
pub(super) fn mark(
    request: &Request,
    options: &WireOptions,
    tools: &[Value],
    system: &mut [Value],
    messages: &mut [Value],
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
    bytes += messages.iter().map(size).sum::<u64>();
    let ends = if bytes >= minimum {
        user_ends(messages)
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
        if let Some(Value::Array(blocks)) = messages[at].get_mut("content")
            && let Some(last) = blocks.last_mut()
        {
            last["cache_control"] = json!({ "type": "ephemeral" });
        }
    }
}

/// The last two messages that the user wrote.
fn user_ends(messages: &[Value]) -> Vec<usize> {
    let users = messages.iter().enumerate().rev();
    let mut ends: Vec<usize> = users
        .filter(|(_, message)| message["role"] == "user")
        .map(|(at, _)| at)
        .take(2)
        .collect();
    ends.reverse();
    ends
}

fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}
