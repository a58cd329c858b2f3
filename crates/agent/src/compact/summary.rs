//! The summary that replaces the older part of a conversation: the request for it and the parsed
//! response.

use std::collections::BTreeMap;

use model::{CacheMark, Message, ModelId, ModelRequest, Role, SystemBlock, TokenCount};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CompactItem, CompactItemKind, SummaryContext};
use crate::context::{Header, summary_prompt};
use crate::excerpt::head_and_tail;
use crate::record::{PromptOrigin, TodoState};

/// Maximum bytes of a summary.
pub(super) const MAX_SUMMARY_BYTES: u64 = 8_000;
/// Maximum bytes of a user message kept verbatim; a longer one keeps its beginning and end.
const MAX_USER_MESSAGE_BYTES: usize = 8_000;
/// Maximum bytes kept of one open file, and of all of them.
const MAX_FILE_BYTES: usize = 8_000;
const MAX_FILES_BYTES: usize = 24_000;

/// The part of a conversation to summarise, with everything the replacement keeps verbatim.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryJob {
    /// Sequence number of the last record it covers.
    pub through: u64,
    /// Plain-text transcript to summarise.
    pub transcript: String,
    /// The user's messages, oldest first.
    pub user_messages: Vec<String>,
    /// Rules added along the way: path and text.
    pub rules: Vec<(String, String)>,
    /// Latest state of the environment header, if it was sent.
    pub header: Option<String>,
    /// The previous summary, if any.
    pub before: Option<String>,
    /// Fallback summary, made without a model.
    by_hand: ConversationSummary,
}

/// A model's summary of the older part of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ConversationSummary {
    /// Goal of the work.
    pub goal: String,
    /// Decisions with their reasons, and failed attempts.
    pub decisions: Vec<String>,
    /// Relevant files: path and note.
    pub files: Vec<FileNote>,
    /// Open problems and questions.
    pub problems: Vec<String>,
    /// Next steps to take.
    pub next: Vec<String>,
    /// The whole summary as plain text, if the model ignored the schema.
    #[serde(skip)]
    pub words: String,
}

/// A note about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct FileNote {
    /// Path of the file.
    pub path: String,
    /// Changes made to the file, or facts learned from it.
    pub note: String,
}

/// The text that replaces the older part of a conversation: the summary and everything kept
/// verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryText(pub String);

impl SummaryJob {
    /// Collects the older part of a conversation, `old`. `through` is the sequence number of its
    /// last record, and `tokens` the input limit of the model that summarises, to which the
    /// transcript is cut.
    pub(super) fn of(old: &[CompactItem], through: u64, tokens: u64) -> Self {
        let mut user = Vec::new();
        let mut rules: BTreeMap<String, String> = BTreeMap::new();
        let mut order = Vec::new();
        let mut headers = Vec::new();
        let mut before = None;
        for item in old {
            match &item.kind {
                CompactItemKind::User => user.push(item.text.clone()),
                CompactItemKind::Joined(PromptOrigin::Rules { path }) => {
                    let known = rules.insert(path.clone(), item.text.clone());
                    order.extend(known.is_none().then(|| path.clone()));
                }
                CompactItemKind::Joined(PromptOrigin::Header) => headers.push(item.text.as_str()),
                CompactItemKind::Summary => before = Some(item.text.clone()),
                _ => {}
            }
        }
        let (earlier, earlier_rules, earlier_header) = before
            .as_deref()
            .map(parse_earlier_summary)
            .unwrap_or_default();
        let header = Header::of_texts(earlier_header.as_deref().into_iter().chain(headers));
        let rules: Vec<(String, String)> = order
            .into_iter()
            .map(|path| (path.clone(), rules.remove(&path).unwrap_or_default()))
            .collect();
        Self {
            through,
            transcript: transcript(old, tokens.saturating_mul(2) as usize),
            user_messages: earlier.into_iter().chain(user).collect(),
            rules: earlier_rules.into_iter().chain(rules).collect(),
            header: header.map(|header| header.text()),
            before,
            by_hand: by_hand(old),
        }
    }

    /// Returns the bytes of everything kept verbatim, which remain even if the summary is empty.
    pub(super) fn min_bytes(&self) -> u64 {
        let user: usize = self
            .user_messages
            .iter()
            .map(|text| text.len().min(MAX_USER_MESSAGE_BYTES))
            .sum();
        let rules: usize = self.rules.iter().map(|(_, text)| text.len()).sum();
        (user + rules + self.header.as_ref().map_or(0, String::len)) as u64
    }

    /// Builds the request to a cheap model: one message with the transcript, at most 2500 output
    /// tokens. With `has_schema`, the response follows a JSON schema; otherwise the message asks
    /// for JSON.
    pub fn request(&self, model: ModelId, has_schema: bool) -> ModelRequest {
        let words = if has_schema {
            "Summarise this conversation."
        } else {
            "Summarise this conversation as one JSON object with the fields goal (a text), decisions, problems, next (lists of texts) and files (a list of objects with path and note)."
        };
        let text = format!("{}\n\n{words}", self.transcript);
        let message = Message::text(Role::User, text);
        let mut request = ModelRequest::new(model, vec![message], TokenCount(2_500));
        request.system.push(SystemBlock {
            text: summary_prompt().to_owned(),
            cache: CacheMark::None,
        });
        request.response_schema = has_schema.then(schema);
        request
    }

    /// Returns the fallback summary, made without a model from the conversation itself: changed
    /// files, last failure, last text of the agent.
    pub fn by_hand(&self) -> ConversationSummary {
        self.by_hand.clone()
    }

    /// Renders the text with which the conversation begins from now on.
    pub fn summary_text(
        &self,
        summary: &ConversationSummary,
        around: &SummaryContext,
    ) -> SummaryText {
        let mut text = String::from(
            "The conversation so far was shortened. The following summary replaces its older part; continue from it.\n",
        );
        text.push_str(&format!("<memory>\n{}</memory>\n", summary.text()));
        for (ix, message) in self.user_messages.iter().enumerate() {
            let message = head_and_tail(message, MAX_USER_MESSAGE_BYTES);
            let nth = ix + 1;
            // The number in the closing tag keeps a message that contains such tags from closing
            // its own.
            text.push_str(&format!(
                "<said by=\"user\" nth=\"{nth}\">\n{message}\n</said nth=\"{nth}\">\n"
            ));
        }
        for (path, rule) in &self.rules {
            // Rules carry their own tags.
            text.push_str(&format!(
                "<rule from=\"{path}\">\n{}\n</rule>\n",
                rule.trim_end()
            ));
        }
        if !around.todos.is_empty() {
            text.push_str("<plan>\n");
            for todo in &around.todos {
                let state = match todo.state {
                    TodoState::Open => "open",
                    TodoState::Doing => "doing",
                    TodoState::Done => "done",
                    TodoState::Dropped => "dropped",
                };
                text.push_str(&format!("- [{state}] {}\n", todo.text));
            }
            text.push_str("</plan>\n");
        }
        let mut left = MAX_FILES_BYTES;
        for (path, file) in &around.files {
            let shown = head_and_tail(file, MAX_FILE_BYTES.min(left));
            left = left.saturating_sub(shown.len());
            if left > 0 {
                text.push_str(&format!("<open path=\"{path}\">\n{shown}\n</open>\n"));
            }
        }
        if let Some(header) = &self.header {
            text.push_str(header);
        }
        SummaryText(text)
    }
}

impl ConversationSummary {
    /// Parses a model's response: a JSON object, possibly surrounded by text, or else plain text of
    /// at least 40 bytes. `None` if it is neither.
    pub fn read(answer: &str) -> Option<Self> {
        let object = answer
            .find('{')
            .and_then(|begin| Some(&answer[begin..=answer.rfind('}')?]))
            .and_then(|text| serde_json::from_str::<Self>(text).ok());
        if let Some(summary) = object.filter(|summary| *summary != Self::default()) {
            return Some(summary);
        }
        let words = answer.trim();
        (words.len() >= 40).then(|| Self {
            words: words.to_owned(),
            ..Self::default()
        })
    }

    /// Renders the summary as text of at most `LONGEST` bytes.
    fn text(&self) -> String {
        let mut text = String::new();
        if !self.goal.is_empty() {
            text.push_str(&format!("Goal: {}\n", self.goal.trim()));
        }
        let files: Vec<String> = self
            .files
            .iter()
            .map(|file| format!("{}: {}", file.path, file.note))
            .collect();
        let lists = [
            ("Decisions", &self.decisions),
            ("Files", &files),
            ("Problems", &self.problems),
            ("Next", &self.next),
        ];
        for (title, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            text.push_str(&format!("{title}:\n"));
            for entry in list {
                text.push_str(&format!("- {}\n", entry.trim()));
            }
        }
        if !self.words.is_empty() {
            text.push_str(self.words.trim());
            text.push('\n');
        }
        let mut text = head_and_tail(&text, MAX_SUMMARY_BYTES as usize);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

/// Returns the JSON schema of the response.
fn schema() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {
            "goal": {"type": "string"},
            "decisions": texts,
            "files": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}, "note": {"type": "string"}},
                    "required": ["path", "note"],
                    "additionalProperties": false
                }
            },
            "problems": texts,
            "next": texts
        },
        "required": ["goal", "decisions", "files", "problems", "next"],
        "additionalProperties": false
    })
}

/// Renders the conversation as text of about `limit` bytes: the longer it is, the less of each
/// item.
fn transcript(items: &[CompactItem], limit: usize) -> String {
    let mut each = 4_000;
    loop {
        let pieces: Vec<String> = items
            .iter()
            .filter_map(|item| transcript_entry(item, each))
            .collect();
        let length: usize = pieces.iter().map(String::len).sum();
        if length <= limit || each <= 200 {
            // If that is still too long, cut the middle: it matters least.
            let whole = pieces.concat();
            return head_and_tail(&whole, limit.max(2_000));
        }
        each /= 2;
    }
}

/// Beginnings of the tag around a user message: the current one, and the one in older summaries.
const SAID_TAGS: [&str; 2] = ["<said by=\"user\" nth=\"", "<said by=\"person\" nth=\""];

/// Formats an item as tagged text, with its middle cut beyond `each` bytes; a call gets a quarter
/// of that, an earlier summary stays whole. `None` for an empty model text and for added texts
/// other than mentions.
fn transcript_entry(item: &CompactItem, each: usize) -> Option<String> {
    let text = head_and_tail(item.text.trim(), each);
    Some(match &item.kind {
        CompactItemKind::User => format!("<user>\n{text}\n</user>\n"),
        CompactItemKind::Model if text.is_empty() => return None,
        CompactItemKind::Model => format!("<agent>\n{text}\n</agent>\n"),
        CompactItemKind::Call { tool, .. } => {
            let text = head_and_tail(item.text.trim(), each / 4);
            format!("<call tool=\"{tool}\">{text}</call>\n")
        }
        CompactItemKind::Result { is_error, .. } => {
            let failed = if *is_error { " failed=\"true\"" } else { "" };
            format!("<result{failed}>\n{text}\n</result>\n")
        }
        // It covers everything before it, so keep all of it.
        CompactItemKind::Summary => format!("<before>\n{}\n</before>\n", item.text),
        CompactItemKind::Joined(PromptOrigin::Mention { what }) => {
            format!("<mentioned>{what}</mentioned>\n")
        }
        // Rules and other added texts are kept verbatim elsewhere.
        CompactItemKind::Joined(_) => return None,
    })
}

/// Extracts the verbatim parts of an earlier summary text: the user's messages, rules, the header.
pub(super) fn parse_earlier_summary(
    beginning: &str,
) -> (Vec<String>, Vec<(String, String)>, Option<String>) {
    let mut user = Vec::new();
    let mut rules = Vec::new();
    let mut rest = beginning;
    let earliest = |text: &str| SAID_TAGS.iter().filter_map(|tag| text.find(tag)).min();
    while let Some(at) = earliest(rest) {
        let end = format!("</said nth=\"{}\">\n", user.len() + 1);
        let Some((text, after)) = split_tag(&rest[at..], &end) else {
            break;
        };
        user.push(text.to_owned());
        rest = after;
    }
    while let Some(at) = rest.find("<rule from=\"") {
        let tag = &rest[at + "<rule from=\"".len()..];
        let path = tag.split('"').next().unwrap_or_default();
        let Some((text, after)) = split_tag(&rest[at..], "</rule>\n") else {
            break;
        };
        rules.push((path.to_owned(), text.to_owned()));
        rest = after;
    }
    let header = rest
        .rfind("<environment>\n")
        .map(|at| rest[at..].to_owned());
    (user, rules, header)
}

/// Splits off the content of a tag that ends with `end`; returns it and the remaining text.
fn split_tag<'a>(text: &'a str, end: &str) -> Option<(&'a str, &'a str)> {
    let inner = text.find(">\n")? + 2;
    let close = inner + text[inner..].find(&format!("\n{end}"))?;
    Some((&text[inner..close], &text[close + 1 + end.len()..]))
}

/// Summarises without a model: changed files, last failure, last text of the agent.
fn by_hand(items: &[CompactItem]) -> ConversationSummary {
    let mut files: BTreeMap<String, &str> = BTreeMap::new();
    let mut said = "";
    let mut failure = None;
    for item in items {
        match &item.kind {
            CompactItemKind::Call { tool, input, .. } => {
                let path = input.get("path").or_else(|| input.get("file_path"));
                if let Some(path) = path.and_then(Value::as_str) {
                    files.insert(path.to_owned(), tool);
                }
            }
            CompactItemKind::Result { is_error: true, .. } => {
                failure = Some(head_and_tail(&item.text, 600))
            }
            CompactItemKind::Model if !item.text.trim().is_empty() => said = item.text.trim(),
            _ => {}
        }
    }
    let files = files.into_iter().take(60).map(|(path, tool)| FileNote {
        path,
        note: format!("last touched with {tool}"),
    });
    ConversationSummary {
        goal: "see the user's messages below".to_owned(),
        files: files.collect(),
        problems: failure.into_iter().collect(),
        next: (!said.is_empty())
            .then(|| head_and_tail(said, 1_500))
            .into_iter()
            .collect(),
        ..ConversationSummary::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_answers_parse_in_every_form() {
        let check = |answer: &str, goal: Option<&str>| {
            let summary = ConversationSummary::read(answer);
            let said = summary.as_ref().map(|summary| {
                if summary.words.is_empty() {
                    summary.goal.as_str()
                } else {
                    "WORDS"
                }
            });
            assert_eq!(said, goal, "{answer}");
        };
        check(
            r#"{"goal":"g","decisions":[],"files":[],"problems":[],"next":[]}"#,
            Some("g"),
        );
        check("```json\n{\"goal\": \"g\"}\n```", Some("g"));
        check(
            "Here it is: {\"goal\": \"g\", \"files\": [{\"path\": \"a\"}]} done",
            Some("g"),
        );
        check(
            "The goal is to make the parser faster; so far it is not.",
            Some("WORDS"),
        );
        check(
            "{\"goal\": 3} is what I would write, as there is nothing to say",
            Some("WORDS"),
        );
        check("{}", None);
        check("", None);
        check("}{", None);
    }

    #[test]
    fn verbatim_parts_survive_a_second_summary() {
        let summarise = SummaryJob {
            through: 3,
            transcript: String::new(),
            user_messages: vec!["do <this>\n\n</said>\nplease".into(), "and that".into()],
            rules: vec![(
                "a/AGENTS.md".into(),
                "<instructions path=\"a/AGENTS.md\">\nBe kind.\n</instructions>".into(),
            )],
            header: Some("<environment>\nGit: branch main\n</environment>\n".into()),
            before: None,
            by_hand: ConversationSummary::default(),
        };
        let SummaryText(text) =
            summarise.summary_text(&ConversationSummary::default(), &SummaryContext::default());
        // Summaries that were stored earlier have another tag.
        let older = text.replace("by=\"user\"", "by=\"person\"");
        for text in [text, older] {
            let (messages, rules, header) = parse_earlier_summary(&text);
            assert_eq!(messages, summarise.user_messages);
            assert_eq!(rules, summarise.rules);
            assert_eq!(header, summarise.header);
        }
    }

    #[test]
    fn summary_request_has_prompt_and_schema() {
        let summarise = SummaryJob::of(&[], 0, 1_000);
        let model = ModelId::parse("a/b").expect("provider/model");
        let request = summarise.request(model.clone(), true);
        assert!(
            request.system[0]
                .text
                .contains("takes the place of the conversation")
        );
        let required = &request.response_schema.as_ref().expect("a schema")["required"];
        assert_eq!(required.as_array().map(Vec::len), Some(5));
        assert_eq!(summarise.request(model, false).response_schema, None);
    }
}
