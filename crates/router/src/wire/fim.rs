//! Fill in the middle: the endpoints of each server, and templates for those that have none.

mod decode;
mod template;

use model::{Failure, FailureClass, Fim, FimForm};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::body::finish;
use super::history::{add_sampling, headers};
use super::json::object;
use super::options::WireOptions;
use super::{Encoded, Path};

pub(crate) use decode::decoder;
pub use template::FimTemplate;

/// How a server fills gaps.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FimOptions {
    /// Its protocol.
    pub wire: FimWire,
    /// Where it is asked.
    pub path: Path,
    /// How the prompt is written where the server takes it raw.
    #[serde(default)]
    pub template: Option<FimTemplate>,
    /// The most output tokens that it takes; 0 for no limit of its own.
    #[serde(default)]
    pub most_output: u64,
    /// The most stop texts that it takes; further ones are left out.
    #[serde(default = "four")]
    pub stop_limit: usize,
    /// Where it is asked for next edits with a message, if it has a place for that.
    #[serde(default)]
    pub edit: Option<Path>,
}

fn four() -> usize {
    4
}

/// A protocol for gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FimWire {
    /// llama.cpp's `/infill`: the server knows the model's own template.
    Infill,
    /// OpenAI's old completions with a raw prompt, as vLLM has it: needs a template.
    Completions,
    /// The same with a `suffix`, as DeepSeek has it.
    Suffix,
    /// Mistral's: asked like a completion, answered like a chat.
    Mistral,
    /// Ollama's `/api/generate`, a JSON object a line.
    Ollama,
}

pub(crate) fn encode(
    fim: &FimOptions,
    options: &WireOptions,
    request: &Fim,
) -> Result<Encoded, Failure> {
    let most = match fim.most_output {
        0 => request.max_output.0,
        most => request.max_output.0.min(most),
    };
    let mut stop: Vec<&str> = request.stop.iter().map(String::as_str).collect();
    let (path, mut body) = match request.form {
        FimForm::Gap => {
            if let (FimWire::Completions, Some(template)) = (fim.wire, &fim.template) {
                // The template's own ends matter most: without them the model writes the next file.
                stop.splice(0..0, template.stop.iter().map(String::as_str));
            }
            (fim.path.clone(), gap(fim, request, most)?)
        }
        FimForm::Raw => raw(fim, request, most)?,
        FimForm::Edit => edit(fim, request, most)?,
    };
    stop.truncate(fim.stop_limit);
    let names = ["temperature", "top_p"];
    if fim.wire == FimWire::Ollama {
        let mut inner = object([("num_predict", json!(most))]);
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
    Ok(Encoded {
        path,
        headers: headers(options),
        body: finish(body, options),
    })
}

/// A gap between two texts.
fn gap(fim: &FimOptions, request: &Fim, most: u64) -> Result<Map<String, Value>, Failure> {
    let model = ("model", json!(request.model.model));
    Ok(match fim.wire {
        FimWire::Infill => infill(request, most),
        FimWire::Completions => {
            let Some(template) = &fim.template else {
                return Err(template::missing(request));
            };
            let prompt = ("prompt", json!(template.prompt(request)));
            object([model, prompt, ("max_tokens", json!(most))])
        }
        FimWire::Suffix | FimWire::Mistral => object([
            model,
            ("prompt", json!(with_files(request))),
            ("suffix", json!(request.suffix)),
            ("max_tokens", json!(most)),
        ]),
        FimWire::Ollama => object([
            model,
            ("prompt", json!(with_files(request))),
            ("suffix", json!(request.suffix)),
        ]),
    })
}

/// A whole prompt, which nobody puts into a template again.
fn raw(fim: &FimOptions, request: &Fim, most: u64) -> Result<(Path, Map<String, Value>), Failure> {
    let model = ("model", json!(request.model.model));
    let prompt = ("prompt", json!(request.prefix));
    match fim.wire {
        FimWire::Completions => {
            let body = object([model, prompt, ("max_tokens", json!(most))]);
            Ok((fim.path.clone(), body))
        }
        // llama.cpp takes prompts where OpenAI's old completions do; `/infill` would wrap them.
        FimWire::Infill => {
            let body = object([
                model,
                prompt,
                ("max_tokens", json!(most)),
                ("cache_prompt", json!(true)),
            ]);
            Ok((Path::Base("completions".to_owned()), body))
        }
        FimWire::Ollama => {
            let body = object([model, prompt, ("raw", json!(true))]);
            Ok((fim.path.clone(), body))
        }
        FimWire::Suffix | FimWire::Mistral => Err(unfit(request, "takes no prompt as it is")),
    }
}

/// A message for the endpoint of edits.
fn edit(fim: &FimOptions, request: &Fim, most: u64) -> Result<(Path, Map<String, Value>), Failure> {
    let Some(path) = &fim.edit else {
        return Err(unfit(request, "has no endpoint for edits"));
    };
    let body = object([
        ("model", json!(request.model.model)),
        (
            "messages",
            json!([{ "role": "user", "content": request.prefix }]),
        ),
        ("max_tokens", json!(most)),
    ]);
    Ok((path.clone(), body))
}

fn unfit(request: &Fim, why: &str) -> Failure {
    let message = format!(
        "The server of {} {why}, so it cannot predict edits with this model; choose another for Tab.",
        request.model
    );
    Failure::new(FailureClass::InvalidRequest, message)
}

fn infill(request: &Fim, most: u64) -> Map<String, Value> {
    let files = request.files.iter();
    let files = files.map(|file| json!({ "filename": file.path, "text": file.text }));
    object([
        ("input_prefix", json!(request.prefix)),
        ("input_suffix", json!(request.suffix)),
        ("input_extra", Value::Array(files.collect())),
        ("prompt", json!("")),
        ("n_predict", json!(most)),
        ("cache_prompt", json!(true)),
    ])
}

fn add_stop(body: &mut Map<String, Value>, stop: &[&str]) {
    if !stop.is_empty() {
        body.insert("stop".to_owned(), json!(stop));
    }
}

/// The prefix with the other files' pieces before it, for servers that have no place for them.
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
