//! Turns that are judged by the user's next message.

use model::ResponseScript;
use quality::QualityRecord;
use quality::satisfaction::{Satisfaction, Sign};

use super::super::{SessionOptions, start};
use super::fakes::{Talk, world};

#[tokio::test(start_paused = true)]
async fn the_next_message_judges_a_turn() {
    let world = world((0..4).map(|_| ResponseScript::text("done")));
    let mut talk = world.open();
    for message in ["add a retry", "that doesn't work", "what now?", "thanks!"] {
        talk.ask(message).await;
    }
    world.harness.store().flush().await.expect("flushed");
    let rows = world.harness.store().quality(0).expect("rows").records;
    let judged: Vec<(u64, Satisfaction)> = rows
        .iter()
        .filter_map(|row| match row {
            QualityRecord::Judgement(it) if *it.session == *talk.id => {
                Some((it.turn, it.satisfaction()))
            }
            _ => None,
        })
        .collect();
    let expected = [
        (1, Satisfaction::Dissatisfied(Sign::Objected)),
        (2, Satisfaction::Unknown),
        (3, Satisfaction::Satisfied(Sign::Praised)),
    ];
    assert_eq!(judged, expected);
}

#[tokio::test(start_paused = true)]
async fn sessions_without_a_user_are_not_judged() {
    let world = world((0..2).map(|_| ResponseScript::text("done")));
    let begin = SessionOptions {
        has_user: false,
        ..world.begin()
    };
    let mut talk = Talk::new(start(begin));
    talk.ask("add a retry").await;
    talk.ask("that doesn't work").await;
    world.harness.store().flush().await.expect("flushed");
    let rows = world.harness.store().quality(0).expect("rows").records;
    assert_eq!(rows, []);
}
