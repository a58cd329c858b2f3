//! Gaps: each server's request and answer.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::wire::tests::{body, decode, gap_request, options, show, site, sse};

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
    expect![[r#"{"model":"m-1","prompt":"<|file_sep|>b.rs\nfn b() {}\n<|fim_prefix|>fn a() {<|fim_suffix|>}<|fim_middle|>","max_tokens":64,"stop":["<|endoftext|>","<|file_sep|>","<|fim_pad|>","\n\n"],"stream":true,"stream_options":{"include_usage":true}}"#]].assert_eq(&body(&encoded).to_string());
}

#[test]
fn every_template_holds_the_gap() {
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

#[test]
fn text_cannot_speak_the_template_s_tokens() {
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
        let shown = show(&decode(decoder(&fim, &gap_request(), site()), text));
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
