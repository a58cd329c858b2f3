//! Reports stalls of the thread that paints.
//!
//! Off unless `BURIN_STALLS` is set: an idle program should not wake up to read a clock.

use std::sync::Arc;
use std::time::Duration;

use gpui_kit::App;
use host::Clock;

/// The interval at which the thread must respond.
const BEAT: Duration = Duration::from_millis(10);

/// Reads `BURIN_STALLS`, the number of milliseconds from which a stall is reported. Returns `None`
/// if the variable is unset or is not a number.
pub(crate) fn threshold() -> Option<Duration> {
    let milliseconds = std::env::var("BURIN_STALLS").ok()?.parse().ok()?;
    Some(Duration::from_millis(milliseconds))
}

/// Logs a line whenever the painting thread is late by more than `threshold` for a due task. A
/// separate thread sends the heartbeat, so background work does not count.
pub(crate) fn watch(threshold: Duration, clock: Arc<dyn Clock>, cx: &mut App) {
    let Some(beats) = host::ticker(BEAT, clock.clone()) else {
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
