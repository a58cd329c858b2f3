//! Work that a server reports as under way.

use serde::Deserialize;
use serde_json::Value;

/// Maximum number of works under way.
const MAX_WORKS: usize = 256;
/// Maximum length of a title or message, in bytes.
const MAX_TEXT: usize = 1 << 10;

/// Work of a server that is under way, such as indexing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The title of the work, as the server wrote it.
    pub title: String,
    /// The current step.
    pub message: Option<String>,
    /// The finished part, in percent.
    pub percentage: Option<u32>,
}

/// The work of one server that is under way, in the order of its beginning.
#[derive(Debug, Default)]
pub(crate) struct ProgressTable {
    /// Works with the JSON text of their tokens.
    works: Vec<(String, Progress)>,
    /// Whether any work began.
    has_begun: bool,
}

/// The parameters of `$/progress`. Partial results, which are never requested, have another value.
#[derive(Deserialize)]
pub(crate) struct WireProgress {
    token: Value,
    value: Value,
}

impl ProgressTable {
    /// Applies a notification; returns whether anything changed.
    pub(crate) fn apply(&mut self, progress: &WireProgress) -> bool {
        let WireProgress { token, value } = progress;
        let token = cut(&token.to_string());
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(cut);
        let percentage = value.get("percentage").and_then(Value::as_f64);
        let percentage = percentage.map(|percentage| percentage.clamp(0.0, 100.0) as u32);
        let known = self.works.iter().position(|(known, _)| *known == token);
        match (value.get("kind").and_then(Value::as_str), known) {
            (Some("begin"), known) => {
                self.has_begun = true;
                if let Some(known) = known {
                    self.works.remove(known);
                }
                let work = Progress {
                    title: text("title").unwrap_or_default(),
                    message: text("message"),
                    percentage,
                };
                if self.works.len() < MAX_WORKS {
                    self.works.push((token, work));
                }
                true
            }
            (Some("report"), Some(known)) => {
                let work = &mut self.works[known].1;
                work.message = text("message").or(work.message.take());
                work.percentage = percentage.or(work.percentage);
                true
            }
            (Some("end"), Some(known)) => {
                self.works.remove(known);
                true
            }
            _ => false,
        }
    }

    /// Forgets all work.
    pub(crate) fn clear(&mut self) {
        self.works.clear();
    }

    /// Returns whether any work began.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Returns the work under way.
    pub(crate) fn works(&self) -> Vec<Progress> {
        self.works.iter().map(|(_, work)| work.clone()).collect()
    }
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT)].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Progress, ProgressTable, WireProgress};

    fn apply(table: &mut ProgressTable, token: Value, value: Value) -> bool {
        table.apply(&WireProgress { token, value })
    }

    #[test]
    fn work_is_listed_from_its_beginning_to_its_end() {
        let mut table = ProgressTable::default();
        assert!(!apply(
            &mut table,
            json!(1),
            json!({"kind": "report", "message": "early"})
        ));
        assert!(!table.has_begun());
        assert!(apply(
            &mut table,
            json!(1),
            json!({"kind": "begin", "title": "Indexing"})
        ));
        // A number and a string are different tokens.
        assert!(!apply(&mut table, json!("1"), json!({"kind": "end"})));
        let report = json!({"kind": "report", "message": "core", "percentage": 250});
        assert!(apply(&mut table, json!(1), report));
        let expected = Progress {
            title: "Indexing".to_owned(),
            message: Some("core".to_owned()),
            percentage: Some(100),
        };
        assert_eq!(table.works(), [expected]);
        assert!(apply(&mut table, json!(1), json!({"kind": "end"})));
        assert_eq!(table.works(), []);
        assert!(table.has_begun());
    }

    #[test]
    fn endless_beginnings_are_bounded() {
        let mut table = ProgressTable::default();
        for token in 0..1_000 {
            apply(
                &mut table,
                json!(token),
                json!({"kind": "begin", "title": "x".repeat(9_000)}),
            );
        }
        assert_eq!(table.works().len(), 256);
        assert!(table.works().iter().all(|work| work.title.len() <= 1 << 10));
    }
}
