//! Which tool call a fragment belongs to. Servers differ in what they count and what they repeat.

use serde_json::{Value, json};

use super::super::answer::Answer;
use super::super::calls::Form;
use super::super::json::{number, text};

/// The calls of one answer as the server tells them apart.
#[derive(Default)]
pub(super) struct Slots(Vec<Slot>);

#[derive(Default)]
struct Slot {
    /// The server's own number, where it gives one.
    number: Option<u64>,
    id: String,
    /// Our number, once the tool's name is known.
    call: Option<u32>,
    /// What came of the arguments.
    arguments: String,
}

impl Slots {
    /// Takes one element of `tool_calls`.
    pub(super) fn take(&mut self, fragment: &Value, answer: &mut Answer) {
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
                self.0.push(Slot {
                    number: number(fragment, "/index"),
                    ..Slot::default()
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
                let call = answer.start_call(&slot.id, name, Form::Json);
                slot.call = Some(call);
                answer.arguments(call, &slot.arguments);
            }
        }
        if let (Some(call), Some(extra)) = (slot.call, fragment.get("extra_content")) {
            answer.sign_call(call, &json!({ "extra_content": extra }));
        }
    }

    /// Whether a call never got a name.
    pub(super) fn has_nameless(&self) -> bool {
        self.0.iter().any(|slot| slot.call.is_none())
    }

    /// The slot that a fragment goes on with; `None` if it begins a call.
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
        // A server that numbers every call 0, or gives all of them one id, sends each of them whole.
        let is_whole = serde_json::from_str::<Value>(&slot.arguments).is_ok();
        let is_next = slot.call.is_some() && is_whole && !arguments.is_empty();
        (!is_other && !is_next).then_some(found)
    }
}
