//! Execution of the code lenses of language servers.

use editor::DocumentModel;
use gpui_kit::{Context, Entity, Window};
use lsp::ServerCommand;

use super::{Workbench, locations};
use crate::folder::OpenFolder;

/// Executes the command of a lens of a text: shows its locations, or lets a server execute it.
pub(super) fn run_lens(
    workbench: &mut Workbench,
    model: &Entity<DocumentModel>,
    command: &ServerCommand,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((servers, path)) = OpenFolder::servers_of(model, cx) else {
        return;
    };
    let servers = servers.read(cx).servers_of(&path);
    let mut connections = servers.iter().map(|server| &server.connection);
    let request = connections
        .clone()
        .find_map(|server| server.execute_command(command));
    let Some(request) = request else {
        let shown = connections.find_map(|server| server.shown_locations(command));
        return locations::show(
            workbench,
            &command.title,
            shown.unwrap_or_default(),
            window,
            cx,
        );
    };
    cx.spawn_in(window, async move |this, cx| {
        if let Err(error) = request.await {
            let shown = this.update_in(cx, |this, window, cx| {
                this.report_error(error.to_string(), window, cx);
            });
            // The window may have been closed.
            shown.ok();
        }
    })
    .detach();
}
