//! Signing in to an MCP server, step by step.

use agent_service::SignInStep;
use base::AbsPath;
use futures::stream::{self, BoxStream, StreamExt as _};
use tokio::sync::mpsc;

use super::{EngineServices, failed};

/// The maximum number of pages that wait to be shown.
const MAX_PAGES: usize = 4;

/// Begins to sign in, and returns the steps. Dropping them ends the attempt.
pub(super) fn steps(
    engines: &EngineServices,
    root: AbsPath,
    server: String,
) -> BoxStream<'static, SignInStep> {
    // Unbounded: a sign-in has a few steps.
    let (steps, mut receiver) = mpsc::unbounded_channel();
    let task = engines.with(move |services| async move {
        let (pages, mut shown) = mpsc::channel(MAX_PAGES);
        let mut signing_in = Box::pin(services.sign_in(root, &server, pages));
        loop {
            let step = tokio::select! {
                Some(page) = shown.recv() => SignInStep::Page {
                    url: page.url,
                    reason: page.why,
                },
                done = &mut signing_in => SignInStep::Done(done.map_err(failed)),
                () = steps.closed() => return Ok(()),
            };
            let is_last = matches!(step, SignInStep::Done(_));
            if steps.send(step).is_err() || is_last {
                return Ok(());
            }
        }
    });
    // The task runs on the engines' runtime; it only fails if the engines do not start.
    let failure = stream::once(task).filter_map(|done| {
        std::future::ready(done.err().map(|error| SignInStep::Done(Err(error))))
    });
    stream::poll_fn(move |cx| receiver.poll_recv(cx))
        .chain(failure)
        .boxed()
}
