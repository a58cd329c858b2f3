//! Callers and callees of the function at the caret, supertypes and subtypes of the type.
//!
//! Start at `Workbench::show_hierarchy`.

use gpui_kit::{AppContext as _, Context, Div, InteractiveElement as _, Stateful, Window};
use lsp::{CallDirection, HierarchyItem, LanguageServer, Request, RequestError, TypeDirection};

use super::Workbench;
use crate::actions::language::{
    ShowIncomingCalls, ShowOutgoingCalls, ShowSubtypes, ShowSupertypes,
};
use crate::folder::OpenFolder;
use crate::item::TabItem;
use crate::pickers::hierarchy::{
    HierarchyPicker, HierarchyRelation, HierarchyRow, HierarchySubject,
};

/// Key of the notifications of this module.
const NOTICE: &str = "hierarchy";

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|this, _: &ShowIncomingCalls, window, cx| {
            let relation = HierarchyRelation::Calls(CallDirection::Incoming);
            show_at_caret(this, relation, window, cx);
        }))
        .on_action(cx.listener(|this, _: &ShowOutgoingCalls, window, cx| {
            let relation = HierarchyRelation::Calls(CallDirection::Outgoing);
            show_at_caret(this, relation, window, cx);
        }))
        .on_action(cx.listener(|this, _: &ShowSupertypes, window, cx| {
            let relation = HierarchyRelation::Types(TypeDirection::Supertypes);
            show_at_caret(this, relation, window, cx);
        }))
        .on_action(cx.listener(|this, _: &ShowSubtypes, window, cx| {
            let relation = HierarchyRelation::Types(TypeDirection::Subtypes);
            show_at_caret(this, relation, window, cx);
        }))
}

/// Asks the servers of the active text for the symbol at the caret, and shows its relations.
fn show_at_caret(
    workbench: &mut Workbench,
    relation: HierarchyRelation,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let editor = workbench.active_item().and_then(TabItem::editor).cloned();
    let Some(editor) = editor else {
        return;
    };
    let model = editor.read(cx).model().clone();
    let Some((servers, path)) = OpenFolder::servers_of(&model, cx) else {
        return workbench.tell(NOTICE, "No language server serves this text", window, cx);
    };
    let at = editor.update(cx, |editor, cx| editor.selections(cx).primary().head);
    let servers = servers.read(cx).servers_of(&path).into_iter();
    let requests: Vec<_> = servers
        .filter_map(|server| {
            let request = match relation {
                HierarchyRelation::Calls(_) => server.connection.prepare_calls(&path, at),
                HierarchyRelation::Types(_) => server.connection.prepare_types(&path, at),
            };
            Some((server.connection, request?))
        })
        .collect();
    if requests.is_empty() {
        let sentence = "The language server of this text cannot answer that, or does not run yet";
        return workbench.tell(NOTICE, sentence, window, cx);
    }
    cx.spawn_in(window, async move |this, cx| {
        let found = cx.background_spawn(first_item(requests)).await;
        let shown = this.update_in(cx, |this, window, cx| match found {
            Ok(Some((server, item))) => {
                let subject = HierarchySubject {
                    server,
                    relation,
                    trail: vec![item],
                };
                this.show_hierarchy(subject, window, cx);
            }
            Ok(None) => this.tell(NOTICE, nothing_at_caret(relation), window, cx),
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Returns the first symbol that a server names, with the server. Fails only if all servers did.
async fn first_item(
    requests: Vec<(LanguageServer, Request<Vec<HierarchyItem>>)>,
) -> Result<Option<(LanguageServer, HierarchyItem)>, RequestError> {
    let mut failure = None;
    for (server, request) in requests {
        match request.await {
            Ok(items) => {
                if let Some(item) = items.into_iter().next() {
                    return Ok(Some((server, item)));
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    failure.map_or(Ok(None), Err)
}

impl Workbench {
    /// Asks for the relations of a symbol, and lists them.
    pub(crate) fn show_hierarchy(
        &mut self,
        subject: HierarchySubject,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let asked = subject.clone();
        let rows = cx.background_spawn(async move { related(&asked).await });
        cx.spawn_in(window, async move |this, cx| {
            let rows = rows.await;
            let shown = this.update_in(cx, |this, window, cx| match rows {
                Ok(rows) if rows.is_empty() => {
                    let title = subject.relation.title().to_lowercase();
                    this.tell(NOTICE, format!("No {title} found"), window, cx);
                }
                Ok(rows) => {
                    let picker = HierarchyPicker::new(cx.weak_entity(), subject, rows);
                    this.pick(picker, window, cx);
                }
                Err(error) => this.report_error(error.to_string(), window, cx),
            });
            // The window may have been closed.
            shown.ok();
        })
        .detach();
    }
}

/// Returns the functions or types related to the last symbol of the trail.
async fn related(subject: &HierarchySubject) -> Result<Vec<HierarchyRow>, RequestError> {
    let Some(item) = subject.trail.last() else {
        return Ok(Vec::new());
    };
    let server = &subject.server;
    let rows = match subject.relation {
        HierarchyRelation::Calls(direction) => {
            let Some(request) = server.calls(direction, item) else {
                return Ok(Vec::new());
            };
            let calls = request.await?.into_iter();
            calls
                .map(|call| HierarchyRow::of_call(direction, call))
                .collect()
        }
        HierarchyRelation::Types(direction) => {
            let Some(request) = server.related_types(direction, item) else {
                return Ok(Vec::new());
            };
            let types = request.await?.into_iter();
            types.map(HierarchyRow::of_type).collect()
        }
    };
    Ok(rows)
}

fn nothing_at_caret(relation: HierarchyRelation) -> &'static str {
    match relation {
        HierarchyRelation::Calls(_) => "No function at the caret",
        HierarchyRelation::Types(_) => "No type at the caret",
    }
}
