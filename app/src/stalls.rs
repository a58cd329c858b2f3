//! Tells whoever looks for the cause when the thread that paints stood still.
//!
//! Off unless `BURIN_STALLS` is set: a program at rest should not wake up to look at a clock.

use std::sync::Arc;
use std::time::Duration;

use gpui_kit::App;
use host::Clock;

/// How often the thread is asked to show that it is there.
const BEAT: Duration = Duration::from_millis(10);

/// Reads `BURIN_STALLS`: the milliseconds from which a stall is reported.
pub(crate) fn threshold() -> Option<Duration> {
    let milliseconds = std::env::var("BURIN_STALLS").ok()?.parse().ok()?;
    Some(Duration::from_millis(milliseconds))
}

/// Writes a line to the log whenever the thread that paints comes later than `threshold` to a task
/// that is due. The beat comes from a thread of its own: busy background work does not count.
pub(crate) fn watch(threshold: Duration, clock: Arc<dyn Clock>, cx: &mut App) {
    let Some(beats) = host::beats(BEAT, clock.clone()) else {
        return log::warn!("stalls cannot be watched: no thread is to be had");
    };
    cx.spawn(async move |_| {
        while let Ok(due) = beats.recv().await {
            let late = clock.elapsed().saturating_sub(due);
            if late >= threshold {
                log::warn!("the window stood still for {} ms", late.as_millis());
            }
        }
    })
    .detach();
}
