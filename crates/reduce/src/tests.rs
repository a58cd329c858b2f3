//! Logs of real tools, in `logs/`, each with the facts that the reduced form must contain.

use super::*;

/// Shorter logs contain too little that could be omitted.
const SHORT_BY_NATURE: usize = 8_000;

struct Sample {
    name: String,
    command: String,
    log: String,
    facts: Vec<String>,
}

#[expect(clippy::disallowed_methods, reason = "a test reads its recorded data")]
fn samples() -> Vec<Sample> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/logs");
    let mut samples = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "log") {
            continue;
        }
        let facts = std::fs::read_to_string(path.with_extension("facts")).unwrap();
        let (command, facts) = facts.split_once('\n').unwrap();
        samples.push(Sample {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            command: command.trim_start_matches("$ ").to_owned(),
            log: std::fs::read_to_string(&path).unwrap(),
            facts: facts.lines().map(str::to_owned).collect(),
        });
    }
    samples.sort_by(|one, two| one.name.cmp(&two.name));
    samples
}

#[test]
fn reduced_logs_keep_all_facts() {
    let samples = samples();
    assert!(samples.len() >= 50, "{} logs", samples.len());
    let mut ratios = Vec::new();
    let (mut before, mut after, mut count) = (0, 0, 0);
    let mut lost = Vec::new();
    for sample in &samples {
        let short = reduce("exec_command", Some(&sample.command), &sample.log);
        let short = short.unwrap_or_else(|| terminal_text::plain(&sample.log));
        let ratio = sample.log.len() as f64 / short.len() as f64;
        println!(
            "{:32} {:7} → {:6}  {ratio:5.1}×",
            sample.name,
            sample.log.len(),
            short.len()
        );
        for fact in &sample.facts {
            count += 1;
            if !short.contains(fact.as_str()) {
                lost.push(format!("{}: {fact:?}", sample.name));
            }
        }
        if sample.log.len() >= SHORT_BY_NATURE {
            ratios.push(ratio);
        }
        before += sample.log.len();
        after += short.len();
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    let total = before as f64 / after as f64;
    println!(
        "{} logs, {before} → {after} bytes: {total:.1}× in all, median {median:.1}× of {} long ones, lowest {:.1}×; {} of {count} facts kept",
        samples.len(),
        ratios.len(),
        ratios[0],
        count - lost.len(),
    );
    assert_eq!(lost, Vec::<String>::new());
    assert!(median >= 10.0, "{median}");
    assert!(total >= 10.0, "{total}");
}

/// Most logs identify their tool: without the command, the facts are kept all the same.
#[test]
fn logs_are_known_without_their_command() {
    let mut lost = Vec::new();
    for sample in samples() {
        let short = reduce("exec_command", None, &sample.log);
        let short = short.unwrap_or_else(|| terminal_text::plain(&sample.log));
        let is_told_by_command = ["git-", "find-", "ls-", "grep-"]
            .iter()
            .any(|kind| sample.name.starts_with(kind));
        for fact in sample.facts {
            if !is_told_by_command && !short.contains(fact.as_str()) {
                lost.push(format!("{}: {fact:?}", sample.name));
            }
        }
    }
    assert_eq!(lost, Vec::<String>::new());
}

#[test]
fn reduction_is_idempotent_and_deterministic() {
    for sample in samples() {
        let command = Some(sample.command.as_str());
        let Some(short) = reduce("exec_command", command, &sample.log) else {
            continue;
        };
        assert_eq!(
            reduce("exec_command", command, &short),
            None,
            "{}",
            sample.name
        );
        assert_eq!(
            reduce("exec_command", command, &sample.log),
            Some(short),
            "{}",
            sample.name
        );
    }
}

#[test]
fn reduction_never_panics() {
    let samples = samples();
    let mut random = 11_u64;
    let mut next = |most: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % most
    };
    // Lines of all tools in any order, some of them torn.
    let lines: Vec<&str> = samples
        .iter()
        .flat_map(|sample| sample.log.lines().step_by(7))
        .collect();
    for _ in 0..40 {
        let mut text = String::new();
        for _ in 0..300 {
            let line = lines[next(lines.len())];
            let mut end = next(line.len() + 1);
            while !line.is_char_boundary(end) {
                end -= 1;
            }
            text.push_str(if next(3) == 0 { &line[..end] } else { line });
            text.push('\n');
        }
        for tool in ["exec_command", "grep", "glob"] {
            if let Some(short) = reduce(tool, Some("git log -p; git status; make"), &text) {
                assert!(short.len() < text.len());
            }
        }
    }
}

#[test]
fn short_and_irreducible_texts_stay_unchanged() {
    assert_eq!(
        reduce("exec_command", Some("cargo test"), "test a ... ok\n"),
        None
    );
    let prose: String = (0..30)
        .map(|ix| format!("{} {}\n", "word ".repeat(ix + 1), "x".repeat(ix)))
        .collect();
    assert_eq!(reduce("exec_command", None, &prose), None);
}

#[test]
fn deliberately_read_text_stays_unchanged() {
    let file: String = (0..200)
        .map(|ix| format!("    let value_{ix} = compute({ix});\n"))
        .collect();
    let check = |tool: &str, command: Option<&str>, is_touched: bool| {
        assert_eq!(
            reduce(tool, command, &file).is_some(),
            is_touched,
            "{tool} {command:?}"
        );
    };
    check("read", None, false);
    check("fetch", None, false);
    check("spawn_agent", None, false);
    check("exec_command", Some("cat src/main.rs"), false);
    check(
        "exec_command",
        Some("cd src && sed -n 1,200p main.rs | head -200"),
        false,
    );
    check("exec_command", Some("./server --verbose"), true);
    check("exec_command", Some("make 2>&1 | tail -200"), true);
}

/// Docker's builder. The log is written here from its documented format, since no daemon ran where
/// the other logs were recorded.
#[test]
fn docker_build_keeps_steps_and_failures() {
    let mut log = String::from(
        "#1 [internal] load build definition from Dockerfile\n#1 DONE 0.0s\n\n#5 [2/4] WORKDIR /app\n#5 CACHED\n\n#6 [3/4] RUN apt-get install -y curl\n",
    );
    for ix in 0..200 {
        log.push_str(&format!(
            "#6 {ix}.31 Get:{ix} http://deb.debian.org/debian bookworm/main amd64 lib{ix} [12 kB]\n"
        ));
    }
    log.push_str("#6 DONE 210.1s\n\n#7 [4/4] RUN npm run build\n#7 1.204 src/a.ts(3,1): error TS2304: Cannot find name 'gone'.\n");
    log.push_str("#7 ERROR: process \"/bin/sh -c npm run build\" did not complete successfully: exit code: 2\n------\n > [4/4] RUN npm run build:\n------\n");
    let short = reduce("exec_command", Some("docker build ."), &log).unwrap();
    assert!(short.len() * 10 < log.len(), "{short}");
    for fact in [
        "[3/4] RUN apt-get install",
        "error TS2304: Cannot find name 'gone'",
        "exit code: 2",
        " > [4/4] RUN npm run build",
    ] {
        assert!(short.contains(fact), "{fact}:\n{short}");
    }
}
