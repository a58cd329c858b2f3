//! `burin-agent acp` from another editor's view: a process that exchanges lines over standard input
//! and output.
//!
//! The cases are those of the protocol's compatibility kit for version 1: handshake, session
//! lifecycle, turns, cancellation, modes and options, sign-in, requests that a client without
//! capabilities never gets, extensions, and framing.

mod editor;

use serde_json::{Value, json};

use editor::{Editor, FIX, only, prompt, updates, words};

/// A minimal image.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

fn has(updates: &[Value], kind: &str) -> bool {
    updates.iter().any(|it| it["sessionUpdate"] == kind)
}

/// Returns the code of an error response, after checking that its message is one line.
fn code(answer: &Value) -> i64 {
    let error = &answer["error"];
    let text = error["message"].as_str().unwrap_or_default();
    assert!(!text.is_empty() && !text.contains('\n'), "{answer}");
    error["code"].as_i64().expect("a code")
}

#[test]
fn the_handshake_settles_on_a_version() {
    let (editor, hello) = Editor::greeted();
    assert_eq!(hello["protocolVersion"], 1);
    assert!(hello["agentCapabilities"].is_object(), "{hello}");
    for said in ["name", "version"] {
        assert!(hello["agentInfo"][said].is_string(), "{hello}");
    }
    assert_eq!(hello["authMethods"], json!([]), "nobody signs in here");
    assert_eq!(editor.hang_up(), Vec::<Value>::new());
    // An unknown version gets a known one as the response, whatever the client's other fields say.
    let mut editor = Editor::start();
    let strange = json!({ "protocolVersion": 65535, "clientCapabilities": {}, "info": { "name": "later", "version": "9" } });
    let hello = editor.ask("initialize", strange);
    assert_eq!(hello["result"]["protocolVersion"], 1, "{hello}");
}

#[test]
fn sessions_are_made_and_listed() {
    let (mut editor, _) = Editor::greeted();
    let project = editor.project("project");
    let session = editor.session(&project);
    let other = editor.session(&project);
    assert_ne!(session["sessionId"], other["sessionId"]);
    let nowhere = editor.ask("session/new", json!({ "mcpServers": [] }));
    assert_eq!(code(&nowhere), -32602);
    // The client chooses the ids of its requests.
    let wanted = json!({ "cwd": project, "mcpServers": [] });
    let id = editor.send_as(json!("of letters"), "session/new", wanted);
    let third = editor.answer_to(&id);
    assert!(third["result"]["sessionId"].is_string(), "{third}");
    let end = editor.turn(&session, json!([words(FIX)]));
    assert_eq!(end, "end_turn");
    let listed = editor.ask("session/list", json!({}));
    let all = listed["result"]["sessions"].as_array().expect("a list");
    let known = all
        .iter()
        .find(|it| it["sessionId"] == session["sessionId"]);
    let folder = known.expect("the session")["cwd"].clone();
    let listed = editor.ask("session/list", json!({ "cwd": folder }));
    assert_eq!(
        listed["result"]["sessions"][0]["sessionId"],
        session["sessionId"]
    );
    let empty = editor.project("empty");
    let listed = editor.ask("session/list", json!({ "cwd": empty }));
    assert_eq!(listed["result"]["sessions"], json!([]));
}

#[test]
fn load_replays_the_session_and_resume_does_not() {
    let (mut editor, session) = Editor::at_work();
    editor.turn(&session, json!([words(FIX)]));
    let folder = json!(editor.project("project"));
    let (_, told) = editor.reopen("session/resume", &session, &folder);
    for kind in ["user", "agent", "thought"].map(|who| format!("{who}_message_chunk")) {
        assert!(!has(&told, &kind), "{kind} in {told:#?}");
    }
    let (_, told) = editor.reopen("session/load", &session, &folder);
    for kind in ["user_message_chunk", "agent_message_chunk", "tool_call"] {
        assert!(has(&told, kind), "{kind} in {told:#?}");
    }
    let unknown =
        json!({ "sessionId": "nobody", "cwd": editor.project("project"), "mcpServers": [] });
    assert_eq!(code(&editor.ask("session/load", unknown)), -32002);
    // No update of the past arrives after the response.
    let rest = editor.hang_up();
    assert_eq!(updates(&rest, &session), Vec::<Value>::new());
}

#[test]
fn a_session_is_opened_again_before_anything_was_said() {
    for method in ["session/load", "session/resume"] {
        let (mut editor, session) = Editor::at_work();
        let folder = json!(editor.project("project"));
        let plan = json!({ "sessionId": session["sessionId"], "modeId": "plan" });
        editor.ask("session/set_mode", plan);
        let (opened, _) = editor.reopen(method, &session, &folder);
        assert_eq!(opened["modes"]["currentModeId"], "plan", "{method}");
        assert_eq!(editor.turn(&session, json!([words("hello")])), "end_turn");
    }
}

#[test]
fn client_without_capabilities_gets_only_permission_requests() {
    let (mut editor, session) = Editor::at_work();
    let end = editor.turn(&session, json!([words(FIX)]));
    assert_eq!(end, "end_turn");
    let asked: Vec<&str> = editor
        .heard
        .iter()
        .filter(|message| message.get("id").is_some())
        .filter_map(|message| message["method"].as_str())
        .collect();
    assert!(!asked.is_empty(), "running the tests needs leave");
    assert!(
        asked.iter().all(|it| *it == "session/request_permission"),
        "{asked:?}"
    );
    let all = editor
        .heard
        .iter()
        .filter(|message| message["method"] == "session/update");
    let told = updates(&editor.heard, &session);
    assert_eq!(told.len(), all.count(), "there is one session");
    assert!(told.iter().all(|it| it["sessionUpdate"].is_string()));
    assert!(has(&told, "tool_call") && has(&told, "agent_message_chunk"));
}

#[test]
fn a_prompt_holds_what_was_offered_to_be_understood() {
    let (mut editor, session) = Editor::at_work();
    let link = json!({ "type": "resource_link", "uri": "file:///nowhere/a.txt", "name": "a.txt" });
    let inside = json!({ "uri": "file:///nowhere/a.txt", "mimeType": "text/plain", "text": "it" });
    let embedded = json!({ "type": "resource", "resource": inside });
    let picture = json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" });
    for part in [link, embedded, picture] {
        let end = editor.turn(&session, json!([words("Look at this"), part]));
        assert_eq!(end, "end_turn", "{part}");
    }
    let mut marked = prompt(
        &session,
        json!([words("h\u{e9}llo \u{4e2d}\u{6587} \u{1f600}")]),
    );
    let trace = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
    marked["_meta"] = json!({ "traceparent": trace, "story": { "deep": [1, 2] } });
    let end = editor.ask("session/prompt", marked);
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
}

#[test]
fn a_turn_that_is_stopped_says_so() {
    let (mut editor, session) = Editor::at_work();
    let (turn, asked) = editor.stuck(&session);
    editor.notify("session/cancel", only(&session));
    editor.take_back(&asked);
    let end = editor.answer_to(&turn);
    assert_eq!(end["result"]["stopReason"], "cancelled", "{end}");
    // A cancellation without a turn does nothing, and the session continues.
    let before = editor.heard.len();
    editor.notify("session/cancel", only(&session));
    editor.ask("session/list", json!({}));
    let late = updates(&editor.heard[before..], &session);
    assert_eq!(late, Vec::<Value>::new());
    editor.leave = Some("allow_once");
    assert_eq!(editor.turn(&session, json!([words(FIX)])), "end_turn");
}

#[test]
fn a_client_that_refuses_is_obeyed() {
    let (mut editor, session) = Editor::at_work();
    editor.leave = Some("reject_once");
    editor.turn(&session, json!([words(FIX)]));
    let told = updates(&editor.heard, &session);
    let failed = told.iter().any(|it| it["status"] == "failed");
    assert!(failed, "{told:#?}");
}

#[test]
fn a_session_that_is_closed_stops_its_turn() {
    let (mut editor, session) = Editor::at_work();
    let (turn, asked) = editor.stuck(&session);
    let closing = editor.send("session/close", only(&session));
    editor.take_back(&asked);
    // Their order is not specified.
    let (mut end, mut closed) = (Value::Null, Value::Null);
    while end.is_null() || closed.is_null() {
        let message = editor.hear();
        if message["id"] == turn {
            end = message;
        } else if message["id"] == closing {
            closed = message;
        }
    }
    assert_eq!(end["result"]["stopReason"], "cancelled", "{end}");
    assert!(closed["result"].is_object(), "{closed}");
    let more = editor.ask("session/prompt", prompt(&session, json!([words("more")])));
    assert_eq!(code(&more), -32002);
    let rest = editor.hang_up();
    assert_eq!(updates(&rest, &session), Vec::<Value>::new());
}

#[test]
fn modes_are_set_and_unknown_ones_refused() {
    let (mut editor, session) = Editor::at_work();
    let id = &session["sessionId"];
    let modes = session["modes"]["availableModes"].as_array();
    let modes = modes.expect("modes").clone();
    let now = &session["modes"]["currentModeId"];
    assert!(modes.iter().any(|mode| mode["id"] == *now), "{session}");
    for mode in modes {
        let params = json!({ "sessionId": id, "modeId": mode["id"] });
        let before = editor.heard.len();
        let set = editor.ask("session/set_mode", params);
        assert!(set["result"].is_object(), "{set}");
        let told = updates(&editor.heard[before..], &session);
        let told = told
            .iter()
            .filter(|it| it["sessionUpdate"] == "current_mode_update");
        for update in told {
            assert_eq!(update["currentModeId"], mode["id"]);
        }
    }
    let params = json!({ "sessionId": id, "modeId": "dance" });
    assert_eq!(code(&editor.ask("session/set_mode", params)), -32602);
}

#[test]
fn options_are_set_and_all_of_them_answered() {
    let (mut editor, session) = Editor::at_work();
    let id = &session["sessionId"];
    let options = session["configOptions"]
        .as_array()
        .expect("options")
        .clone();
    assert!(!options.is_empty());
    let names = |options: &[Value]| -> Vec<Value> {
        options.iter().map(|option| option["id"].clone()).collect()
    };
    for option in &options {
        // A client that does not announce support for boolean options is offered none.
        assert_eq!(option["type"], "select", "{option}");
        let values = option["options"].as_array().expect("values");
        let values: Vec<&Value> = values.iter().map(|it| &it["value"]).collect();
        assert!(values.contains(&&option["currentValue"]), "{option}");
        let other = values.iter().find(|it| **it != &option["currentValue"]);
        // The model stays: the session works on the sample project of the demo model.
        let value = if option["category"] == "model" {
            &option["currentValue"]
        } else {
            other.expect("another value")
        };
        let params = json!({ "sessionId": id, "configId": option["id"], "value": value });
        let set = editor.ask("session/set_config_option", params);
        let all = set["result"]["configOptions"].as_array();
        let all = all.unwrap_or_else(|| panic!("{set}"));
        assert_eq!(names(all), names(&options));
        let changed = all.iter().find(|it| it["id"] == option["id"]);
        assert_eq!(&changed.expect("it")["currentValue"], value);
    }
    let params = json!({ "sessionId": id, "configId": "dance", "value": "waltz" });
    let set = editor.ask("session/set_config_option", params);
    assert_eq!(code(&set), -32602);
}

#[test]
fn what_is_not_known_is_refused_and_the_line_holds() {
    let (mut editor, hello) = Editor::greeted();
    let can = &hello["agentCapabilities"]["sessionCapabilities"];
    assert_eq!(
        can["delete"],
        Value::Null,
        "what is not done is not offered"
    );
    for method in ["_story/hello", "session/dance", "session/delete", "logout"] {
        assert_eq!(code(&editor.ask(method, json!({}))), -32601, "{method}");
    }
    code(&editor.ask("authenticate", json!({ "methodId": "nobody" })));
    let wrong = editor.ask("session/new", json!({ "cwd": 7 }));
    assert_eq!(code(&wrong), -32602);
    editor.notify("_story/told", json!({ "any": "thing" }));
    // Invalid lines get an error or are ignored; the next message is handled.
    for strange in [
        "{ this is not JSON",
        "[]",
        r#"{"any":"thing"}"#,
        r#"{"jsonrpc":"2.0","method":7}"#,
    ] {
        editor.write(strange);
    }
    let project = editor.project("project");
    let params = json!({ "cwd": project, "mcpServers": [], "_meta": { "story": { "deep": 1 } } });
    let made = editor.ask("session/new", params);
    assert!(made["result"]["sessionId"].is_string(), "{made}");
    let nobody = json!({ "sessionId": "nobody" });
    let lost = editor.ask("session/prompt", prompt(&nobody, json!([words("x")])));
    assert_eq!(code(&lost), -32002);
    editor.hang_up();
}
