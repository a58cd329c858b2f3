//! The changelog of the repository in the forms that packages need.
//!
//! `CHANGELOG.md` has a section `## VERSION (DATE)` for each release, the newest first, with one list of changes.

use crate::calendar::CalendarDay;
use crate::error::Error;

/// A release, as the changelog describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReleaseNotes {
    pub(crate) version: String,
    pub(crate) day: CalendarDay,
    /// One sentence or more for each change, without Markdown.
    pub(crate) changes: Vec<String>,
}

/// Parses the changelog; there is at least one release.
pub(crate) fn parse(text: &str) -> Result<Vec<ReleaseNotes>, Error> {
    let mut releases: Vec<ReleaseNotes> = Vec::new();
    for row in text.lines() {
        if let Some(heading) = row.strip_prefix("## ") {
            releases.push(parse_heading(heading)?);
        }
        let Some(release) = releases.last_mut() else {
            continue;
        };
        if let Some(change) = row.strip_prefix("- ") {
            release.changes.push(plain(change));
        } else if let (Some(more), Some(change)) =
            (row.strip_prefix("  "), release.changes.last_mut())
        {
            change.push(' ');
            change.push_str(&plain(more.trim()));
        }
    }
    let is_sorted = releases.is_sorted_by(|newer, older| newer.day >= older.day);
    let problem = if releases.is_empty() {
        "it names no release"
    } else if !is_sorted {
        "the newest release must be the first"
    } else if releases.iter().any(|release| release.changes.is_empty()) {
        "a release has no changes"
    } else {
        return Ok(releases);
    };
    Err(Error::Changelog {
        problem: problem.to_owned(),
    })
}

fn parse_heading(heading: &str) -> Result<ReleaseNotes, Error> {
    let version_and_day = heading.split_once(" (").and_then(|(version, day)| {
        let day = CalendarDay::parse(day.strip_suffix(')')?)?;
        Some((version.to_owned(), day))
    });
    let (version, day) = version_and_day.ok_or_else(|| Error::Changelog {
        problem: format!("\"{heading}\" is not \"VERSION (YEAR-MONTH-DAY)\""),
    })?;
    let changes = Vec::new();
    Ok(ReleaseNotes {
        version,
        day,
        changes,
    })
}

/// Removes the marks of code from Markdown.
fn plain(markdown: &str) -> String {
    markdown.replace('`', "")
}

/// Returns the changelog in the form of Debian.
pub(crate) fn debian(releases: &[ReleaseNotes], maintainer: &str) -> String {
    let entries = releases.iter().map(|release| {
        let changes = release.changes.iter();
        let changes: String = changes.map(|change| wrapped(change)).collect();
        let (version, day) = (&release.version, release.day.debian());
        format!("burin ({version}) stable; urgency=medium\n\n{changes}\n -- {maintainer}  {day}\n")
    });
    entries.collect::<Vec<_>>().join("\n")
}

/// Returns a change as a list item of at most 78 columns.
fn wrapped(change: &str) -> String {
    const COLUMNS: usize = 78;
    let mut text = String::from("  *");
    let mut column = text.len();
    for word in change.split_whitespace() {
        let width = word.chars().count() + 1;
        if column + width > COLUMNS {
            text.push_str("\n   ");
            column = 3;
        }
        text.push(' ');
        text.push_str(word);
        column += width;
    }
    text + "\n"
}

/// Returns the releases as the elements of AppStream's metainfo.
pub(crate) fn metainfo(releases: &[ReleaseNotes]) -> String {
    let entries = releases.iter().map(|release| {
        let items = release.changes.iter();
        let items: String = items
            .map(|change| format!("          <li>{}</li>\n", escaped(change)))
            .collect();
        let (version, day) = (escaped(&release.version), release.day.iso());
        format!(
            "    <release version=\"{version}\" date=\"{day}\">\n      <description>\n        <ul>\n{items}        </ul>\n      </description>\n    </release>"
        )
    });
    entries.collect::<Vec<_>>().join("\n")
}

/// Escapes a text for XML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::{debian, metainfo, parse};

    const TEXT: &str = "# Changelog\n\nWords.\n\n## 1.1.0 (2026-12-01)\n\n- Adds `a` & b.\n- A change with more words than fit into \
                        the seventy-eight columns of a\n  changelog.\n\n## 1.0.0 (2026-11-30)\n\n- First release.\n";

    #[test]
    fn releases_have_versions_days_and_changes() {
        let releases = parse(TEXT).expect("a changelog");
        let shown: Vec<_> = releases
            .iter()
            .map(|release| {
                (
                    release.version.as_str(),
                    release.day.iso(),
                    release.changes.len(),
                )
            })
            .collect();
        let expected = [
            ("1.1.0", "2026-12-01".to_owned(), 2),
            ("1.0.0", "2026-11-30".to_owned(), 1),
        ];
        assert_eq!(shown, expected);
        assert_eq!(releases[0].changes[0], "Adds a & b.");
        assert!(releases[0].changes[1].ends_with("of a changelog."));
    }

    #[test]
    fn debian_and_appstream_have_forms_of_their_own() {
        let releases = parse(TEXT).expect("a changelog");
        assert_eq!(
            debian(&releases, "M <m@x>"),
            "burin (1.1.0) stable; urgency=medium\n\n  * Adds a & b.\n  * A change with more words than fit into the \
             seventy-eight columns of a\n    changelog.\n\n -- M <m@x>  Tue, 01 Dec 2026 12:00:00 +0000\n\n\
             burin (1.0.0) stable; urgency=medium\n\n  * First release.\n\n -- M <m@x>  Mon, 30 Nov 2026 12:00:00 +0000\n"
        );
        let elements = metainfo(&releases);
        assert!(elements.contains("<release version=\"1.1.0\" date=\"2026-12-01\">"));
        assert!(elements.contains("<li>Adds a &amp; b.</li>"), "{elements}");
        let document = format!("<releases>{elements}</releases>");
        assert!(roxmltree::Document::parse(&document).is_ok());
    }

    #[test]
    fn another_form_is_an_error() {
        for text in [
            "",
            "## 1.0.0\n\n- a\n",
            "## 1.0.0 (30.11.2026)\n\n- a\n",
            "## 1.0.0 (2026-11-30)\n\nNo list.\n",
            "## 1.0.0 (2026-11-30)\n\n- a\n\n## 1.1.0 (2026-12-01)\n\n- b\n",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
