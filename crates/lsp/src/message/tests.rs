//! Envelopes: kinds of messages, identifiers, malformed bodies.

use serde_json::{Value, json};

use super::{MalformedMessage, Message, RawId, ResponseError, notification, request, response};

fn parse(json: &str) -> Result<Message, MalformedMessage> {
    Message::parse(json.as_bytes().to_vec())
}

fn request_id(json: &str) -> RawId {
    match parse(json) {
        Ok(Message::Request { id, .. }) => id,
        other => panic!("{json} is {other:?}"),
    }
}

#[test]
fn identifiers_of_a_server_are_echoed_verbatim() {
    for id in ["1", "-7", "\"a\\u0062\"", "12345678901234567890", "1.5"] {
        let id_text = request_id(&format!(r#"{{"id":{id},"method":"m"}}"#));
        let answer = response(&id_text, &Ok(json!([1])));
        assert_eq!(
            answer,
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[1]}}"#)
        );
    }
}

#[test]
fn answers_match_by_number_even_as_a_string() {
    for (json, expected) in [
        (r#"{"id":3,"result":{"a":[1, 2]},"x":0}"#, r#"{"a":[1, 2]}"#),
        (r#"{"id":"3","result":null}"#, "null"),
        (r#"{"id":3}"#, "null"),
    ] {
        match parse(json) {
            Ok(Message::Response {
                id: 3,
                result: Ok(payload),
            }) => {
                assert_eq!(payload.json(), expected);
            }
            other => panic!("{json} is {other:?}"),
        }
    }
}

#[test]
fn errors_keep_code_message_and_data() {
    let json =
        r#"{"id":3,"error":{"code":-32802,"message":"busy","data":{"retriggerRequest":true}}}"#;
    match parse(json) {
        Ok(Message::Response {
            id: 3,
            result: Err(error),
        }) => {
            assert_eq!((error.code, error.message.as_str()), (-32802, "busy"));
            assert_eq!(error.data.json(), r#"{"retriggerRequest":true}"#);
        }
        other => panic!("{other:?}"),
    }
    // Details in a wrong form do not hide that it failed.
    match parse(r#"{"id":3,"error":{"code":"x","message":7}}"#) {
        Ok(Message::Response {
            result: Err(error), ..
        }) => assert_eq!(error.message, "7"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn malformed_bodies_are_refused() {
    for json in [
        "",
        "null",
        "[1]",
        "{",
        "{}",
        r#"{"id":null,"result":1}"#,
        r#"{"id":[1],"method":"m"}"#,
        r#"{"method":1}"#,
        r#"{"id":1,"id":2,"method":"m"}"#,
        r#"{"id":"x","result":1}"#,
    ] {
        assert_eq!(parse(json).map(|_| ()), Err(MalformedMessage), "{json:.40}");
    }
}

#[test]
fn invalid_text_within_a_message_is_tolerated() {
    let mut body = br#"{"method":"m","params":{"text":"a"#.to_vec();
    body.push(0xff);
    body.extend(br#"\ud800"}}"#);
    match Message::parse(body) {
        Ok(Message::Notification { method, params }) => {
            assert_eq!(method, "m");
            assert!(params.json().contains('\u{fffd}'));
            // A lone surrogate is found only by the part that reads the text.
            assert!(params.parse::<Value>().is_err());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn deeply_nested_parameters_are_refused_by_their_reader() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    match parse(&format!(r#"{{"method":"m","params":{deep}}}"#)) {
        Ok(Message::Notification { params, .. }) => {
            assert_eq!(params.json(), deep);
            assert!(params.parse::<Value>().is_err());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_omit_absent_parameters() {
    let text = request(1, "shutdown", &()).expect("JSON");
    assert_eq!(text, r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#);
    let text = notification("a/b", &json!({ "x": 1 })).expect("JSON");
    assert_eq!(text, r#"{"jsonrpc":"2.0","method":"a/b","params":{"x":1}}"#);
    let error = ResponseError::new(-1, "a \"b\"");
    let answer = response(&request_id(r#"{"id":1,"method":"m"}"#), &Err(error));
    let value: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(value["error"], json!({ "code": -1, "message": "a \"b\"" }));
}
