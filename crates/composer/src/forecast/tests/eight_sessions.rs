//! Eight sessions with random edits: each lands or reports a conflict, and no work is lost.

use base::AbsPath;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::land::LandingOutcome;
use crate::land::tests::land;

const SESSIONS: usize = 8;

fn edit(random: &mut StdRng, root: &AbsPath, name: &str, step: usize) {
    let file = format!("f{}.txt", random.random_range(0..12));
    let place = root.join(&file);
    let Ok(text) = std::fs::read_to_string(place.as_path()) else {
        return;
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match random.random_range(0..12) {
        0 => std::fs::remove_file(place.as_path()).unwrap(),
        1 => write(
            root,
            &format!("new-{name}-{step}/x.txt"),
            &format!("{name} {step}\n"),
        ),
        2 => {
            let to = root.join(format!("moved-{}.txt", random.random_range(0..4)));
            if !to.as_path().exists() {
                std::fs::rename(place.as_path(), to.as_path()).unwrap();
            }
        }
        _ => {
            let at = random.random_range(0..=lines.len());
            lines.insert(at, format!("{name} {step}"));
            std::fs::write(place.as_path(), lines.join("\n") + "\n").unwrap();
        }
    }
}

/// Returns every line that a session added and did not remove itself.
fn own_lines(work: &SessionWork) -> Vec<String> {
    let output = git(
        work.root.as_path(),
        &[
            "grep",
            "-h",
            "--untracked",
            "-e",
            &format!("^{} ", work.session),
            "--",
            ".",
        ],
    );
    output.lines().map(str::to_owned).collect()
}

#[test]
fn all_land_or_are_in_a_named_conflict() {
    let rounds: u64 = std::env::var("BURIN_LANDINGS").map_or(3, |rounds| rounds.parse().unwrap());
    let (mut landed_count, mut conflicted_count) = (0, 0);
    for seed in 0..rounds {
        let random = &mut StdRng::seed_from_u64(seed);
        let files: Vec<(String, String)> = (0..12)
            .map(|file| {
                let text: String = (0..40)
                    .map(|line| format!("file {file} line {line}\n"))
                    .collect();
                (format!("f{file}.txt"), text)
            })
            .collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let hub = Hub::new(&files);
        let works: Vec<SessionWork> = (0..SESSIONS)
            .map(|ix| hub.session(&format!("s{ix}")))
            .collect();
        for step in 0..6 {
            for work in &works {
                edit(random, &work.root, &work.session, step);
            }
        }
        write(&hub.root, "mine.txt", "the person's\n");
        let landings = hub.landings();
        let sessions: Vec<SessionChanges> = works
            .iter()
            .map(|work| SessionChanges {
                session: work.session.clone(),
                title: work.title.clone(),
                base: work.base.clone(),
                changes: Arc::new(landings.read(work).unwrap().changes),
            })
            .collect();
        let repository = landings.repository().unwrap();
        let input = ForecastInput {
            tip: CommitId(hub.tip()),
            branch: "main".to_owned(),
            sessions: sessions.clone(),
            uncommitted: Arc::default(),
            unsaved: UnsavedBuffers::new(),
        };
        let report = Forecaster::default().refresh(&repository, &input).unwrap();
        let mut landed_sessions: Vec<&str> = Vec::new();
        for (work, session) in works.iter().zip(&sessions) {
            if session.changes.is_empty() {
                continue;
            }
            let (_, outcome) = land(&landings, work);
            let preview = report
                .order
                .iter()
                .find(|it| it.session == work.session)
                .unwrap();
            match &outcome {
                LandingOutcome::Landed { .. } | LandingOutcome::Nothing => {
                    assert!(preview.conflicts.is_empty(), "{preview:?} in seed {seed}");
                    landed_sessions.push(&work.session);
                    landed_count += 1;
                }
                LandingOutcome::Conflicted { paths, .. } => {
                    assert_eq!(&preview.conflicts, paths, "seed {seed}");
                    // The forecast of a pair with a landed session predicted the conflict.
                    let is_predicted = report.conflicts.iter().any(|it| {
                        let both = [&it.one, &it.two];
                        let is =
                            |name: &str| both.contains(&&ForecastParty::Session(name.to_owned()));
                        is(&work.session) && landed_sessions.iter().any(|other| is(other))
                    });
                    assert!(is_predicted, "{} in seed {seed}", work.session);
                    conflicted_count += 1;
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(hub.status(), "?? mine.txt\n", "seed {seed}");
        }
        hub.assert_sound();
        for work in &works {
            let lines = own_lines(work);
            let whole: String = hub.git(&["grep", "-h", "-e", "^s[0-7] "]);
            if landed_sessions.contains(&work.session.as_str()) {
                for line in lines {
                    assert!(
                        whole.lines().any(|it| it == line),
                        "{line:?} is lost in seed {seed}"
                    );
                }
            }
        }
    }
    println!(
        "{landed_count} landed, {conflicted_count} in a named conflict, over {rounds} rounds of {SESSIONS}"
    );
    assert!(landed_count > 0 && conflicted_count > 0);
}
