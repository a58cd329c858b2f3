//! The list of sessions as the panel shows it: filter, archive, selection. Plain data, tested
//! without a window.
//!
//! Invariant: the selection follows its session when the list changes. A key of the filter looks at
//! titles, models and branches only, never at transcripts.
//! Start at `SessionList::set_entries`.

use crate::agents::SessionEntry;

/// The sessions of a folder, latest first, with the filter that the user typed.
#[derive(Debug, Default)]
pub(crate) struct SessionList {
    rows: Vec<ListedSession>,
    /// The words of the filter, in lower case. A session must contain all of them.
    words: Vec<String>,
    /// Whether the archived sessions are listed, instead of the others.
    shows_archived: bool,
    /// Indexes of the listed rows, in order.
    visible: Vec<usize>,
    /// Id of the selected session.
    selected: Option<String>,
}

#[derive(Debug)]
struct ListedSession {
    entry: SessionEntry,
    /// The text that the filter looks at, in lower case.
    text: String,
}

impl SessionList {
    /// Replaces the sessions. The selected session stays selected if it is still listed; otherwise
    /// the row at its place is.
    pub(crate) fn set_entries(&mut self, entries: Vec<SessionEntry>) {
        let rows = entries.into_iter().map(|entry| {
            let branch = entry.agent.as_ref().map_or("here", |it| &it.branch);
            let text = format!("{}\n{}\n{branch}", entry.title, entry.model);
            ListedSession {
                text: text.to_lowercase(),
                entry,
            }
        });
        let rows = rows.collect();
        let place = self.selected_index();
        self.rows = rows;
        self.update(place);
    }

    /// Sets the filter.
    pub(crate) fn set_filter(&mut self, filter: &str) {
        let words = filter.to_lowercase();
        self.words = words.split_whitespace().map(str::to_owned).collect();
        self.update(self.selected_index());
    }

    /// Turns to the archived sessions, or back to the others.
    pub(crate) fn toggle_archived(&mut self) {
        self.shows_archived = !self.shows_archived;
        self.update(self.selected_index());
    }

    /// Whether the archived sessions are listed, instead of the others.
    pub(crate) fn shows_archived(&self) -> bool {
        self.shows_archived
    }

    /// Whether the user typed a filter.
    pub(crate) fn has_filter(&self) -> bool {
        !self.words.is_empty()
    }

    /// Number of listed sessions.
    pub(crate) fn len(&self) -> usize {
        self.visible.len()
    }

    /// Returns the listed session at an index.
    pub(crate) fn get(&self, at: usize) -> Option<&SessionEntry> {
        let row = self.rows.get(*self.visible.get(at)?)?;
        Some(&row.entry)
    }

    /// Returns a session, listed or not.
    pub(crate) fn find(&self, id: &str) -> Option<&SessionEntry> {
        let row = self.rows.iter().find(|row| row.entry.id == id)?;
        Some(&row.entry)
    }

    /// Number of sessions that only the filter hides.
    pub(crate) fn hidden_by_filter(&self) -> usize {
        let of_kind = self.rows.iter();
        let of_kind = of_kind.filter(|row| row.entry.is_archived == self.shows_archived);
        of_kind.count() - self.visible.len()
    }

    /// Number of archived sessions.
    pub(crate) fn archived(&self) -> usize {
        self.rows.iter().filter(|row| row.entry.is_archived).count()
    }

    /// Index of the selected row; `None` if no session is listed.
    pub(crate) fn selected_index(&self) -> Option<usize> {
        let id = self.selected.as_ref()?;
        self.visible
            .iter()
            .position(|at| self.rows[*at].entry.id == *id)
    }

    /// Returns the selected session.
    pub(crate) fn selected(&self) -> Option<&SessionEntry> {
        self.get(self.selected_index()?)
    }

    /// Selects the row at an index. Does nothing if there is none.
    pub(crate) fn select(&mut self, at: usize) {
        if let Some(id) = self.get(at).map(|entry| entry.id.clone()) {
            self.selected = Some(id);
        }
    }

    /// Selects a session, which may not be listed yet.
    pub(crate) fn select_session(&mut self, id: &str) {
        self.selected = Some(id.to_owned());
    }

    /// Moves the selection by a number of rows, as far as there are rows.
    pub(crate) fn move_by(&mut self, step: isize) {
        let last = self.visible.len().saturating_sub(1);
        let at = self.selected_index().unwrap_or(0);
        self.select(at.saturating_add_signed(step).min(last));
    }

    /// Computes the listed rows anew. `place` is the index of the selected row before the change.
    /// Determine it before the rows are replaced, because `visible` has indexes of the old rows.
    fn update(&mut self, place: Option<usize>) {
        let is_listed = |row: &ListedSession| {
            row.entry.is_archived == self.shows_archived
                && self.words.iter().all(|word| row.text.contains(word))
        };
        let rows = self.rows.iter().enumerate();
        let visible = rows.filter(|(_, row)| is_listed(row)).map(|(at, _)| at);
        self.visible = visible.collect();
        if self.selected_index().is_none() {
            let last = self.visible.len().saturating_sub(1);
            self.select(place.unwrap_or(0).min(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{SessionAgent, SessionStatus};

    fn entry(id: &str, title: &str) -> SessionEntry {
        SessionEntry {
            id: id.to_owned(),
            title: title.to_owned(),
            age_ms: 0,
            model: "far/big".to_owned(),
            cost_nano: None,
            status: SessionStatus::Done,
            agent: None,
            is_archived: false,
            is_unread: false,
        }
    }

    fn list() -> SessionList {
        let mut agent = entry("b", "Paint the door");
        agent.agent = Some(SessionAgent {
            branch: "burin/door-1".to_owned(),
            job: Some("a1".to_owned()),
        });
        let mut old = entry("c", "Old roof");
        old.is_archived = true;
        let mut list = SessionList::default();
        list.set_entries(vec![entry("a", "Mend the Roof"), agent, old]);
        list
    }

    fn ids(list: &SessionList) -> Vec<&str> {
        let rows = (0..list.len()).filter_map(|at| list.get(at));
        rows.map(|entry| entry.id.as_str()).collect()
    }

    #[test]
    fn the_filter_looks_at_titles_models_and_branches() {
        let mut list = list();
        let mut check = |filter: &str, expected: &[&str], hidden: usize| {
            list.set_filter(filter);
            assert_eq!(ids(&list), expected, "{filter}");
            assert_eq!(list.hidden_by_filter(), hidden, "{filter}");
        };
        check("", &["a", "b"], 0);
        check("ROOF", &["a"], 1);
        check("door-1", &["b"], 1);
        check("far the", &["a", "b"], 0);
        check("roof door", &[], 2);
        check("here", &["a"], 1);
    }

    #[test]
    fn archived_sessions_are_listed_by_themselves() {
        let mut list = list();
        assert_eq!(list.archived(), 1);
        list.toggle_archived();
        assert_eq!(ids(&list), ["c"]);
        list.set_filter("mend");
        assert_eq!((ids(&list).len(), list.hidden_by_filter()), (0, 1));
        list.toggle_archived();
        assert_eq!(ids(&list), ["a"]);
    }

    #[test]
    fn the_selection_follows_its_session() {
        let mut list = list();
        let selected = |list: &SessionList| list.selected().map(|it| it.id.clone());
        assert_eq!(selected(&list).as_deref(), Some("a"));
        list.move_by(1);
        assert_eq!(selected(&list).as_deref(), Some("b"));
        list.move_by(5);
        assert_eq!(selected(&list).as_deref(), Some("b"));
        // A newer session comes first.
        let entries = ["d", "b", "a"].map(|id| entry(id, id));
        list.set_entries(entries.to_vec());
        assert_eq!(list.selected_index(), Some(1));
        // The session is gone: the row at its place is selected.
        list.set_entries(["d", "a"].map(|id| entry(id, id)).to_vec());
        assert_eq!(selected(&list).as_deref(), Some("a"));
        list.set_entries(Vec::new());
        assert_eq!(selected(&list), None);
        list.move_by(-1);
        assert_eq!(selected(&list), None);
    }
}
