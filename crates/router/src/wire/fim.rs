//! Fill in the middle: the endpoints of each server, and prompt templates for servers without one.

mod decode;
mod template;

use model::{Failure, FailureClass, Fim, FimForm};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::body::finish;
use super::history::{add_sampling, headers};
use super::json::object;
use super::options::WireOptions;
use super::{EncodedRequest, EndpointPath};

pub(crate) use decode::decoder;
pub use template::FimTemplate;

/// Fill-in-the-middle support of a server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FimOptions {
    /// Protocol of the endpoint.
    pub wire: FimWire,
    /// Path of the endpoint.
    pub path: EndpointPath,
    /// Template of the prompt, if the server takes it raw.
    #[serde(default)]
    pub template: Option<FimTemplate>,
    /// Maximum output tokens; 0 for no limit of its own.
    #[serde(default, alias = "most_output")]
    pub max_output: u64,
    /// Maximum number of stop texts; further ones are omitted.
    #[serde(default = "four")]
    pub stop_limit: usize,
    /// Path of the endpoint for next edits, if it has one.
    #[serde(default)]
    pub edit: Option<EndpointPath>,
}

/// The default of `stop_limit`.
fn four() -> usize {
    4
}

impl FimOptions {
    /// Returns the forms of requests that the protocol supports: always `Gap`, and `Raw` if the
    /// protocol takes a raw prompt.
    pub fn takes(&self) -> Vec<FimForm> {
        let mut forms = vec![FimForm::Gap];
        if matches!(
            self.wire,
            FimWire::Completions | FimWire::Infill | FimWire::Ollama
        ) {
            forms.push(FimForm::Raw);
        }
        forms.extend(self.edit.as_ref().map(|_| FimForm::Edit));
        forms
    }
}

/// Protocol of a fill-in-the-middle endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FimWire {
    /// llama.cpp's `/infill`: the server applies the model's own template.
    Infill,
    /// OpenAI's legacy completions with a raw prompt, as in vLLM: requires a template.
    Completions,
    /// The same with a `suffix`, as in DeepSeek.
    Suffix,
    /// Mistral's protocol: a completion request, answered like a chat.
    Mistral,
    /// Ollama's `/api/generate`, with one JSON object per line.
    Ollama,
}

/// Encodes a request for the protocol of `fim`.
pub(crate) fn encode(
    fim: &FimOptions,
    options: &WireOptions,
    request: &Fim,
) -> Result<EncodedRequest, Failure> {
    let max_output = match fim.max_output {
        0 => request.max_output.0,
        max => request.max_output.0.min(max),
    };
    let mut stop: Vec<&str> = request.stop.iter().map(String::as_str).collect();
    let (path, mut body) = match request.form {
        FimForm::Gap => {
            if let (FimWire::Completions, Some(template)) = (fim.wire, &fim.template) {
                // The template's own stop texts matter most: without them the model continues with
                // the next file.
                stop.splice(0..0, template.stop.iter().map(String::as_str));
            }
            (fim.path.clone(), gap(fim, request, max_output)?)
        }
        FimForm::Raw => raw(fim, request, max_output)?,
        FimForm::Edit => edit(fim, request, max_output)?,
    };
    stop.truncate(fim.stop_limit);
    let names = ["temperature", "top_p"];
    if fim.wire == FimWire::Ollama {
        let mut inner = object([("num_predict", json!(max_output))]);
        add_sampling(&mut inner, request.sampling, options, names);
        add_stop(&mut inner, &stop);
        body.insert("options".to_owned(), Value::Object(inner));
    } else {
        add_sampling(&mut body, request.sampling, options, names);
        add_stop(&mut body, &stop);
    }
    body.insert("stream".to_owned(), json!(true));
    let tells_usage = matches!(fim.wire, FimWire::Completions | FimWire::Suffix);
    if tells_usage || fim.wire == FimWire::Infill && request.form != FimForm::Gap {
        body.insert(
            "stream_options".to_owned(),
            json!({ "include_usage": true }),
        );
    }
    Ok(EncodedRequest {
        path,
        headers: headers(options),
        body: finish(body, options),
    })
}

/// Encodes a gap between prefix and suffix.
fn gap(fim: &FimOptions, request: &Fim, max_output: u64) -> Result<Map<String, Value>, Failure> {
    let model = ("model", json!(request.model.model));
    Ok(match fim.wire {
        FimWire::Infill => infill(request, max_output),
        FimWire::Completions => {
            let Some(template) = &fim.template else {
                return Err(template::missing(request));
            };
            let prompt = ("prompt", json!(template.prompt(request)));
            object([model, prompt, ("max_tokens", json!(max_output))])
        }
        FimWire::Suffix | FimWire::Mistral => object([
            model,
            ("prompt", json!(with_files(request))),
            ("suffix", json!(request.suffix)),
            ("max_tokens", json!(max_output)),
        ]),
        FimWire::Ollama => object([
            model,
            ("prompt", json!(with_files(request))),
            ("suffix", json!(request.suffix)),
        ]),
    })
}

/// Encodes a raw prompt, to which the server applies no template.
fn raw(
    fim: &FimOptions,
    request: &Fim,
    max_output: u64,
) -> Result<(EndpointPath, Map<String, Value>), Failure> {
    let model = ("model", json!(request.model.model));
    let prompt = ("prompt", json!(request.prefix));
    match fim.wire {
        FimWire::Completions => {
            let body = object([model, prompt, ("max_tokens", json!(max_output))]);
            Ok((fim.path.clone(), body))
        }
        // llama.cpp takes raw prompts at the legacy completions endpoint; `/infill` would wrap
        // them.
        FimWire::Infill => {
            let body = object([
                model,
                prompt,
                ("max_tokens", json!(max_output)),
                ("cache_prompt", json!(true)),
            ]);
            Ok((EndpointPath::Base("completions".to_owned()), body))
        }
        FimWire::Ollama => {
            let body = object([model, prompt, ("raw", json!(true))]);
            Ok((fim.path.clone(), body))
        }
        FimWire::Suffix | FimWire::Mistral => Err(unsupported(request, "accepts no raw prompts")),
    }
}

/// Encodes a message for the edit endpoint.
fn edit(
    fim: &FimOptions,
    request: &Fim,
    max_output: u64,
) -> Result<(EndpointPath, Map<String, Value>), Failure> {
    let Some(path) = &fim.edit else {
        return Err(unsupported(request, "has no edit endpoint"));
    };
    let body = object([
        ("model", json!(request.model.model)),
        (
            "messages",
            json!([{ "role": "user", "content": request.prefix }]),
        ),
        ("max_tokens", json!(max_output)),
    ]);
    Ok((path.clone(), body))
}

fn unsupported(request: &Fim, why: &str) -> Failure {
    let message = format!(
        "The server of {} {why}, so it cannot predict edits with this model; choose another for Tab.",
        request.model
    );
    Failure::new(FailureClass::InvalidRequest, message)
}

fn infill(request: &Fim, max_output: u64) -> Map<String, Value> {
    let files = request.files.iter();
    let files = files.map(|file| json!({ "filename": file.path, "text": file.text }));
    object([
        ("input_prefix", json!(request.prefix)),
        ("input_suffix", json!(request.suffix)),
        ("input_extra", Value::Array(files.collect())),
        ("prompt", json!("")),
        ("n_predict", json!(max_output)),
        ("cache_prompt", json!(true)),
    ])
}

fn add_stop(body: &mut Map<String, Value>, stop: &[&str]) {
    if !stop.is_empty() {
        body.insert("stop".to_owned(), json!(stop));
    }
}

/// Returns the prefix preceded by snippets of other files, for servers without a field for them.
fn with_files(request: &Fim) -> String {
    let mut prompt = String::new();
    for file in &request.files {
        prompt.push_str("// ");
        prompt.push_str(&file.path);
        prompt.push('\n');
        prompt.push_str(&file.text);
        prompt.push_str("\n\n");
    }
    prompt.push_str(&request.prefix);
    prompt
}

#[cfg(test)]
mod tests;
