//! Requests of an editor, line by line.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::peer::{Peer, agent_text};

fn able() -> Value {
    json!({
        "fs": { "readTextFile": true, "writeTextFile": true },
        "session": { "notices": {}, "compaction": {}, "configOptions": { "boolean": {} } }
    })
}

fn kinds(messages: &[Value]) -> Vec<&str> {
    let kinds = messages
        .iter()
        .map(|message| &message["params"]["update"]["sessionUpdate"]);
    kinds.filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn initialize_reports_capabilities() {
    let mut peer = Peer::new();
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    let (answer, _) = peer.answer("initialize", hello).await;
    let able = &answer["result"]["agentCapabilities"];
    assert_eq!(answer["result"]["protocolVersion"], 1);
    assert_eq!(able["loadSession"], true);
    assert_eq!(able["mcpCapabilities"]["http"], true);
    assert_eq!(able["promptCapabilities"]["image"], true);
    for what in ["list", "resume", "close"] {
        assert!(able["sessionCapabilities"][what].is_object(), "{able}");
    }
    assert_eq!(peer.disconnect().await, Ok(()));
}

#[tokio::test]
async fn every_update_fits_the_schema() {
    let mut peer = Peer::new();
    let session = peer.session(able()).await;
    let (end, messages) = peer.turn(&session, "show").await;
    assert_eq!(end["result"]["stopReason"], "end_turn");
    let expected = [
        "agent_thought_chunk",
        "plan",
        "tool_call",
        "tool_call_update",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
        "notice",
        "compaction_update",
        "compaction_summary_chunk",
        "compaction_update",
        "agent_message_chunk",
    ];
    assert_eq!(kinds(&messages), expected);
    // The editor knows this call, so it receives an update.
    let (_, again) = peer.turn(&session, "show").await;
    assert_eq!(
        kinds(&again)[2..4],
        ["tool_call_update", "tool_call_update"]
    );
}

#[tokio::test]
async fn unsupported_updates_are_not_sent() {
    let mut peer = Peer::new();
    let session = peer.session(json!({})).await;
    let (_, messages) = peer.turn(&session, "show").await;
    let kinds = kinds(&messages);
    assert!(
        !kinds.contains(&"notice") && !kinds.contains(&"compaction_update"),
        "{kinds:?}"
    );
    let options = messages
        .iter()
        .map(|message| &message["params"]["update"]["configOptions"]);
    let options: Vec<_> = options.filter_map(Value::as_array).flatten().collect();
    assert!(
        options.iter().all(|option| option["type"] == "select"),
        "{options:?}"
    );
    let (_, messages) = peer.turn(&session, "read /project/a").await;
    assert_eq!(agent_text(&messages), "None");
}

#[tokio::test]
async fn session_uses_the_editors_folder_and_servers() {
    let mut peer = Peer::new();
    let session = peer.session(able()).await;
    let (_, messages) = peer.turn(&session, "where").await;
    assert_eq!(agent_text(&messages), "/project 2");
    let nowhere = json!({ "cwd": "", "mcpServers": [] });
    let (answer, _) = peer.answer("session/new", nowhere).await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn relative_folder_is_resolved_from_the_start_folder() {
    let mut peer = Peer::new();
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": able() });
    peer.answer("initialize", hello).await;
    let here = json!({ "cwd": ".", "mcpServers": [] });
    let (answer, _) = peer.answer("session/new", here).await;
    let session = answer["result"]["sessionId"].as_str().expect("a session");
    let (_, messages) = peer.turn(session, "where").await;
    let here = std::env::current_dir().expect("a folder");
    assert_eq!(agent_text(&messages), format!("{} 0", here.display()));
}

#[tokio::test]
async fn pending_updates_follow_the_opening_response() {
    let mut peer = Peer::new();
    let wanted = json!({ "cwd": "/titled", "mcpServers": [] });
    let (answer, before) = peer.answer("session/new", wanted).await;
    assert!(before.is_empty(), "{before:?}");
    let session = answer["result"]["sessionId"].clone();
    let message = peer.receive().await;
    assert_eq!(message["params"]["sessionId"], session);
    assert_eq!(message["params"]["update"]["title"], "Not asked yet");
}

#[tokio::test]
async fn agent_requests_permission() {
    let mut peer = Peer::new();
    let session = peer.session(able()).await;
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "ask" }] });
    let asked = peer.ask("session/prompt", prompt).await;
    let request = loop {
        let message = peer.receive().await;
        if message["method"] == "session/request_permission" {
            break message;
        }
    };
    assert_eq!(request["params"]["options"][1]["kind"], "allow_always");
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "yes" } });
    peer.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": outcome }))
        .await;
    let mut messages = Vec::new();
    loop {
        let message = peer.receive().await;
        if message["id"] == asked {
            break;
        }
        messages.push(message);
    }
    assert_eq!(agent_text(&messages), "Some(\"yes\")");
}

#[tokio::test]
async fn a_turn_is_cancelled() {
    let mut peer = Peer::new();
    let session = peer.session(able()).await;
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "hang" }] });
    let asked = peer.ask("session/prompt", prompt.clone()).await;
    // A concurrent second prompt is refused, and changes nothing.
    let (second, _) = peer.answer("session/prompt", prompt).await;
    assert!(
        second["error"]["message"]
            .as_str()
            .is_some_and(|it| it.contains("runs already"))
    );
    let cancel = json!({ "sessionId": session });
    peer.send(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": cancel }))
        .await;
    let end = peer.receive().await;
    assert_eq!(
        (end["id"].as_u64(), &end["result"]["stopReason"]),
        (Some(asked), &json!("cancelled"))
    );
    let (_, messages) = peer.turn(&session, "say on").await;
    assert_eq!(agent_text(&messages), "on");
}

#[tokio::test]
async fn sessions_are_loaded_resumed_listed_and_closed() {
    let mut peer = Peer::new();
    peer.session(able()).await;
    let old = json!({ "sessionId": "old", "cwd": "/project", "mcpServers": [] });
    let (_, messages) = peer.answer("session/load", old.clone()).await;
    assert_eq!(
        kinds(&messages),
        ["user_message_chunk", "agent_message_chunk"]
    );
    let (_, messages) = peer.answer("session/resume", old).await;
    assert!(messages.is_empty());
    let (listed, _) = peer
        .answer("session/list", json!({ "cwd": "/project" }))
        .await;
    assert_eq!(listed["result"]["sessions"][0]["title"], "An old one");
    let (set, _) = peer
        .answer(
            "session/set_mode",
            json!({ "sessionId": "old", "modeId": "plan" }),
        )
        .await;
    assert!(set["result"].is_object(), "{set}");
    let model = json!({ "sessionId": "old", "configId": "model", "value": "large" });
    let (set, _) = peer.answer("session/set_config_option", model).await;
    assert_eq!(set["result"]["configOptions"][0]["currentValue"], "large");
    assert_eq!(set["result"]["configOptions"][0]["category"], "model");
    let (closed, _) = peer
        .answer("session/close", json!({ "sessionId": "old" }))
        .await;
    assert!(closed["result"].is_object(), "{closed}");
    let (after, _) = peer.turn("old", "say x").await;
    assert_eq!(after["error"]["code"], -32002);
    let unknown = json!({ "sessionId": "unknown", "cwd": "/project", "mcpServers": [] });
    let (refused, _) = peer.answer("session/load", unknown).await;
    assert_eq!(refused["error"]["message"], "there is no session unknown");
}

#[tokio::test]
async fn invalid_requests_get_error_responses() {
    let mut peer = Peer::new();
    let session = peer.session(able()).await;
    for (method, params) in [
        ("session/new", json!({ "cwd": 7 })),
        ("session/prompt", json!({ "sessionId": session })),
        ("session/fly", json!({})),
        ("authenticate", json!({ "methodId": "unknown" })),
        ("session/prompt", json!([])),
    ] {
        let (answer, _) = peer.answer(method, params).await;
        assert!(answer["error"]["code"].is_i64(), "{method}: {answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .is_some_and(|it| !it.is_empty())
        );
    }
    let (failed, _) = peer.turn(&session, "fail the disk is full").await;
    assert_eq!(failed["error"]["message"], "the disk is full");
    // It still responds to requests.
    let (_, messages) = peer.turn(&session, "say here").await;
    assert_eq!(agent_text(&messages), "here");
}

#[tokio::test]
async fn random_bytes_are_survived() {
    let mut random = StdRng::seed_from_u64(3);
    let good = br#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s0","prompt":[]}}"#;
    for round in 0..40 {
        let mut peer = Peer::new();
        for _ in 0..random.random_range(1..30) {
            let mut line = good.to_vec();
            for _ in 0..random.random_range(0..5) {
                let at = random.random_range(0..line.len());
                match random.random_range(0..3) {
                    0 => line.truncate(at.max(1)),
                    1 => line[at] = random.random(),
                    _ => line.insert(at, random.random()),
                }
            }
            line.push(b'\n');
            peer.write(&line).await;
        }
        let served = peer.disconnect().await;
        assert_eq!(served, Ok(()), "round {round}");
    }
}
