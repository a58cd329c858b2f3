//! The fixes and refactorings that language servers offer at the caret.

use base::{LineFeeds, printable};
use gpui_kit::{App, Context, SharedString, Task, WeakEntity, Window};
use lsp::{CodeAction, LanguageServer};
use project::fuzzy::{self, CandidateKind};
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use super::byte_offsets;
use crate::workbench::Workbench;

/// A code action and its server.
pub(crate) struct OfferedAction {
    /// The server.
    pub(crate) server: LanguageServer,
    /// Its id.
    pub(crate) server_id: String,
    /// The action.
    pub(crate) action: CodeAction,
}

/// Groups of actions, in the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ActionGroup {
    QuickFix,
    Refactoring,
    Source,
    Other,
}

/// Picker delegate that lists code actions.
pub(crate) struct CodeActionPicker {
    workbench: WeakEntity<Workbench>,
    offered: Vec<OfferedAction>,
    titles: Vec<String>,
    /// Indices of the actions that match the query, with the chars that match.
    found: Vec<(usize, Vec<usize>)>,
}

impl CodeActionPicker {
    /// Creates the picker: fixes first, those preferred by the server before others, actions that are not possible here
    /// last.
    pub(crate) fn new(workbench: WeakEntity<Workbench>, mut offered: Vec<OfferedAction>) -> Self {
        offered.sort_by_key(|offered| rank(&offered.action));
        let titles = offered.iter();
        let titles = titles.map(|it| printable(&it.action.title, LineFeeds::Escape).into_owned());
        Self {
            workbench,
            titles: titles.collect(),
            found: Vec::new(),
            offered,
        }
    }
}

fn rank(action: &CodeAction) -> (bool, ActionGroup, bool) {
    let group = group(action.kind.as_deref());
    (
        action.disabled_reason.is_some(),
        group,
        !action.is_preferred,
    )
}

fn group(kind: Option<&str>) -> ActionGroup {
    let kind = kind.unwrap_or_default();
    match kind.split('.').next() {
        Some("quickfix") => ActionGroup::QuickFix,
        Some("refactor") => ActionGroup::Refactoring,
        Some("source") => ActionGroup::Source,
        _ => ActionGroup::Other,
    }
}

impl PickerDelegate for CodeActionPicker {
    type Found = Vec<(usize, Vec<usize>)>;

    fn name(&self) -> SharedString {
        "Code actions".into()
    }

    fn placeholder(&self) -> SharedString {
        "Fixes and refactorings".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        if query.is_empty() {
            let all = 0..self.titles.len();
            return Task::ready(all.map(|index| (index, Vec::new())).collect());
        }
        let titles: Vec<&str> = self.titles.iter().map(String::as_str).collect();
        let cancel = std::sync::atomic::AtomicBool::new(false);
        // A server offers a few dozen actions.
        let ranked = fuzzy::rank(query, &titles, CandidateKind::Text, titles.len(), &cancel);
        let marked = |index: usize| {
            let title = titles[index];
            let positions = fuzzy::positions(query, title, CandidateKind::Text);
            byte_offsets(title, &positions)
        };
        let found = ranked.into_iter().map(|it| (it.index, marked(it.index)));
        Task::ready(found.collect())
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        0
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some((index, matched)) = self.found.get(ix) else {
            return PickerRow::default();
        };
        let OfferedAction {
            server_id, action, ..
        } = &self.offered[*index];
        let icon = match group(action.kind.as_deref()) {
            ActionGroup::QuickFix => Icon::Lightbulb,
            ActionGroup::Refactoring => Icon::Edit,
            ActionGroup::Source | ActionGroup::Other => Icon::Braces,
        };
        let row = PickerRow::new(self.titles[*index].clone())
            .matches(matched.iter().copied())
            .start(icon)
            .end_text(server_id.clone())
            .prose();
        match &action.disabled_reason {
            Some(reason) => row
                .detail(printable(reason, LineFeeds::Escape).into_owned())
                .muted(),
            None => row,
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let offered = self.found.get(ix).map(|(index, _)| &self.offered[*index]);
        let offered = offered.filter(|it| it.action.disabled_reason.is_none());
        let (Some(offered), Some(workbench)) = (offered, self.workbench.upgrade()) else {
            return AfterConfirm::Stay;
        };
        let (server, action) = (offered.server.clone(), offered.action.clone());
        // The picker closes first: the edit may have to be confirmed.
        window.defer(cx, move |window, cx| {
            workbench.update(cx, |workbench, cx| {
                workbench.run_code_action(server, action, window, cx);
            });
        });
        AfterConfirm::Close
    }
}

#[cfg(test)]
mod tests {
    use super::{ActionGroup, group};

    #[test]
    fn kinds_have_groups_by_their_first_part() {
        let check = |kind, expected| assert_eq!(group(kind), expected, "{kind:?}");
        check(Some("quickfix"), ActionGroup::QuickFix);
        check(Some("refactor.extract.function"), ActionGroup::Refactoring);
        check(Some("source.organizeImports"), ActionGroup::Source);
        check(Some("refactoring"), ActionGroup::Other);
        check(None, ActionGroup::Other);
    }
}
