//! Signature help: the parameters of the call around the caret.

use std::ops::Range;

use base::{AbsPath, ByteOffset};
use serde_json::{Value, json};

use crate::answer::{AnswerError, parse_value, text_member};
use crate::hover::position_params;
use crate::markup::MarkupText;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::violations::{Violation, Violations};

/// Name of the request.
const SIGNATURE_HELP: &str = "textDocument/signatureHelp";
/// Maximum number of signatures, and of parameters of a signature.
const MAX_ENTRIES: usize = 1000;

/// The signatures of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureHelp {
    /// The signatures, at least one.
    pub signatures: Vec<Signature>,
    /// The index of the signature that fits best, always within the list.
    pub active_signature: usize,
    /// The index of the parameter at the caret, within those of the active signature; `None` if no
    /// parameter is active.
    pub active_parameter: Option<usize>,
}

/// A signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The whole signature, such as `f(a: u8, b: u8)`.
    pub label: String,
    /// The documentation.
    pub documentation: Option<MarkupText>,
    /// The parameters.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The parameter in the label of its signature, in bytes; empty if the label lacks it.
    pub label_span: Range<usize>,
    /// The documentation.
    pub documentation: Option<MarkupText>,
}

impl LanguageServer {
    /// Asks for the signatures of the call around `offset`. `typed` is the char of
    /// `signature_triggers` after which it is asked; `is_retrigger` says that help is shown already.
    /// The answer is `None` outside of calls.
    pub fn signature_help(
        &self,
        path: &AbsPath,
        offset: ByteOffset,
        typed: Option<char>,
        is_retrigger: bool,
    ) -> Option<Request<Option<SignatureHelp>>> {
        let params = |document: &RequestDocument| {
            let mut params = position_params(document, offset)?;
            let kind = if typed.is_some() { 2 } else { 1 };
            let mut context = json!({ "triggerKind": kind, "isRetrigger": is_retrigger });
            if let Some(char) = typed {
                context["triggerCharacter"] = json!(char);
            }
            params["context"] = context;
            Some(params)
        };
        self.ask_document(SIGNATURE_HELP, path, params, |json, _, violations| {
            read_help(json, violations)
        })
    }

    /// Returns the chars after which signature help should be asked for in a document.
    pub fn signature_triggers(&self, path: &AbsPath) -> Vec<char> {
        let names = ["triggerCharacters", "retriggerCharacters"];
        self.connection()
            .with(|session| session.trigger_characters(SIGNATURE_HELP, &names, path))
    }
}

fn read_help(
    json: &str,
    violations: &mut Violations,
) -> Result<Option<SignatureHelp>, AnswerError> {
    let help = parse_value(json)?;
    if !help.is_object() && !help.is_null() {
        return Err(AnswerError::new("neither an object nor null"));
    }
    let items = list(help.get("signatures"));
    let index = |value: Option<&Value>| value?.as_u64().and_then(|it| usize::try_from(it).ok());
    // A malformed signature would shift the index of the active one.
    let wanted = index(help.get("activeSignature")).unwrap_or_default();
    let active_item = items.get(wanted).or(items.first());
    let mut signatures = Vec::new();
    let mut active_signature = 0;
    for item in items {
        let Some(signature) = read_signature(item) else {
            violations.count(Violation::MalformedItem, 1);
            continue;
        };
        if active_item.is_some_and(|active| std::ptr::eq(active, item)) {
            active_signature = signatures.len();
        }
        signatures.push(signature);
    }
    let Some(active) = signatures.get(active_signature) else {
        return Ok(None);
    };
    let own = active_item.and_then(|item| item.get("activeParameter"));
    let parameter = match own.or(help.get("activeParameter")) {
        // Since version 3.18: no parameter is active.
        Some(Value::Null) => None,
        given => Some(index(given).unwrap_or_default()),
    };
    let count = active.parameters.len();
    Ok(Some(SignatureHelp {
        active_parameter: parameter.filter(|it| *it < count),
        signatures,
        active_signature,
    }))
}

fn read_signature(item: &Value) -> Option<Signature> {
    let label = text_member(item, "label")?;
    let mut search_start = 0;
    let mut parameters = Vec::new();
    for parameter in list(item.get("parameters")) {
        let label_span = label_span(&label, parameter.get("label"), search_start);
        search_start = search_start.max(label_span.end);
        parameters.push(Parameter {
            label_span,
            documentation: documentation(parameter),
        });
    }
    Some(Signature {
        documentation: documentation(item),
        label,
        parameters,
    })
}

fn documentation(item: &Value) -> Option<MarkupText> {
    MarkupText::documentation(item.get("documentation")?)
}

/// Returns the elements of a list within the bound.
fn list(list: Option<&Value>) -> &[Value] {
    let list = list
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    &list[..list.len().min(MAX_ENTRIES)]
}

/// Returns the bytes of the label that a parameter names: by UTF-16 offsets, or as a text, which is
/// searched from `search_start`.
fn label_span(label: &str, parameter: Option<&Value>, search_start: usize) -> Range<usize> {
    match parameter {
        Some(Value::String(text)) => {
            let rest = label.get(search_start..).unwrap_or_default();
            match rest.find(text.as_str()) {
                Some(start) => search_start + start..search_start + start + text.len(),
                None => 0..0,
            }
        }
        Some(Value::Array(offsets)) => {
            let offset = |ix: usize| Some(utf16_offset(label, offsets.get(ix)?.as_u64()?));
            match (offset(0), offset(1)) {
                (Some(start), Some(end)) if start <= end => start..end,
                _ => 0..0,
            }
        }
        _ => 0..0,
    }
}

/// Converts an offset in UTF-16 code units to bytes, clamped to the text.
fn utf16_offset(text: &str, wanted: u64) -> usize {
    let mut units = 0;
    for (offset, char) in text.char_indices() {
        units += char.len_utf16() as u64;
        if units > wanted {
            return offset;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{SignatureHelp, read_help};
    use crate::testing::violations_of;

    fn read(answer: &Value) -> Option<SignatureHelp> {
        violations_of(|it| read_help(&answer.to_string(), it).expect("an answer")).0
    }

    fn check_parameters(label: &str, parameters: Value, expected: &[&str]) {
        let parameters = parameters.as_array().expect("a list").iter();
        let parameters: Vec<Value> = parameters.map(|it| json!({ "label": it })).collect();
        let help = json!({ "signatures": [{ "label": label, "parameters": parameters }] });
        let signature = read(&help).expect("help").signatures.remove(0);
        let parameters = signature.parameters.iter();
        let texts: Vec<&str> = parameters.map(|it| &label[it.label_span.clone()]).collect();
        assert_eq!(texts, expected, "{label}");
    }

    #[test]
    fn parameters_are_texts_or_utf_16_offsets() {
        check_parameters(
            "f(🦀: u8, 🦀: u8)",
            json!(["🦀: u8", "🦀: u8"]),
            &["🦀: u8", "🦀: u8"],
        );
        check_parameters("f(🦀, b)", json!([[2, 4], [6, 7]]), &["🦀", "b"]);
        check_parameters(
            "f(é)",
            json!([[3, 2], [2, 99], [0], 7, "zz"]),
            &["", "é)", "", "", ""],
        );
    }

    #[test]
    fn a_repeated_text_is_found_after_the_parameter_before() {
        let signature =
            json!({ "label": "f(a, a)", "parameters": [{ "label": "a" }, { "label": "a" }] });
        let help = read(&json!({ "signatures": [signature] })).expect("help");
        let spans = help.signatures[0].parameters.iter();
        let spans: Vec<_> = spans.map(|it| it.label_span.clone()).collect();
        assert_eq!(spans, [2..3, 5..6]);
    }

    #[test]
    fn active_indices_stay_within_bounds() {
        let signature = json!({ "label": "f(a)", "parameters": [{ "label": "a" }] });
        let help = |extra: Value| {
            let mut help = json!({ "signatures": [7, signature, signature] });
            let members = extra.as_object().cloned().unwrap_or_default();
            help.as_object_mut().expect("an object").extend(members);
            let help = read(&help).expect("help");
            (help.active_signature, help.active_parameter)
        };
        assert_eq!(help(json!({})), (0, Some(0)));
        assert_eq!(
            help(json!({ "activeSignature": 2, "activeParameter": 0 })),
            (1, Some(0))
        );
        assert_eq!(
            help(json!({ "activeSignature": 99, "activeParameter": 9 })),
            (0, None)
        );
        assert_eq!(help(json!({ "activeParameter": null })), (0, None));
    }

    #[test]
    fn no_signature_is_no_help() {
        for answer in [
            Value::Null,
            json!({}),
            json!({ "signatures": [] }),
            json!({ "signatures": [7] }),
        ] {
            assert_eq!(read(&answer), None, "{answer}");
        }
        assert!(violations_of(|it| read_help("7", it)).0.is_err());
    }
}
