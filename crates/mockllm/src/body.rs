//! Sends a stream plan: chunks at their times, those that are due together in one write.

#[cfg(test)]
mod tests;

use std::{io, time::Duration};

use bytes::{Bytes, BytesMut};
use futures::stream::{self, Stream};
use tokio::time::{Instant, sleep_until};

use crate::{
    frames::{StreamEnding, StreamPlan},
    request_log::{ResponseEnd, ResponseWatch},
    socket::ResetFlag,
};

/// The time a connection has to flush its data before a fault closes it.
const FLUSH_TIME: Duration = Duration::from_millis(2);

/// A response body that is being sent.
struct TimedBody {
    plan: StreamPlan,
    next: usize,
    /// The start of the stream plan.
    start: Instant,
    ticks: Ticks,
    watch: ResponseWatch,
    reset: ResetFlag,
}

/// Points in time at which all streams send, so that one wake-up serves many streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    pub(crate) origin: Instant,
    /// The tick's length; zero for none.
    pub(crate) length: Duration,
}

impl Ticks {
    /// Returns the first tick that is not before `moment`.
    fn after(self, moment: Instant) -> Instant {
        let length = self.length.as_nanos();
        if length == 0 {
            return moment;
        }
        let count = moment
            .saturating_duration_since(self.origin)
            .as_nanos()
            .div_ceil(length);
        let since = Duration::from_nanos(u64::try_from(count * length).unwrap_or(u64::MAX));
        self.origin + since
    }
}

/// Returns the body of a response. Dropping it before its end counts as the client disconnecting.
pub(crate) fn send(
    plan: StreamPlan,
    start: Instant,
    ticks: Ticks,
    watch: ResponseWatch,
    reset: ResetFlag,
) -> impl Stream<Item = io::Result<Bytes>> {
    let sending = TimedBody {
        plan,
        next: 0,
        start,
        ticks,
        watch,
        reset,
    };
    stream::unfold(Some(sending), async |sending| {
        let mut sending = sending?;
        if sending.next < sending.plan.chunks.len() {
            let bytes = sending.next_chunk().await;
            return Some((Ok(bytes), Some(sending)));
        }
        sending.finish().await.map(|error| (Err(error), None))
    })
}

impl TimedBody {
    /// Waits until the next chunks are due, and returns them.
    async fn next_chunk(&mut self) -> Bytes {
        let due = self.start + self.plan.chunks[self.next].due;
        // The first byte is not aligned to ticks, because its delay is measured.
        let moment = if self.next == 0 {
            due
        } else {
            self.ticks.after(due)
        };
        if moment > Instant::now() {
            sleep_until(moment).await;
        }
        let first = &self.plan.chunks[self.next].bytes;
        self.next += 1;
        if self.plan.is_split {
            let first = first.clone();
            // Each chunk is to arrive alone: the connection must have written the one before.
            tokio::task::yield_now().await;
            return first;
        }
        let ready = moment.max(Instant::now());
        let mut bytes = BytesMut::from(first.as_ref());
        while let Some(chunk) = self.plan.chunks.get(self.next)
            && self.start + chunk.due <= ready
        {
            bytes.extend_from_slice(&chunk.bytes);
            self.next += 1;
        }
        bytes.freeze()
    }

    async fn finish(self) -> Option<io::Error> {
        match self.plan.ending {
            StreamEnding::Clean => {
                self.watch.record_end(ResponseEnd::Finished);
                None
            }
            StreamEnding::Cut => {
                // Waits until the data is on its way, because a reset would discard it.
                tokio::time::sleep(FLUSH_TIME).await;
                self.watch.record_end(ResponseEnd::Broken);
                Some(io::Error::other("the script cuts the connection"))
            }
            StreamEnding::Reset => {
                tokio::time::sleep(FLUSH_TIME).await;
                self.watch.record_end(ResponseEnd::Broken);
                self.reset.reset();
                Some(io::Error::other("the script resets the connection"))
            }
            StreamEnding::Hang => std::future::pending().await,
        }
    }
}
