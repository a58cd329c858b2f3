//! Builds the search query from the fields and the settings.

use async_channel::Receiver;
use base::AbsPath;
use gpui_kit::{App, Context};
use project::search::{CaseSensitivity, SearchEvent, SearchQuery, SearchScope, Syntax};
use project::{HiddenFiles, IgnoredFiles, WalkOptions};
use ui::ActiveSettings as _;

use super::SearchPanel;
use crate::documents::Documents;

/// Number of files in the result channel; when it is full, the search waits.
pub(super) const WAITING: usize = 256;
/// Maximum number of events handled between two frames.
const BATCH: usize = 400;

/// Collects `first` and the events already in the channel.
pub(super) fn gather(first: SearchEvent, events: &Receiver<SearchEvent>) -> Vec<SearchEvent> {
    let mut batch = vec![first];
    while batch.len() < BATCH {
        match events.try_recv() {
            Ok(event) => batch.push(event),
            Err(_) => break,
        }
    }
    batch
}

/// Splits globs at commas and semicolons, except within braces, within brackets or after a
/// backslash.
pub(super) fn globs(text: &str) -> Vec<String> {
    let mut globs = vec![String::new()];
    let (mut braces, mut is_class, mut is_escaped) = (0_usize, false, false);
    for char in text.chars() {
        let is_plain = !is_escaped && !is_class;
        match char {
            ',' | ';' if is_plain && braces == 0 => {
                globs.push(String::new());
                continue;
            }
            '[' if is_plain => is_class = true,
            ']' if !is_escaped => is_class = false,
            '{' if is_plain => braces += 1,
            '}' if is_plain => braces = braces.saturating_sub(1),
            _ => {}
        }
        is_escaped = char == '\\' && !is_escaped;
        if let Some(glob) = globs.last_mut() {
            glob.push(char);
        }
    }
    let trimmed = globs.iter().map(|glob| glob.trim());
    let trimmed = trimmed.map(|glob| glob.trim_start_matches("./"));
    trimmed
        .filter(|glob| !glob.is_empty())
        .map(str::to_owned)
        .collect()
}

impl SearchPanel {
    /// Returns the query that the fields, the toggles and the settings describe.
    pub(super) fn query(&self, cx: &App) -> SearchQuery {
        let settings = &cx.settings().search;
        let mut exclude = settings.exclude.clone();
        exclude.extend(globs(&self.exclude.read(cx).value()));
        SearchQuery {
            pattern: self.pattern.read(cx).value().to_string(),
            syntax: if self.options.is_regex {
                Syntax::Regex
            } else {
                Syntax::Literal
            },
            case: match (self.options.is_case_sensitive, settings.smart_case) {
                (true, _) => CaseSensitivity::Sensitive,
                (false, true) => CaseSensitivity::Smart,
                (false, false) => CaseSensitivity::Insensitive,
            },
            whole_word: self.options.is_whole_word,
            files: WalkOptions {
                include: globs(&self.include.read(cx).value()),
                exclude,
                hidden: if settings.hidden {
                    HiddenFiles::Visit
                } else {
                    HiddenFiles::Skip
                },
                ignored: if settings.use_ignore_files {
                    IgnoredFiles::Skip
                } else {
                    IgnoredFiles::Visit
                },
            },
            context_rows: settings.context_lines as usize,
            limit: settings.max_results as usize,
            only_rows: false,
        }
    }

    /// Returns the search scope: the folder, with open texts in place of their files.
    pub(super) fn scope(&self, root: AbsPath, cx: &Context<Self>) -> SearchScope {
        let sieve = crate::folder::OpenFolder::prefilter_of(&root, cx);
        SearchScope::new(self.services.ground.clone(), root)
            .with_unsaved(Documents::texts_beside_files(cx))
            .with_prefilter(sieve)
    }
}

#[cfg(test)]
mod tests {
    use super::globs;

    #[test]
    fn globs_are_split() {
        assert_eq!(globs("src, *.rs;./tests  "), ["src", "*.rs", "tests"]);
        assert!(globs(" , ").is_empty());
        assert_eq!(globs("*.{rs,toml}, a b/*.md"), ["*.{rs,toml}", "a b/*.md"]);
        assert_eq!(globs("{a,{b,c}};[,;]x,d"), ["{a,{b,c}}", "[,;]x", "d"]);
        assert_eq!(globs(r"a\,b, \{c, d"), [r"a\,b", r"\{c", "d"]);
        assert_eq!(globs("a{b, c"), ["a{b, c"], "it is not closed");
    }
}
