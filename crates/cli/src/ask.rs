//! Asks a model a question: the answer streams to standard output, everything else goes to standard
//! error.

mod usage_store;

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use base::AbsPath;
use clap::Args;
use futures::StreamExt;
use host::{Clock, Dirs, Files, RealClock};
use ledger::{Ledger, LedgerWriter};
use model::policy::route::{RouteDecision, SwitchBoundary};
use model::policy::{
    AgentId, Caller, Cap, Caps, RequestClass, Retry, StepDescription, StepPurpose, TurnId,
};
use model::{
    Cost, Failure, FailureClass, Message, ModelId, ModelRequest, Role, StreamEvent, TokenCount,
};
use router::actor::{
    Router, RouterConfig, RouterEvent, RouterHandle, RouterRequest as Question, RoutingOptions,
    WallClock,
};
use settings::ModelSettings;

use crate::models::setup::{self, AUTO, DEMO, KeyState, Setup};
use crate::{Streams, print_notice, write_error};
pub(crate) use usage_store::LedgerUsageStore;

/// Ask a model a question
///
/// Exit codes: 0 the answer is complete; 1 it is not, for a reason on this machine; 2 wrong arguments; 3 a budget
/// forbids it; 97 the model could not be reached or failed.
#[derive(Args)]
pub(crate) struct AskCommand {
    /// `auto`, `demo`, or a model written provider/model; the settings' models.default without it
    #[arg(long)]
    model: Option<String>,
    /// Print which model was chosen and why, with the cost
    #[arg(long)]
    why: bool,
    /// Maximum tokens of the answer
    #[arg(long, default_value_t = 8192)]
    max_output: u64,
    /// The question; read from the input where it is left out or `-`
    question: Vec<String>,
}

/// Models that a decision is explained with.
const SHOWN: usize = 6;

/// The outcome of an answer: the route, a failure, and the state of the output.
#[derive(Default)]
struct AnswerSummary {
    decision: Option<Arc<RouteDecision>>,
    failure: Option<Failure>,
    /// Whether the output ends within a line.
    is_mid_line: bool,
}

/// Returns the path of the ledger's file.
pub(crate) fn ledger_path(dirs: &Dirs) -> AbsPath {
    dirs.state.join("ledger.db")
}

impl AskCommand {
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let question = self.question(streams.input)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        runtime.block_on(self.ask(question, files, dirs, streams))
    }

    fn question(&self, input: &mut dyn Read) -> Result<String, String> {
        let words = self.question.join(" ");
        let question = match words.as_str() {
            "" | "-" => {
                let mut text = String::new();
                let read = input.read_to_string(&mut text);
                read.map_err(|error| format!("cannot read standard input: {error}"))?;
                text
            }
            _ => words,
        };
        match question.trim() {
            "" => {
                Err("there is no question: write it behind the options, or pipe it in".to_owned())
            }
            _ => Ok(question),
        }
    }

    async fn ask(
        &self,
        question: String,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let wanted = self.model.as_deref();
        let is_demo = wanted == Some(DEMO);
        let mut setup = Setup::find(files, dirs).await;
        let wanted = wanted.unwrap_or(&setup.settings.default).to_owned();
        for problem in std::mem::take(&mut setup.problems) {
            print_notice(streams, &problem);
        }
        let (model, terms) = choose(&wanted, &question, &mut setup)?;
        if wanted == AUTO {
            setup
                .unusable_providers()
                .iter()
                .for_each(|it| print_notice(streams, it));
        }
        let lanes = if is_demo || wanted == DEMO {
            vec![setup::demo()?]
        } else {
            setup.lanes()
        };
        let (book, _) = open_book(dirs, streams)?;
        let router = start(lanes, &setup.settings, book.clone());
        let messages = vec![Message::text(Role::User, question)];
        let ask = Question {
            payload: router::actor::RequestPayload::Chat(Box::new(ModelRequest::new(
                model,
                messages,
                TokenCount(self.max_output.max(1)),
            ))),
            caller: Caller {
                class: RequestClass::Turn,
                agent: AgentId(1),
                turn: TurnId(1),
            },
            options: terms,
        };
        let course = follow(&router, ask, streams).await?;
        router.idle().await;
        if let Err(error) = book.flush() {
            print_notice(
                streams,
                &format!("{error}; what was spent is not written down"),
            );
        }
        if self.why {
            explain(&course, &book, streams);
        }
        Ok(match &course.failure {
            None => ExitCode::SUCCESS,
            Some(failure) => {
                print_notice(streams, &failure.message);
                print_advice(failure, &wanted, &setup, streams);
                exit_code(failure.class)
            }
        })
    }
}

/// The model and the terms for a name as people write it.
pub(crate) fn choose(
    wanted: &str,
    question: &str,
    setup: &mut Setup,
) -> Result<(ModelId, RoutingOptions), String> {
    let id = |provider: &str, model: &str| ModelId {
        provider: provider.to_owned(),
        model: model.to_owned(),
    };
    if wanted == DEMO {
        return Ok((id(DEMO, DEMO), RoutingOptions::named()));
    }
    for named in setup.settings.auto.clone() {
        if let Some(named) = ModelId::parse(&named) {
            setup.add_named(&named);
        }
    }
    if wanted == AUTO {
        let step = StepDescription {
            prompt: question,
            purpose: StepPurpose::Work,
            files_touched: 0,
            diff_lines: 0,
            plan_depth: 0,
            context_fill: 0,
            stalls: 0,
        };
        let terms = RoutingOptions::auto(&step, SwitchBoundary::NewTurn);
        return Ok((id("auto", "auto"), terms));
    }
    let named = ModelId::parse(wanted).ok_or_else(|| {
        format!("\"{wanted}\" is no model: write auto, {DEMO}, or provider/model as `burin-agent models` lists them")
    })?;
    if setup.add_named(&named).is_none() {
        let known: Vec<&str> = setup.providers.iter().map(|it| it.id.as_str()).collect();
        return Err(format!(
            "there is no provider \"{}\": there are {}; others go into the settings, under models.providers",
            named.provider,
            known.join(", ")
        ));
    }
    Ok((named, RoutingOptions::named()))
}

/// Starts the router with these routes.
pub(crate) fn start(
    lanes: Vec<router::actor::RouteConfig>,
    settings: &ModelSettings,
    usage_store: Arc<LedgerUsageStore>,
) -> RouterHandle {
    let clock = RealClock::default();
    let seed = clock.wall_ms();
    Router::start(RouterConfig {
        routes: lanes,
        auto: settings
            .auto
            .iter()
            .filter_map(|name| ModelId::parse(name))
            .collect(),
        caps: budget_caps(settings),
        // A user on the command line prefers a failure to a wait of minutes.
        retry: Retry::default(),
        retry_alone: Retry::default(),
        usage_store,
        clock: WallClock::new(move || clock.wall_ms()),
        seed,
    })
}

fn budget_caps(settings: &ModelSettings) -> Caps {
    let cap = |dollars: f32| Cap {
        // Zero sets no limit.
        cost: (dollars > 0.0).then(|| Cost((f64::from(dollars) * 1e9) as u64)),
        tokens: None,
    };
    Caps {
        turn: cap(settings.budget_turn),
        agent: cap(settings.budget_agent),
        day: cap(settings.budget_day),
        allow_unknown_price: settings.unknown_prices,
    }
}

/// Opens the ledger like `open_books`, and reports a damaged ledger to the user.
pub(crate) fn open_book(
    dirs: &Dirs,
    streams: &mut Streams<'_>,
) -> Result<(Arc<LedgerUsageStore>, Ledger), String> {
    let (book, ledger, aside) = open_books(dirs)?;
    if let Some(aside) = aside {
        print_notice(streams, &aside);
    }
    Ok((book, ledger))
}

/// The router's usage store, a ledger handle for other writers, and a sentence about a damaged
/// ledger that was moved aside.
type OpenLedger = (Arc<LedgerUsageStore>, Ledger, Option<String>);

/// Opens the ledger for the router.
pub(crate) fn open_books(dirs: &Dirs) -> Result<OpenLedger, String> {
    dirs.create().map_err(|error| error.to_string())?;
    let now_ms = RealClock::default().wall_ms();
    let opened = Ledger::open(&ledger_path(dirs), now_ms).map_err(|error| error.to_string())?;
    let aside = opened.quarantined.as_ref().map(ToString::to_string);
    let sentence = |error: ledger::Error| error.to_string();
    let writer =
        LedgerWriter::start(opened.ledger.reopen().map_err(sentence)?).map_err(sentence)?;
    let other = opened.ledger.reopen().map_err(sentence)?;
    let run = format!("{now_ms}-{}", std::process::id());
    let book = Arc::new(LedgerUsageStore::new(opened.ledger, writer, run));
    Ok((book, other, aside))
}

/// Prints the answer as it arrives.
async fn follow(
    router: &RouterHandle,
    ask: Question,
    streams: &mut Streams<'_>,
) -> Result<AnswerSummary, String> {
    let mut course = AnswerSummary::default();
    let mut told = router.submit(ask);
    while let Some(told) = told.next().await {
        match told {
            RouterEvent::Decided(decision) => course.decision = Some(decision),
            RouterEvent::Waiting { failure, pause } => {
                let seconds = pause.as_secs_f64().ceil();
                print_notice(
                    streams,
                    &format!("{}; trying again in {seconds} s", failure.message),
                );
            }
            RouterEvent::Event(StreamEvent::TextDelta(text)) => {
                let written = streams.output.write_all(text.as_bytes());
                written
                    .and_then(|()| streams.output.flush())
                    .map_err(write_error)?;
                if let Some(last) = text.chars().last() {
                    course.is_mid_line = last != '\n';
                }
            }
            RouterEvent::Event(StreamEvent::Restart) => {
                end_line(&mut course, streams)?;
                print_notice(streams, "the answer broke off and begins again");
            }
            RouterEvent::Event(StreamEvent::Failed(failure)) => course.failure = Some(failure),
            RouterEvent::Event(_) => {}
        }
    }
    end_line(&mut course, streams)?;
    Ok(course)
}

fn end_line(course: &mut AnswerSummary, streams: &mut Streams<'_>) -> Result<(), String> {
    if std::mem::take(&mut course.is_mid_line) {
        streams.output.write_all(b"\n").map_err(write_error)?;
    }
    Ok(())
}

fn explain(course: &AnswerSummary, book: &LedgerUsageStore, streams: &mut Streams<'_>) {
    let decision = course.decision.as_deref().cloned();
    let decision = decision.or_else(|| book.last_decision());
    let mut text = decision.map_or_else(String::new, |mut decision| {
        // The router may consider hundreds of models; the first ones show the reason.
        decision.considered.truncate(SHOWN);
        decision.chain.truncate(SHOWN);
        format!("{decision}\n")
    });
    for call in book.calls() {
        let cost = call
            .cost
            .map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
        let about = if call.is_estimate { "about " } else { "" };
        text.push_str(&format!(
            "  call {} to {}: {}, {about}{} tokens read and {} written, cost {cost}, {} ms\n",
            call.attempt,
            call.model,
            call.failure.map_or("answered", FailureClass::name),
            call.usage.prompt().0,
            call.usage.output.0,
            call.total_ms,
        ));
    }
    // If standard error is closed, the message cannot be shown.
    streams.errors.write_all(text.as_bytes()).ok();
}

/// Prints the next step when no provider is set up yet.
fn print_advice(failure: &Failure, wanted: &str, setup: &Setup, streams: &mut Streams<'_>) {
    let is_about_keys = matches!(
        failure.class,
        FailureClass::NoSuchModel | FailureClass::Authentication
    );
    let asked = |id: &str| wanted == "auto" || wanted.split('/').next() == Some(id);
    let variables: Vec<&str> = setup
        .providers
        .iter()
        .filter(|provider| asked(&provider.id))
        .filter_map(|provider| match &provider.key {
            KeyState::Missing(variables) => variables.first().map(String::as_str),
            _ => None,
        })
        .collect();
    if is_about_keys && !variables.is_empty() {
        print_notice(
            streams,
            &format!(
                "to set up a model, put a key into {}, or start Ollama, llama.cpp, LM Studio or vLLM; without \
                 either, --model {DEMO} plays a script",
                variables.join(" or ")
            ),
        );
    }
}

fn exit_code(class: FailureClass) -> ExitCode {
    match class {
        FailureClass::Budget => ExitCode::from(3),
        FailureClass::Cancelled => ExitCode::FAILURE,
        FailureClass::RateLimited
        | FailureClass::Overloaded
        | FailureClass::Quota
        | FailureClass::Authentication
        | FailureClass::InvalidRequest
        | FailureClass::ContextOverflow
        | FailureClass::NoSuchModel
        | FailureClass::Offline
        | FailureClass::ServerError
        | FailureClass::Stalled
        | FailureClass::Torn
        | FailureClass::Malformed => ExitCode::from(97),
    }
}

#[cfg(test)]
mod tests;
