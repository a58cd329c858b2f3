//! Tests of reading segments back, and of detecting damage.

use std::collections::BTreeMap;

use super::{Pairs, SegmentSink, Torn, TrigramSegment, merge};
use crate::file_set::FileSet;
use crate::gram::Gram;
use crate::plan::TrigramPlan;
use crate::tests::random::Numbers;

type Lists = BTreeMap<Gram, Vec<u32>>;

fn random(numbers: &mut Numbers, files: u32) -> Lists {
    let mut lists = Lists::new();
    for _ in 0..numbers.below(200) {
        let one_in = [1, 2, 9, 1000][numbers.below(4)];
        let list: Vec<u32> = (0..files).filter(|_| numbers.below(one_in) == 0).collect();
        if !list.is_empty() {
            lists.insert(numbers.below(1 << 24) as Gram, list);
        }
    }
    lists
}

fn bytes_of(lists: &Lists, files: u32) -> Vec<u8> {
    let mut pairs = Pairs::new();
    for file in 0..files {
        assert_eq!(pairs.next_file(), file);
        for (gram, list) in lists.iter().rev() {
            if list.contains(&file) {
                pairs.add(*gram);
            }
        }
    }
    bytes(
        pairs
            .write(SegmentSink::Memory(Vec::new()))
            .expect("memory takes it"),
    )
}

fn bytes(sink: SegmentSink) -> Vec<u8> {
    match sink {
        SegmentSink::Memory(bytes) => bytes,
        SegmentSink::Disk(..) => panic!("memory was given"),
    }
}

#[track_caller]
fn check(segment: &TrigramSegment, lists: &Lists) {
    for (gram, list) in lists {
        let found = segment.search(&TrigramPlan::Gram(*gram)).expect("whole");
        let numbers: Vec<u32> = (0..segment.files())
            .filter(|file| found.contains(*file))
            .collect();
        assert_eq!(&numbers, list, "{gram:x}");
    }
}

#[test]
fn lists_of_any_density_are_read_back() {
    for seed in 1..60 {
        let mut numbers = Numbers::new(seed);
        let files = numbers.below(700) as u32 + 1;
        let lists = random(&mut numbers, files);
        let segment = TrigramSegment::in_memory(bytes_of(&lists, files)).expect("whole");
        assert_eq!(segment.files(), files);
        check(&segment, &lists);
        let other = segment.search(&TrigramPlan::Gram(7)).expect("whole");
        assert_eq!(other.count(), 0);
    }
}

#[test]
fn conditions_are_met() {
    let lists = Lists::from([(1, vec![0, 1, 2]), (2, vec![1, 2, 5]), (3, vec![4])]);
    let segment = TrigramSegment::in_memory(bytes_of(&lists, 6)).expect("whole");
    let gram = TrigramPlan::Gram;
    let found = |plan: TrigramPlan| {
        let bits = segment.search(&plan).expect("whole");
        (0..6)
            .filter(|file| bits.contains(*file))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(TrigramPlan::And(vec![gram(1), gram(2)])), [1, 2]);
    assert_eq!(found(TrigramPlan::Or(vec![gram(1), gram(3)])), [0, 1, 2, 4]);
    assert!(found(TrigramPlan::And(vec![gram(1), gram(9)])).is_empty());
    assert_eq!(found(TrigramPlan::All).len(), 6);
    assert!(found(TrigramPlan::None).is_empty());
    let both = TrigramPlan::Or(vec![gram(2), gram(3)]);
    assert_eq!(
        found(TrigramPlan::And(vec![TrigramPlan::All, both, gram(1)])),
        [1, 2]
    );
}

#[test]
fn merged_segments_contain_all_files_renumbered() {
    for seed in 1..40 {
        let mut numbers = Numbers::new(seed);
        let (mut segments, mut renumbered) = (Vec::new(), Vec::new());
        let (mut expect, mut next) = (Lists::new(), 0);
        for _ in 0..3 {
            let files = numbers.below(90) as u32 + 1;
            let lists = random(&mut numbers, files);
            let new: Vec<Option<u32>> = (0..files)
                .map(|_| {
                    let stays = numbers.below(3) > 0;
                    next += u32::from(stays);
                    stays.then(|| next - 1)
                })
                .collect();
            for (gram, list) in &lists {
                let list: Vec<u32> = list.iter().filter_map(|file| new[*file as usize]).collect();
                if !list.is_empty() {
                    expect.entry(*gram).or_default().extend(list);
                }
            }
            segments.push(TrigramSegment::in_memory(bytes_of(&lists, files)).expect("whole"));
            renumbered.push(new);
        }
        let parts: Vec<&TrigramSegment> = segments.iter().collect();
        let merged =
            merge(&parts, &renumbered, next, SegmentSink::Memory(Vec::new())).expect("written");
        let merged = bytes(merged);
        assert!(
            merged == bytes_of(&expect, next),
            "seed {seed}: a merged one is like a new one"
        );
        check(&TrigramSegment::in_memory(merged).expect("whole"), &expect);
    }
}

#[test]
fn any_wrong_byte_is_detected() {
    let mut numbers = Numbers::new(5);
    let lists = random(&mut numbers, 300);
    let whole = bytes_of(&lists, 300);
    for at in (0..whole.len()).step_by(7) {
        let mut wrong = whole.clone();
        wrong[at] ^= 1 << numbers.below(8);
        let Ok(segment) = TrigramSegment::in_memory(wrong) else {
            continue;
        };
        let mut is_noticed = at < 8;
        for (gram, list) in &lists {
            match segment.search(&TrigramPlan::Gram(*gram)) {
                Err(Torn) => is_noticed = true,
                Ok(found) => {
                    let mut expect = FileSet::none(300);
                    list.iter().for_each(|file| expect.insert(*file));
                    assert_eq!(found, expect);
                }
            }
        }
        assert!(is_noticed, "byte {at}");
    }
    for length in 0..whole.len().min(400) {
        assert!(TrigramSegment::in_memory(whole[..length].to_vec()).is_err());
    }
}
