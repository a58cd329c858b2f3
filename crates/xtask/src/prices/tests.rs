//! Tests the merge of two small tables.

use super::*;

fn table(text: &str, source: &str, date: &str) -> Table {
    Table {
        text: text.to_owned(),
        source: source.to_owned(),
        date: date.to_owned(),
    }
}

#[test]
fn rows_are_merged_field_by_field() {
    let litellm = table(
        r#"{"sample_spec": {"mode": "one of: chat, …"},
            "deepseek/d-1": {"litellm_provider": "deepseek", "mode": "chat", "max_input_tokens": 1000,
                "input_cost_per_token": 7.5e-08, "output_cost_per_token": 3e-07,
                "input_cost_per_token_above_200k_tokens": 1.5e-07,
                "cache_creation_input_token_cost_above_1hr": 4e-06, "supports_max_reasoning_effort": true},
            "mistral/free-1": {"litellm_provider": "mistral", "mode": "chat", "max_input_tokens": 5,
                "input_cost_per_token": 0, "output_cost_per_token": 0},
            "other/x": {"litellm_provider": "other", "mode": "chat", "input_cost_per_token": 1}}"#,
        "litellm 1",
        "2026-11-01",
    );
    let models_dev = table(
        r#"{"deepseek": {"models": {"d-1": {"cost": {"input": 0.08, "output": 0.3, "cache_read": 0.01},
                "limit": {"context": 9, "output": 50}, "tool_call": true, "temperature": false}}},
            "openrouter": {"models": {
                "deepseek/d-1": {"canonical_model_id": "deepseek/d-1", "tool_call": true,
                    "cost": {"input": 0, "output": 0}, "limit": {"context": 7}},
                "deepseek/d-1:free": {"tool_call": true, "cost": {"input": 0, "output": 0}},
                "unknown/y": {"tool_call": true, "cost": {"input": 1, "output": 1}}}}}"#,
        "models.dev",
        "2026-10-30",
    );
    let (text, notes) = merge(&litellm, &models_dev);
    assert_eq!(
        text,
        concat!(
            "{\"format\": 1, \"rows\": [\n",
            r#"{"provider":"deepseek","model":"d-1","kind":"chat","context":1000,"output":50,"#,
            r#""price":{"input":75000,"output":300000,"cache_read":10000,"cache_write_1h":4000000,"#,
            r#""above":[{"tokens":200000,"price":{"input":150000}}]},"tools":true,"sampling":false,"#,
            r#""efforts":["low","medium","high","max"],"source":"litellm 1","date":"2026-11-01"},"#,
            "\n",
            r#"{"provider":"mistral","model":"free-1","kind":"chat","context":5,"#,
            r#""source":"litellm 1","date":"2026-11-01"},"#,
            "\n",
            r#"{"provider":"openrouter","model":"deepseek/d-1","kind":"chat","context":7,"tools":true,"#,
            r#""same_as":"deepseek/d-1","source":"models.dev","date":"2026-10-30"},"#,
            "\n",
            r#"{"provider":"openrouter","model":"deepseek/d-1:free","kind":"chat","#,
            r#""price":{"input":0,"output":0},"tools":true,"source":"models.dev","date":"2026-10-30"}"#,
            "\n]}\n"
        )
    );
    assert_eq!(
        notes,
        [
            "deepseek/d-1: litellm 1 says (Some(75000), Some(300000)), models.dev says (Some(80000), Some(300000))"
        ]
    );
}
