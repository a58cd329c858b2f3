//! Opening of the links that language servers find in a text.
//!
//! Invariant: only local files and addresses of the schemes `http` and `https` are opened.
//! Start at `open_link`.

use editor::DocumentModel;
use gpui_kit::{App, AppContext as _, Context, Entity, Task, Window};
use lsp::{DocumentLink, LinkTarget, UnresolvedLink};

use super::Workbench;
use crate::folder::OpenFolder;
use crate::open_options::{GoToPosition, OpenOptions};
use crate::target::LineColumn;

/// Key of the notifications of this module.
const NOTICE: &str = "links";
/// Notice about a link without a target.
const NO_TARGET: &str = "The language server names no target of this link";

/// Opens the target of a link in a text.
pub(super) fn open_link(
    model: &Entity<DocumentModel>,
    link: &DocumentLink,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let target = match &link.target {
        LinkTarget::Unresolved(link) => resolved(model, link, cx),
        target => Task::ready(Some(target.clone())),
    };
    cx.spawn_in(window, async move |this, cx| {
        let target = target.await;
        let opened = this.update_in(cx, |this, window, cx| match target {
            Some(target) => open_target(this, target, window, cx),
            None => this.tell(NOTICE, NO_TARGET, window, cx),
        });
        // The window may have been closed.
        opened.ok();
    })
    .detach();
}

/// Asks the server of a link for its target.
fn resolved(
    model: &Entity<DocumentModel>,
    link: &UnresolvedLink,
    cx: &App,
) -> Task<Option<LinkTarget>> {
    let servers = OpenFolder::servers_of(model, cx);
    let request = servers.and_then(|(servers, path)| {
        let servers = servers.read(cx).servers_of(&path);
        let mut servers = servers.iter();
        servers.find_map(|server| server.connection.resolve_link(link))
    });
    cx.background_spawn(async move { request?.await.ok().flatten() })
}

fn open_target(
    workbench: &mut Workbench,
    target: LinkTarget,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match target {
        LinkTarget::File { path, at } => {
            let place = at.map(|at| {
                GoToPosition::Place(LineColumn {
                    line: at.row.0.saturating_add(1),
                    column: at.column.0.saturating_add(1),
                })
            });
            let options = OpenOptions {
                place,
                ..OpenOptions::lasting()
            };
            workbench.open_path(path, options, window, cx);
        }
        LinkTarget::Web(address) => cx.open_url(&address),
        LinkTarget::Refused(scheme) => {
            let sentence = format!("Links with the scheme \"{scheme}:\" are not opened");
            workbench.tell(NOTICE, sentence, window, cx);
        }
        LinkTarget::Unresolved(_) => workbench.tell(NOTICE, NO_TARGET, window, cx),
    }
}
