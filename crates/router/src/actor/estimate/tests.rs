//! Tests of the output that a request reserves.

use model::{Message, ModelId, ModelRequest, Role, TokenCount};
use serde_json::json;

use super::RequestSize;
use crate::actor::RequestPayload;

fn check(prediction: &str, schema: Option<serde_json::Value>, expected: u64) {
    let model = ModelId::parse("openai/gpt-4.1").expect("a model");
    let messages = vec![Message::text(Role::User, "rewrite it")];
    let mut request = ModelRequest::new(model, messages, TokenCount(1_000));
    request.prediction = Some(prediction.to_owned());
    request.response_schema = schema;
    let size = RequestSize::of(&RequestPayload::Chat(Box::new(request)));
    assert_eq!(size.demand.output, TokenCount(expected), "{prediction:?}");
}

#[test]
fn a_prediction_that_may_be_rejected_is_reserved_as_output() {
    check("", None, 1_000);
    check(&"x".repeat(300), None, 1_100);
    // It is not sent next to a schema.
    check(&"x".repeat(300), Some(json!({ "type": "object" })), 1_000);
}
