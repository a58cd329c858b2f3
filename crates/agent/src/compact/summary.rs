//! The summary that stands for the older part of a conversation: what is asked for, and what comes of the answer.

use std::collections::BTreeMap;

use model::{CacheMark, Message, ModelId, Request, Role, SystemBlock, TokenCount};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Around, Item, ItemKind};
use crate::context::{Header, summary_prompt};
use crate::record::{Origin, TodoState};

/// Bytes that a summary itself may have.
pub(super) const LONGEST: u64 = 8_000;
/// Bytes of one message of the person that stay word for word; of a longer one the beginning and the end do.
const PERSON: usize = 8_000;
/// Bytes of one open file that stay, and of all of them.
const FILE: usize = 8_000;
const FILES: usize = 24_000;

/// What a summary is to stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarise {
    /// The last record that it stands for.
    pub through: u64,
    /// The conversation to be summarised, in words.
    pub transcript: String,
    /// The person's messages, the first one first.
    pub person: Vec<String>,
    /// Rules that joined on the way: where they lie and the text.
    pub rules: Vec<(String, String)>,
    /// What machine and project look like, as far as it was told.
    pub header: Option<String>,
    /// The summary that stood there before.
    pub before: Option<String>,
    /// What can be told without a model.
    by_hand: Summary,
}

/// What a model says of the older part of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// What is to be reached.
    pub goal: String,
    /// What was decided and why, and what did not work.
    pub decisions: Vec<String>,
    /// Files that matter: path and note.
    pub files: Vec<FileNote>,
    /// What is broken or unclear.
    pub problems: Vec<String>,
    /// What comes next.
    pub next: Vec<String>,
    /// The whole in words, where the model would not keep to the form.
    #[serde(skip)]
    pub words: String,
}

/// What is to be remembered of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct FileNote {
    /// Where it lies.
    pub path: String,
    /// What was done to it or learnt from it.
    pub note: String,
}

/// The text that stands for the older part: the summary, and what stays word for word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning(pub String);

impl Summarise {
    /// Of the older part of a conversation. `tokens` is what the model that summarises may be given.
    pub(super) fn of(old: &[Item], through: u64, tokens: u64) -> Self {
        let mut person = Vec::new();
        let mut rules: BTreeMap<String, String> = BTreeMap::new();
        let mut order = Vec::new();
        let mut headers = Vec::new();
        let mut before = None;
        for item in old {
            match &item.kind {
                ItemKind::Person => person.push(item.text.clone()),
                ItemKind::Joined(Origin::Rules { path }) => {
                    let known = rules.insert(path.clone(), item.text.clone());
                    order.extend(known.is_none().then(|| path.clone()));
                }
                ItemKind::Joined(Origin::Header) => headers.push(item.text.as_str()),
                ItemKind::Summary => before = Some(item.text.clone()),
                _ => {}
            }
        }
        let (earlier, earlier_rules, earlier_header) =
            before.as_deref().map(kept).unwrap_or_default();
        let header = Header::of_texts(earlier_header.as_deref().into_iter().chain(headers));
        let rules: Vec<(String, String)> = order
            .into_iter()
            .map(|path| (path.clone(), rules.remove(&path).unwrap_or_default()))
            .collect();
        Self {
            through,
            transcript: transcript(old, tokens.saturating_mul(2) as usize),
            person: earlier.into_iter().chain(person).collect(),
            rules: earlier_rules.into_iter().chain(rules).collect(),
            header: header.map(|header| header.text()),
            before,
            by_hand: by_hand(old),
        }
    }

    /// Bytes that stay even if the summary said nothing.
    pub(super) fn least_bytes(&self) -> u64 {
        let person: usize = self.person.iter().map(|text| text.len().min(PERSON)).sum();
        let rules: usize = self.rules.iter().map(|(_, text)| text.len()).sum();
        (person + rules + self.header.as_ref().map_or(0, String::len)) as u64
    }

    /// The request to a cheap model: one message, an answer of a fixed form.
    pub fn request(&self, model: ModelId, has_schema: bool) -> Request {
        let words = match has_schema {
            true => "Write the memory of this conversation.",
            false => {
                "Write the memory of this conversation as one JSON object with the fields goal (a text), decisions, problems, next (lists of texts) and files (a list of objects with path and note)."
            }
        };
        let text = format!("{}\n\n{words}", self.transcript);
        let message = Message::text(Role::User, text);
        let mut request = Request::new(model, vec![message], TokenCount(2_500));
        request.system.push(SystemBlock {
            text: summary_prompt().to_owned(),
            cache: CacheMark::None,
        });
        request.response_schema = has_schema.then(schema);
        request
    }

    /// What can be told without a model, for when none can be had: which files were touched, what was said last.
    pub fn by_hand(&self) -> Summary {
        self.by_hand.clone()
    }

    /// What the conversation begins with from now on.
    pub fn beginning(&self, summary: &Summary, around: &Around) -> Beginning {
        let mut text = String::from(
            "The conversation so far was shortened. What follows stands for its older part; go on from it.\n",
        );
        text.push_str(&format!("<memory>\n{}</memory>\n", summary.text()));
        for (ix, message) in self.person.iter().enumerate() {
            let message = ends(message, PERSON);
            let nth = ix + 1;
            // The number in the closing tag keeps a message that speaks of such tags from ending itself.
            text.push_str(&format!(
                "<said by=\"person\" nth=\"{nth}\">\n{message}\n</said nth=\"{nth}\">\n"
            ));
        }
        for (path, rule) in &self.rules {
            // Rules bring their own frame along.
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
        let mut left = FILES;
        for (path, file) in &around.files {
            let shown = ends(file, FILE.min(left));
            left = left.saturating_sub(shown.len());
            if left > 0 {
                text.push_str(&format!("<open path=\"{path}\">\n{shown}\n</open>\n"));
            }
        }
        if let Some(header) = &self.header {
            text.push_str(header);
        }
        Beginning(text)
    }
}

impl Summary {
    /// Reads a model's answer: an object of the form, with or without words around it, or words alone. `None` where
    /// it says nothing.
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

    /// It in words, at most `LONGEST` bytes.
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
        let mut text = ends(&text, LONGEST as usize);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

/// The form of the answer.
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

/// The conversation in words, in at most about `limit` bytes: the longer it is, the less of each piece.
fn transcript(items: &[Item], limit: usize) -> String {
    let mut each = 4_000;
    loop {
        let pieces: Vec<String> = items.iter().filter_map(|item| piece(item, each)).collect();
        let length: usize = pieces.iter().map(String::len).sum();
        if length <= limit || each <= 200 {
            // Where even that is too long, the middle is missed least.
            let whole = pieces.concat();
            return ends(&whole, limit.max(2_000));
        }
        each /= 2;
    }
}

fn piece(item: &Item, each: usize) -> Option<String> {
    let text = ends(item.text.trim(), each);
    Some(match &item.kind {
        ItemKind::Person => format!("<person>\n{text}\n</person>\n"),
        ItemKind::Model if text.is_empty() => return None,
        ItemKind::Model => format!("<agent>\n{text}\n</agent>\n"),
        ItemKind::Call { tool, .. } => {
            let text = ends(item.text.trim(), each / 4);
            format!("<call tool=\"{tool}\">{text}</call>\n")
        }
        ItemKind::Result { is_error, .. } => {
            let failed = if *is_error { " failed=\"true\"" } else { "" };
            format!("<result{failed}>\n{text}\n</result>\n")
        }
        // It stands for everything before: of it, nothing goes.
        ItemKind::Summary => format!("<before>\n{}\n</before>\n", item.text),
        ItemKind::Joined(Origin::Mention { what }) => format!("<mentioned>{what}</mentioned>\n"),
        // Rules and the like stay word for word.
        ItemKind::Joined(_) => return None,
    })
}

/// The beginning and the end of a text, with a sentence between them, if it is longer than `limit` bytes.
pub(crate) fn ends(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut head = limit * 2 / 3;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - limit / 3;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!(
        "{}\n[{} bytes left out]\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}

/// What an earlier beginning kept word for word: the person's messages, rules, the header.
fn kept(beginning: &str) -> (Vec<String>, Vec<(String, String)>, Option<String>) {
    let mut person = Vec::new();
    let mut rules = Vec::new();
    let mut rest = beginning;
    while let Some(at) = rest.find("<said by=\"person\" nth=\"") {
        let end = format!("</said nth=\"{}\">\n", person.len() + 1);
        let Some((text, after)) = framed(&rest[at..], &end) else {
            break;
        };
        person.push(text.to_owned());
        rest = after;
    }
    while let Some(at) = rest.find("<rule from=\"") {
        let tag = &rest[at + "<rule from=\"".len()..];
        let path = tag.split('"').next().unwrap_or_default();
        let Some((text, after)) = framed(&rest[at..], "</rule>\n") else {
            break;
        };
        rules.push((path.to_owned(), text.to_owned()));
        rest = after;
    }
    let header = rest
        .rfind("<environment>\n")
        .map(|at| rest[at..].to_owned());
    (person, rules, header)
}

/// What stands between a tag that begins here and its end, and what follows.
fn framed<'a>(text: &'a str, end: &str) -> Option<(&'a str, &'a str)> {
    let inner = text.find(">\n")? + 2;
    let close = inner + text[inner..].find(&format!("\n{end}"))?;
    Some((&text[inner..close], &text[close + 1 + end.len()..]))
}

/// Which files were changed, what failed last, what the agent said last.
fn by_hand(items: &[Item]) -> Summary {
    let mut files: BTreeMap<String, &str> = BTreeMap::new();
    let mut said = "";
    let mut failure = None;
    for item in items {
        match &item.kind {
            ItemKind::Call { tool, input, .. } => {
                let path = input.get("path").or_else(|| input.get("file_path"));
                if let Some(path) = path.and_then(Value::as_str) {
                    files.insert(path.to_owned(), tool);
                }
            }
            ItemKind::Result { is_error: true, .. } => failure = Some(ends(&item.text, 600)),
            ItemKind::Model if !item.text.trim().is_empty() => said = item.text.trim(),
            _ => {}
        }
    }
    let files = files.into_iter().take(60).map(|(path, tool)| FileNote {
        path,
        note: format!("last touched with {tool}"),
    });
    Summary {
        goal: "as the person says below".to_owned(),
        files: files.collect(),
        problems: failure.into_iter().collect(),
        next: (!said.is_empty())
            .then(|| ends(said, 1_500))
            .into_iter()
            .collect(),
        ..Summary::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_in_whatever_form_it_comes() {
        let check = |answer: &str, goal: Option<&str>| {
            let summary = Summary::read(answer);
            let said = summary
                .as_ref()
                .map(|summary| match summary.words.is_empty() {
                    true => summary.goal.as_str(),
                    false => "WORDS",
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
    fn what_was_kept_is_found_again() {
        let summarise = Summarise {
            through: 3,
            transcript: String::new(),
            person: vec!["do <this>\n\n</said>\nplease".into(), "and that".into()],
            rules: vec![(
                "a/AGENTS.md".into(),
                "<instructions path=\"a/AGENTS.md\">\nBe kind.\n</instructions>".into(),
            )],
            header: Some("<environment>\nGit: branch main\n</environment>\n".into()),
            before: None,
            by_hand: Summary::default(),
        };
        let Beginning(text) = summarise.beginning(&Summary::default(), &Around::default());
        let (person, rules, header) = kept(&text);
        assert_eq!(person, summarise.person);
        assert_eq!(rules, summarise.rules);
        assert_eq!(header, summarise.header);
    }

    #[test]
    fn the_request_has_the_prompt_and_the_form() {
        let summarise = Summarise::of(&[], 0, 1_000);
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
