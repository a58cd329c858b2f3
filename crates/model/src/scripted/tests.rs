//! Tests that scripts play in order, end once, and detect dropped streams.

use futures::FutureExt;
use futures::executor::block_on;

use super::*;
use crate::{Message, ModelId, Role};

fn request() -> ModelRequest {
    let model = ModelId::parse("p/m").expect("a model");
    ModelRequest::new(model, vec![Message::text(Role::User, "hi")], TokenCount(10))
}

fn played(client: &ScriptedClient) -> Vec<StreamEvent> {
    block_on(client.send(request()).collect())
}

#[test]
fn scripts_play_in_order_and_requests_are_recorded() {
    let client = ScriptedClient::new([
        ResponseScript::text("one"),
        ResponseScript::calls(&[("a", "read", "{}")]),
    ]);
    assert!(played(&client).contains(&StreamEvent::TextDelta("one".to_owned())));
    assert_eq!(client.remaining_scripts(), 1);
    let calls = played(&client);
    assert!(matches!(&calls[1], StreamEvent::ToolStart { id, .. } if id == "a"));
    let last = played(&client).pop().expect("an event");
    assert!(matches!(last, StreamEvent::Failed(failure) if failure.message.contains("script")));
    assert_eq!(client.requests(), vec![request(); 3]);
    assert_eq!((client.open(), client.cancelled()), (0, 0));
}

#[test]
fn a_stream_ends_with_one_last_event() {
    let client = ScriptedClient::new([
        ResponseScript::text("a").then_events([StreamEvent::TextDelta("late".to_owned())]),
        ResponseScript::events([StreamEvent::TextDelta("b".to_owned())]),
    ]);
    for _ in 0..2 {
        let events = played(&client);
        assert_eq!(events.iter().filter(|event| event.is_last()).count(), 1);
        assert!(events.last().is_some_and(StreamEvent::is_last));
    }
}

#[test]
fn a_dropped_stream_is_counted() {
    let client = ScriptedClient::new([ResponseScript::events([]).then_silence()]);
    let mut stream = client.send(request());
    assert_eq!(stream.next().now_or_never(), None);
    assert_eq!(client.open(), 1);
    drop(stream);
    assert_eq!((client.open(), client.cancelled()), (0, 1));
}
