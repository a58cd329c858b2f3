//! A question to a model: the answer streams to the output, everything else goes to the errors.

mod book;

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use base::AbsPath;
use clap::Args;
use futures::StreamExt;
use host::{Clock, Dirs, Files, RealClock};
use ledger::{Ledger, Writer};
use model::policy::route::{Boundary, RouteDecision};
use model::policy::{AgentId, Caller, Cap, Caps, Class, Purpose, Retry, Task, TurnId};
use model::{Cost, Event, Failure, FailureClass, Message, ModelId, Request, Role, TokenCount};
use router::actor::{Ask as Question, Router, RouterConfig, RouterHandle, Terms, Told, Wall};
use settings::ModelSettings;

use crate::models::setup::{self, AUTO, DEMO, KeyState, Setup};
use crate::{Streams, tell, unwritten};
pub(crate) use book::LedgerBook;

/// Ask a model a question
///
/// Exit codes: 0 the answer is complete; 1 it is not, for a reason on this machine; 2 wrong arguments; 3 a budget
/// forbids it; 97 the model could not be reached or failed.
#[derive(Args)]
pub(crate) struct Ask {
    /// `auto`, `demo`, or a model written provider/model; the settings' models.default without it
    #[arg(long)]
    model: Option<String>,
    /// Print which model was chosen and why, and what it cost
    #[arg(long)]
    why: bool,
    /// The most tokens that the answer may have
    #[arg(long, default_value_t = 8192)]
    max_output: u64,
    /// The question; read from the input where it is left out or `-`
    question: Vec<String>,
}

/// Models that a decision is explained with.
const SHOWN: usize = 6;

/// What the answer came to.
#[derive(Default)]
struct Course {
    decision: Option<Arc<RouteDecision>>,
    failure: Option<Failure>,
    /// Whether the output ends within a line.
    is_mid_line: bool,
}

/// The ledger's file.
pub(crate) fn ledger_path(dirs: &Dirs) -> AbsPath {
    dirs.state.join("ledger.db")
}

impl Ask {
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
            tell(streams, &problem);
        }
        let (model, terms) = choose(&wanted, &question, &mut setup)?;
        if wanted == AUTO {
            setup.unusable().iter().for_each(|it| tell(streams, it));
        }
        let lanes = match is_demo || wanted == DEMO {
            true => vec![setup::demo()?],
            false => setup.lanes(),
        };
        let (book, _) = open_book(dirs, streams)?;
        let router = start(lanes, &setup.settings, book.clone());
        let messages = vec![Message::text(Role::User, question)];
        let ask = Question {
            what: router::actor::Question::Chat(Box::new(Request::new(
                model,
                messages,
                TokenCount(self.max_output.max(1)),
            ))),
            caller: Caller {
                class: Class::Turn,
                agent: AgentId(1),
                turn: TurnId(1),
            },
            terms,
        };
        let course = follow(&router, ask, streams).await?;
        router.idle().await;
        if let Err(error) = book.flush() {
            tell(
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
                tell(streams, &failure.message);
                advise(failure, &wanted, &setup, streams);
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
) -> Result<(ModelId, Terms), String> {
    let id = |provider: &str, model: &str| ModelId {
        provider: provider.to_owned(),
        model: model.to_owned(),
    };
    if wanted == DEMO {
        return Ok((id(DEMO, DEMO), Terms::named()));
    }
    for named in setup.settings.auto.clone() {
        if let Some(named) = ModelId::parse(&named) {
            setup.add_named(&named);
        }
    }
    if wanted == AUTO {
        let step = Task {
            prompt: question,
            purpose: Purpose::Work,
            files_touched: 0,
            diff_lines: 0,
            plan_depth: 0,
            context_fill: 0,
            stalls: 0,
        };
        let terms = Terms::auto(&step, Boundary::NewTurn);
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
    Ok((named, Terms::named()))
}

/// Starts the router.
pub(crate) fn start(
    lanes: Vec<router::actor::LaneConfig>,
    settings: &ModelSettings,
    book: Arc<LedgerBook>,
) -> RouterHandle {
    let clock = RealClock::default();
    let seed = clock.wall_ms();
    Router::start(RouterConfig {
        lanes,
        auto: settings
            .auto
            .iter()
            .filter_map(|name| ModelId::parse(name))
            .collect(),
        caps: caps(settings),
        // Who asks by hand would rather hear of a failure than wait for minutes.
        retry: Retry::default(),
        retry_alone: Retry::default(),
        book,
        wall: Wall::new(move || clock.wall_ms()),
        seed,
    })
}

fn caps(settings: &ModelSettings) -> Caps {
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

/// The same as `open_books`, with a word to the person about a damaged ledger.
pub(crate) fn open_book(
    dirs: &Dirs,
    streams: &mut Streams<'_>,
) -> Result<(Arc<LedgerBook>, Ledger), String> {
    let (book, ledger, aside) = open_books(dirs)?;
    if let Some(aside) = aside {
        tell(streams, &aside);
    }
    Ok((book, ledger))
}

/// The router's book, a handle for whoever else writes, and a sentence about a damaged ledger that was moved aside.
type Books = (Arc<LedgerBook>, Ledger, Option<String>);

/// Opens the ledger.
pub(crate) fn open_books(dirs: &Dirs) -> Result<Books, String> {
    dirs.create().map_err(|error| error.to_string())?;
    let now_ms = RealClock::default().wall_ms();
    let opened = Ledger::open(&ledger_path(dirs), now_ms).map_err(|error| error.to_string())?;
    let aside = opened.set_aside.as_ref().map(ToString::to_string);
    let sentence = |error: ledger::Error| error.to_string();
    let writer = Writer::start(opened.ledger.again().map_err(sentence)?).map_err(sentence)?;
    let other = opened.ledger.again().map_err(sentence)?;
    let run = format!("{now_ms}-{}", std::process::id());
    let book = Arc::new(LedgerBook::new(opened.ledger, writer, run));
    Ok((book, other, aside))
}

/// Passes the answer on as it comes.
async fn follow(
    router: &RouterHandle,
    ask: Question,
    streams: &mut Streams<'_>,
) -> Result<Course, String> {
    let mut course = Course::default();
    let mut told = router.submit(ask);
    while let Some(told) = told.next().await {
        match told {
            Told::Decided(decision) => course.decision = Some(decision),
            Told::Waiting { failure, pause } => {
                let seconds = pause.as_secs_f64().ceil();
                tell(
                    streams,
                    &format!("{}; trying again in {seconds} s", failure.message),
                );
            }
            Told::Event(Event::TextDelta(text)) => {
                let written = streams.output.write_all(text.as_bytes());
                written
                    .and_then(|()| streams.output.flush())
                    .map_err(unwritten)?;
                if let Some(last) = text.chars().last() {
                    course.is_mid_line = last != '\n';
                }
            }
            Told::Event(Event::Restart) => {
                end_line(&mut course, streams)?;
                tell(streams, "the answer broke off and begins again");
            }
            Told::Event(Event::Failed(failure)) => course.failure = Some(failure),
            Told::Event(_) => {}
        }
    }
    end_line(&mut course, streams)?;
    Ok(course)
}

fn end_line(course: &mut Course, streams: &mut Streams<'_>) -> Result<(), String> {
    if std::mem::take(&mut course.is_mid_line) {
        streams.output.write_all(b"\n").map_err(unwritten)?;
    }
    Ok(())
}

fn explain(course: &Course, book: &LedgerBook, streams: &mut Streams<'_>) {
    let decision = course.decision.as_deref().cloned();
    let decision = decision.or_else(|| book.last_decision());
    let mut text = decision.map_or_else(String::new, |mut decision| {
        // Hundreds of models may have been considered; the first say why.
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
    // Where standard error is closed there is nobody to tell.
    streams.errors.write_all(text.as_bytes()).ok();
}

/// What to do where nothing is set up yet.
fn advise(failure: &Failure, wanted: &str, setup: &Setup, streams: &mut Streams<'_>) {
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
        tell(
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
