//! Renaming the symbol at the caret.

use futures::channel::oneshot;
use gpui_kit::{AsyncWindowContext, Context, WeakEntity, Window};
use lsp::{LanguageServer, WorkspaceEdit};

use super::super::Workbench;
use super::super::locations::word_at;
use super::{EditReview, NOTICE, active_servers, apply_answer};
use crate::actions::language::RenameSymbol;
use crate::pickers::rename_symbol::{NewName, RenamePicker};

/// A symbol that is to be renamed, and the server that does it.
struct RenamedSymbol {
    server: LanguageServer,
    path: base::AbsPath,
    at: base::ByteOffset,
    name: String,
}

/// Asks the server for the name at the caret, then the user for another one.
pub(super) fn rename_symbol(
    workbench: &mut Workbench,
    _: &RenameSymbol,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((editor, path, servers)) = active_servers(workbench, window, cx) else {
        return;
    };
    let server = servers
        .into_iter()
        .map(|server| server.connection)
        .find(|server| server.offers_rename(&path));
    let Some(server) = server else {
        let sentence = "The language server of this text does not rename symbols";
        return workbench.tell(NOTICE, sentence, window, cx);
    };
    let at = editor.update(cx, |editor, cx| editor.selections(cx).primary().head);
    let text = editor.read(cx).model().read(cx).snapshot();
    let asked = server.prepare_rename(&path, at);
    cx.spawn_in(window, async move |this, cx| {
        let target = match asked {
            Some(request) => request.await,
            None => Ok(Some(lsp::RenameTarget {
                span: None,
                placeholder: None,
            })),
        };
        let name = target.map(|target| {
            let target = target?;
            let span = target.span.map(|span| text.text(span).into_owned());
            let name = target.placeholder.or(span);
            Some(name.unwrap_or_else(|| word_at(&text, at)))
        });
        let shown = this.update_in(cx, |this, window, cx| match name {
            Ok(Some(name)) if !name.is_empty() => {
                let symbol = RenamedSymbol {
                    server,
                    path,
                    at,
                    name,
                };
                ask_for_name(this, symbol, window, cx);
            }
            Ok(_) => this.tell(NOTICE, "Nothing to rename at the caret", window, cx),
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

fn ask_for_name(
    workbench: &mut Workbench,
    symbol: RenamedSymbol,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let (reply, answer) = oneshot::channel();
    let old = symbol.name.clone();
    workbench.pick_with(RenamePicker::new(&old, reply), &old, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        // Without an answer, the user dismissed the picker.
        if let Ok(new) = answer.await {
            rename(&this, symbol, new, cx).await;
        }
    })
    .detach();
}

async fn rename(
    this: &WeakEntity<Workbench>,
    symbol: RenamedSymbol,
    new: NewName,
    cx: &mut AsyncWindowContext,
) {
    let RenamedSymbol {
        server,
        path,
        at,
        name,
    } = symbol;
    let answer = match server.rename(&path, at, &new.name) {
        Some(request) => request.await,
        None => Ok(WorkspaceEdit::default()),
    };
    let title = format!(
        "Rename \u{201c}{name}\u{201d} to \u{201c}{}\u{201d}",
        new.name
    );
    let review = if new.wants_preview {
        EditReview::Always
    } else {
        EditReview::IfNeeded
    };
    apply_answer(this, &title, answer, review, cx).await;
}
