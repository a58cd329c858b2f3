//! Checks the links of the documents, and that the guide has every page of `docs/`.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree;

/// Folder of the guide, and the list of its pages.
const GUIDE: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";

/// Returns the targets of the links and pictures in a text, outside code, with their lines, counted from 1.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_block = false;
    for (ix, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
            continue;
        }
        if is_block {
            continue;
        }
        let line = without_code(line);
        let targets = line.split("](").skip(1);
        let targets = targets.filter_map(|rest| rest.split(')').next());
        found.extend(targets.map(|target| (ix + 1, target.to_owned())));
    }
    found
}

/// Returns a line with the contents of its code spans replaced, so that `](` in code is no link.
fn without_code(line: &str) -> String {
    let pieces: Vec<&str> = line.split('`').collect();
    let is_code = |ix: usize| ix % 2 == 1 && ix + 1 < pieces.len();
    let kept = pieces.iter().enumerate();
    kept.map(|(ix, piece)| if is_code(ix) { "code" } else { *piece })
        .collect()
}

/// Returns the anchors of the headings of a text as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        }
        let title = line.trim_start_matches('#');
        let Some(title) = title.strip_prefix(' ').filter(|_| line.starts_with('#')) else {
            continue;
        };
        if is_block {
            continue;
        }
        let letters = title.trim().chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            _ if letter.is_alphanumeric() || matches!(letter, '-' | '_') => Some(letter),
            _ => None,
        });
        let name: String = letters.flat_map(char::to_lowercase).collect();
        let numbered = (1..).map(|count| format!("{name}-{count}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let free = names.find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

/// Returns the path from the root that a link in the document `from` names.
fn resolved(from: &str, target: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Returns a sentence if a link leads nowhere.
fn problem(from: &str, target: &str, documents: &BTreeMap<String, String>) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() {
        from.to_owned()
    } else {
        resolved(from, path)
    };
    if from.starts_with(GUIDE) && !path.starts_with(GUIDE) {
        return Some(format!(
            "{target} leaves the guide, whose web site has no such file"
        ));
    }
    if !tree::root().join(&path).exists() {
        return Some(format!("{path} does not exist"));
    }
    let has_anchor = anchor.is_empty()
        || documents
            .get(&path)
            .is_some_and(|text| anchors(text).contains(anchor));
    (!has_anchor).then(|| format!("{path} has no heading #{anchor}"))
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let documents: BTreeMap<String, String> = tree::documents().into_iter().collect();
    let mut problems = Vec::new();
    let mut count = 0;
    for (name, text) in &documents {
        for (line, target) in links(text) {
            count += 1;
            let problem = problem(name, &target, &documents);
            problems.extend(problem.map(|problem| format!("{name}:{line}: {problem}")));
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    assert!(count > 50, "{count} links were found");
}

#[test]
fn the_guide_lists_every_page_once() {
    let documents: BTreeMap<String, String> = tree::documents().into_iter().collect();
    let mut listed: Vec<String> = links(&documents[SUMMARY])
        .into_iter()
        .map(|(_, target)| resolved(SUMMARY, &target))
        .collect();
    listed.sort();
    let pages = documents.keys().filter(|name| name.starts_with(GUIDE));
    let pages: Vec<String> = pages.filter(|name| *name != SUMMARY).cloned().collect();
    assert_eq!(listed, pages);
}

#[test]
fn links_and_anchors_are_found() {
    let text = "# A `b`, c\n[x](y.md#z) and ![p](p.png) `[no](code)`\n```\n[no](block)\n# no\n```\n## Twice\n## Twice\n";
    let found = links(text);
    let found: Vec<(usize, &str)> = found
        .iter()
        .map(|(line, it)| (*line, it.as_str()))
        .collect();
    assert_eq!(found, [(2, "y.md#z"), (2, "p.png")]);
    let expected = ["a-b-c", "twice", "twice-1"].map(str::to_owned);
    assert_eq!(anchors(text), expected.into());
    assert_eq!(resolved("docs/a.md", "../README.md"), "README.md");
    let documents = BTreeMap::from([("README.md".to_owned(), text.to_owned())]);
    assert_eq!(problem("README.md", "#twice-1", &documents), None);
    assert_eq!(problem("README.md", "https://a.b/c", &documents), None);
    for bad in ["#thrice", "missing.md", "README.md#x"] {
        assert!(problem("README.md", bad, &documents).is_some(), "{bad}");
    }
    assert!(problem("docs/a.md", "../README.md", &documents).is_some());
}
