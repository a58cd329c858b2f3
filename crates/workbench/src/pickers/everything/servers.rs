//! Asks language servers for symbols, and leaves the search for the symbols of one text.
//!
//! Start at `EverythingPicker::look_into_servers`.

use std::time::Duration;

use base::LogErr as _;
use gpui_kit::{AppContext as _, Context, Window};
use ui::picker::Picker;

use super::EverythingPicker;
use super::matches::EverythingScope;
use super::search::{max_symbols, served_places};

/// Pause in typing before language servers are asked.
const SHORT_REST: Duration = Duration::from_millis(40);

impl EverythingPicker {
    /// Asks the language servers for symbols after a short pause in typing; the next refresh adds the results. A later
    /// query cancels the requests.
    pub(super) fn look_into_servers(
        &mut self,
        scope: EverythingScope,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) {
        let key = format!("{scope:?} {query}");
        if self.served.as_ref().is_some_and(|(known, _)| *known == key) {
            return;
        }
        self.asking = None;
        if max_symbols(query, scope) == 0 {
            self.served = None;
            return;
        }
        let (query, root) = (query.to_owned(), self.root.clone());
        self.asking = Some(cx.spawn_in(window, async move |picker, cx| {
            cx.background_executor().timer(SHORT_REST).await;
            let answer = picker.update(cx, |picker, cx| {
                let ask = picker.delegate().ask_servers.clone();
                ask(&query, cx)
            });
            let Ok(answer) = answer else {
                return;
            };
            let found = cx.background_spawn(async move {
                match answer {
                    Some(answer) => served_places(&root, &query, answer.await),
                    None => Vec::new(),
                }
            });
            let found = found.await;
            picker
                .update_in(cx, |picker, window, cx| {
                    let delegate = picker.delegate_mut();
                    delegate.asking = None;
                    let earlier = delegate.served.replace((key, found));
                    let has_changed = [&earlier, &delegate.served]
                        .into_iter()
                        .flatten()
                        .any(|(_, found)| !found.is_empty());
                    if has_changed {
                        picker.refresh(window, cx);
                    } else {
                        cx.notify();
                    }
                })
                .log_err();
        }));
    }

    /// Shows the symbols of the active text instead, for the query after their sign.
    pub(super) fn show_symbols(
        &self,
        query: &str,
        window: &Window,
        cx: &mut Context<Picker<Self>>,
    ) {
        let (workbench, query) = (self.workbench.clone(), query.to_owned());
        window.defer(cx, move |window, cx| {
            // The window may be closing.
            workbench
                .update(cx, |workbench, cx| {
                    workbench.show_symbols(&query, window, cx);
                })
                .ok();
        });
    }
}
