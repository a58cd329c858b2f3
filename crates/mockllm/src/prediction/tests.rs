//! Tests of the spans that agree, shown within the answer.

use serde_json::json;
use tokio::time::Instant;

use super::PredictionMatch;
use crate::{
    Script, engine::ScriptEngine, frames::Frames, request::PromptRequest, wire_format::WireFormat,
};

/// Matches a prediction with an answer whose generated parts are in brackets.
fn check(prediction: &str, marked: &str) {
    let answer = marked.replace(['[', ']'], "");
    let found = PredictionMatch::new(prediction, &answer);
    let mut shown = String::new();
    let mut end = 0;
    for span in &found.accepted {
        if span.start > end {
            shown.push_str(&format!("[{}]", &answer[end..span.start]));
        }
        shown.push_str(&answer[span.clone()]);
        end = span.end;
    }
    if end < answer.len() {
        shown.push_str(&format!("[{}]", &answer[end..]));
    }
    assert_eq!(shown, marked, "{found:?}");
    let accepted: usize = found.accepted.iter().map(ExactSizeIterator::len).sum();
    assert_eq!(accepted + found.rejected, prediction.len());
}

const FRUIT: &str =
    "apples are red; bananas are yellow; cherries are dark; dates are brown and figs are purple";

#[test]
fn an_unchanged_answer_is_accepted_whole() {
    check(FRUIT, FRUIT);
    check("", "");
    assert_eq!(PredictionMatch::new(FRUIT, FRUIT).rejected_tokens(), 0);
}

#[test]
fn a_replacement_is_generated_and_the_rest_accepted() {
    check(
        FRUIT,
        "apples are [green; bananas are yellow; cherries a]re dark; dates are brown and figs are purple",
    );
}

#[test]
fn an_insertion_and_a_deletion_are_passed_over() {
    check(
        FRUIT,
        "apples are red; b[lueberries are; bananas are yellow; cherries are ]dark; dates are brown and figs are purple",
    );
    check(
        FRUIT,
        "apples are red; [cherries are dark; dates are bro]wn and figs are purple",
    );
}

#[test]
fn an_answer_of_its_own_is_generated_whole() {
    check(FRUIT, "[Nothing of that sort grows here, whoever asks.]");
    check("", "[Nothing is predicted.]");
}

#[test]
fn a_part_before_the_followed_one_is_not_matched_again() {
    check(
        "one two three four five six seven eight nine",
        "one two three four five six seven eight nine[ two three four five six seven eight nine]",
    );
}

#[test]
fn only_generated_bytes_of_a_span_count() {
    let answer = FRUIT.replace("red", "green");
    let found = PredictionMatch::new(FRUIT, &answer);
    assert_eq!(found.generated_tokens(0..8), 0);
    assert_eq!(found.generated_tokens(8..15), 1);
    assert_eq!(found.generated_tokens(11..31), 5);
    assert_eq!(found.generated_tokens(0..answer.len()), 10);
}

#[test]
fn accepted_text_is_sent_without_the_time_of_its_tokens() {
    let predicted = FRUIT.repeat(20);
    let script =
        json!({ "rules": [{ "reply": [{ "text": predicted.replacen("red", "green", 1) }] }] });
    let script = Script::parse("test", &script.to_string()).expect("a script");
    let mut engine = ScriptEngine::new(script);
    let mut sent = |prediction: Option<String>| {
        let mut request = PromptRequest::new(WireFormat::Chat, "m");
        request.options.prediction = prediction;
        let decision = engine.decide(&request, Instant::now());
        let reply = decision.outcome.expect("a reply");
        let mut frames = Frames::new(reply.answer.rng.clone(), reply.pace);
        request.wire.stream(&request, &reply.answer, &mut frames);
        let tokens: u64 = frames.finish().iter().map(|frame| frame.tokens).sum();
        (tokens, reply.answer.usage.generated())
    };
    assert_eq!(sent(None), (451, 451));
    let (paced, generated) = sent(Some(predicted));
    // A rejected token takes no time, and a fragment rounds its tokens up.
    assert!((10..=30).contains(&paced), "{paced}");
    assert!((10..=30).contains(&generated), "{generated}");
}
