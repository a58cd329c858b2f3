//! The test agent as a separate program: it speaks the protocol over its pipes and executes its
//! prompt. See `echo`.

#![expect(
    clippy::print_stderr,
    reason = "a program for tests: it may die, and says so"
)]

use std::sync::Arc;

// The shared module imports from `crate::acp`.
use connect::acp;

#[path = "../src/acp/peers/echo.rs"]
#[allow(unreachable_pub, reason = "shared with the feature `peers`")]
mod echo;

#[tokio::main]
async fn main() {
    eprintln!("echo is here");
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    acp::agent::serve(Arc::new(echo::EchoAgent::default()), input, output)
        .await
        .expect("the pipes hold");
}
