//! The fill of the context, and the summary that a user edits.

use model::ResponseScript;

use super::super::resume;
use super::fakes::{Talk, assert_whole, world};
use crate::fill::ContextFill;
use crate::record::{Handover, SessionRecord, TurnEnd};
use crate::session::{AgentEvent, SessionCommand};

async fn next_fill(talk: &mut Talk) -> ContextFill {
    let event = talk
        .until(|event| matches!(event, AgentEvent::Fill { .. }))
        .await;
    let AgentEvent::Fill { fill, .. } = event else {
        unreachable!("it was looked for");
    };
    let parts: u64 = fill.parts.iter().map(|(_, tokens)| tokens).sum();
    assert_eq!(parts, fill.tokens, "{fill:?}");
    fill
}

#[tokio::test(start_paused = true)]
async fn the_fill_is_the_last_count_until_something_changes_it() {
    let world = world([
        ResponseScript::text("one"),
        ResponseScript::text("two"),
        ResponseScript::text("three"),
    ]);
    let mut talk = world.open();
    for prompt in ["first", "second"] {
        talk.say(prompt).await;
        let fill = next_fill(&mut talk).await;
        assert_eq!(talk.end().await, TurnEnd::Done);
        // The script reports 100 tokens of input for each request, and one of output.
        assert_eq!((fill.tokens, fill.is_estimate), (101, false), "not a sum");
        assert_eq!((fill.window, fill.compact_at), (200_000, 160_000));
    }
    talk.tell(SessionCommand::Switch {
        model: "other/model".to_owned(),
        how: Handover::Full,
    })
    .await;
    let switched = next_fill(&mut talk).await;
    assert!(switched.is_estimate && switched.tokens > 0, "{switched:?}");
    let id = talk.id.clone();
    talk.close().await;
    let mut talk = Talk::new(resume(world.begin(), &id).await.expect("it opens"));
    assert!(next_fill(&mut talk).await.is_estimate);
    talk.say("third").await;
    assert!(!next_fill(&mut talk).await.is_estimate);
}

#[tokio::test(start_paused = true)]
async fn an_edited_summary_is_sent_from_then_on() {
    let mut scripts: Vec<ResponseScript> = (0..6)
        .map(|ix| {
            let id = format!("c{ix}");
            ResponseScript::calls(&[(&id, "look", r#"{"fill":4000}"#)])
        })
        .collect();
    scripts.extend(["one", "the summary", "two", "three"].map(ResponseScript::text));
    let world = world(scripts);
    let mut talk = world.open();
    talk.ask("first").await;
    talk.tell(SessionCommand::Compact).await;
    talk.until(|event| matches!(event, AgentEvent::Compacting { is_over: true }))
        .await;
    let fill = next_fill(&mut talk).await;
    let records = talk.records();
    let (compaction, tokens, why) = records
        .iter()
        .find_map(|stored| match &stored.record {
            SessionRecord::Compacted { tokens, why, .. } => Some((stored.seq, *tokens, why)),
            _ => None,
        })
        .expect("a compaction");
    assert_eq!(why, "requested by the user");
    let (before, after) = tokens.expect("counted");
    assert!(before > after && after == fill.tokens, "{before} {after}");
    assert!(fill.is_estimate);
    let edit = |compaction| SessionCommand::EditSummary {
        compaction,
        memory: "in my own words".to_owned(),
    };
    talk.tell(edit(compaction)).await;
    assert_eq!(talk.ask("second").await, TurnEnd::Done);
    let first_of = |ix: usize| format!("{:?}", world.client.requests()[ix].messages[0]);
    assert!(first_of(8).contains("in my own words"), "{}", first_of(8));
    assert!(!first_of(8).contains("the summary"), "{}", first_of(8));
    // There is no such summary: the user learns it.
    talk.tell(edit(compaction + 1)).await;
    talk.until(|event| match event {
        AgentEvent::Recorded(stored) => {
            matches!(&stored.record, SessionRecord::Noted { text } if text.contains("dropped"))
        }
        _ => false,
    })
    .await;
    assert_whole(&talk.records());
    let id = talk.id.clone();
    talk.close().await;
    let mut talk = Talk::new(resume(world.begin(), &id).await.expect("it opens"));
    talk.ask("third").await;
    assert!(first_of(9).contains("in my own words"), "{}", first_of(9));
}
