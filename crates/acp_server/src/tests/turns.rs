//! Turns: the updates they send, and how they are cancelled.

use agent::record::TurnEnd;
use agent::store::SessionState;
use agent::transcript;
use model::{Failure, FailureClass, ResponseScript};
use serde_json::json;

use super::peer::{Shown, World, kinds};

const EDIT: &str = r#"{"path":"a.txt","old_string":"one","new_string":"two"}"#;
const PLAN: &str = r#"{"todos":[{"text":"look","state":"done"},{"text":"edit","state":"doing"}]}"#;

#[tokio::test]
async fn a_turn_is_told_with_its_diff_and_its_plan() {
    let world = World::allowing([
        ResponseScript::calls(&[("c1", "plan", PLAN), ("c2", "edit", EDIT)]),
        ResponseScript::text("It says two now."),
    ]);
    world.write("a.txt", "one\n");
    let (mut peer, session) = world.session().await;
    let (end, told) = peer.turn(&session, "make it two").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    assert_eq!(world.read("a.txt"), "two\n");
    let shown = Shown::of(&told);
    assert_eq!(shown.title, "make it two");
    assert_eq!(shown.said("agent_message_chunk"), ["It says two now."]);
    assert!(shown.said("user_message_chunk").is_empty());
    assert_eq!(shown.plan[0]["status"], "completed");
    assert_eq!(shown.plan[1]["content"], "edit");
    let call = shown.call("c2");
    assert_eq!(
        (&call["kind"], &call["status"]),
        (&json!("edit"), &json!("completed"))
    );
    assert_eq!(call["rawInput"]["new_string"], "two");
    let path = world.root.join("a.txt");
    let diff =
        json!({ "type": "diff", "path": path.as_path(), "oldText": "one\n", "newText": "two\n" });
    assert_eq!(call["content"], json!([diff]));
    assert_eq!(call["locations"][0]["path"], json!(path.as_path()));
    assert!(kinds(&told).contains(&"usage_update"), "{:?}", kinds(&told));
    assert_eq!(peer.hang_up().await, Ok(()));
}

#[tokio::test]
async fn a_commands_output_is_told_while_it_runs() {
    let command = r#"{"command":"echo before; sleep 0.5; echo after; exit 3"}"#;
    let world = World::allowing([
        ResponseScript::calls(&[("c1", "exec_command", command)]),
        ResponseScript::text("done"),
    ]);
    let (mut peer, session) = world.session().await;
    let (_, told) = peer.turn(&session, "run it").await;
    let outputs: Vec<String> = told
        .iter()
        .map(|message| &message["params"]["update"])
        .filter(|update| update["toolCallId"] == "c1" && update["content"].is_array())
        .map(|update| update["content"].to_string())
        .collect();
    let early = outputs
        .iter()
        .position(|text| text.contains("before") && !text.contains("after\\n"));
    assert!(
        early.is_some_and(|at| at + 1 < outputs.len()),
        "{outputs:?}"
    );
    let last = outputs.last().expect("an output");
    assert!(
        last.contains("$ echo before") && last.contains("[exit code 3]"),
        "{last}"
    );
}

#[tokio::test]
async fn a_turn_is_stopped_in_the_midst_of_a_command() {
    let world = World::allowing([
        ResponseScript::calls(&[("c1", "exec_command", r#"{"command":"echo here; sleep 60"}"#)]),
        ResponseScript::text("still here"),
    ]);
    let (mut peer, session) = world.session().await;
    let turn = peer.begin_turn(&session, "wait").await;
    peer.until(|update| update["content"].to_string().contains("here"))
        .await;
    peer.cancel(&session).await;
    let (end, told) = peer.answer_of(turn).await;
    assert_eq!(end["result"]["stopReason"], "cancelled");
    let failed = told
        .iter()
        .map(|message| &message["params"]["update"])
        .any(|update| update["toolCallId"] == "c1" && update["status"] == "failed");
    assert!(failed, "{told:#?}");
    let past = world.store.read(&session).expect("a session");
    assert_eq!(
        transcript::problems(&transcript::Transcript::of(&past.records).messages()),
        Vec::<String>::new()
    );
    let (end, told) = peer.turn(&session, "and now?").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    assert_eq!(Shown::of(&told).said("agent_message_chunk"), ["still here"]);
}

#[tokio::test]
async fn a_turn_that_is_stopped_at_once_does_not_run() {
    // The stop may arrive before or after the model request, so the first request gets the held
    // answer.
    let (open, gate) = tokio::sync::oneshot::channel::<()>();
    let held = ResponseScript::text("now").then_until(async move { drop(gate.await) });
    let world = World::new([held, ResponseScript::text("now")]);
    let (mut peer, session) = world.session().await;
    let turn = peer.begin_turn(&session, "go").await;
    peer.cancel(&session).await;
    let (end, _) = peer.answer_of(turn).await;
    assert_eq!(end["result"]["stopReason"], "cancelled");
    drop(open);
    // A late cancellation does not stop the next turn.
    peer.cancel(&session).await;
    let (end, _) = peer.turn(&session, "go").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_with_its_sentence() {
    let failure = Failure::new(FailureClass::Authentication, "The key is wrong.");
    let world = World::new([ResponseScript::fails(failure), ResponseScript::text("here")]);
    let (mut peer, session) = world.session().await;
    let (end, _) = peer.turn(&session, "hello").await;
    assert_eq!(end["error"]["message"], "The key is wrong.");
    let (end, _) = peer.turn(&session, "hello").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
}

/// A PNG of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

#[tokio::test]
async fn what_is_attached_reaches_the_model() {
    let world = World::new([ResponseScript::text("I see.")]);
    world.write("src/a.rs", "fn a() {}\n");
    let (mut peer, session) = world.session().await;
    let uri = |path: &str| format!("file://{}", world.root.join(path).as_path().display());
    let prompt = json!({ "sessionId": session, "prompt": [
        { "type": "text", "text": "Look at " },
        { "type": "resource_link", "uri": uri("src/a.rs"), "name": "a.rs" },
        { "type": "resource", "resource": { "uri": uri("b.rs"), "text": "fn unsaved() {}" } },
        { "type": "image", "mimeType": "image/png", "data": PIXEL }
    ] });
    let (end, _) = peer.answer("session/prompt", prompt).await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    let requests = world.client.requests();
    let sent = format!("{:?}", requests[0].messages);
    for part in [
        "fn a() {}",
        "fn unsaved() {}",
        "<file path=\\\"b.rs\\\">",
        "image/png",
    ] {
        assert!(sent.contains(part), "{part}: {sent}");
    }
    let nothing = json!({ "sessionId": session, "prompt": [] });
    let (refused, _) = peer.answer("session/prompt", nothing).await;
    assert_eq!(refused["error"]["message"], "the prompt is empty");
}

#[tokio::test]
async fn modes_and_models_are_switched() {
    let world = World::new([
        ResponseScript::calls(&[("c1", "edit", EDIT)]),
        ResponseScript::text("I may not."),
        ResponseScript::text("as you wish"),
    ]);
    world.write("a.txt", "one\n");
    let mut peer = world.peer();
    peer.hello(super::peer::able()).await;
    let (answer, _) = peer.answer("session/new", world.wanted()).await;
    let result = &answer["result"];
    assert_eq!(result["modes"]["currentModeId"], "build");
    assert_eq!(result["modes"]["availableModes"][1]["id"], "plan");
    let model = &result["configOptions"][1];
    assert_eq!(
        (&model["id"], &model["category"], &model["currentValue"]),
        (&json!("model"), &json!("model"), &json!("auto"))
    );
    let values = model["options"].as_array().expect("values").iter();
    let values: Vec<_> = values.map(|value| value["value"].clone()).collect();
    assert_eq!(values, ["auto", "maker/large", "demo"]);
    let session = result["sessionId"].as_str().expect("an id").to_owned();
    let ask = json!({ "sessionId": session, "modeId": "ask" });
    let (set, told) = peer.answer("session/set_mode", ask).await;
    assert!(set["result"].is_object(), "{set}");
    assert!(kinds(&told).contains(&"current_mode_update"));
    let (_, told) = peer.turn(&session, "make it two").await;
    assert_eq!(Shown::of(&told).call("c1")["status"], "failed");
    assert_eq!(world.read("a.txt"), "one\n");
    let set = json!({ "sessionId": session, "configId": "model", "value": "maker/large" });
    let (set, _) = peer.answer("session/set_config_option", set).await;
    let now: Vec<_> = set["result"]["configOptions"]
        .as_array()
        .expect("options")
        .iter()
        .map(|it| it["currentValue"].clone())
        .collect();
    assert_eq!(now, ["ask", "maker/large"]);
    peer.turn(&session, "/build go on").await;
    let requests = world.client.requests();
    let models: Vec<_> = requests.iter().map(|it| it.model.to_string()).collect();
    assert_eq!(models, ["auto/auto", "auto/auto", "maker/large"]);
    for (method, params) in [
        (
            "session/set_mode",
            json!({ "sessionId": session, "modeId": "fly" }),
        ),
        (
            "session/set_config_option",
            json!({ "sessionId": session, "configId": "model", "value": "nobody/none" }),
        ),
        (
            "session/set_config_option",
            json!({ "sessionId": session, "configId": "model", "value": "demo" }),
        ),
        (
            "session/set_config_option",
            json!({ "sessionId": session, "configId": "colour", "value": "red" }),
        ),
    ] {
        let (refused, _) = peer.answer(method, params.clone()).await;
        assert!(
            refused["error"]["message"].is_string(),
            "{params}: {refused}"
        );
    }
    let line = &world.store.sessions(1).expect("sessions")[0];
    assert_eq!((line.wanted.as_str(), line.turns), ("maker/large", 2));
    assert_eq!(line.state, SessionState::Ended(TurnEnd::Done));
}

#[tokio::test]
async fn commands_are_offered_and_obeyed() {
    let world = World::new([ResponseScript::text("so be it")]);
    let skill = "---\nname: release\ndescription: How releases are made.\n---\nTag it first.\n";
    world.write(".agents/skills/release/SKILL.md", skill);
    let mut peer = world.peer();
    peer.hello(super::peer::able()).await;
    let (answer, _) = peer.answer("session/new", world.wanted()).await;
    let session = answer["result"]["sessionId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let commands = peer.hear().await;
    let names: Vec<_> = commands["params"]["update"]["availableCommands"]
        .as_array()
        .expect("commands")
        .iter()
        .map(|command| command["name"].clone())
        .collect();
    assert_eq!(names, ["compact", "build", "plan", "ask", "release"]);
    let (end, told) = peer.turn(&session, "/compact").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    let nothing = ["There is nothing to compact."];
    assert_eq!(Shown::of(&told).said("agent_message_chunk"), nothing);
    peer.turn(&session, "/release 1.0").await;
    let sent = format!("{:?}", world.client.requests()[0].messages);
    assert!(
        sent.contains("Tag it first.") && sent.contains("@release 1.0"),
        "{sent}"
    );
    let (end, told) = peer.turn(&session, "/plan").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    assert!(kinds(&told).contains(&"current_mode_update"));
    assert_eq!(world.client.requests().len(), 1);
}

#[tokio::test]
async fn a_conversation_is_made_shorter_on_demand() {
    let reads = (0..6).map(|ix| {
        let id = format!("c{ix}");
        ResponseScript::calls(&[(id.as_str(), "read", r#"{"path":"long.txt"}"#)])
    });
    let world = World::new(reads.chain([ResponseScript::text("I have read it.")]));
    world.write("long.txt", &"a line of a file that is long\n".repeat(200));
    let (mut peer, session) = world.session().await;
    peer.turn(&session, "read it again and again").await;
    let (end, told) = peer.turn(&session, "/compact").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    let compaction = [
        "compaction_update",
        "compaction_summary_chunk",
        "compaction_update",
        "agent_message_chunk",
    ];
    assert_eq!(kinds(&told), compaction);
    assert_eq!(
        Shown::of(&told).said("agent_message_chunk"),
        ["The conversation was compacted."]
    );
}
