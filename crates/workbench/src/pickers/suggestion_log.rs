//! The Tab log: models' suggestions that validation refused, with their text and the reason.

use gpui_kit::{App, Context, SharedString, Task, Window};
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use crate::prediction::RefusedSuggestion;

/// Picker delegate that lists refused suggestions and filters them by their text and reason.
pub(crate) struct SuggestionLog {
    /// Sorted from the newest.
    refused: Vec<RefusedSuggestion>,
    /// Indices of those that match the query.
    matching: Vec<usize>,
}

impl SuggestionLog {
    /// Creates the log of these suggestions, the newest first.
    pub(crate) fn new(refused: Vec<RefusedSuggestion>) -> Self {
        Self {
            matching: (0..refused.len()).collect(),
            refused,
        }
    }

    fn matching(&self, query: &str) -> Vec<usize> {
        let query = query.trim().to_lowercase();
        let holds = |part: &str| part.to_lowercase().contains(&query);
        let is_match = |refused: &RefusedSuggestion| {
            holds(&refused.text) || holds(&refused.reason) || holds(&refused.model)
        };
        let all = self.refused.iter().enumerate();
        all.filter(|(_, refused)| is_match(refused))
            .map(|(ix, _)| ix)
            .collect()
    }
}

impl PickerDelegate for SuggestionLog {
    type Found = Vec<usize>;

    fn name(&self) -> SharedString {
        "Refused suggestions".into()
    }

    fn placeholder(&self) -> SharedString {
        "Search refused suggestions".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        Task::ready(self.matching(query))
    }

    fn accept(&mut self, matching: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.matching = matching;
        0
    }

    fn count(&self) -> usize {
        self.matching.len()
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            "No suggestion has been refused in this window".into()
        } else {
            "No matching suggestions".into()
        }
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let refused = self.matching.get(ix).and_then(|ix| self.refused.get(*ix));
        let Some(refused) = refused else {
            return PickerRow::new("");
        };
        PickerRow::new(refused.text.trim().to_owned())
            .detail(refused.reason.clone())
            .end_text(refused.model.clone())
            .start(Icon::Info)
    }

    fn confirm(
        &mut self,
        _: usize,
        _: ConfirmKind,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        AfterConfirm::Stay
    }
}

#[cfg(test)]
mod tests {
    use super::SuggestionLog;
    use crate::prediction::RefusedSuggestion;

    #[test]
    fn refused_suggestions_are_found_by_text_and_reason() {
        let refused = |text: &str, reason: &str| RefusedSuggestion {
            text: text.to_owned(),
            reason: reason.to_owned(),
            model: "local/tab".to_owned(),
        };
        let log = SuggestionLog::new(vec![
            refused("f(a]", "the text would parse worse with it"),
            refused("gone()", "it restores text that was just removed"),
        ]);
        assert_eq!(log.matching(""), [0, 1]);
        assert_eq!(log.matching("GONE"), [1]);
        assert_eq!(log.matching("parse worse"), [0]);
        assert!(log.matching("nothing").is_empty());
    }
}
