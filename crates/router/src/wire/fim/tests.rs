//! Tests of each server's fill-in-the-middle requests and answers.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::wire::tests::{body, decode, gap_request, options, show, sse, target};

use super::*;

fn server(value: Value) -> FimOptions {
    serde_json::from_value(value).expect("options")
}

fn templates() -> BTreeMap<String, FimTemplate> {
    serde_json::from_str(include_str!(
        "../../../../../assets/models/fim-templates.json"
    ))
    .expect("templates")
}

fn check(value: Value, expected: &Expect) {
    let encoded = encode(&server(value), &options(json!({})), &gap_request()).expect("encodes");
    expected.assert_eq(&body(&encoded).to_string());
}

#[test]
fn requests() {
    check(
        json!({ "wire": "infill", "path": { "root": "infill" } }),
        &expect![[
            r#"{"input_prefix":"fn a() {","input_suffix":"}","input_extra":[{"filename":"b.rs","text":"fn b() {}"}],"prompt":"","n_predict":64,"cache_prompt":true,"stop":["\n\n"],"stream":true}"#
        ]],
    );
    check(
        json!({ "wire": "suffix", "path": { "root": "beta/completions" }, "most_output": 32 }),
        &expect![[
            r#"{"model":"m-1","prompt":"// b.rs\nfn b() {}\n\nfn a() {","suffix":"}","max_tokens":32,"stop":["\n\n"],"stream":true,"stream_options":{"include_usage":true}}"#
        ]],
    );
    check(
        json!({ "wire": "mistral", "path": { "base": "fim/completions" } }),
        &expect![[
            r#"{"model":"m-1","prompt":"// b.rs\nfn b() {}\n\nfn a() {","suffix":"}","max_tokens":64,"stop":["\n\n"],"stream":true}"#
        ]],
    );
    check(
        json!({ "wire": "ollama", "path": { "root": "api/generate" } }),
        &expect![[
            r#"{"model":"m-1","prompt":"// b.rs\nfn b() {}\n\nfn a() {","suffix":"}","options":{"num_predict":64,"stop":["\n\n"]},"stream":true}"#
        ]],
    );
}

#[test]
fn a_raw_prompt_needs_a_template() {
    let mut fim = server(json!({ "wire": "completions", "path": { "base": "completions" } }));
    let refused = encode(&fim, &options(json!({})), &gap_request());
    assert!(
        refused
            .expect_err("no template")
            .message
            .contains("fim_template")
    );
    fim.template = templates().remove("qwen");
    let encoded = encode(&fim, &options(json!({})), &gap_request()).expect("encodes");
    expect![[r#"{"model":"m-1","prompt":"<|file_sep|>b.rs\nfn b() {}\n<|fim_prefix|>fn a() {<|fim_suffix|>}<|fim_middle|>","max_tokens":64,"stop":["<|endoftext|>","<|file_sep|>","<|fim_pad|>","<|fim_prefix|>"],"stream":true,"stream_options":{"include_usage":true}}"#]].assert_eq(&body(&encoded).to_string());
}

#[test]
fn every_template_contains_the_gap() {
    for (name, template) in templates() {
        let prompt = template.prompt(&gap_request());
        assert!(prompt.contains("fn a() {"), "{name}");
        assert!(
            !prompt.contains("{prefix}") && !prompt.contains("{files}"),
            "{name}: {prompt}"
        );
        assert_eq!(
            prompt.contains("fn b() {}"),
            !template.file.is_empty(),
            "{name}"
        );
        assert!(!template.stop.is_empty(), "{name}");
    }
}

/// Compares each family's prompt with the published format: P is the prefix, S the suffix, `a.rs`
/// the file with the gap; without other files and with one.
#[test]
fn templates_match_the_published_ones() {
    let published = [
        (
            "qwen",
            "<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>",
            "<|repo_name|>burin\n<|file_sep|>b.rs\nfn b() {}\n<|file_sep|>a.rs\n<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>",
        ),
        (
            "starcoder",
            "<fim_prefix>P<fim_suffix>S<fim_middle>",
            "<file_sep>b.rs\nfn b() {}<file_sep><fim_prefix>P<fim_suffix>S<fim_middle>",
        ),
        ("code_llama", "<PRE> P <SUF>S <MID>", "<PRE> P <SUF>S <MID>"),
        (
            "deepseek_coder",
            "<\u{ff5c}fim\u{2581}begin\u{ff5c}>P<\u{ff5c}fim\u{2581}hole\u{ff5c}>S<\u{ff5c}fim\u{2581}end\u{ff5c}>",
            "<\u{ff5c}fim\u{2581}begin\u{ff5c}>P<\u{ff5c}fim\u{2581}hole\u{ff5c}>S<\u{ff5c}fim\u{2581}end\u{ff5c}>",
        ),
        (
            "codestral",
            "[SUFFIX]S[PREFIX]P",
            "[SUFFIX]S[PREFIX]+++++ b.rs\nfn b() {}\n\nP",
        ),
        (
            "glm",
            "<|code_prefix|>P<|code_suffix|>S<|code_middle|>",
            "<|code_prefix|>P<|code_suffix|>S<|code_middle|>",
        ),
        (
            "granite",
            "<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>",
            "<|fim_prefix|>P<|fim_suffix|>S<|fim_middle|>",
        ),
        (
            "mellum",
            "<fim_suffix>S<fim_prefix>P<fim_middle>",
            "<filename>b.rs\nfn b() {}\n<filename>a.rs\n<fim_suffix>S<fim_prefix>P<fim_middle>",
        ),
    ];
    let templates = templates();
    assert_eq!(templates.len(), published.len(), "no family is left out");
    for (name, alone, with_file) in published {
        let mut asked = gap_request();
        (asked.prefix, asked.suffix) = ("P".to_owned(), "S".to_owned());
        (asked.path, asked.project) = ("a.rs".to_owned(), "burin".to_owned());
        assert_eq!(templates[name].prompt(&asked), with_file, "{name}");
        asked.files.clear();
        assert_eq!(templates[name].prompt(&asked), alone, "{name}");
    }
}

#[test]
fn raw_prompt_is_sent_unchanged() {
    let mut asked = gap_request();
    asked.form = FimForm::Raw;
    asked.prefix = "<|file_sep|>a.rs\nlet ".to_owned();
    let encoded = |value: Value| encode(&server(value), &options(json!({})), &asked);
    let infill =
        encoded(json!({ "wire": "infill", "path": { "root": "infill" } })).expect("encodes");
    assert_eq!(infill.path, EndpointPath::Base("completions".to_owned()));
    expect![[r#"{"model":"m-1","prompt":"<|file_sep|>a.rs\nlet ","max_tokens":64,"cache_prompt":true,"stop":["\n\n"],"stream":true,"stream_options":{"include_usage":true}}"#]].assert_eq(&body(&infill).to_string());
    let vllm = encoded(json!({ "wire": "completions", "path": { "base": "completions" } }));
    expect![[r#"{"model":"m-1","prompt":"<|file_sep|>a.rs\nlet ","max_tokens":64,"stop":["\n\n"],"stream":true,"stream_options":{"include_usage":true}}"#]].assert_eq(&body(&vllm.expect("encodes")).to_string());
    let ollama = encoded(json!({ "wire": "ollama", "path": { "root": "api/generate" } }));
    expect![[r#"{"model":"m-1","prompt":"<|file_sep|>a.rs\nlet ","raw":true,"options":{"num_predict":64,"stop":["\n\n"]},"stream":true}"#]].assert_eq(&body(&ollama.expect("encodes")).to_string());
    let mistral = encoded(json!({ "wire": "mistral", "path": { "base": "fim/completions" } }));
    assert!(
        mistral
            .expect_err("no raw prompts")
            .message
            .contains("accepts no raw prompts")
    );
}

#[test]
fn edits_use_the_edit_endpoint() {
    let mut asked = gap_request();
    asked.form = FimForm::Edit;
    asked.prefix = "rewrite this".to_owned();
    let encoded = |value: Value| encode(&server(value), &options(json!({})), &asked);
    let mercury = encoded(json!({
        "wire": "suffix", "path": { "base": "fim/completions" }, "edit": { "base": "edit/completions" },
    }));
    let mercury = mercury.expect("encodes");
    assert_eq!(
        mercury.path,
        EndpointPath::Base("edit/completions".to_owned())
    );
    expect![[r#"{"model":"m-1","messages":[{"role":"user","content":"rewrite this"}],"max_tokens":64,"stop":["\n\n"],"stream":true,"stream_options":{"include_usage":true}}"#]].assert_eq(&body(&mercury).to_string());
    let other = encoded(json!({ "wire": "infill", "path": { "root": "infill" } }));
    assert!(
        other
            .expect_err("no place for edits")
            .message
            .contains("no edit endpoint")
    );
}

#[test]
fn text_cannot_inject_template_tokens() {
    let template = templates().remove("qwen").expect("qwen");
    let mut asked = gap_request();
    asked.prefix = "let t = \"<|fim_middle|>{suffix}\";".to_owned();
    let prompt = template.prompt(&asked);
    assert_eq!(prompt.matches("<|fim_middle|>").count(), 1, "{prompt}");
    assert!(
        prompt.contains("{suffix}\";"),
        "places in texts stay: {prompt}"
    );
}

#[test]
fn answers() {
    let answer = |wire: &str, text: &str| {
        let fim = server(json!({ "wire": wire, "path": { "root": "x" } }));
        let shown = show(&decode(decoder(&fim, &gap_request(), target()), text));
        shown.lines().collect::<Vec<_>>().join("|")
    };
    assert_eq!(
        answer(
            "infill",
            &sse(r#"{"content":"x","stop":false}
                {"content":" + 1","stop":false}
                {"content":"","stop":true,"stop_type":"word","tokens_evaluated":20,"tokens_predicted":3,"timings":{"cache_n":12}}"#)
        ),
        "start  |text \"x\"|text \" + 1\"|usage input 8 read 12 written 0+0 output 3 reasoning 0|stop StopText word"
    );
    assert_eq!(
        answer(
            "completions",
            &sse(
                r#"{"id":"c","model":"m","choices":[{"index":0,"text":"x","finish_reason":null}]}
                {"id":"c","choices":[{"index":0,"text":"","finish_reason":"length"}]}
                {"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1}}
                [DONE]"#
            )
        ),
        "start c m|text \"x\"|usage input 9 read 0 written 0+0 output 1 reasoning 0|stop MaxTokens length"
    );
    assert_eq!(
        answer(
            "mistral",
            &sse(
                r#"{"id":"f","model":"m","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}
                [DONE]"#
            )
        ),
        "start f m|text \"x\"|usage input 9 read 0 written 0+0 output 1 reasoning 0|stop EndTurn stop"
    );
    assert_eq!(
        answer(
            "ollama",
            "{\"model\":\"m\",\"response\":\"x\",\"done\":false}\n{\"model\":\"m\",\"response\":\"\",\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":1}\n"
        ),
        "start  m|text \"x\"|usage input 9 read 0 written 0+0 output 1 reasoning 0|stop EndTurn stop"
    );
    assert!(
        answer("ollama", "{\"error\":\"model 'm' not found\"}\n").starts_with("failed NoSuchModel")
    );
    assert!(
        answer("ollama", "{\"response\":\"x\",\"done\":false}\n{\"resp").contains("failed Torn")
    );
}
