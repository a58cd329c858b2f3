//! Builds the next model request and its routing options.

use model::policy::route::SwitchBoundary;
use model::policy::{Caller, RequestClass, StepDescription, StepPurpose, TurnId};
use model::{ModelId, ModelRequest, ParallelTools, Sampling, ToolChoice};
use router::actor::{RequestPayload, RouterRequest, RoutingOptions};

use super::session::SessionTask;
use crate::handover;
use crate::record::SessionMode;

/// Progress of the turn, for the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TurnProgress {
    pub(super) boundary: SwitchBoundary,
    /// Number of loops detected in the turn.
    pub(super) stalls: u32,
}

impl SessionTask {
    /// Builds the next model request. The same records give the same bytes.
    pub(super) fn request(&self) -> ModelRequest {
        let profile = self.profile();
        let model = model_id(&self.model);
        let mut messages = self.transcript.messages();
        if !is_open(&self.model) {
            messages = handover::for_model(messages, &model);
        }
        ModelRequest {
            model,
            system: self.transcript.system(),
            messages,
            tools: self
                .offered
                .specs
                .iter()
                .map(|(_, spec)| spec.clone())
                .collect(),
            tool_choice: ToolChoice::Auto,
            parallel_tools: profile.parallel != ParallelTools::Never,
            max_output: profile.max_output,
            effort: self.start.effort,
            sampling: Sampling::default(),
            response_schema: None,
            stop: Vec::new(),
            prediction: None,
            conversation: Some(self.id.as_ref().to_owned()),
            omit: self.omitted.members.iter().cloned().collect(),
        }
    }

    /// Builds the router request around it: caller, budget and routing options. `prompt` is the
    /// user's text, from which `auto` estimates the difficulty.
    pub(super) fn router_request(
        &self,
        request: ModelRequest,
        prompt: &str,
        standing: TurnProgress,
    ) -> RouterRequest {
        let terms = match self.model.as_str() {
            "auto" => {
                let fill = self.context_fill().percent().unwrap_or(0).min(100);
                let task = StepDescription {
                    prompt,
                    purpose: match self.mode {
                        SessionMode::Plan => StepPurpose::Plan,
                        SessionMode::Build | SessionMode::Ask => StepPurpose::Work,
                    },
                    files_touched: 0,
                    diff_lines: 0,
                    plan_depth: 0,
                    context_fill: u8::try_from(fill).unwrap_or(100),
                    stalls: standing.stalls,
                };
                RoutingOptions::auto(&task, standing.boundary)
            }
            _ => RoutingOptions {
                boundary: standing.boundary,
                ..RoutingOptions::named()
            },
        };
        RouterRequest {
            payload: RequestPayload::Chat(Box::new(request)),
            caller: self.caller(),
            options: RoutingOptions {
                edits: self.mode == SessionMode::Build,
                ..terms
            },
        }
    }

    /// Builds a router request outside the conversation, for a summary. The turn waits for it, so
    /// it has the same urgency.
    pub(super) fn side_request(&self, request: ModelRequest) -> RouterRequest {
        let terms = match request.model.provider.as_str() {
            "auto" => RoutingOptions::auto(&SUMMARY_TASK, SwitchBoundary::NewAgent),
            _ => RoutingOptions::named(),
        };
        RouterRequest {
            payload: RequestPayload::Chat(Box::new(request)),
            caller: self.caller(),
            options: terms,
        }
    }

    fn caller(&self) -> Caller {
        Caller {
            class: match &self.start.parent {
                Some(_) => RequestClass::Subagent,
                None => RequestClass::Turn,
            },
            agent: self.agent,
            turn: TurnId(self.turn),
        }
    }
}

const SUMMARY_TASK: StepDescription<'static> = StepDescription {
    prompt: "",
    purpose: StepPurpose::Summary,
    files_touched: 0,
    diff_lines: 0,
    plan_depth: 0,
    context_fill: 0,
    stalls: 0,
};

/// Parses a model name. `auto` and `demo`, which have no `/`, become provider and model at once.
pub(super) fn model_id(name: &str) -> ModelId {
    ModelId::parse(name).unwrap_or_else(|| ModelId {
        provider: name.to_owned(),
        model: name.to_owned(),
    })
}

/// Returns whether the router chooses the model, so that it is not known yet.
fn is_open(model: &str) -> bool {
    model == "auto"
}
