//! Prompt templates for fill-in-the-middle models, as data, for servers that lack them.

use model::{Failure, FailureClass, Fim};
use serde::Deserialize;

/// Prompt template of a model for a gap.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FimTemplate {
    /// The prompt, with `{prefix}` and `{suffix}` in the order of the model's training, and
    /// `{files}` where other files go if not at the start.
    pub prompt: String,
    /// Format of each other file, with `{path}` and `{text}`; files are omitted if empty.
    #[serde(default)]
    pub file: String,
    /// Text before the other files, with `{project}`; omitted without files or without a project
    /// name.
    #[serde(default)]
    pub project: String,
    /// Text before the gap if there are other files, with `{path}`; omitted otherwise.
    #[serde(default)]
    pub current: String,
    /// Texts that end an answer.
    #[serde(default)]
    pub stop: Vec<String>,
}

/// Returns the failure for a model that needs a template but has none.
pub(super) fn missing(request: &Fim) -> Failure {
    let message = format!(
        "The server of {} supports fill-in-the-middle only as a raw prompt, and this model has no \
         template; set one in the model's profile (fim_template).",
        request.model
    );
    Failure::new(FailureClass::InvalidRequest, message)
}

impl FimTemplate {
    /// Builds the prompt for a gap. A space breaks up the template's own tokens within texts, so
    /// that the server does not interpret them.
    pub(super) fn prompt(&self, request: &Fim) -> String {
        let tokens = self.tokens();
        let files = self.files(request, &tokens);
        let prefix = harmless(&request.prefix, &tokens);
        let suffix = harmless(&request.suffix, &tokens);
        let places = [
            ("{prefix}", prefix.as_str()),
            ("{suffix}", suffix.as_str()),
            ("{files}", files.as_str()),
        ];
        let prompt = fill(&self.prompt, &places);
        if self.prompt.contains("{files}") {
            prompt
        } else {
            files + &prompt
        }
    }

    /// Formats the snippets of other files; empty if there are none.
    fn files(&self, request: &Fim, tokens: &[&str]) -> String {
        if self.file.is_empty() || request.files.is_empty() {
            return String::new();
        }
        let mut files = String::new();
        if !request.project.is_empty() {
            let project = harmless(&request.project, tokens);
            files.push_str(&fill(&self.project, &[("{project}", &project)]));
        }
        for file in &request.files {
            let path = harmless(&file.path, tokens);
            let text = harmless(&file.text, tokens);
            files.push_str(&fill(&self.file, &[("{path}", &path), ("{text}", &text)]));
        }
        if !request.path.is_empty() || !self.current.contains("{path}") {
            let path = harmless(&request.path, tokens);
            files.push_str(&fill(&self.current, &[("{path}", &path)]));
        }
        files
    }

    /// Returns the template's control tokens and stop texts.
    fn tokens(&self) -> Vec<&str> {
        let mut tokens: Vec<&str> = self.stop.iter().map(String::as_str).collect();
        for template in [&self.prompt, &self.file, &self.project, &self.current] {
            tokens.extend(template.split(['{', '}', '\n', ' ']));
        }
        let places = ["prefix", "suffix", "files", "path", "text", "project"];
        tokens.retain(|token| token.len() > 2 && !places.contains(token));
        tokens
    }
}

fn fill(template: &str, places: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    loop {
        let next = places
            .iter()
            .filter_map(|(place, text)| Some((rest.find(place)?, *place, *text)))
            .min_by_key(|(at, ..)| *at);
        let Some((at, place, text)) = next else {
            filled.push_str(rest);
            return filled;
        };
        filled.push_str(&rest[..at]);
        filled.push_str(text);
        rest = &rest[at + place.len()..];
    }
}

fn harmless(text: &str, tokens: &[&str]) -> String {
    let mut text = text.to_owned();
    for token in tokens {
        if text.contains(token) {
            let mut letters = token.chars();
            let first = letters.next().unwrap_or(' ');
            text = text.replace(token, &format!("{first} {}", letters.as_str()));
        }
    }
    text
}
