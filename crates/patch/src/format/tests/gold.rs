//! Tests that the blocks found in a long real transcript equal those of the gold text.

use std::io::Read;

use flate2::read::GzDecoder;

use super::*;

fn unpack(name: &str) -> String {
    let path = test_support::data(&format!("search-replace/{name}.gz"));
    #[expect(clippy::disallowed_methods, reason = "test data is read where it lies")]
    let bytes = std::fs::read(&path).expect("the test data");
    let mut text = String::new();
    GzDecoder::new(&bytes[..])
        .read_to_string(&mut text)
        .expect("a gzip file");
    text
}

/// Splits the transcript before every heading of a request.
fn sections(transcript: &str) -> Vec<&str> {
    let starts = transcript
        .match_indices("####")
        .map(|(at, _)| at)
        .filter(|at| {
            let is_line = *at == 0 || transcript[..*at].ends_with('\n');
            is_line && transcript[at + 4..].starts_with(char::is_whitespace)
        });
    let mut cuts: Vec<_> = starts.collect();
    cuts.push(transcript.len());
    let mut start = 0;
    cuts.into_iter()
        .map(|cut| {
            let section = &transcript[start..cut];
            start = cut;
            section
        })
        .filter(|section| {
            let is_about_parsers =
                section.contains("editblock_coder.py") || section.contains("test_editblock.py");
            !is_about_parsers && !section.trim().is_empty()
        })
        .collect()
}

const SIGNS: &str = "@@@@@@@@@@@@@@@@@@@@";

/// Formats blocks and shell blocks in the layout of the gold text, in source order; also returns
/// their numbers.
fn layout(parsed: &Parsed) -> (String, usize, usize) {
    let mut entries = Vec::new();
    for file in &parsed.files {
        match &file.change {
            PatchOperation::Update { hunks, .. } => {
                for hunk in hunks {
                    entries.push((hunk.source.start, block(&file.path, &hunk.old, &hunk.new)));
                }
            }
            PatchOperation::Create { text } => {
                // It has no source position, so it takes that of the previous entry.
                let start = entries.last().map_or(0, |(start, _)| *start);
                entries.push((start, block(&file.path, "", text)));
            }
            _ => panic!("no such change in this format"),
        }
    }
    let edits = entries.len();
    for shell in &parsed.shell_blocks {
        let text = format!("@@@ SHELL {SIGNS}\n{}@@@ ENDSHELL {SIGNS}\n", shell.text);
        entries.push((shell.source.start, text));
    }
    entries.sort_by_key(|(start, _)| *start);
    let text = entries.into_iter().map(|(_, text)| text).collect();
    (text, edits, parsed.shell_blocks.len())
}

fn block(path: &str, old: &str, new: &str) -> String {
    format!("@@@ SEARCH: {path} {SIGNS}\n{old}{SIGNS}\n{new}@@@ REPLACE {SIGNS}\n")
}

#[test]
fn the_transcript_is_read_as_the_gold_says() {
    let transcript = unpack("chat-history.md");
    let gold = unpack("chat-history-search-replace-gold.txt");
    let mut rest = gold.as_str();
    let (mut edits, mut shells, mut malformed) = (0, 0, 0);
    for section in sections(&transcript) {
        let (header, content) = section.split_once('\n').unwrap_or((section, ""));
        let parsed = parse(EditFormat::SearchReplace, content);
        let heading = format!("\n\n@@@ {} {SIGNS}\n", header.trim());
        if parsed.has_losses() {
            rest = rest.strip_prefix(&heading).unwrap_or_else(|| {
                panic!("no error in {header}, but {:?}", parsed.problems);
            });
            let error = rest.find("\n^^^ ").expect("an error in the gold");
            let next = rest.find(&format!("{SIGNS}\n@@@ SEARCH: "));
            assert!(
                next.is_none_or(|next| error < next),
                "the gold has blocks in {header}, and not {:?}",
                parsed.problems
            );
            let after = rest[error + 1..].find('\n').expect("its line");
            rest = &rest[error + after + 2..];
            malformed += 1;
            continue;
        }
        let (text, found, commands) = layout(&parsed);
        if text.is_empty() {
            continue;
        }
        let expected = format!("{heading}{text}");
        if !rest.starts_with(&expected) {
            let mut pairs = expected.lines().zip(rest.lines());
            let different = pairs.find(|(found, gold)| found != gold);
            panic!("in {header}: found and gold differ: {different:?}");
        }
        rest = &rest[expected.len()..];
        edits += found;
        shells += commands;
    }
    assert_eq!(rest, "");
    println!("{edits} edits, {shells} shell blocks, {malformed} malformed sections");
    assert_eq!((edits, shells), (577, 22));
    assert!(malformed > 0);
}
