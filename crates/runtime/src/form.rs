//! Asks the user to fill in MCP forms and to open pages, one question at a time, as at a terminal.
//!
//! Invariant: nothing is accepted without an explicit yes.

use agent::user_prompts::{UserPrompts, UserQuestion};
use base::{LineFeeds, printable};
use connect::mcp::{ElicitationForm, FieldKind, Filled, FormChoice, FormField};
use serde_json::{Map, Value};

/// The maximum attempts per field before the form is abandoned.
const ATTEMPTS: usize = 3;
const YES: &str = "yes";
const NO: &str = "no";

/// Asks the user to fill in a form for `who`, such as `The server "files"`, one field at a time.
/// Returns `Filled::Declined` if there is no user, or if the user does not agree to answer the
/// form.
pub async fn fill(prompts: &UserPrompts, who: &str, form: &ElicitationForm) -> Filled {
    let message = printable(&form.message, LineFeeds::Keep);
    let text = format!("{} asks: {message}\nAnswer it?", one_line(who));
    if !agrees(prompts, text).await {
        return Filled::Declined;
    }
    let mut values = Map::new();
    for field in &form.fields {
        match ask(prompts, field).await {
            FieldAnswer::Value(value) => {
                values.insert(field.name.clone(), value);
            }
            FieldAnswer::LeftOut => {}
            FieldAnswer::GivenUp => return Filled::Cancelled,
        }
    }
    Filled::Accepted(values)
}

/// Asks the user whether a server may open a page, and returns whether the user agrees. Does not
/// open the page. Refuses an address outside the web without asking the user.
pub async fn open(prompts: &UserPrompts, who: &str, url: &str, why: &str) -> bool {
    if !is_page(url) {
        return false;
    }
    let (who, why, url) = (
        one_line(who),
        printable(why, LineFeeds::Keep),
        one_line(url),
    );
    let text = format!("{who} wants you to see a page: {why}\n{url}\nDo you open it?");
    agrees(prompts, text).await
}

/// Returns whether an address is a web address, which begins with `https://` or `http://`.
pub fn is_page(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

fn one_line(text: &str) -> String {
    printable(text, LineFeeds::Escape).into_owned()
}

/// Parses a yes-or-no answer, ignoring case: `y`, `yes`, `true`, `n`, `no`, `false`. Returns `None`
/// for any other text.
pub fn parse_bool(line: &str) -> Option<bool> {
    match line.trim().to_lowercase().as_str() {
        "y" | YES | "true" => Some(true),
        "n" | NO | "false" => Some(false),
        _ => None,
    }
}

/// Asks a yes-or-no question. Returns `false` for every answer but yes, and without an answer.
async fn agrees(prompts: &UserPrompts, text: String) -> bool {
    let options = vec![YES.to_owned(), NO.to_owned()];
    let answer = prompts.ask(UserQuestion { text, options }).await;
    answer.and_then(|line| parse_bool(&line)) == Some(true)
}

enum FieldAnswer {
    Value(Value),
    LeftOut,
    GivenUp,
}

async fn ask(prompts: &UserPrompts, field: &FormField) -> FieldAnswer {
    let mut complaint = String::new();
    for _ in 0..ATTEMPTS {
        let text = format!("{complaint}{}", question(field));
        let options = options(&field.kind);
        let Some(line) = prompts.ask(UserQuestion { text, options }).await else {
            let may_miss = !field.is_required || field.default.is_some();
            return if may_miss {
                FieldAnswer::LeftOut
            } else {
                FieldAnswer::GivenUp
            };
        };
        let value = read(&field.kind, line.trim());
        match validate(field, &value) {
            None => return FieldAnswer::Value(value),
            Some(why) => complaint = format!("{}.\n", one_line(&why)),
        }
    }
    FieldAnswer::GivenUp
}

fn question(field: &FormField) -> String {
    let mut text = one_line(field.title.as_deref().unwrap_or(&field.name));
    if let Some(description) = &field.description {
        text.push_str(&format!(", {}", one_line(description)));
    }
    match (&field.default, field.is_required) {
        (Some(Value::String(default)), _) => text.push_str(&format!(" [{}]", one_line(default))),
        (Some(default), _) => text.push_str(&format!(" [{default}]")),
        (None, false) => text.push_str(" (may be left empty)"),
        (None, true) => {}
    }
    if matches!(field.kind, FieldKind::Many(_)) {
        text.push_str(", several with commas between them");
    }
    text
}

fn options(kind: &FieldKind) -> Vec<String> {
    match kind {
        FieldKind::Truth => vec![YES.to_owned(), NO.to_owned()],
        FieldKind::One(choices) | FieldKind::Many(choices) => choices
            .iter()
            .map(|choice| one_line(&choice.title))
            .collect(),
        FieldKind::Text { .. } | FieldKind::Number { .. } => Vec::new(),
    }
}

/// Parses a line as a field's value. An invalid line stays a string, which validation then rejects.
fn read(kind: &FieldKind, line: &str) -> Value {
    let text = || Value::from(line);
    match kind {
        FieldKind::Text { .. } => text(),
        FieldKind::Number { .. } => match (line.parse::<i64>(), line.parse::<f64>()) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => text(),
        },
        FieldKind::Truth => parse_bool(line).map_or_else(text, Value::Bool),
        FieldKind::One(choices) => chosen(choices, line),
        FieldKind::Many(choices) => {
            let parts = line.split(',').map(str::trim).filter(|it| !it.is_empty());
            parts.map(|part| chosen(choices, part)).collect()
        }
    }
}

/// Returns the choice with this title, value, or number from 1.
fn chosen(choices: &[FormChoice], line: &str) -> Value {
    let is_it = |choice: &&FormChoice| {
        choice.title.eq_ignore_ascii_case(line) || choice.value.eq_ignore_ascii_case(line)
    };
    let by_number = || choices.get(line.parse::<usize>().ok()?.checked_sub(1)?);
    let found = choices.iter().find(is_it).or_else(by_number);
    Value::from(found.map_or(line, |choice| &choice.value))
}

/// Returns a sentence about what is wrong with a field's value; `None` if the value is valid.
fn validate(field: &FormField, value: &Value) -> Option<String> {
    let alone = ElicitationForm {
        message: String::new(),
        fields: vec![field.clone()],
    };
    alone.complaint(&Map::from_iter([(field.name.clone(), value.clone())]))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use serde_json::json;

    use super::*;

    /// Creates user prompts that answer with these lines, and the list of the questions asked. An
    /// empty line means no answer.
    fn scripted_prompts(lines: &[&str]) -> (UserPrompts, Arc<Mutex<Vec<String>>>) {
        let lines: VecDeque<String> = lines.iter().map(|it| (*it).to_owned()).collect();
        let lines = Mutex::new(lines);
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = asked.clone();
        let prompts = UserPrompts::new(move |question| {
            log.lock().expect("a list").push(question.text);
            let line = lines.lock().expect("lines").pop_front();
            let line = line.filter(|line| !line.is_empty());
            Box::pin(std::future::ready(line))
        });
        (prompts, asked)
    }

    fn form() -> ElicitationForm {
        let schema = json!({
            "properties": {
                "name": { "type": "string", "title": "Your name" },
                "age": { "type": "integer", "minimum": 0 },
                "color": { "type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"], "default": "g" },
                "likes": { "type": "array", "items": { "enum": ["tea", "milk"] } },
                "sure": { "type": "boolean" }
            },
            "required": ["name"]
        });
        ElicitationForm::new("who are \u{1b}[31myou?".to_owned(), &schema)
    }

    async fn check(lines: &[&str], expected: Filled) -> Vec<String> {
        let (prompts, asked) = scripted_prompts(lines);
        assert_eq!(fill(&prompts, "It", &form()).await, expected, "{lines:?}");
        asked.lock().expect("a list").clone()
    }

    fn accepted(values: Value) -> Filled {
        Filled::Accepted(values.as_object().expect("an object").clone())
    }

    #[tokio::test]
    async fn a_form_is_asked_field_by_field() {
        let filled = json!({ "name": "Ada", "age": 7, "color": "r", "likes": ["milk", "tea"], "sure": false });
        let asked = check(&["yes", "Ada", "7", "red", "2, tea", "n"], accepted(filled)).await;
        assert_eq!(asked[0], "It asks: who are ␛[31myou?\nAnswer it?");
        assert_eq!(asked[3], "color [g]");
        check(
            &["y", "Ada", "", "", "", ""],
            accepted(json!({ "name": "Ada" })),
        )
        .await;
        let asked = check(
            &["y", "Ada", "-1", "old", "8", "", "", ""],
            accepted(json!({ "name": "Ada", "age": 8 })),
        )
        .await;
        assert!(
            asked[3].starts_with("age is not a number that fits.\n"),
            "{asked:?}"
        );
        assert!(asked[4].starts_with("age is not a number.\n"), "{asked:?}");
    }

    #[tokio::test]
    async fn nothing_is_accepted_without_a_yes() {
        check(&[], Filled::Declined).await;
        check(&["no"], Filled::Declined).await;
        check(&["perhaps"], Filled::Declined).await;
        check(&["yes", ""], Filled::Cancelled).await;
        check(&["yes", "Ada", "x", "x", "x"], Filled::Cancelled).await;
        let empty = ElicitationForm::new("really?".to_owned(), &json!({}));
        let (yes, _) = scripted_prompts(&["yes"]);
        assert_eq!(fill(&yes, "It", &empty).await, accepted(json!({})));
    }

    #[tokio::test]
    async fn only_pages_of_the_web_are_shown() {
        for (url, is_open) in [("https://a.example", true), ("file:///etc/passwd", false)] {
            let (prompts, asked) = scripted_prompts(&["y"]);
            assert_eq!(open(&prompts, "It", url, "to pay").await, is_open);
            assert_eq!(asked.lock().expect("a list").len(), usize::from(is_open));
        }
        assert!(!open(&UserPrompts::empty(), "It", "https://a.example", "").await);
    }
}
