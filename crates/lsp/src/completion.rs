//! Completion: the request for a list of items, and `completionItem/resolve`.
//!
//! An answer may have 10 MB, so only the members by which a list is filtered, shown and inserted are
//! read at first; the documentation stays raw until it is asked for.

use std::sync::Arc;

use base::{AbsPath, ByteOffset, Span};
use serde_json::{Map, Value, json};
use text::Snapshot;

use crate::answer::{AnswerError, Reading, text_member};
use crate::command::ServerCommand;
use crate::document_edits::additional_edits;
use crate::hover::position_params;
use crate::markup::MarkupText;
use crate::position::PositionEncoding;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::violations::Violations;

mod wire;

/// Name of the request.
const COMPLETION: &str = "textDocument/completion";

/// The completions for one position.
#[derive(Clone, Debug)]
pub struct CompletionList {
    /// The items, as the server sorted them.
    pub items: Vec<CompletionItem>,
    /// Whether further typing needs a new request.
    pub is_incomplete: bool,
    /// The text to which the spans refer: the text at the time of the request.
    pub text: Snapshot,
}

/// A completion.
#[derive(Clone, Debug)]
pub struct CompletionItem {
    /// The text to show.
    pub label: String,
    /// A text right after the label, such as the signature.
    pub label_detail: Option<String>,
    /// A text after the detail, such as the module.
    pub label_description: Option<String>,
    /// Further information, such as the type.
    pub detail: Option<String>,
    /// The kind; text if the server gave none that is known.
    pub kind: CompletionKind,
    /// The text that the typed word is compared with; the label if `None`.
    pub filter_text: Option<String>,
    /// The text by which items are sorted; the label if `None`.
    pub sort_text: Option<String>,
    /// Whether the item should be selected at first.
    pub is_preselected: bool,
    /// Whether the symbol should not be used any more.
    pub is_deprecated: bool,
    /// Chars that accept the item when typed, and are then inserted too.
    pub commit_characters: Vec<char>,
    /// The text that accepting inserts.
    pub insert: CompletionInsert,
    /// Edits elsewhere in the document, such as an import: sorted, not overlapping.
    pub additional_edits: Vec<(Span, String)>,
    /// A command to execute after the insertion.
    pub command: Option<ServerCommand>,
    source: CompletionSource,
}

/// The text that accepting a completion inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionInsert {
    /// The text, or the source of a snippet.
    pub text: String,
    /// Whether the text is a snippet.
    pub is_snippet: bool,
    /// The span to replace if the text after the caret is kept; `None`: the word before the caret.
    pub insert_span: Option<Span>,
    /// The span to replace if the word around the caret is replaced as a whole.
    pub replace_span: Option<Span>,
    /// Whether the lines after the first keep their indentation as it is; otherwise the indentation
    /// of the caret's line is added to it.
    pub keeps_indent: bool,
}

/// The reason for which completions are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionTrigger {
    /// The user typed an identifier or asked for completions.
    Invoked,
    /// The user typed a char of `LanguageServer::completion_triggers`.
    Character(char),
    /// The user typed on, and the last list was incomplete.
    Incomplete,
}

/// The kind of a completion, as the protocol distinguishes them.
#[expect(
    missing_docs,
    reason = "the names are the terms of programming languages"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompletionKind {
    Text,
    Method,
    Function,
    Constructor,
    Field,
    Variable,
    Class,
    Interface,
    Module,
    Property,
    Unit,
    Value,
    Enum,
    Keyword,
    Snippet,
    Color,
    File,
    Reference,
    Folder,
    EnumMember,
    Constant,
    Struct,
    Event,
    Operator,
    TypeParameter,
}

/// The kinds in the order of their numbers, from 1.
const KINDS: [CompletionKind; 25] = [
    CompletionKind::Text,
    CompletionKind::Method,
    CompletionKind::Function,
    CompletionKind::Constructor,
    CompletionKind::Field,
    CompletionKind::Variable,
    CompletionKind::Class,
    CompletionKind::Interface,
    CompletionKind::Module,
    CompletionKind::Property,
    CompletionKind::Unit,
    CompletionKind::Value,
    CompletionKind::Enum,
    CompletionKind::Keyword,
    CompletionKind::Snippet,
    CompletionKind::Color,
    CompletionKind::File,
    CompletionKind::Reference,
    CompletionKind::Folder,
    CompletionKind::EnumMember,
    CompletionKind::Constant,
    CompletionKind::Struct,
    CompletionKind::Event,
    CompletionKind::Operator,
    CompletionKind::TypeParameter,
];

/// The item as the server wrote it, and the list that it belongs to.
#[derive(Clone, Debug)]
struct CompletionSource {
    /// JSON text of the item.
    json: Box<str>,
    list: Arc<ListSource>,
}

/// The common properties of the items of one list.
#[derive(Debug)]
struct ListSource {
    document: RequestDocument,
    defaults: wire::ItemDefaults,
}

impl CompletionKind {
    fn of(number: Option<u64>) -> Self {
        let number = number.and_then(|it| usize::try_from(it).ok());
        let kind = number.and_then(|number| KINDS.get(number.checked_sub(1)?));
        kind.copied().unwrap_or(Self::Text)
    }
}

impl CompletionItem {
    /// Returns the documentation, which may only be known after `LanguageServer::resolve_completion`.
    pub fn documentation(&self) -> Option<MarkupText> {
        MarkupText::documentation(self.source.item().get("documentation")?)
    }

    /// Takes the members that resolution may add. The text to insert does not change, since the user
    /// may have accepted it meanwhile.
    fn resolved(mut self, answer: Map<String, Value>, violations: &mut Violations) -> Self {
        let list = self.source.list.clone();
        let answer = Value::Object(answer);
        let mut reading = Reading::new(&list.document, violations);
        self.detail = text_member(&answer, "detail").or(self.detail);
        if let Some(details) = answer.get("labelDetails") {
            self.label_detail = text_member(details, "detail").or(self.label_detail);
            self.label_description = text_member(details, "description").or(self.label_description);
        }
        if let Some(edits) = answer.get("additionalTextEdits") {
            self.additional_edits = additional_edits(edits, &mut reading);
        }
        let command = answer.get("command").and_then(ServerCommand::of);
        self.command = command.or(self.command);
        let mut item = self.source.item();
        if let (Some(item), Value::Object(answer)) = (item.as_object_mut(), answer) {
            item.extend(answer);
        }
        self.source.json = item.to_string().into();
        self
    }
}

impl CompletionSource {
    fn item(&self) -> Value {
        serde_json::from_str(&self.json).unwrap_or_default()
    }

    /// Returns the item with the defaults of its list, as the server expects it back.
    fn params(&self) -> Value {
        let mut item = self.item();
        if let Some(item) = item.as_object_mut() {
            self.list.defaults.complete(item);
        }
        item
    }
}

impl LanguageServer {
    /// Asks for the completions at `offset` of the text that was passed on last.
    pub fn completion(
        &self,
        path: &AbsPath,
        offset: ByteOffset,
        trigger: CompletionTrigger,
    ) -> Option<Request<CompletionList>> {
        let params = |document: &RequestDocument| {
            let mut params = position_params(document, offset)?;
            params["context"] = trigger.context();
            Some(params)
        };
        self.ask_document(COMPLETION, path, params, wire::read_list)
    }

    /// Asks for the members of an item that the list omits; `None` if the server has no more. Ask
    /// once for each item.
    pub fn resolve_completion(&self, item: &CompletionItem) -> Option<Request<CompletionItem>> {
        if !item.source.list.document.offers_resolve() {
            return None;
        }
        let item = item.clone();
        let params = item.source.params();
        let read = move |json: &str, _: PositionEncoding, violations: &mut Violations| {
            match crate::answer::parse_value(json)? {
                Value::Object(answer) => Ok(item.clone().resolved(answer, violations)),
                // Some servers answer so if there is nothing to add.
                Value::Null => Ok(item.clone()),
                _ => Err(AnswerError::new("neither an object nor null")),
            }
        };
        let method = "completionItem/resolve";
        self.ask_workspace(method, params, ServerSession::is_running, read)
    }

    /// Returns the chars after which completions should be asked for in a document, besides the
    /// chars of words.
    pub fn completion_triggers(&self, path: &AbsPath) -> Vec<char> {
        let names = ["triggerCharacters"];
        self.connection()
            .with(|session| session.trigger_characters(COMPLETION, &names, path))
    }
}

impl CompletionTrigger {
    fn context(self) -> Value {
        match self {
            Self::Invoked => json!({ "triggerKind": 1 }),
            Self::Character(char) => json!({ "triggerKind": 2, "triggerCharacter": char }),
            Self::Incomplete => json!({ "triggerKind": 3 }),
        }
    }
}

#[cfg(test)]
mod tests;
