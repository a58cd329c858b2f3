//! Providers that refuse a part of a request, or its length: turn and session continue without it.

use std::sync::Arc;

use model::{
    Failure, FailureClass, ModelRequest, PartContent, RefusedPart, ResponseScript, TokenCount,
};
use serde_json::json;

use super::super::resume;
use super::fakes::{Talk, World, assert_whole, kinds, prompt, world_by};
use crate::images::tests::png;
use crate::record::{Handover, SessionRecord, TurnEnd};
use crate::session::{SessionCommand, UserPrompt};

fn refused(part: RefusedPart) -> Failure {
    Failure {
        part: Some(part),
        status: Some(400),
        ..Failure::new(FailureClass::InvalidRequest, "Maker refused the request.")
    }
}

fn too_long(window: Option<u64>) -> Failure {
    Failure {
        window: window.map(TokenCount),
        ..Failure::new(FailureClass::ContextOverflow, "It is too long.")
    }
}

fn contents(request: &ModelRequest) -> Vec<&PartContent> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let inner = parts.flat_map(|part| match &part.content {
        PartContent::ToolResult { content, .. } => content.iter().collect(),
        content => vec![content],
    });
    inner.collect()
}

fn images(request: &ModelRequest) -> Vec<Arc<[u8]>> {
    let contents = contents(request).into_iter();
    let images = contents.filter_map(|content| match content {
        PartContent::Image { bytes, .. } => Some(bytes.clone()),
        _ => None,
    });
    images.collect()
}

fn text(request: &ModelRequest) -> String {
    let contents = contents(request).into_iter();
    let texts = contents.filter_map(|content| match content {
        PartContent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn picture(tail: u8) -> PartContent {
    // Bytes after the end of a PNG do not belong to it.
    let bytes = [png(), vec![tail]].concat();
    PartContent::Image {
        media_type: "image/png".to_owned(),
        bytes: bytes.into(),
    }
}

fn with_pictures(text: &str, images: Vec<PartContent>) -> SessionCommand {
    SessionCommand::Prompt(UserPrompt {
        images,
        ..prompt(text)
    })
}

async fn reopened(world: &World, talk: Talk) -> Talk {
    let id = talk.id.clone();
    talk.close().await;
    Talk::new(resume(world.begin(), &id).await.expect("it opens"))
}

fn notes(talk: &Talk) -> String {
    let records = talk.records();
    let notes = records.iter().filter_map(|stored| match &stored.record {
        SessionRecord::Noted { text } => Some(text.as_str()),
        _ => None,
    });
    notes.collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn refused_image_is_omitted_for_the_session() {
    let world = world_by(|request| {
        let images = images(request);
        match images.iter().find(|bytes| bytes.ends_with(&[7])) {
            Some(bad) => ResponseScript::fails(refused(RefusedPart::Image {
                named: vec![bad.clone()],
                is_any: false,
            })),
            None => ResponseScript::text(&format!("{} pictures: {}", images.len(), text(request))),
        }
    });
    let mut talk = world.open();
    talk.tell(with_pictures("look", vec![picture(7), picture(8)]))
        .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert!(
        notes(&talk).contains("picture (image/png, "),
        "{}",
        notes(&talk)
    );
    let mut talk = reopened(&world, talk).await;
    assert_eq!(talk.ask("and now?").await, TurnEnd::Done);
    let kept = world.kept(&talk.id).await;
    assert_whole(&kept);
    let said = crate::transcript::Transcript::of(&kept).last_text();
    assert!(said.starts_with("1 pictures"), "{said}");
    assert!(
        said.contains("was omitted: the provider refused it"),
        "{said}"
    );
    // The same image is not sent again.
    talk.tell(with_pictures("again", vec![picture(7)])).await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    let omitted = kinds(&world.kept(&talk.id).await);
    let omitted = omitted.iter().filter(|kind| **kind == "omitted");
    assert_eq!(omitted.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn unexplained_refusal_omits_the_newest_image() {
    let world = world_by(|request| match images(request).len() {
        0 => ResponseScript::text("I see nothing"),
        _ => ResponseScript::fails(Failure {
            status: Some(400),
            ..Failure::new(FailureClass::InvalidRequest, "Bad request.")
        }),
    });
    let mut talk = world.open();
    talk.tell(with_pictures("look", vec![picture(1), picture(2)]))
        .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn models_without_image_input_get_no_images() {
    let world = world_by(|request| match images(request).len() {
        0 => ResponseScript::text("fine"),
        _ => ResponseScript::fails(refused(RefusedPart::Image {
            named: Vec::new(),
            is_any: true,
        })),
    });
    let mut talk = world.open();
    for turn in 0..2 {
        talk.tell(with_pictures("look", vec![picture(turn), picture(9)]))
            .await;
        assert_eq!(talk.end().await, TurnEnd::Done);
    }
    let records = talk.records();
    let omitted = kinds(&records)
        .iter()
        .filter(|it| **it == "omitted")
        .count();
    assert_eq!(omitted, 1);
}

#[tokio::test(start_paused = true)]
async fn invalid_images_are_never_sent() {
    let world = world_by(|request| {
        ResponseScript::text(&format!("{}: {}", images(request).len(), text(request)))
    });
    let mut talk = world.open();
    let cut = PartContent::Image {
        media_type: "image/png".to_owned(),
        bytes: png()[..30].into(),
    };
    talk.tell(with_pictures("look", vec![cut, picture(1)]))
        .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    let said = crate::transcript::Transcript::of(&talk.records()).last_text();
    let why = "image 1 of the prompt was omitted: it ends before the picture does";
    assert!(said.starts_with("1: ") && said.contains(why), "{said}");
    assert!(notes(&talk).contains(why));
}

#[tokio::test(start_paused = true)]
async fn refused_tool_is_omitted_until_the_model_changes() {
    let world = world_by(|request| {
        let names: Vec<&str> = request.tools.iter().map(|it| it.name.as_str()).collect();
        if names.contains(&"edit") && request.model.model == "model" {
            ResponseScript::fails(refused(RefusedPart::Tool {
                name: Some("edit".to_owned()),
            }))
        } else {
            ResponseScript::text(&names.join(" "))
        }
    });
    let said = |talk: &Talk| crate::transcript::Transcript::of(&talk.records()).last_text();
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(said(&talk), "look exec spawn_agent");
    assert!(notes(&talk).contains("The tool edit is omitted"));
    let mut talk = reopened(&world, talk).await;
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    assert_eq!(said(&talk), "look exec spawn_agent");
    let model = "test/other".to_owned();
    let how = Handover::Full;
    talk.tell(SessionCommand::Switch { model, how }).await;
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    assert_eq!(said(&talk), "look edit exec spawn_agent");
}

#[tokio::test(start_paused = true)]
async fn excess_tools_are_omitted_and_named() {
    let world = world_by(|request| match request.tools.len() {
        3.. => ResponseScript::fails(refused(RefusedPart::ToolCount { most: Some(2) })),
        _ => ResponseScript::text("fine"),
    });
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let notes = notes(&talk);
    assert!(
        notes.contains("2 of 4 tools") && notes.contains("exec, spawn_agent"),
        "{notes}"
    );
}

#[tokio::test(start_paused = true)]
async fn refused_option_is_omitted() {
    let world = world_by(|request| {
        if request.omit.contains(&"effort".to_owned()) {
            ResponseScript::text("fine")
        } else {
            ResponseScript::fails(refused(RefusedPart::Member {
                name: "effort".to_owned(),
            }))
        }
    });
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let mut talk = reopened(&world, talk).await;
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    let kinds = kinds(&world.kept(&talk.id).await);
    assert_eq!(kinds.iter().filter(|kind| **kind == "omitted").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn repeated_refusal_ends_the_turn() {
    let world = world_by(|_| {
        ResponseScript::fails(refused(RefusedPart::Member {
            name: "effort".to_owned(),
        }))
    });
    let mut talk = world.open();
    let end = talk.ask("go").await;
    assert!(matches!(&end, TurnEnd::Failed { class, .. } if class == "invalid_request"));
    let kinds = kinds(&talk.records());
    assert_eq!(kinds.iter().filter(|kind| **kind == "asked").count(), 2);
    assert_eq!(kinds.iter().filter(|kind| **kind == "failed").count(), 1);
}

fn bytes(request: &ModelRequest) -> usize {
    let contents = contents(request).into_iter();
    let lengths = contents.map(|content| match content {
        PartContent::Text(text) => text.len(),
        PartContent::ToolCall { arguments, .. } => arguments.len(),
        _ => 0,
    });
    lengths.sum()
}

/// A server whose window is much smaller than the profile's.
fn small_world(window: Option<u64>) -> World {
    world_by(move |request| {
        let is_summary = request.tools.is_empty();
        let (text, results) = super::fakes::last(request);
        match bytes(request) {
            6_000.. => ResponseScript::fails(too_long(window)),
            _ if is_summary => {
                ResponseScript::text("a summary of what happened so far, in some words")
            }
            _ if results == 0 && text.ends_with("work") => {
                let id = format!("c{}", super::fakes::calls(request));
                let fill = json!({ "fill": 200_000 }).to_string();
                ResponseScript::calls(&[(&id, "look", &fill)])
            }
            _ => ResponseScript::text("done"),
        }
    })
}

#[tokio::test(start_paused = true)]
async fn oversized_result_ends_neither_turn_nor_resume() {
    for window in [None, Some(2_000)] {
        let world = small_world(window);
        let mut talk = world.open();
        for turn in 0..4 {
            assert_eq!(
                talk.ask("work").await,
                TurnEnd::Done,
                "{window:?}, turn {turn}"
            );
        }
        let mut talk = reopened(&world, talk).await;
        assert_eq!(talk.ask("work").await, TurnEnd::Done, "{window:?}");
        assert_eq!(talk.ask("say something").await, TurnEnd::Done, "{window:?}");
        assert_whole(&world.kept(&talk.id).await);
    }
}

#[tokio::test(start_paused = true)]
async fn oversized_prompt_does_not_block_later_turns() {
    let world = small_world(None);
    let mut talk = world.open();
    let long = "many words ".repeat(20_000);
    assert_eq!(talk.ask(&long).await, TurnEnd::Done);
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    assert!(notes(&talk).contains("cut to"), "{}", notes(&talk));
}

#[tokio::test(start_paused = true)]
async fn too_large_tools_are_named_in_the_error() {
    let world = world_by(|_| ResponseScript::fails(too_long(Some(300))));
    let mut talk = world.open();
    let end = talk.ask("hi").await;
    let TurnEnd::Failed { what, .. } = end else {
        panic!("{end:?}");
    };
    assert!(
        what.contains("tools take about") && what.contains("300 tokens"),
        "{what}"
    );
}

#[tokio::test(start_paused = true)]
async fn empty_prompts_and_nul_characters_are_replaced() {
    let world = world_by(|request| match super::fakes::last(request) {
        (_, 0) if super::fakes::calls(request) == 0 && text(request).contains("nul") => {
            let say = json!({ "say": "a\u{0}b" }).to_string();
            ResponseScript::calls(&[("c", "look", &say), ("d", "look", r#"{"say":"\ud800"}"#)])
        }
        _ => ResponseScript::text(&text(request)),
    });
    let mut talk = world.open();
    assert_eq!(talk.ask("  \n").await, TurnEnd::Done);
    assert_whole(&talk.records());
    let said = crate::transcript::Transcript::of(&talk.records()).last_text();
    assert!(said.contains("(an empty message)"), "{said}");
    assert_eq!(talk.ask("nul").await, TurnEnd::Done);
    let ends = talk.ends();
    let end = ends.iter().find(|(id, ..)| id == "c").expect("it ended");
    assert_eq!(end.2, "a\u{fffd}b");
    assert_whole(&talk.records());
}
