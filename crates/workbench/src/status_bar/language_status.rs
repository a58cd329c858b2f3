//! The part of the status bar about language servers: problems, work, and servers that do not run.

use editor::DiagnosticCounts;
use language::ServerState;
use ui::{Icon, Tone};

use super::StatusItem;
use crate::actions::language::{ShowProblems, ShowServers};
use crate::folder_diagnostics;
use crate::language_servers::LanguageServers;

/// The state of a folder's language servers, as far as the bar shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LanguageStatus {
    /// Whether a server is running, so that "No problems" may be shown.
    has_server: bool,
    /// Problems in the folder.
    counts: DiagnosticCounts,
    /// The work of a server, for display.
    work: Option<String>,
    /// The servers that failed or are not installed, for display.
    trouble: Option<String>,
}

impl LanguageStatus {
    /// Reads the state of a folder's servers.
    pub(super) fn of(servers: &LanguageServers) -> Self {
        let statuses = servers.statuses();
        let is_running = |state: &ServerState| matches!(state, ServerState::Running { .. });
        let work = statuses.iter().find_map(|status| {
            let work = status.progress.first()?;
            let percent = work.percentage.map(|it| format!(" {it} %"));
            let percent = percent.unwrap_or_default();
            Some(format!("{}: {}{percent}", status.key.id, work.title))
        });
        let starting = statuses.iter().find(|it| it.state == ServerState::Starting);
        let failed = statuses.iter().find(|it| {
            matches!(
                it.state,
                ServerState::Failed(_) | ServerState::Restarting(_)
            )
        });
        let missing = servers.missing();
        let trouble = failed
            .map(|status| format!("{} failed", status.key.id))
            .or_else(|| {
                let hung = statuses.iter().find(|it| !it.is_responding)?;
                Some(format!("{} does not answer", hung.key.id))
            })
            .or_else(|| {
                missing
                    .first()
                    .map(|it| format!("{} is not installed", it.id))
            })
            .or_else(|| servers.refusal().map(|_| "No language servers".to_owned()));
        Self {
            has_server: statuses.iter().any(|status| is_running(&status.state)),
            counts: servers.diagnostics().total(),
            work: work.or_else(|| starting.map(|it| format!("{} starts", it.key.id))),
            trouble,
        }
    }

    /// Returns the items of the bar.
    pub(super) fn items(&self) -> Vec<StatusItem> {
        let mut items = Vec::new();
        let DiagnosticCounts { errors, warnings } = self.counts;
        if self.has_server || errors + warnings > 0 {
            let help = "Problems in this folder";
            let text = match (errors, warnings) {
                (0, 0) => "No problems".to_owned(),
                _ => folder_diagnostics::phrase(self.counts),
            };
            let mut item = StatusItem::new("diagnostics", text, help, ShowProblems);
            (item.icon, item.tone) = match (errors, warnings) {
                (0, 0) => (Some(Icon::CircleCheck), None),
                (0, _) => (Some(Icon::Warning), Some(Tone::Warning)),
                _ => (Some(Icon::CircleAlert), Some(Tone::Error)),
            };
            items.push(item);
        }
        let text = self.trouble.as_ref().or(self.work.as_ref());
        if let Some(text) = text {
            let help = "Language servers of the folder";
            let mut item = StatusItem::new("language-servers", text.clone(), help, ShowServers);
            item.icon = Some(Icon::Braces);
            item.tone = self.trouble.is_some().then_some(Tone::Warning);
            items.push(item);
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(errors: usize, warnings: usize, trouble: Option<&str>, expected: &[&str]) {
        let status = LanguageStatus {
            has_server: true,
            counts: DiagnosticCounts { errors, warnings },
            work: Some("ty: indexing".to_owned()),
            trouble: trouble.map(str::to_owned),
        };
        let texts: Vec<String> = status
            .items()
            .iter()
            .map(|it| it.text.to_string())
            .collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn problems_are_counted_and_trouble_comes_before_work() {
        check(0, 0, None, &["No problems", "ty: indexing"]);
        check(1, 0, None, &["1 error", "ty: indexing"]);
        check(
            2,
            1,
            Some("ty failed"),
            &["2 errors, 1 warning", "ty failed"],
        );
        assert!(LanguageStatus::default().items().is_empty());
    }
}
