//! Asks a model a question: the answer streams to standard output, everything else goes to standard
//! error.

mod rewrite;

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use futures::StreamExt;
use host::{Dirs, Files};
use ledger::Ledger;
use model::policy::route::RouteDecision;
use model::policy::{AgentId, Caller, RequestClass, TurnId};
use model::{Failure, FailureClass, Message, ModelId, ModelRequest, Role, StreamEvent, TokenCount};
use router::actor::{RequestPayload, RouterEvent, RouterHandle, RouterRequest as Question};
use runtime::models::setup::{self, AUTO, DEMO, KeyState, Setup};
use runtime::routing;
use runtime::usage_store::{self, LedgerUsageStore};

use self::rewrite::AskedRewrite;
use crate::{Streams, error_text, print_notice, write_error};

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
    /// Maximum tokens of the answer; 8192 without it, or enough for the file of --rewrite
    #[arg(long)]
    max_output: Option<u64>,
    /// Rewrite this file as the question asks; prints the whole file for `burin-agent apply --format whole`
    #[arg(long, value_name = "FILE")]
    rewrite: Option<PathBuf>,
    /// Rewrite only these lines of the file, counted from 1, such as 10-20 or 10; the others stay as they are
    #[arg(long, value_name = "LINES", requires = "rewrite", value_parser = rewrite::line_range)]
    lines: Option<(u32, u32)>,
    /// The question; read from the input where it is left out or `-`
    question: Vec<String>,
}

/// Maximum tokens of an answer, unless the user gives another number.
const MAX_OUTPUT: TokenCount = TokenCount(8192);
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

impl AskCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
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

    /// Returns the question of the command line, or of `input` if that is empty or `-`. Fails if
    /// the question is blank.
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
            "" => Err("there is no question: write it after the options, or pipe it in".to_owned()),
            _ => Ok(question),
        }
    }

    /// Asks the model and prints its answer. Returns an exit code for the class of the failure, if
    /// any; fails if no model can be chosen or the output cannot be written.
    async fn ask(
        &self,
        question: String,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let wanted = self.model.as_deref();
        let is_demo = wanted == Some(DEMO);
        let rewrite = self.rewrite.as_deref();
        let rewrite = rewrite.map(|path| AskedRewrite::read(files, dirs, path, self.lines));
        let rewrite = rewrite.transpose()?;
        let mut setup = Setup::find(files, dirs).await;
        let wanted = wanted.unwrap_or(&setup.settings.default).to_owned();
        for problem in std::mem::take(&mut setup.problems) {
            print_notice(streams, &problem);
        }
        let (model, terms) = routing::choose(&wanted, &question, &mut setup).map_err(error_text)?;
        if wanted == AUTO {
            setup
                .unusable_providers()
                .iter()
                .for_each(|it| print_notice(streams, it));
        }
        let routes = if is_demo || wanted == DEMO {
            vec![setup::demo().map_err(error_text)?]
        } else {
            setup.routes()
        };
        let (usage_store, _) = open_ledger(dirs, streams)?;
        let router = routing::start(routes, &setup.settings, usage_store.clone());
        let request = self.request(model, question, rewrite.as_ref());
        let ask = Question {
            payload: RequestPayload::Chat(Box::new(request)),
            caller: Caller {
                class: RequestClass::Turn,
                agent: AgentId(1),
                turn: TurnId(1),
            },
            options: terms,
        };
        let summary = match &rewrite {
            Some(AskedRewrite::Lines(lines)) => lines.follow(&router, ask, streams).await?,
            _ => follow(&router, ask, streams).await?,
        };
        router.idle().await;
        if let Err(error) = usage_store.flush() {
            print_notice(streams, &error.to_string());
        }
        if self.why {
            explain(&summary, &usage_store, streams);
        }
        Ok(match &summary.failure {
            None => ExitCode::SUCCESS,
            Some(failure) => {
                print_notice(streams, &failure.message);
                print_advice(failure, &wanted, &setup, streams);
                exit_code(failure.class)
            }
        })
    }

    /// Builds the request for an answer to the question, or for the new text of a file.
    fn request(
        &self,
        model: ModelId,
        question: String,
        rewrite: Option<&AskedRewrite>,
    ) -> ModelRequest {
        let max_output = self.max_output.map(|tokens| TokenCount(tokens.max(1)));
        match rewrite {
            Some(rewrite) => rewrite.request(model, question, max_output),
            None => {
                let messages = vec![Message::text(Role::User, question)];
                ModelRequest::new(model, messages, max_output.unwrap_or(MAX_OUTPUT))
            }
        }
    }
}

/// Opens the ledger for the router and for other writers. If the ledger is damaged, moves it aside
/// and prints a notice for the user.
pub(crate) fn open_ledger(
    dirs: &Dirs,
    streams: &mut Streams<'_>,
) -> Result<(Arc<LedgerUsageStore>, Ledger), String> {
    let opened = usage_store::open(dirs).map_err(error_text)?;
    if let Some(notice) = opened.notice {
        print_notice(streams, &notice);
    }
    Ok((opened.usage_store, opened.ledger))
}

/// Prints the answer as it arrives.
async fn follow(
    router: &RouterHandle,
    ask: Question,
    streams: &mut Streams<'_>,
) -> Result<AnswerSummary, String> {
    let mut summary = AnswerSummary::default();
    let mut events = router.submit(ask);
    while let Some(event) = events.next().await {
        match event {
            RouterEvent::Decided(decision) => summary.decision = Some(decision),
            RouterEvent::Waiting { failure, pause } => print_wait(&failure, pause, streams),
            RouterEvent::Event(StreamEvent::TextDelta(text)) => {
                let written = streams.output.write_all(text.as_bytes());
                written
                    .and_then(|()| streams.output.flush())
                    .map_err(write_error)?;
                if let Some(last) = text.chars().last() {
                    summary.is_mid_line = last != '\n';
                }
            }
            RouterEvent::Event(StreamEvent::Restart) => {
                end_line(&mut summary, streams)?;
                print_notice(streams, "the answer broke off and begins again");
            }
            RouterEvent::Event(StreamEvent::Failed(failure)) => summary.failure = Some(failure),
            RouterEvent::Event(_) => {}
        }
    }
    end_line(&mut summary, streams)?;
    Ok(summary)
}

fn print_wait(failure: &Failure, pause: Duration, streams: &mut Streams<'_>) {
    let seconds = pause.as_secs_f64().ceil();
    print_notice(
        streams,
        &format!("{}; trying again in {seconds} s", failure.message),
    );
}

/// Ends a line of the output that is not complete.
fn end_line(summary: &mut AnswerSummary, streams: &mut Streams<'_>) -> Result<(), String> {
    if std::mem::take(&mut summary.is_mid_line) {
        streams.output.write_all(b"\n").map_err(write_error)?;
    }
    Ok(())
}

fn explain(summary: &AnswerSummary, usage_store: &LedgerUsageStore, streams: &mut Streams<'_>) {
    let decision = summary.decision.as_deref().cloned();
    let decision = decision.or_else(|| usage_store.last_decision());
    let mut text = decision.map_or_else(String::new, |mut decision| {
        // The router may consider hundreds of models; the first ones show the reason.
        decision.considered.truncate(SHOWN);
        decision.chain.truncate(SHOWN);
        format!("{decision}\n")
    });
    for call in usage_store.calls() {
        let cost = call
            .cost
            .map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
        let about = if call.is_estimate { "about " } else { "" };
        let (accepted, rejected) = (
            call.usage.accepted_prediction.0,
            call.usage.rejected_prediction.0,
        );
        let predicted = match accepted + rejected {
            0 => String::new(),
            _ => format!(" ({accepted} accepted from the prediction, {rejected} rejected)"),
        };
        text.push_str(&format!(
            "  call {} to {}: {}, {about}{} tokens read and {} written{predicted}, cost {cost}, {} ms\n",
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
