//! The cost of a refresh with eight sessions.

use std::time::Instant;

use git::Repository;
use host::RealFiles;

use super::*;
use crate::land::{CommitMessage, LandingOutcome, LandingRequest, Landings, NoChecks};

/// Repository size: `BURIN_FILES`, small by default.
#[test]
fn a_refresh_with_eight_sessions() {
    let count: usize = std::env::var("BURIN_FILES").map_or(200, |count| count.parse().unwrap());
    let text: String = (0..300)
        .map(|line| format!("fn f{line}() {{ {line}; }}\n"))
        .collect();
    let names: Vec<String> = (0..count)
        .map(|file| format!("src/m{}/f{file}.rs", file % 60))
        .collect();
    let texts: Vec<String> = (0..count)
        .map(|file| format!("// {file}\n{text}"))
        .collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .zip(&texts)
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let hub = Hub::new(&files);
    let works: Vec<SessionWork> = (0..8).map(|ix| hub.session(&format!("s{ix}"))).collect();
    for (ix, work) in works.iter().enumerate() {
        for file in 0..20 {
            let text =
                texts[file].replacen(&format!("f{}()", 20 * ix + file), &format!("g{ix}()"), 1);
            write(&work.root, &names[file], &text);
        }
    }
    let repository = Repository::discover(&hub.root).unwrap();
    let memory = hub.folder.path().join("memory");
    let mut gather = ChangeGatherer::new(&hub.root, &memory, Arc::new(RealFiles)).unwrap();
    let mut forecast = Forecaster::default();
    let mut refresh = |what: &str, touched: &ChangedTrees| {
        let start = Instant::now();
        let gathered = gather
            .read(&repository, &works, &UnsavedBuffers::new(), touched)
            .unwrap();
        let read = start.elapsed();
        let start = Instant::now();
        let report = forecast.refresh(&repository, &gathered.input).unwrap();
        println!(
            "{what}: {count} files, 8 sessions of 20 changed files: trees read in {read:?}, {} merges and {} \
             conflicts in {:?}",
            report.merged,
            report.conflicts.len(),
            start.elapsed()
        );
        report
    };
    let nobody = ChangedTrees::Only(std::collections::BTreeSet::new());
    refresh("first", &ChangedTrees::All);
    refresh("second", &ChangedTrees::All);
    let still = refresh("unchanged, nobody watched", &ChangedTrees::All);
    assert_eq!(still.merged, 0);
    let still = refresh("unchanged, as a watcher says", &nobody);
    assert_eq!(still.merged, 0);
    write(&works[3].root, &names[0], "// all of it\n");
    let report = refresh(
        "one file of one session changed",
        &ChangedTrees::Only([who("s3")].into()),
    );
    let landings = hub.landings();
    let start = Instant::now();
    let scanned = landings.read(&works[0]).unwrap();
    let read = start.elapsed();
    let start = Instant::now();
    land_one(&landings, &works[0], scanned.changes);
    println!(
        "landing one session: read anew in {read:?}, landed in {:?}",
        start.elapsed()
    );
    // Its seven pairs, and the landing order from this session on.
    assert_eq!(report.merged, 7 + 5);
    assert!(report.conflicts.len() >= 7);
}

fn land_one(landings: &Landings, work: &SessionWork, changes: Changes) {
    let author = git::land::Signature {
        name: "Agent".to_owned(),
        email: "agent@example.org".to_owned(),
    };
    let request = LandingRequest {
        session: work.session.clone(),
        title: work.title.clone(),
        base: work.base.clone(),
        changes,
        branch: None,
        author,
        message: CommitMessage::default(),
    };
    let id = landings.enqueue(&request).unwrap();
    let outcome = landings.run(id, &NoChecks, &UnsavedBuffers::new()).unwrap();
    assert!(
        matches!(outcome, LandingOutcome::Landed { .. }),
        "{outcome:?}"
    );
}
