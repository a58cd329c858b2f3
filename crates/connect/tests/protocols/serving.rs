//! Our ACP agent: a hand-written client validates every message against the protocol's JSON schema;
//! the protocol's own client drives a session; and invalid messages get error responses.

#[path = "../../src/acp/peers/echo.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the feature `peers`")]
mod echo;

#[path = "../../src/acp/peers/own_client.rs"]
#[allow(unreachable_pub, reason = "shared with the feature `peers`")]
mod client;
#[path = "../../src/acp/peers/schema.rs"]
#[allow(unreachable_pub, reason = "shared with the feature `peers`")]
mod schema;

mod own_client;
mod peer;
mod story;
