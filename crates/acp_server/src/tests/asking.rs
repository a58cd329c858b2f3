//! Permission requests and questions on their way to the editor and back.

use model::ResponseScript;
use serde_json::{Value, json};

use super::peer::{Shown, World, able};

const EDIT: &str = r#"{"path":"a.txt","old_string":"one","new_string":"two"}"#;

#[tokio::test]
async fn what_is_refused_does_not_happen() {
    let world = World::new([
        ResponseScript::calls(&[("c1", "edit", EDIT)]),
        ResponseScript::text("Then not."),
    ]);
    world.write("a.txt", "one\n");
    let (mut peer, session) = world.session().await;
    let turn = peer.begin_turn(&session, "make it two").await;
    let (question, mut told) = peer.question().await;
    let call = &question["params"]["toolCall"];
    assert_eq!(
        (&call["toolCallId"], &call["kind"]),
        (&json!("c1"), &json!("edit"))
    );
    assert!(
        call["title"]
            .as_str()
            .is_some_and(|title| title.contains("a.txt")),
        "{call}"
    );
    // The request holds the arguments, and the same as text.
    assert_eq!(
        call["rawInput"],
        serde_json::from_str::<Value>(EDIT).expect("JSON")
    );
    let text = call["content"].to_string();
    for words in ["path: a.txt", "old_string: one", "new_string: two"] {
        assert!(text.contains(words), "{text}");
    }
    peer.choose(&question, "reject_once").await;
    let (end, rest) = peer.answer_of(turn).await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    told.extend(rest);
    let shown = Shown::of(&told);
    let call = shown.call("c1");
    assert_eq!(call["status"], "failed");
    let why = &call["content"][0]["content"]["text"];
    assert_eq!(why, "This call was not run: the user refused it.");
    assert_eq!(shown.said("agent_message_chunk"), ["Then not."]);
    assert_eq!(world.read("a.txt"), "one\n");
}

#[tokio::test]
async fn session_grant_is_asked_once() {
    let back = r#"{"path":"a.txt","old_string":"two","new_string":"one"}"#;
    let world = World::new([
        ResponseScript::calls(&[("c1", "edit", EDIT)]),
        ResponseScript::text("two"),
        ResponseScript::calls(&[("c2", "edit", back)]),
        ResponseScript::text("one"),
    ]);
    world.write("a.txt", "one\n");
    let (mut peer, session) = world.session().await;
    let turn = peer.begin_turn(&session, "make it two").await;
    let (question, _) = peer.question().await;
    peer.choose(&question, "allow_always").await;
    peer.answer_of(turn).await;
    assert_eq!(world.read("a.txt"), "two\n");
    peer.turn(&session, "and back").await;
    assert_eq!(world.read("a.txt"), "one\n");
}

#[tokio::test]
async fn a_turn_is_stopped_while_it_asks() {
    let world = World::new([
        ResponseScript::calls(&[("c1", "edit", EDIT)]),
        ResponseScript::text("on"),
    ]);
    world.write("a.txt", "one\n");
    let (mut peer, session) = world.session().await;
    let turn = peer.begin_turn(&session, "make it two").await;
    let (question, _) = peer.question().await;
    peer.cancel(&session).await;
    let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
    peer.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": cancelled }))
        .await;
    let (end, _) = peer.answer_of(turn).await;
    assert_eq!(end["result"]["stopReason"], "cancelled");
    assert_eq!(world.read("a.txt"), "one\n");
    let (end, _) = peer.turn(&session, "go on").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
}

/// Some editors only cancel the question.
#[tokio::test]
async fn a_question_that_is_cancelled_stops_the_turn() {
    let ask = r#"{"question":"Which?","options":["red","blue"]}"#;
    for call in [("c1", "edit", EDIT), ("c1", "ask_user", ask)] {
        let world = World::new([ResponseScript::calls(&[call]), ResponseScript::text("on")]);
        world.write("a.txt", "one\n");
        let (mut peer, session) = world.session().await;
        let turn = peer.begin_turn(&session, "do it").await;
        let (question, _) = peer.question().await;
        let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
        peer.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": cancelled }))
            .await;
        let (end, _) = peer.answer_of(turn).await;
        assert_eq!(end["result"]["stopReason"], "cancelled", "{call:?}");
        assert_eq!(world.read("a.txt"), "one\n");
        let (end, _) = peer.turn(&session, "go on").await;
        assert_eq!(end["result"]["stopReason"], "end_turn", "{call:?}");
        assert_eq!(world.client.requests().len(), 2, "{call:?}");
    }
}

#[tokio::test]
async fn a_question_with_options_is_asked_and_answered() {
    let ask = r#"{"question":"Which colour?","options":["red","blue"]}"#;
    let world = World::new([
        ResponseScript::calls(&[("c1", "ask_user", ask)]),
        ResponseScript::text("blue it is"),
    ]);
    let (mut peer, session) = world.session().await;
    let turn = peer.begin_turn(&session, "paint").await;
    let (question, _) = peer.question().await;
    assert_eq!(question["params"]["toolCall"]["title"], "Which colour?");
    assert_eq!(question["params"]["options"][1]["name"], "blue");
    let blue = json!({ "outcome": { "outcome": "selected", "optionId": question["params"]["options"][1]["optionId"] } });
    peer.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": blue }))
        .await;
    peer.answer_of(turn).await;
    let sent = format!("{:?}", world.client.requests()[1].messages);
    assert!(sent.contains("The user answers: blue"), "{sent}");
}

#[tokio::test]
async fn a_question_without_options_is_left_to_the_agent() {
    let world = World::new([
        ResponseScript::calls(&[("c1", "ask_user", r#"{"question":"What name?"}"#)]),
        ResponseScript::text("I took one."),
    ]);
    let (mut peer, session) = world.session().await;
    let (end, told) = peer.turn(&session, "name it").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    let is_told = |it: &serde_json::Value| {
        it["params"]["update"]["title"]
            .as_str()
            .is_some_and(|it| it.contains("What name?"))
    };
    assert!(told.iter().any(is_told), "{told:#?}");
    let sent = format!("{:?}", world.client.requests()[1].messages);
    assert!(sent.contains("No answer"), "{sent}");
}

#[tokio::test]
async fn a_subagent_asks_through_its_call() {
    let world = World::new([
        ResponseScript::calls(&[("c1", "spawn_agent", r#"{"task":"make it two"}"#)]),
        ResponseScript::calls(&[("c1", "edit", EDIT)]),
        ResponseScript::text("It is two."),
        ResponseScript::text("The agent did it."),
    ]);
    world.write("a.txt", "one\n");
    let (mut peer, session) = world.session().await;
    let turn = peer.begin_turn(&session, "have it made two").await;
    let (question, mut told) = peer.question().await;
    let asked = question["params"]["toolCall"]["toolCallId"].as_str();
    let asked = asked.expect("an id").to_owned();
    assert!(asked != "c1" && asked.ends_with("/c1"), "{asked}");
    peer.choose(&question, "allow_once").await;
    let (_, rest) = peer.answer_of(turn).await;
    told.extend(rest);
    let shown = Shown::of(&told);
    assert_eq!(shown.call(&asked)["status"], "completed");
    assert_eq!(world.read("a.txt"), "two\n");
    let content = shown.call("c1")["content"].to_string();
    assert!(
        content.contains("It is two.") && content.contains("- edit a.txt"),
        "{content}"
    );
    // A replay gives the same updates.
    let (_, again) = peer.answer("session/load", world.loading(&session)).await;
    let again = Shown::of(&again);
    assert_eq!(again.calls, shown.calls);
}

#[tokio::test]
async fn unusable_providers_are_reported() {
    let world = World::new([]);
    let mut peer = world.peer();
    peer.hello(able()).await;
    let wanted = json!({ "cwd": world.root.as_path(), "mcpServers": [
        { "name": "tickets", "command": "/bin/tickets", "args": [], "env": [] }
    ] });
    peer.begin(wanted.clone()).await;
    let notice = peer.hear().await;
    let update = &notice["params"]["update"];
    assert_eq!(update["sessionUpdate"], "notice");
    assert!(
        update["title"]
            .as_str()
            .is_some_and(|it| it.contains("tickets")),
        "{update}"
    );
    // An editor that cannot show notices gets them as message text.
    let mut peer = world.peer();
    peer.hello(json!({})).await;
    peer.begin(wanted).await;
    let said = peer.hear().await;
    assert_eq!(
        said["params"]["update"]["sessionUpdate"],
        "agent_message_chunk"
    );
    let nowhere = json!({ "cwd": "/nowhere/at/all", "mcpServers": [] });
    let (refused, _) = peer.answer("session/new", nowhere).await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|it| it.contains("/nowhere")),
        "{refused}"
    );
}
