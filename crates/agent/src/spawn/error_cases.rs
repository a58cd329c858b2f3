//! All failures of starting an agent, for the test of every tool's error cases.

use super::*;

/// Returns the results of calls with invalid arguments.
pub(crate) fn refusals() -> Vec<ToolResult> {
    let inputs = [
        CallInput::Text("look around".to_owned()),
        CallInput::Json(json!("look around")),
        CallInput::Json(json!({})),
        CallInput::Json(json!({ "task": " " })),
        CallInput::Json(json!({ "task": 3 })),
        CallInput::Json(json!({ "task": "look", "budget": 0 })),
    ];
    let refusals = inputs.map(|input| {
        let call = ToolCall {
            id: "c1".to_owned(),
            tool: SPAWN_AGENT.to_owned(),
            input,
            waits: false,
        };
        let refused = SubagentRequest::read(&call).err();
        refused.unwrap_or_else(|| panic!("{:?} makes sense", call.input))
    });
    refusals.into()
}

/// Returns the results for every way an agent can end.
pub(crate) fn ends() -> Vec<ToolResult> {
    let ends = std::iter::successors(Some(TurnEnd::Done), after);
    let results = ends.flat_map(|end| {
        ["", "I found it."].map(|text| SubagentResult {
            text: text.to_owned(),
            end: end.clone(),
        })
    });
    results.map(answer).collect()
}

/// Enumerates all `TurnEnd` variants; the match forces a new variant into the sequence.
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
