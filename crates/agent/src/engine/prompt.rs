//! The request for the next answer, and on which terms it is asked.

use model::policy::route::Boundary;
use model::policy::{Caller, Class, Purpose, Task, TurnId};
use model::{ModelId, ParallelTools, Request, Sampling, ToolChoice};
use router::actor::{Ask, Question, Terms};

use super::session::Session;
use crate::handover;
use crate::record::Mode;

/// Where the turn stands, as the router wants to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) boundary: Boundary,
    /// How often the turn went in circles.
    pub(super) stalls: u32,
}

impl Session {
    /// The request for the next answer. The same records give the same bytes.
    pub(super) fn request(&self) -> Request {
        let profile = self.profile();
        let model = model_id(&self.model);
        let mut messages = self.transcript.messages();
        if !is_open(&self.model) {
            messages = handover::for_model(messages, &model);
        }
        Request {
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
            conversation: Some(self.id.as_ref().to_owned()),
            omit: self.omitted.members.iter().cloned().collect(),
        }
    }

    /// The question for the router.
    pub(super) fn question(&self, request: Request, prompt: &str, standing: Standing) -> Ask {
        let terms = match self.model.as_str() {
            "auto" => {
                let fill = self.fill_percent();
                let task = Task {
                    prompt,
                    purpose: match self.mode {
                        Mode::Plan => Purpose::Plan,
                        Mode::Build | Mode::Ask => Purpose::Work,
                    },
                    files_touched: 0,
                    diff_lines: 0,
                    plan_depth: 0,
                    context_fill: fill,
                    stalls: standing.stalls,
                };
                Terms::auto(&task, standing.boundary)
            }
            _ => Terms {
                boundary: standing.boundary,
                ..Terms::named()
            },
        };
        Ask {
            what: Question::Chat(Box::new(request)),
            caller: self.caller(),
            terms: Terms {
                edits: self.mode == Mode::Build,
                ..terms
            },
        }
    }

    /// A question beside the conversation: a summary. The turn waits for it, so it is as urgent.
    pub(super) fn side_question(&self, request: Request) -> Ask {
        let terms = match request.model.provider.as_str() {
            "auto" => Terms::auto(&SUMMARY_TASK, Boundary::NewAgent),
            _ => Terms::named(),
        };
        Ask {
            what: Question::Chat(Box::new(request)),
            caller: self.caller(),
            terms,
        }
    }

    /// How full the model's context is, in percent.
    pub(super) fn fill_percent(&self) -> u8 {
        let used = self.estimator.estimate(self.fingerprint.bytes()).0;
        let percent = used.saturating_mul(100) / self.context_size().0.max(1);
        u8::try_from(percent.min(100)).unwrap_or(100)
    }

    fn caller(&self) -> Caller {
        Caller {
            class: match &self.start.parent {
                Some(_) => Class::Subagent,
                None => Class::Turn,
            },
            agent: self.agent,
            turn: TurnId(self.turn),
        }
    }
}

const SUMMARY_TASK: Task<'static> = Task {
    prompt: "",
    purpose: Purpose::Summary,
    files_touched: 0,
    diff_lines: 0,
    plan_depth: 0,
    context_fill: 0,
    stalls: 0,
};

/// A model as people write it. `auto` and `demo` stand for themselves.
pub(super) fn model_id(name: &str) -> ModelId {
    ModelId::parse(name).unwrap_or_else(|| ModelId {
        provider: name.to_owned(),
        model: name.to_owned(),
    })
}

/// Whether the router chooses, so that nobody knows yet who will read the request.
fn is_open(model: &str) -> bool {
    model == "auto"
}
