//! Blame: the authors of the rows of a text, as marks of the editor, and the card of a commit.
//!
//! Pure. Start at `blamed_rows`.

use std::path::PathBuf;
use std::sync::Arc;

use base::Row;
use editor::LineAuthor;
use git_program::{BlamedCommit, BlamedLines};
use text::RowSpan;
use ui::foreign::one_line;

use crate::age::{age, age_share, date};

/// Characters of a commit id that people read.
const SHORT_ID: usize = 8;

/// A blame to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameRequest {
    /// The file, relative to the root of the working tree.
    pub path: PathBuf,
    /// The unsaved text; `None` if the file has all of it.
    pub content: Option<Vec<u8>>,
}

/// Returns the authors of rows. `key` returns the number with which the editor reports a commit; lines that are not
/// committed are left out, because rows without an author are shown as such.
pub fn blamed_rows(
    found: &[BlamedLines],
    now: i64,
    key: &mut dyn FnMut(&Arc<BlamedCommit>) -> usize,
) -> Vec<(RowSpan, Arc<LineAuthor>)> {
    let committed = found.iter().filter(|lines| lines.commit.id.is_some());
    committed
        .map(|lines| {
            let rows = RowSpan {
                start: Row(lines.lines.start),
                end: Row(lines.lines.end),
            };
            let key = key(&lines.commit);
            (rows, Arc::new(author_of(&lines.commit, key, now)))
        })
        .collect()
}

fn author_of(commit: &BlamedCommit, key: usize, now: i64) -> LineAuthor {
    let age = age(now, commit.seconds);
    let inline = format!("{}, {age} \u{b7} {}", commit.author, commit.subject);
    let id = short_id(commit.id.as_deref().unwrap_or_default());
    let description = format!(
        "{}\n{} <{}>, {} ({age})\n{id}",
        commit.subject,
        commit.author,
        commit.address,
        date(commit.seconds),
    );
    LineAuthor {
        name: one_line(commit.author.clone()),
        age: age.into(),
        inline: one_line(inline),
        description: ui::foreign::multi_line(description),
        share: age_share(now, commit.seconds),
        key,
    }
}

/// Returns the first characters of a commit id.
pub(crate) fn short_id(id: &str) -> &str {
    id.get(..SHORT_ID).unwrap_or(id)
}

/// Returns the text of the card of a commit; `message` is the whole message, once it is known.
pub fn commit_card(commit: &BlamedCommit, message: Option<&str>, now: i64) -> String {
    let id = commit.id.as_deref().unwrap_or_default();
    format!(
        "{}\n\n{} <{}>\n{}, {}\nCommit {}",
        message.unwrap_or(&commit.subject).trim_end(),
        commit.author,
        commit.address,
        date(commit.seconds),
        age(now, commit.seconds),
        short_id(id),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use git_program::{BlamedCommit, BlamedLines};

    use super::{blamed_rows, commit_card};

    fn lines(first: u32, count: u32, id: Option<&str>) -> BlamedLines {
        let commit = BlamedCommit {
            id: id.map(str::to_owned),
            author: "Ann\u{202e}".to_owned(),
            address: "ann@example.org".to_owned(),
            seconds: 0,
            subject: "one".to_owned(),
            ..BlamedCommit::default()
        };
        BlamedLines {
            lines: first..first + count,
            source_line: first,
            source_path: "a.rs".into(),
            commit: Arc::new(commit),
        }
    }

    #[test]
    fn rows_have_authors_unless_they_are_not_committed() {
        let found = [
            lines(0, 2, Some("1234567890")),
            lines(2, 1, None),
            lines(3, 1, Some("1234567890")),
        ];
        let mut keys = 0;
        let rows = blamed_rows(&found, 86_400, &mut |_| {
            keys += 1;
            keys
        });
        let spans: Vec<_> = rows
            .iter()
            .map(|(rows, author)| (rows.start.0, rows.end.0, author.key))
            .collect();
        assert_eq!(spans, [(0, 2, 1), (3, 4, 2)]);
        let author = &rows[0].1;
        assert_eq!(author.name, "Ann<U+202E>");
        assert_eq!(author.inline, "Ann<U+202E>, 1 day ago \u{b7} one");
        assert!(author.description.ends_with("\n12345678"));
    }

    #[test]
    fn a_card_shows_the_whole_message_once_it_is_known() {
        let commit = lines(0, 1, Some("1234567890")).commit;
        let card = commit_card(&commit, None, 0);
        assert!(card.starts_with("one\n\nAnn"), "{card}");
        assert!(
            card.ends_with("1970-01-01, just now\nCommit 12345678"),
            "{card}"
        );
        let card = commit_card(&commit, Some("one\n\nmore\n"), 0);
        assert!(card.starts_with("one\n\nmore\n\nAnn"), "{card}");
    }
}
