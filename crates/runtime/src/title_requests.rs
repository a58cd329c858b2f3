//! Requests to the small model: titles of sessions, sent after the first turn, and other short texts.
//!
//! Start at `AgentServices::title_session`.

use std::time::Duration;

use agent::store::SessionMark;
use futures::StreamExt as _;
use model::policy::{AgentId, Caller, RequestClass, TurnId};
use model::{ModelRequest, StreamEvent, Usage};
use router::actor::{RouterEvent, RouterRequest};

use crate::Error;
use crate::agent_services::AgentServices;
use crate::session_titles::{request, title_of};

/// Maximum wait for the answer.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The number of these requests at the router; agents count from 1.
const AGENT: AgentId = AgentId(u64::MAX);

impl AgentServices {
    /// Requests a title for a session whose first turn has ended, and stores it. Does nothing if the
    /// session gets none. Fails if no model answers; the first words of the prompt stay then.
    pub async fn title_session(&self, id: &str) -> Result<(), Error> {
        self.factory()
            .store()
            .flush()
            .await
            .map_err(Error::session)?;
        let Some(line) = self.summary(id).await? else {
            return Ok(());
        };
        let Some(model) = self.titles().model_for(&line) else {
            return Ok(());
        };
        if !self.titles().begin(id) {
            return Ok(());
        }
        let (store, name) = (self.factory().store().clone(), id.to_owned());
        let read = tokio::task::spawn_blocking(move || store.read(&name)).await;
        let read = read.map_err(Error::interrupted("the session could not be read"))?;
        let records = read.map_err(Error::session)?.records;
        let Some(request) = request(model.clone(), &records) else {
            return Ok(());
        };
        let (answer, usage) = self.ask_small_model(request, "title").await?;
        let cost = usage.and_then(|usage| self.titles().price(&model)?.cost(&usage));
        if let Some(title) = title_of(&answer) {
            let cost_nano = cost.map(|cost| cost.0);
            let mark = SessionMark::Titled { title, cost_nano };
            self.append_mark(id, &mark).await?;
        }
        Ok(())
    }

    /// Sends a request for a short text, which `noun` names, and collects the answer's text and usage.
    /// The router records its cost. Fails if there is no answer within a minute.
    pub(crate) async fn ask_small_model(
        &self,
        request: ModelRequest,
        noun: &str,
    ) -> Result<(String, Option<Usage>), Error> {
        let model = request.model.clone();
        let answered = tokio::time::timeout(TIMEOUT, self.collect_answer(request)).await;
        answered.map_err(|_| Error::Model(format!("{model} wrote no {noun} within a minute")))?
    }

    async fn collect_answer(
        &self,
        request: ModelRequest,
    ) -> Result<(String, Option<Usage>), Error> {
        let caller = Caller {
            class: RequestClass::Background,
            agent: AGENT,
            turn: TurnId(0),
        };
        let mut events = self.router().submit(RouterRequest::chat(request, caller));
        let (mut text, mut usage) = (String::new(), None);
        while let Some(event) = events.next().await {
            match event {
                RouterEvent::Event(StreamEvent::TextDelta(more)) => text.push_str(&more),
                RouterEvent::Event(StreamEvent::Restart) => text.clear(),
                RouterEvent::Event(StreamEvent::Usage(now)) => usage = Some(now),
                RouterEvent::Event(StreamEvent::Failed(failure)) => {
                    return Err(Error::Model(failure.message));
                }
                _ => {}
            }
        }
        Ok((text, usage))
    }
}
