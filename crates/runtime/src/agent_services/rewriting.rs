//! Requests to rewrite some lines of a text: the model, the rules of the folder, the events.

use std::sync::atomic::{AtomicU64, Ordering};

use agent::context::Instructions;
use base::AbsPath;
use futures::StreamExt as _;
use futures::future::ready;
use futures::stream::{self, BoxStream};
use host::RealFiles;
use model::policy::{AgentId, Caller, RequestClass, TurnId};
use rewrite::{AnswerReader, RewriteEvent, RewriteQuery};
use router::actor::{RequestPayload, RouterEvent, RouterRequest};

use super::AgentServices;
use crate::{Error, routing};

/// Size of the context, in tokens, that decides how much of the rules a request contains. Smaller
/// than that of any capable model: the user waits for the answer.
const RULES_CONTEXT: u64 = 32_000;
/// The number by which budgets know all rewrites; sessions count from 1.
const CALLER: AgentId = AgentId(0);

/// Number of the latest rewrite.
static LATEST: AtomicU64 = AtomicU64::new(0);

impl AgentServices {
    /// Asks a model to rewrite lines. Adds the user's instructions, and those of the folder if the
    /// user trusts it, as sessions do. Dropping the stream cancels the request.
    pub async fn rewrite(&self, query: RewriteQuery) -> BoxStream<'static, RewriteEvent> {
        let RewriteQuery {
            mut rewrite,
            model,
            file,
            root,
        } = query;
        let wanted = model.unwrap_or_else(|| self.settings_model().to_owned());
        let (model, options) = match routing::named_or_auto(&wanted, &rewrite.instruction) {
            Ok(chosen) => chosen,
            Err(error) => return failed(&error),
        };
        let factory = self.factory.clone();
        let rules = tokio::task::spawn_blocking(move || {
            let root = root?;
            let (is_trusted, config) = (factory.is_trusted(&root), &factory.dirs().config);
            Some(rules(&root, file.as_ref(), is_trusted, config))
        });
        let interrupted = Error::interrupted("the rules could not be read");
        rewrite.rules = match rules.await.map_err(interrupted) {
            Ok(rules) => rules.unwrap_or_default(),
            Err(error) => return failed(&error),
        };
        let request = RouterRequest {
            payload: RequestPayload::Chat(Box::new(rewrite.request(model, None))),
            caller: Caller {
                class: RequestClass::Turn,
                agent: CALLER,
                turn: TurnId(LATEST.fetch_add(1, Ordering::Relaxed)),
            },
            options,
        };
        let mut reader = AnswerReader::new(rewrite.region);
        let events = self.router.submit(request);
        events
            .filter_map(move |event| ready(read(&mut reader, event)))
            .boxed()
    }
}

fn failed(error: &Error) -> BoxStream<'static, RewriteEvent> {
    let failed = RewriteEvent::Failed(error.to_string());
    stream::once(ready(failed)).boxed()
}

/// Returns the instructions for work on a file of a folder; those of the folder alone without a file.
/// Blocks on the disk.
pub fn rules(
    root: &AbsPath,
    file: Option<&AbsPath>,
    is_trusted: bool,
    config: &AbsPath,
) -> Vec<String> {
    let file = file.filter(|file| file.is_within(root));
    Instructions::for_file(
        &RealFiles,
        root,
        file.unwrap_or(root),
        is_trusted,
        Some(config),
        RULES_CONTEXT,
    )
}

fn read(reader: &mut AnswerReader, event: RouterEvent) -> Option<RewriteEvent> {
    match event {
        RouterEvent::Event(event) => reader.read(event),
        RouterEvent::Waiting { failure, pause } => {
            let seconds = pause.as_secs_f64().ceil();
            let sentence = format!("{}; trying again in {seconds} s", failure.message);
            Some(RewriteEvent::Waiting(sentence))
        }
        RouterEvent::Decided(_) => None,
    }
}
