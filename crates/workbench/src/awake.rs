//! Keeps macOS from slowing the program down while agents or an index work behind a covered window
//! (App Nap), and from idle sleep.

use std::collections::HashSet;

use base::Platform;
use gpui_kit::{ActivityGuard, App, EntityId, Global, Task};
use ui::ActivePlatform as _;

/// The windows with work, and what keeps the system awake for them.
#[derive(Default)]
struct WorkInProgress {
    windows: HashSet<EntityId>,
    guard: Option<ActivityGuard>,
    asking: Option<Task<()>>,
}

impl Global for WorkInProgress {}

/// Notes whether work goes on in a window; without effect on Linux, which slows no program down.
pub(crate) fn note(window: EntityId, is_working: bool, cx: &mut App) {
    if cx.platform() != Platform::MacOs {
        return;
    }
    let work = cx.default_global::<WorkInProgress>();
    if is_working {
        work.windows.insert(window);
    } else {
        work.windows.remove(&window);
    }
    if work.windows.is_empty() {
        work.guard = None;
        work.asking = None;
    } else if work.guard.is_none() && work.asking.is_none() {
        ask(cx);
    }
}

fn ask(cx: &mut App) {
    let asked = cx.prevent_idle_sleep("agents or the index are working");
    let asking = cx.spawn(async move |cx| {
        let guard = asked.await;
        cx.update(|cx| {
            let work = cx.default_global::<WorkInProgress>();
            work.asking = None;
            match guard {
                Ok(guard) if !work.windows.is_empty() => work.guard = Some(guard),
                Ok(_) => {}
                Err(error) => log::warn!("the system may slow agents down: {error}"),
            }
        });
    });
    cx.default_global::<WorkInProgress>().asking = Some(asking);
}

#[cfg(test)]
mod tests {
    use base::Platform;
    use gpui_kit::{AppContext as _, TestAppContext};

    use super::note;

    #[gpui_kit::test]
    fn the_system_stays_awake_until_the_last_work_ends(cx: &mut TestAppContext) {
        let ids = cx.update(|cx| {
            gpui_kit::init(cx);
            ui::init(Platform::MacOs, cx);
            [cx.new(|_| ()).entity_id(), cx.new(|_| ()).entity_id()]
        });
        let count_after = |window: usize, is_working: bool| {
            cx.update(|cx| note(ids[window], is_working, cx));
            cx.run_until_parked();
            cx.active_idle_sleep_preventions()
        };
        assert_eq!(count_after(0, false), 0);
        assert_eq!(count_after(0, true), 1);
        assert_eq!(count_after(1, true), 1, "one request for all windows");
        assert_eq!(count_after(0, false), 1);
        assert_eq!(count_after(1, false), 0);
        assert_eq!(count_after(1, true), 1, "and again");
    }

    #[gpui_kit::test]
    fn linux_is_not_asked(cx: &mut TestAppContext) {
        cx.update(|cx| {
            gpui_kit::init(cx);
            ui::init(Platform::Linux, cx);
            let window = cx.new(|_| ()).entity_id();
            note(window, true, cx);
        });
        cx.run_until_parked();
        assert_eq!(cx.active_idle_sleep_preventions(), 0);
    }
}
