//! Every way in which starting an agent can end badly, for the walk through the errors of all tools.

use super::*;

/// What calls are answered whose arguments make no sense.
pub(crate) fn refusals() -> Vec<Answer> {
    let inputs = [
        Input::Text("look around".to_owned()),
        Input::Json(json!("look around")),
        Input::Json(json!({})),
        Input::Json(json!({ "task": " " })),
        Input::Json(json!({ "task": 3 })),
        Input::Json(json!({ "task": "look", "budget": 0 })),
    ];
    let refusals = inputs.map(|input| {
        let call = Call {
            id: "c1".to_owned(),
            tool: SPAWN_AGENT.to_owned(),
            input,
            waits: false,
        };
        let refused = Wanted::read(&call).err();
        refused.unwrap_or_else(|| panic!("{:?} makes sense", call.input))
    });
    refusals.into()
}

/// What a call is answered for every way in which its agent can end.
pub(crate) fn ends() -> Vec<Answer> {
    let ends = std::iter::successors(Some(TurnEnd::Done), after);
    let came = ends.flat_map(|end| {
        ["", "I found it."].map(|text| Came {
            text: text.to_owned(),
            end: end.clone(),
        })
    });
    came.map(answer).collect()
}

/// All ends, one after the other: one that is new has to be put into the row.
fn after(end: &TurnEnd) -> Option<TurnEnd> {
    let what = || "a reason".to_owned();
    Some(match end {
        TurnEnd::Done => TurnEnd::Stopped,
        TurnEnd::Stopped => TurnEnd::Refused,
        TurnEnd::Refused => TurnEnd::Looped { what: what() },
        TurnEnd::Looped { .. } => TurnEnd::OutOfBudget { what: what() },
        TurnEnd::OutOfBudget { .. } => TurnEnd::Failed {
            class: "offline".to_owned(),
            what: what(),
        },
        TurnEnd::Failed { .. } => TurnEnd::Interrupted,
        TurnEnd::Interrupted => return None,
    })
}
