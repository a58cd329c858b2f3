//! The form of the tables, and their file.

use super::{
    GUESS_FEATURES, MAGIC, ObliviousTree, ShowPolicy, TOKEN_FEATURES, TabScorer, TableError,
    TreeTable, sealed,
};

const POLICY: ShowPolicy = ShowPolicy {
    look: 12,
    threshold: 450,
};

fn table() -> TreeTable {
    TreeTable {
        base: -1024,
        trees: vec![
            ObliviousTree {
                splits: vec![(0, 3), (2, -1)],
                leaves: vec![0, 1024, 2048, -4096],
            },
            ObliviousTree {
                splits: vec![(1, 10)],
                leaves: vec![512, -512],
            },
        ],
    }
}

#[test]
fn comparisons_select_one_leaf_of_each_tree() {
    let odds = |features: &[i16]| table().sum(features);
    assert_eq!(odds(&[3, 10, -1]), -1024 + 512);
    assert_eq!(odds(&[4, 10, -1]), 512);
    assert_eq!(odds(&[3, 11, 0]), -1024 + 2048 - 512);
    assert_eq!(odds(&[4, 11, 0]), -1024 - 4096 - 512);
    let half = TreeTable::default().likelihood(&[]);
    assert!((half - 0.5).abs() < 1e-6);
}

#[test]
fn tables_are_read_as_they_were_written() {
    let bytes = TabScorer::new(table(), TreeTable::default(), POLICY).to_bytes();
    let scorer = TabScorer::from_bytes(&bytes).expect("tables");
    assert_eq!(
        (&scorer.token, &scorer.guess),
        (&table(), &TreeTable::default())
    );
    assert_eq!(scorer.policy, POLICY);
    for end in 0..bytes.len() {
        let problem = TabScorer::from_bytes(&bytes[..end]).err();
        assert_eq!(problem, Some(TableError::Damaged), "{end}");
    }
}

#[test]
fn tables_of_other_features_are_refused() {
    let mut content = vec![0; 4];
    table().write(TOKEN_FEATURES + 1, &mut content);
    table().write(GUESS_FEATURES, &mut content);
    let problem = TabScorer::from_bytes(&sealed(MAGIC, &content)).err();
    assert_eq!(problem, Some(TableError::OtherFeatures));
}
