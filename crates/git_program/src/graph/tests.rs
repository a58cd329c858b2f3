//! Properties of the graph on random histories.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::{CommitGraph, GraphRow};

/// A history: the parents of each commit, which come later.
type History = Vec<Vec<usize>>;

fn place(history: &[Vec<usize>]) -> (Vec<GraphRow>, CommitGraph<usize>) {
    let mut graph = CommitGraph::default();
    let rows = history.iter().enumerate();
    let rows = rows
        .map(|(id, parents)| graph.place(&id, parents))
        .collect();
    (rows, graph)
}

fn random_history(random: &mut StdRng, count: usize) -> History {
    let commit = |id: usize, random: &mut StdRng| {
        let later = id + 1..count;
        let parents = [0, 1, 1, 1, 1, 2, 2, 3][random.random_range(0..8)];
        let mut chosen: Vec<usize> = Vec::new();
        for _ in 0..parents {
            let near = later.clone().take(8);
            let near: Vec<usize> = near.filter(|parent| !chosen.contains(parent)).collect();
            if !near.is_empty() {
                chosen.push(near[random.random_range(0..near.len())]);
            }
        }
        chosen
    };
    (0..count).map(|id| commit(id, random)).collect()
}

/// Follows lines from the lower half of row `row`, lane `lane`, until a line ends at a commit.
fn follow(rows: &[GraphRow], row: usize, lane: usize) -> usize {
    for (ix, next) in rows.iter().enumerate().skip(row + 1) {
        let line = next.upper.iter().find(|line| line.from == lane);
        let line = line.expect("a line goes on");
        if line.to != line.from || line.to == next.lane {
            assert_eq!(line.to, next.lane, "a line bends only towards the commit");
            return ix;
        }
        let passes = next.lower.iter().any(|it| (it.from, it.to) == (lane, lane));
        assert!(passes, "a line that passes a commit goes on below");
    }
    panic!("a line that never ends");
}

#[test]
fn lines_lead_from_each_commit_to_its_parents() {
    let seed = rand::rng().random();
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..300 {
        let count = random.random_range(1..60);
        let history = random_history(&mut random, count);
        let (rows, graph) = place(&history);
        for (id, parents) in history.iter().enumerate() {
            let row = &rows[id];
            let lines = row.lower.iter().filter(|line| line.from == row.lane);
            let mut reached: Vec<usize> = lines.map(|line| follow(&rows, id, line.to)).collect();
            let mut expected = parents.clone();
            reached.sort_unstable();
            expected.sort_unstable();
            assert_eq!(reached, expected, "seed {seed}, commit {id}");
        }
        assert_eq!(graph.width(), 0, "seed {seed}: every lane is freed");
    }
}

#[test]
fn the_first_parent_keeps_lane_and_colour() {
    let seed = rand::rng().random();
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..300 {
        let count = random.random_range(2..60);
        let history = random_history(&mut random, count);
        let (rows, _) = place(&history);
        for (id, parents) in history.iter().enumerate() {
            if parents.is_empty() {
                continue;
            }
            let row = &rows[id];
            let kept = row.lower.iter().find(|line| line.to == row.lane);
            let kept = kept.expect("the lane goes on");
            assert_eq!(
                (kept.from, kept.color),
                (row.lane, row.color),
                "seed {seed}"
            );
            assert_eq!(follow(&rows, id, row.lane), parents[0], "seed {seed}");
        }
    }
}

#[test]
fn a_straight_history_needs_one_lane() {
    let history: History = (0..50)
        .map(|id| if id < 49 { vec![id + 1] } else { Vec::new() })
        .collect();
    let (rows, graph) = place(&history);
    assert!(rows.iter().all(|row| row.lane == 0 && row.color == 0));
    assert_eq!(graph.width(), 0);
}

#[test]
fn a_merged_branch_joins_at_its_fork() {
    // 0 merges 1 and 2, which both come from 3.
    let (rows, _) = place(&[vec![1, 2], vec![3], vec![3], vec![]]);
    let lanes: Vec<usize> = rows.iter().map(|row| row.lane).collect();
    assert_eq!(lanes, [0, 0, 1, 0]);
    let joined: Vec<_> = rows[3]
        .upper
        .iter()
        .map(|line| (line.from, line.to))
        .collect();
    assert_eq!(joined, [(0, 0), (1, 0)]);
    assert!(rows[3].lower.is_empty());
}
