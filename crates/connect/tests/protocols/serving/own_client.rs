//! The protocol's own client.

use std::path::PathBuf;
use std::sync::Arc;

use connect::acp::agent::serve;
use tokio::io::split;

use super::client::prompt;
use super::echo::EchoAgent;

#[tokio::test]
async fn the_protocols_own_client_completes_a_turn() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = split(theirs);
    tokio::spawn(serve(Arc::new(EchoAgent::default()), input, output));
    let (from, to) = split(ours);
    let seen = prompt(from, to, PathBuf::from("/project"), "say hello").await;
    let seen = seen.expect("a turn");
    assert_eq!((seen.reason.as_str(), seen.asked), ("end_turn", 0));
    let agent_text = seen
        .updates
        .iter()
        .find(|update| update["sessionUpdate"] == "agent_message_chunk");
    assert_eq!(agent_text.expect("a text")["content"]["text"], "hello");
}

#[tokio::test]
async fn own_client_approves_permission_requests() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = split(theirs);
    tokio::spawn(serve(Arc::new(EchoAgent::default()), input, output));
    let (from, to) = split(ours);
    let seen = prompt(from, to, PathBuf::from("/project"), "ask").await;
    assert_eq!(seen.expect("a turn").asked, 1);
}
