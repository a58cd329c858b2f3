//! Choosing a commit, a branch or a stash by the words of its subject or name, or a revision as Git writes it.

use git_panel::NamedVersion;
use git_program::LogRow;
use gpui_kit::{App, Context, SharedString, Task, Window};
use project::fuzzy::{self, CandidateKind};
use ui::foreign;
use ui::picker::{
    AfterConfirm, Confirm, ConfirmKind, ConfirmOther, FooterHint, Picker, PickerDelegate, PickerRow,
};

use super::byte_offsets;

/// Characters of a commit id that people read.
const SHORT_ID: usize = 8;

/// Uses the chosen version.
type OnChosen = Box<dyn Fn(NamedVersion, &mut Window, &mut App)>;

/// Picker delegate over commits, or over other versions. The typed text can be used as a revision, such as `v1.2` or
/// `HEAD~20`.
pub(crate) struct CommitPicker {
    heading: &'static str,
    versions: Vec<NamedVersion>,
    on_chosen: OnChosen,
    query: String,
    found: Vec<(usize, Vec<usize>)>,
}

impl CommitPicker {
    /// Creates the picker over commits, the newest first.
    pub(crate) fn new(
        heading: &'static str,
        commits: Vec<LogRow>,
        on_chosen: impl Fn(String, &mut Window, &mut App) + 'static,
    ) -> Self {
        let versions = commits.into_iter().map(version_of).collect();
        Self::of_versions(heading, versions, move |version, window, cx| {
            on_chosen(version.revision, window, cx);
        })
    }

    /// Creates the picker over versions.
    pub(crate) fn of_versions(
        heading: &'static str,
        versions: Vec<NamedVersion>,
        on_chosen: impl Fn(NamedVersion, &mut Window, &mut App) + 'static,
    ) -> Self {
        Self {
            heading,
            versions,
            on_chosen: Box::new(on_chosen),
            query: String::new(),
            found: Vec::new(),
        }
    }

    /// Returns the typed revision.
    fn typed(&self) -> NamedVersion {
        NamedVersion {
            revision: self.query.clone(),
            name: self.query.clone(),
            detail: String::new(),
        }
    }
}

fn version_of(commit: LogRow) -> NamedVersion {
    let short = commit.id.get(..SHORT_ID).unwrap_or(&commit.id);
    let refs = commit.refs.iter().map(|label| label.name.as_str());
    let parts = [short, commit.author.as_str()].into_iter().chain(refs);
    NamedVersion {
        detail: parts.collect::<Vec<_>>().join(" \u{b7} "),
        name: commit.subject,
        revision: commit.id,
    }
}

impl PickerDelegate for CommitPicker {
    type Found = Vec<(usize, Vec<usize>)>;

    fn name(&self) -> SharedString {
        "Commits".into()
    }

    fn heading(&self) -> Option<SharedString> {
        Some(self.heading.into())
    }

    fn placeholder(&self) -> SharedString {
        "Words of a subject, or a revision".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        query.trim().clone_into(&mut self.query);
        // A few hundred subjects do not justify a thread.
        let subjects = self.versions.iter().map(|it| it.name.as_str());
        let subjects: Vec<&str> = subjects.collect();
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let kind = CandidateKind::Text;
        let ranked = fuzzy::rank(query, &subjects, kind, subjects.len(), &cancel);
        let found = ranked.into_iter().map(|ranked| {
            let subject = subjects[ranked.index];
            let chars = fuzzy::positions(query, subject, kind);
            (ranked.index, byte_offsets(subject, &chars))
        });
        Task::ready(found.collect())
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        0
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row_lines(&self) -> u8 {
        2
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some((index, matched)) = self.found.get(ix) else {
            return PickerRow::default();
        };
        let version = &self.versions[*index];
        PickerRow::new(foreign::one_line(version.name.clone()))
            .matches(matched.iter().copied())
            .detail(foreign::one_line(version.detail.clone()))
            .prose()
    }

    fn nothing_found(&self, _: &str) -> SharedString {
        "No subject has these words; Enter takes them as a revision".into()
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![
            FooterHint::new(Confirm, "choose"),
            FooterHint::new(ConfirmOther, "take the typed revision"),
        ]
    }

    fn confirm(
        &mut self,
        ix: usize,
        kind: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let chosen = self.found.get(ix).map(|(index, _)| *index);
        let version = match (kind, chosen) {
            (ConfirmKind::Other, _) if !self.query.is_empty() => self.typed(),
            (_, Some(index)) => self.versions[index].clone(),
            (_, None) => return AfterConfirm::Stay,
        };
        (self.on_chosen)(version, window, cx);
        AfterConfirm::Close
    }

    fn confirm_query(
        &mut self,
        _: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        if self.query.is_empty() {
            return AfterConfirm::Stay;
        }
        (self.on_chosen)(self.typed(), window, cx);
        AfterConfirm::Close
    }
}
