//! Pinned texts and rules stay in the prompt through compactions.

use std::sync::Arc;

use model::{ModelRequest, PartContent, ResponseScript, ScriptedClient, TokenCount};

use super::super::{ScriptedGateway, SessionLimits};
use super::fakes::{Talk, World, assert_whole, world_planned};
use crate::record::{SessionRecord, TurnEnd};
use crate::session::SessionCommand;
const RULE: &str = "Rule of the folder: never touch generated files.";
const RESULT: &str = "the flag is --offline\n  (two spaces before this)";

/// All texts of a request's messages.
fn sent(request: &ModelRequest) -> String {
    let mut all = String::new();
    for part in request.messages.iter().flat_map(|it| &it.parts) {
        let texts: Vec<&str> = match &part.content {
            PartContent::Text(text) => vec![text],
            PartContent::ToolResult { content, .. } => content
                .iter()
                .filter_map(|it| match it {
                    PartContent::Text(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        for text in texts {
            all.push_str(text);
            all.push('\n');
        }
    }
    all
}

/// A session with a pinned message, a pinned result and filler after it.
fn scripts(rounds: usize) -> Vec<ResponseScript> {
    let look = |id: &str, input: &str| ResponseScript::calls(&[(id, "look", input)]);
    let said = serde_json::json!({ "say": RESULT }).to_string();
    let mut scripts = vec![look("pinned", &said), ResponseScript::text("first answer")];
    for round in 0..rounds {
        for step in 0..4 {
            let id = format!("c{round}-{step}");
            let say = format!("filler {round} {step} ");
            let input = serde_json::json!({ "say": say, "fill": 30_000 }).to_string();
            scripts.push(look(&id, &input));
        }
        scripts.push(ResponseScript::text("filler answer"));
        // The summary of the compaction, then the next prompt's answer.
        scripts.push(ResponseScript::text(
            "{\"goal\": \"tests\", \"decisions\": [\"none yet\"]}",
        ));
        scripts.push(ResponseScript::text("checked"));
    }
    scripts
}

fn world(rounds: usize) -> World {
    let mut mind = ScriptedGateway::new(ScriptedClient::new(scripts(rounds)));
    // So large that a round fills half of it: a compaction writes a summary, and none begins by itself.
    let mut profile = mind.profile.as_ref().clone();
    profile.context = TokenCount(64_000);
    profile.max_output = TokenCount(2_000);
    mind.profile = Arc::new(profile);
    world_planned(mind, SessionLimits::default(), RULE)
}

/// So long that the scripted counts of tokens do not apply to its request: they are for short ones.
fn long_message() -> String {
    format!("pin this: {}", "word ".repeat(3_000))
}

async fn compact(talk: &mut Talk) {
    talk.tell(SessionCommand::Compact).await;
    talk.until(|event| matches!(event, crate::AgentEvent::Compacting { is_over: true }))
        .await;
}

fn seq_of(talk: &Talk, is_it: impl Fn(&SessionRecord) -> bool) -> u64 {
    let records = talk.records();
    let found = records.iter().find(|stored| is_it(&stored.record));
    found.expect("the record").seq
}

#[tokio::test(start_paused = true)]
async fn pinned_texts_and_rules_survive_three_compactions() {
    let world = world(3);
    let mut talk = world.open();
    let long = long_message();
    assert_eq!(talk.ask(&long).await, TurnEnd::Done);
    let message = seq_of(&talk, |it| matches!(it, SessionRecord::Prompted { .. }));
    let result = seq_of(&talk, |it| matches!(it, SessionRecord::CallEnded { .. }));
    for record in [message, result] {
        talk.ask_pin(record, true).await;
    }
    for round in 0..3 {
        assert_eq!(talk.ask(&format!("fill {round}")).await, TurnEnd::Done);
        compact(&mut talk).await;
        assert_eq!(talk.ask(&format!("check {round}")).await, TurnEnd::Done);
        let request = world.client.requests().pop().expect("a request");
        let sent = sent(&request);
        for wanted in [long.trim(), RESULT, RULE] {
            assert!(
                sent.contains(wanted),
                "round {round} lacks {}",
                &wanted[..30]
            );
        }
        assert!(!sent.contains("filler 0 0"), "it was compacted");
        let copies = sent.matches(RESULT).count();
        assert_eq!(copies, 1, "round {round}");
    }
    let compacted = talk.records();
    let compacted = compacted
        .iter()
        .filter(|it| it.record.kind() == "compacted");
    assert_eq!(compacted.count(), 3);
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn an_unpinned_text_leaves_with_the_next_compaction() {
    let world = world(2);
    let mut talk = world.open();
    talk.ask(&long_message()).await;
    let record = seq_of(&talk, |it| matches!(it, SessionRecord::CallEnded { .. }));
    for is_pinned in [true, false] {
        talk.ask_pin(record, is_pinned).await;
        talk.ask("fill").await;
        compact(&mut talk).await;
        talk.ask("check").await;
        let request = world.client.requests().pop().expect("a request");
        assert_eq!(sent(&request).contains(RESULT), is_pinned);
    }
    let compacted = talk.records();
    let compacted = compacted
        .iter()
        .filter(|it| it.record.kind() == "compacted");
    assert_eq!(compacted.count(), 2);
    // Pinned again, after its record was compacted away: it is sent at once.
    talk.ask_pin(record, true).await;
    let kept = world.kept(&talk.id).await;
    let transcript = crate::transcript::Transcript::of(&kept);
    let text = format!("{:?}", transcript.messages());
    assert!(text.contains("the flag is --offline"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_record_without_text_is_not_pinned() {
    let world = world(0);
    let mut talk = world.open();
    talk.ask("begin").await;
    let record = seq_of(&talk, |it| matches!(it, SessionRecord::TurnEnded { .. }));
    let is_pinned = true;
    talk.tell(SessionCommand::Pin { record, is_pinned }).await;
    talk.until(
        |event| matches!(event, crate::AgentEvent::Recorded(it) if it.record.kind() == "noted"),
    )
    .await;
}
