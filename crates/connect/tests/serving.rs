//! Ourselves as an agent: every message that we send is held against the protocol's JSON schema, by a client that
//! writes its lines by hand; the protocol's own client drives a session; and nonsense is answered, not obeyed.

#[path = "../examples/acp_echo/echo.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    clippy::print_stderr,
    reason = "shared with an example"
)]
mod echo;

#[path = "../src/acp/peers/own_client.rs"]
#[allow(unreachable_pub, reason = "shared with whoever else is an agent")]
mod client;
#[path = "../src/acp/peers/schema.rs"]
#[allow(unreachable_pub, reason = "shared with whoever else is an agent")]
mod schema;

mod serving {
    mod own_client;
    mod peer;
    mod story;
}
