//! Choice of the completion model among the available ones.

use model::{FimForm, FimFormat, ModelId, NextEditFormat, Profile};

use super::{ModelCandidate, choose};

fn candidate(
    name: &str,
    fim: Option<FimFormat>,
    next_edit: Option<NextEditFormat>,
    takes: &[FimForm],
) -> ModelCandidate {
    ModelCandidate {
        id: ModelId::parse(name).expect("a name"),
        profile: Profile {
            fim,
            next_edit,
            ..Profile::harmless()
        },
        is_local: name.starts_with("ollama") || name.starts_with("llama"),
        takes: takes.to_vec(),
    }
}

fn check(wanted: &str, candidates: &[ModelCandidate], expected: &str) {
    let chosen = match choose(wanted, candidates) {
        Ok(Some(model)) => format!("{} {:?}", model.id, model.kind),
        Ok(None) => "nobody".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(chosen, expected);
}

#[test]
fn local_models_come_first_and_prediction_before_filling() {
    let all = [FimForm::Gap, FimForm::Raw];
    let qwen = candidate(
        "ollama/qwen2.5-coder:1.5b",
        Some(FimFormat::Qwen),
        None,
        &all,
    );
    let llama = candidate("ollama/llama3", None, None, &all);
    let codestral = candidate(
        "mistral/codestral-latest",
        Some(FimFormat::Endpoint),
        None,
        &[FimForm::Gap],
    );
    let sweep = candidate(
        "llama.cpp/sweep",
        Some(FimFormat::Qwen),
        Some(NextEditFormat::Sweep),
        &all,
    );
    let mercury = candidate(
        "inception/mercury-coder",
        Some(FimFormat::Endpoint),
        Some(NextEditFormat::Mercury),
        &[FimForm::Gap, FimForm::Edit],
    );
    check("auto", &[], "nobody");
    check("auto", std::slice::from_ref(&llama), "nobody");
    check(
        "auto",
        &[llama.clone(), codestral.clone()],
        "mistral/codestral-latest Gap",
    );
    let some = [codestral.clone(), mercury.clone()];
    check("auto", &some, "inception/mercury-coder NextEdit(Mercury)");
    let some = [mercury, codestral.clone(), qwen.clone()];
    check("auto", &some, "ollama/qwen2.5-coder:1.5b Gap");
    check("auto", &[qwen, sweep], "llama.cpp/sweep NextEdit(Sweep)");
    check(
        "mistral/codestral-latest",
        &[llama.clone(), codestral],
        "mistral/codestral-latest Gap",
    );
    check(
        "ollama/gone",
        std::slice::from_ref(&llama),
        "There is no model \"ollama/gone\" for Tab; `burin-agent models` lists the available ones.",
    );
    let refused = choose("ollama/llama3", &[llama]).expect_err("fills no gaps");
    assert!(refused.to_string().contains("supports neither"));
}

#[test]
fn gap_filling_is_used_if_the_server_takes_no_prompts() {
    let sweep = candidate(
        "x/sweep",
        Some(FimFormat::Qwen),
        Some(NextEditFormat::Sweep),
        &[FimForm::Gap],
    );
    check("auto", &[sweep], "x/sweep Gap");
}
