//! Assigns fragments to tool calls. Servers differ in their numbering and in which fields they
//! repeat.

use serde_json::{Value, json};

use super::super::calls::ArgumentForm;
use super::super::json::{number, text};
use super::super::response::ResponseBuilder;

/// The calls of one answer, as distinguished by the server.
#[derive(Default)]
pub(super) struct StreamedCalls(Vec<StreamedCall>);

#[derive(Default)]
struct StreamedCall {
    /// The server's number of the call, if any.
    number: Option<u64>,
    id: String,
    /// Our number, once the tool's name is known.
    call: Option<u32>,
    /// The arguments received so far.
    arguments: String,
}

impl StreamedCalls {
    /// Processes one element of `tool_calls`.
    pub(super) fn take(&mut self, fragment: &Value, answer: &mut ResponseBuilder) {
        let id = text(fragment, "/id");
        let name = text(fragment, "/function/name");
        let arguments = match fragment.pointer("/function/arguments") {
            Some(Value::String(arguments)) => arguments.clone(),
            // Some servers send the object itself.
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => String::new(),
        };
        let at = match self.find(number(fragment, "/index"), id, name, &arguments) {
            Some(at) => at,
            None => {
                self.0.push(StreamedCall {
                    number: number(fragment, "/index"),
                    ..StreamedCall::default()
                });
                self.0.len() - 1
            }
        };
        let slot = &mut self.0[at];
        if slot.id.is_empty() {
            id.clone_into(&mut slot.id);
        }
        slot.arguments.push_str(&arguments);
        match slot.call {
            Some(call) => answer.arguments(call, &arguments),
            None if name.is_empty() => {}
            None => {
                let call = answer.start_call(&slot.id, name, ArgumentForm::Json);
                slot.call = Some(call);
                answer.arguments(call, &slot.arguments);
            }
        }
        if let (Some(call), Some(extra)) = (slot.call, fragment.get("extra_content")) {
            answer.sign_call(call, &json!({ "extra_content": extra }));
        }
    }

    /// Returns whether some call has no name.
    pub(super) fn has_nameless(&self) -> bool {
        self.0.iter().any(|slot| slot.call.is_none())
    }

    /// Returns the call that a fragment continues; `None` if it starts a new one.
    fn find(&self, number: Option<u64>, id: &str, name: &str, arguments: &str) -> Option<usize> {
        let found = match number {
            Some(_) => self.0.iter().rposition(|slot| slot.number == number),
            None if !id.is_empty() => self.0.iter().rposition(|slot| slot.id == id),
            None if !name.is_empty() => None,
            None => self.0.len().checked_sub(1),
        }?;
        let slot = &self.0[found];
        if name.is_empty() {
            return Some(found);
        }
        let is_other = !id.is_empty() && !slot.id.is_empty() && slot.id != id;
        // Servers that give all calls the number 0 or the same id send each call as a whole.
        let is_whole = serde_json::from_str::<Value>(&slot.arguments).is_ok();
        let is_next = slot.call.is_some() && is_whole && !arguments.is_empty();
        (!is_other && !is_next).then_some(found)
    }
}
