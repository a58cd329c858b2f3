//! The agent that executes its prompt, as a program for tests of hosting.

#![expect(
    clippy::print_stderr,
    reason = "a program for tests: it may die, and says so"
)]

use std::sync::Arc;

use connect::acp::agent;
use connect::acp::peers::EchoAgent;

#[tokio::main]
async fn main() {
    eprintln!("echo is here");
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    agent::serve(Arc::new(EchoAgent::default()), input, output)
        .await
        .expect("the pipes hold");
}
