//! Stored sessions: loaded, resumed, listed.

use model::ResponseScript;
use serde_json::{Value, json};

use super::peer::{Shown, World, able};

const EDIT: &str = r#"{"path":"a.txt","old_string":"one","new_string":"two"}"#;
const PLAN: &str =
    r#"{"todos":[{"text":"look","state":"done"},{"text":"edit","state":"dropped"}]}"#;

#[tokio::test]
async fn replay_equals_the_live_updates() {
    let world = World::new([
        ResponseScript::calls(&[
            ("c1", "plan", PLAN),
            ("c2", "read", r#"{"path":"a.txt"}"#),
            ("c3", "nonsense", "{}"),
        ]),
        ResponseScript::calls(&[("c4", "edit", EDIT)]),
        ResponseScript::calls(&[("c5", "exec_command", r#"{"command":"touch b.txt"}"#)]),
        ResponseScript::text("It was refused."),
        ResponseScript::text("You are welcome."),
    ]);
    world.write("a.txt", "one\n");
    let (mut peer, session) = world.session().await;
    let turn = peer.begin_turn(&session, "make it two\nand look").await;
    let (question, mut told) = peer.question().await;
    peer.choose(&question, "allow_once").await;
    let (question, more) = peer.question().await;
    told.extend(more);
    peer.choose(&question, "reject_once").await;
    let (_, more) = peer.answer_of(turn).await;
    told.extend(more);
    let (_, more) = peer.turn(&session, "thanks").await;
    told.extend(more);
    let live = Shown::of(&told);
    assert_eq!(live.calls.len(), 5);
    assert_eq!(peer.hang_up().await, Ok(()));

    let mut peer = world.peer();
    peer.hello(able()).await;
    let (answer, told) = peer.answer("session/load", world.loading(&session)).await;
    assert_eq!(answer["result"]["modes"]["currentModeId"], "build");
    let again = Shown::of(&told);
    assert_eq!(again.calls, live.calls);
    assert_eq!((&again.plan, &again.title), (&live.plan, &live.title));
    let said: Vec<_> = again
        .messages
        .iter()
        .filter(|(kind, _)| kind != "user_message_chunk")
        .cloned()
        .collect();
    assert_eq!(said, live.messages);
    let asked = again.said("user_message_chunk");
    assert_eq!(asked, ["make it two\nand look", "thanks"]);
}

#[tokio::test]
async fn a_session_goes_on_where_it_was() {
    let world = World::new([
        ResponseScript::text("I am here."),
        ResponseScript::text("Still."),
    ]);
    let (mut peer, session) = world.session().await;
    peer.turn(&session, "where are you?").await;
    let plan = json!({ "sessionId": session, "modeId": "plan" });
    peer.answer("session/set_mode", plan).await;
    let (closed, _) = peer
        .answer("session/close", json!({ "sessionId": session }))
        .await;
    assert!(closed["result"].is_object(), "{closed}");
    let (answer, told) = peer.answer("session/resume", world.loading(&session)).await;
    assert_eq!(answer["result"]["modes"]["currentModeId"], "plan");
    assert_eq!(told, Vec::<Value>::new());
    peer.turn(&session, "and now?").await;
    let sent = format!("{:?}", world.client.requests()[1].messages);
    assert!(sent.contains("I am here."), "{sent}");
    let unknown = world.loading("unknown");
    let (refused, _) = peer.answer("session/load", unknown).await;
    assert_eq!(refused["error"]["message"], "there is no session unknown");
}

#[tokio::test]
async fn what_is_open_can_be_loaded_anew() {
    let world = World::new([ResponseScript::text("one"), ResponseScript::text("two")]);
    let (mut peer, session) = world.session().await;
    peer.turn(&session, "count").await;
    let (_, told) = peer.answer("session/load", world.loading(&session)).await;
    assert_eq!(Shown::of(&told).said("agent_message_chunk"), ["one"]);
    let (_, told) = peer.turn(&session, "on").await;
    assert_eq!(Shown::of(&told).said("agent_message_chunk"), ["two"]);
}

/// All updates of a loaded session arrive before the response.
#[tokio::test]
async fn nothing_is_told_behind_a_loaded_session() {
    let world = World::new([ResponseScript::text("one")]);
    let (mut peer, session) = world.session().await;
    peer.turn(&session, "count").await;
    let (loaded, told) = peer.answer("session/load", world.loading(&session)).await;
    assert!(loaded["result"].is_object(), "{loaded}");
    let last = told.last().expect("updates");
    let kind = &last["params"]["update"]["sessionUpdate"];
    assert_eq!(kind, "available_commands_update");
    // Any later update would arrive before the response to the next request.
    let (_, more) = peer.answer("session/list", json!({})).await;
    assert_eq!(more, Vec::<Value>::new());
}

/// A session is not stored before its first prompt, but the editor knows it.
#[tokio::test]
async fn a_session_without_a_prompt_can_be_opened_again() {
    for method in ["session/load", "session/resume"] {
        let world = World::new([ResponseScript::text("I am here.")]);
        let (mut peer, session) = world.session().await;
        let plan = json!({ "sessionId": session, "modeId": "plan" });
        peer.answer("session/set_mode", plan).await;
        let (opened, _) = peer.answer(method, world.loading(&session)).await;
        assert_eq!(
            opened["result"]["modes"]["currentModeId"], "plan",
            "{method}: {opened}"
        );
        let (end, told) = peer.turn(&session, "where are you?").await;
        assert_eq!(end["result"]["stopReason"], "end_turn", "{method}: {end}");
        assert_eq!(Shown::of(&told).said("agent_message_chunk"), ["I am here."]);
        let (listed, _) = peer.answer("session/list", json!({})).await;
        assert_eq!(listed["result"]["sessions"][0]["sessionId"], json!(session));
        // A session closed without a prompt leaves nothing behind.
        let silent = peer.begin(world.wanted()).await;
        let closing = json!({ "sessionId": silent });
        peer.answer("session/close", closing).await;
        let (refused, _) = peer.answer(method, world.loading(&silent)).await;
        assert_eq!(refused["error"]["code"], -32002, "{method}: {refused}");
    }
}

#[tokio::test]
async fn sessions_are_listed_by_folder() {
    let world = World::new([ResponseScript::text("one"), ResponseScript::text("two")]);
    let (mut peer, first) = world.session().await;
    peer.turn(&first, "the first").await;
    let second = peer.begin(world.wanted()).await;
    peer.turn(&second, "the second").await;
    let here = json!({ "cwd": world.root.as_path() });
    let (listed, _) = peer.answer("session/list", here).await;
    let sessions = listed["result"]["sessions"].as_array().expect("sessions");
    let lines: Vec<_> = sessions
        .iter()
        .map(|it| (&it["sessionId"], &it["title"]))
        .collect();
    assert_eq!(
        lines,
        [
            (&json!(second), &json!("the second")),
            (&json!(first), &json!("the first"))
        ]
    );
    let elsewhere = json!({ "cwd": "/elsewhere" });
    let (listed, _) = peer.answer("session/list", elsewhere).await;
    assert_eq!(listed["result"]["sessions"], json!([]));
}

#[tokio::test]
async fn closing_ends_the_turn_that_runs() {
    let sleep = r#"{"command":"echo here; sleep 60"}"#;
    let world = World::allowing([ResponseScript::calls(&[("c1", "exec_command", sleep)])]);
    let (mut peer, session) = world.session().await;
    let turn = peer.begin_turn(&session, "wait").await;
    peer.until(|update| update["content"].to_string().contains("here"))
        .await;
    let closing = peer
        .ask("session/close", json!({ "sessionId": session }))
        .await;
    let (mut end, mut closed) = (Value::Null, Value::Null);
    while end.is_null() || closed.is_null() {
        let message = peer.hear().await;
        if message["id"] == turn {
            end = message;
        } else if message["id"] == closing {
            closed = message;
        }
    }
    assert_eq!(end["result"]["stopReason"], "cancelled");
    assert!(closed["result"].is_object(), "{closed}");
    let (after, _) = peer.turn(&session, "are you there?").await;
    assert!(after["error"]["message"].is_string(), "{after}");
}
