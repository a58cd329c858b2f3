//! Fenced blocks, and responses between markers.

use super::{RegionResponse, blocks, read};

fn lines(from: usize, to: usize) -> String {
    (from..to).map(|line| format!("line {line}\n")).collect()
}

#[test]
fn blocks_of_six_to_sixteen_lines_break_at_blanks() {
    let counts = |region: &str| -> Vec<usize> {
        let starts = blocks(region);
        let parts = starts.windows(2).map(|pair| &region[pair[0]..pair[1]]);
        parts.map(|part| part.lines().count()).collect()
    };
    assert_eq!(counts(&lines(0, 5)), [5]);
    assert_eq!(counts(&lines(0, 40)), [16, 16, 8]);
    assert_eq!(
        counts(&format!("{}\n{}", lines(0, 7), lines(7, 20))),
        [8, 13]
    );
    assert_eq!(counts(""), [0]);
}

fn check(answer: &str, expected: Option<&str>) {
    let region = lines(0, 32);
    let read = match read(&region, answer) {
        RegionResponse::Region(new) => Some(new),
        RegionResponse::Nothing => Some(region),
        RegionResponse::Unreadable => None,
    };
    assert_eq!(read.as_deref(), expected, "{answer}");
}

#[test]
fn responses_replace_the_text_between_their_markers() {
    let first = format!("new\n{}", lines(16, 32));
    check("<|marker_1|>new\n<|marker_2|>", Some(&first));
    check("<|marker_1|>\nnew\n<|marker_2|>", Some(&first));
    check("<|marker_1|>n<|user_cursor|>ew\n<|marker_2|>", Some(&first));
    check("<|marker_1|>a\n<|marker_2|>b\n<|marker_3|>", Some("a\nb\n"));
    check("<|marker_2|><|marker_2|>", Some(&lines(0, 32)));
    for wrong in [
        "",
        "new\n",
        "<|marker_1|>x",
        "<|marker_1|>x<|marker_9|>",
        "<|marker_2|>x<|marker_1|>",
    ] {
        check(wrong, None);
    }
}
