//! Requests that change no file but the completed one.

use base::{AbsPath, ByteOffset, Span};
use lsp::{CompletionItem, CompletionTrigger, LanguageServer, LocationKind, Request};
use text::Edit;

use super::super::super::PATIENCE;
use super::Client;

impl Client {
    /// Asks the servers of a text in turn until `read` accepts an answer; again while they are loading.
    pub(super) fn ask<T, R>(
        &self,
        name: &str,
        what: &str,
        question: impl Fn(&LanguageServer, &AbsPath) -> Option<Request<T>>,
        read: impl Fn(&LanguageServer, T) -> Option<R>,
    ) -> R {
        let path = self.root.join(name);
        self.until(what, || {
            let servers = self.servers_of(name).into_iter();
            servers.map(|server| server.connection).find_map(|server| {
                let answer = question(&server, &path)?.wait(PATIENCE);
                read(&server, answer.ok()?)
            })
        })
    }

    /// Completes the first `prefix` in a text with the item of this label, and makes the edits that belong to it.
    pub(crate) fn complete(&mut self, name: &str, prefix: &str, label: &str) {
        self.complete_where(name, prefix, label, |_| true);
    }

    /// Like `complete`, for an item that needs an import. Asks again while the whole item has none: a server that
    /// loaded more of the project since it listed the item returns it without its edits.
    pub(crate) fn complete_with_import(&mut self, name: &str, prefix: &str, label: &str) {
        self.complete_where(name, prefix, label, |item| {
            !item.additional_edits.is_empty()
        });
    }

    fn complete_where(
        &mut self,
        name: &str,
        prefix: &str,
        label: &str,
        accepts: impl Fn(&CompletionItem) -> bool,
    ) {
        let at = ByteOffset(self.find(name, prefix) + prefix.len());
        let item = self.ask(
            name,
            "the completion",
            |server, path| server.completion(path, at, CompletionTrigger::Invoked),
            |server, list| {
                let is_it = |item: &CompletionItem| {
                    let shown = item.label.trim_start_matches(['\u{2022}', ' ']);
                    shown == label || shown.starts_with(&format!("{label}("))
                };
                let item = list.items.into_iter().find(is_it)?;
                let whole = match server.resolve_completion(&item) {
                    Some(request) => request.wait(PATIENCE).ok()?,
                    None => item,
                };
                accepts(&whole).then_some(whole)
            },
        );
        let text = if item.insert.is_snippet {
            snippet_text(&item.insert.text)
        } else {
            item.insert.text.clone()
        };
        let word = Span::from(at.0 - prefix.len()..at.0);
        let mut edits = vec![Edit::new(item.insert.insert_span.unwrap_or(word), text)];
        edits.extend(
            item.additional_edits
                .iter()
                .map(|(span, text)| Edit::new(*span, text.clone())),
        );
        edits.sort_by_key(|edit| edit.span.start);
        self.edit(name, &edits);
    }

    /// The label of the signature behind the first `place`.
    pub(crate) fn signature(&self, name: &str, place: &str) -> String {
        let at = ByteOffset(self.find(name, place) + place.len());
        self.ask(
            name,
            "the signature",
            |server, path| server.signature_help(path, at, None, false),
            |_, help| {
                let help = help?;
                Some(help.signatures[help.active_signature].label.clone())
            },
        )
    }

    /// The hover text at the first `place`.
    pub(crate) fn hover(&self, name: &str, place: &str) -> String {
        let at = ByteOffset(self.find(name, place));
        self.ask(
            name,
            "the hover text",
            |server, path| server.hover(path, at),
            |_, hover| Some(hover?.text.value),
        )
    }

    /// The files with locations related to the first `place`, sorted, without duplicates.
    pub(crate) fn locations(&self, kind: LocationKind, name: &str, place: &str) -> Vec<String> {
        let at = ByteOffset(self.find(name, place));
        let mut names: Vec<String> = self.ask(
            name,
            "the locations",
            |server, path| server.locations(kind, path, at),
            |_, locations| {
                let names = locations.iter().map(|it| self.name_of(&it.path));
                (!locations.is_empty()).then(|| names.collect())
            },
        );
        names.sort();
        names.dedup();
        names
    }
}

/// The text of a snippet without its tab stops, as far as the stories need it.
fn snippet_text(snippet: &str) -> String {
    let mut text = String::new();
    let mut rest = snippet;
    while let Some(start) = rest.find("${") {
        text.push_str(&rest[..start]);
        let body = &rest[start + 2..];
        let end = body.find('}').expect("the end of a tab stop");
        let inside = body[..end]
            .split_once(':')
            .map_or("", |(_, default)| default);
        text.push_str(inside);
        rest = &body[end + 1..];
    }
    text.push_str(rest);
    for number in 0..10 {
        text = text.replace(&format!("${number}"), "");
    }
    text
}
