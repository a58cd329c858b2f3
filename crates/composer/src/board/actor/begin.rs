//! From a job that waits to a session that works: a tree, the session, its first words.

use super::{Actor, GO_ON, Held, Inner, Job};
use crate::board::graph_of::readiness_of;
use crate::board::job::State;
use crate::board::record::Record;
use crate::board::{Begin, Event, Hand, Place, Wanted};
use crate::graph::Readiness;

impl Actor {
    /// Begins what can begin, as long as there is room.
    pub(super) async fn fill(&mut self) {
        if self.is_closing {
            return;
        }
        loop {
            let working = self.jobs.iter().filter(|job| job.line.state.takes_room());
            if working.count() >= self.parts.room {
                return;
            }
            let ready = self.jobs.iter().position(|job| {
                job.line.state == State::Queued && self.readiness(job) == Readiness::Ready
            });
            let Some(ix) = ready else { return };
            if let Err(sentence) = self.begin(ix).await {
                self.jobs[ix].line.state = State::Failed { why: sentence };
            }
        }
    }

    pub(in crate::board) fn readiness(&self, job: &Job) -> Readiness {
        readiness_of(&job.line, &self.jobs)
    }

    /// Takes the next step towards a session that works: a tree, then the session.
    async fn begin(&mut self, ix: usize) -> Result<(), String> {
        self.jobs[ix].line.state = State::Starting;
        let id = self.jobs[ix].id();
        let way = self.way.clone();
        if self.jobs[ix].line.place.is_none() {
            self.write(Record::Leasing { job: id.clone() }).await?;
            let wanted = self.wanted(ix);
            let leased = self.parts.ground.lease(wanted);
            tokio::spawn(async move {
                // Where the board has ended nobody takes the tree; it is found again as one of nobody's.
                way.send(Inner::Leased(id, leased.await)).await.ok();
            });
            return Ok(());
        }
        let begin = self.begin_of(ix)?;
        let hands = self.parts.hands.clone();
        let job = &self.jobs[ix];
        let (session, fork_of) = (job.line.session.clone(), job.fork_of.clone());
        tokio::spawn(async move {
            let begun = match (session, fork_of) {
                (Some(session), _) => hands.again(begin, session).await,
                (None, None) => hands.begin(begin).await,
                (None, Some(from)) => match hands.fork(begin.clone(), from).await {
                    Ok(session) => hands.again(begin, session).await,
                    Err(sentence) => Err(sentence),
                },
            };
            way.send(Inner::Begun(id, begun)).await.ok();
        });
        Ok(())
    }

    pub(super) fn begin_of(&self, ix: usize) -> Result<Begin, String> {
        let line = &self.jobs[ix].line;
        let place = line.place.clone();
        Ok(Begin {
            job: line.job.clone(),
            task: line.task.clone(),
            place: place.ok_or_else(|| format!("{} has no tree", line.job))?,
        })
    }

    fn wanted(&self, ix: usize) -> Wanted {
        let job = &self.jobs[ix];
        let needs = job.line.task.needs.iter();
        let needed = needs.filter_map(|need| self.jobs.iter().find(|it| it.line.job == *need));
        // What has landed is in the person's branch, with which every tree begins.
        let not_landed = needed.filter(|it| !matches!(it.line.state, State::Landed { .. }));
        let with = not_landed.filter_map(|it| it.line.place.clone());
        Wanted {
            job: job.id(),
            title: job.line.task.title.clone(),
            with: with.chain(job.with.iter().cloned()).collect(),
        }
    }
    pub(super) async fn leased(&mut self, job: &str, leased: Result<Place, String>) {
        let Some(ix) = self.at(job) else { return };
        let begun = match leased {
            Ok(place) => {
                let record = Record::Leased {
                    job: job.to_owned(),
                    place: place.clone(),
                };
                let written = self.write(record).await;
                self.jobs[ix].line.place = Some(place);
                match (written, self.jobs[ix].is_stopping || self.is_closing) {
                    (Err(sentence), _) => Err(sentence),
                    (Ok(()), true) => return self.stand(ix, State::Stopped).await,
                    (Ok(()), false) => self.begin(ix).await,
                }
            }
            Err(sentence) => Err(sentence),
        };
        if let Err(why) = begun {
            self.stand(ix, State::Failed { why }).await;
        }
    }

    pub(super) async fn begun(&mut self, job: &str, begun: Result<Hand, String>) {
        let Some(ix) = self.at(job) else { return };
        let hand = match begun {
            Ok(hand) => hand,
            Err(why) => return self.stand(ix, State::Failed { why }).await,
        };
        if !hand.notices.is_empty() {
            let text = hand.notices.join("\n");
            let job = job.to_owned();
            self.tell(Event::Said { job, text }).await;
        }
        let session = hand.opened.id.as_ref().to_owned();
        if self.jobs[ix].line.session.as_ref() != Some(&session) {
            let record = Record::Began {
                job: job.to_owned(),
                session: session.clone(),
            };
            if let Err(why) = self.write(record).await {
                return self.stand(ix, State::Failed { why }).await;
            }
        }
        if self.jobs[ix].is_stopping || self.is_closing {
            self.jobs[ix].line.session = Some(session);
            return self.stand(ix, State::Stopped).await;
        }
        let prompt = match (self.jobs[ix].prompt.take(), hand.has_heard) {
            (Some(prompt), _) => prompt,
            (None, false) => self.parts.hands.tell(&self.jobs[ix].line.task),
            (None, true) => GO_ON.to_owned(),
        };
        let held = self.follow(job, hand);
        let job = &mut self.jobs[ix];
        if job.is_pausing {
            held.gate.close();
        }
        job.line.session = Some(session);
        job.hand = Some(held);
        (job.said, job.heard) = (0, 0);
        job.waits.clear();
        self.stand(ix, State::Working).await;
        self.say(ix, prompt).await;
    }

    /// Has what a session tells come in.
    fn follow(&self, job: &str, hand: Hand) -> Held {
        let Hand { opened, gate, .. } = hand;
        let (id, way, mut events) = (job.to_owned(), self.way.clone(), opened.events);
        let told = tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                if way
                    .send(Inner::Told(id.clone(), Box::new(event)))
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
        let (id, way, mut waiting) = (job.to_owned(), self.way.clone(), gate.waiting());
        let held = tokio::spawn(async move {
            while waiting.changed().await.is_ok() {
                let count = *waiting.borrow_and_update();
                if way.send(Inner::Held(id.clone(), count)).await.is_err() {
                    return;
                }
            }
        });
        Held {
            commands: opened.commands,
            gate,
            tasks: [told, held],
        }
    }
}
