//! Client requests that await a response.
//!
//! Invariant: every request ends exactly once: with its answer, with the end of the connection, or by
//! being dropped, which cancels it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::error::{EndReason, RequestError};
use crate::message::{Payload, ResponseError};

/// The answer to a request, or the reason for which there is none.
pub(crate) type ResponseResult = Result<Result<Payload, ResponseError>, EndReason>;

/// The requests of a connection that are not answered yet.
#[derive(Default)]
pub(crate) struct PendingRequests {
    state: Mutex<PendingState>,
}

#[derive(Default)]
struct PendingState {
    last_id: u64,
    slots: HashMap<u64, Arc<ResponseSlot>>,
    /// Requests whose answers may come late on purpose.
    patient: HashSet<u64>,
    end: Option<EndReason>,
}

/// Whether an answer should come soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// A server that does not answer soon may hang.
    Impatient,
    /// The answer may come late on purpose.
    Patient,
}

/// A request that was added to those that await a response.
pub(crate) struct NewRequest {
    pub(crate) id: u64,
    pub(crate) slot: Arc<ResponseSlot>,
    /// Whether it is the only request whose answer should come soon.
    pub(crate) begins_wait: bool,
}

/// The slot into which the reader thread puts an answer.
#[derive(Default)]
pub(crate) struct ResponseSlot {
    state: Mutex<SlotState>,
    arrived: Condvar,
}

#[derive(Default)]
struct SlotState {
    result: Option<ResponseResult>,
    /// Wakes the task that polled last.
    waker: Option<Waker>,
}

impl PendingRequests {
    /// Creates a slot for a new request.
    pub(crate) fn insert(&self, patience: Patience) -> NewRequest {
        let mut state = self.state();
        state.last_id += 1;
        let id = state.last_id;
        let slot = Arc::new(ResponseSlot::default());
        if let Some(end) = state.end.clone() {
            slot.fill(Err(end));
            let begins_wait = false;
            return NewRequest {
                id,
                slot,
                begins_wait,
            };
        }
        state.slots.insert(id, slot.clone());
        if patience == Patience::Patient {
            state.patient.insert(id);
        }
        let begins_wait = patience == Patience::Impatient && state.impatient() == 1;
        NewRequest {
            id,
            slot,
            begins_wait,
        }
    }

    /// Passes an answer on; returns false if no request waits for it.
    pub(crate) fn answer(&self, id: u64, result: Result<Payload, ResponseError>) -> bool {
        let slot = self.state().take(id);
        if let Some(slot) = &slot {
            slot.fill(Ok(result));
        }
        slot.is_some()
    }

    /// Forgets a request; returns false if it was answered or unknown.
    pub(crate) fn remove(&self, id: u64) -> bool {
        self.state().take(id).is_some()
    }

    /// Returns whether a request awaits an answer that should come soon.
    pub(crate) fn has_impatient(&self) -> bool {
        self.state().impatient() > 0
    }

    /// Returns whether an answer to `id` may still come late: the request was sent, and cancelled.
    pub(crate) fn was_sent(&self, id: u64) -> bool {
        (1..=self.state().last_id).contains(&id)
    }

    /// Ends every request, now and later.
    pub(crate) fn end(&self, reason: &EndReason) {
        let mut state = self.state();
        state.end = Some(reason.clone());
        state.patient.clear();
        for slot in state.slots.drain().map(|(_, slot)| slot) {
            slot.fill(Err(reason.clone()));
        }
    }

    fn state(&self) -> MutexGuard<'_, PendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingState {
    /// Returns the number of requests whose answers should come soon.
    fn impatient(&self) -> usize {
        self.slots.len() - self.patient.len()
    }

    fn take(&mut self, id: u64) -> Option<Arc<ResponseSlot>> {
        self.patient.remove(&id);
        self.slots.remove(&id)
    }
}

impl ResponseSlot {
    /// Stores the answer and wakes everything that waits for it.
    pub(crate) fn fill(&self, result: ResponseResult) {
        let mut state = self.state();
        state.result = Some(result);
        let waker = state.waker.take();
        drop(state);
        self.arrived.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits for the answer and takes it; `None` if it does not come in time.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<ResponseResult> {
        let waited = self
            .arrived
            .wait_timeout_while(self.state(), timeout, |state| state.result.is_none());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.result.take()
    }

    /// Takes the answer, or arranges that the task is woken when it arrives.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<ResponseResult> {
        let mut state = self.state();
        match state.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Turns an answer into the result of the request `method`.
pub(crate) fn request_result(
    method: &'static str,
    result: Option<ResponseResult>,
) -> Result<Payload, RequestError> {
    match result {
        Some(Ok(Ok(payload))) => Ok(payload),
        Some(Ok(Err(error))) => Err(RequestError::Refused {
            method,
            code: error.code,
            message: error.message,
        }),
        Some(Err(end)) => Err(RequestError::Ended(end)),
        None => Err(RequestError::TimedOut { method }),
    }
}
