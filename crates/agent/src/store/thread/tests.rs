//! Combination of writes into transactions.

use tokio::sync::oneshot;

use super::*;

fn write(done: Option<oneshot::Sender<Result<(), Error>>>) -> StoreWrite {
    StoreWrite {
        entries: Vec::new(),
        done,
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_write_flushes_enqueued_rows() {
    let (writes, mut waiting) = mpsc::channel(16);
    let start = Instant::now();
    let sending = async {
        writes.send(write(None)).await.expect("taken");
        tokio::time::sleep(LINGER / 5).await;
        let (done, written) = oneshot::channel();
        writes.send(write(Some(done))).await.expect("taken");
        // The waiting caller is still there.
        Some(written)
    };
    let (group, _written) = tokio::join!(gather(&mut waiting), sending);
    assert_eq!(group.map(|group| group.len()), Some(2));
    assert!(start.elapsed() < LINGER, "who waits is not held up");
}

#[tokio::test(start_paused = true)]
async fn enqueued_rows_are_written_soon() {
    let (writes, mut waiting) = mpsc::channel(16);
    let start = Instant::now();
    writes.send(write(None)).await.expect("taken");
    let group = gather(&mut waiting).await;
    assert_eq!(group.map(|group| group.len()), Some(1));
    assert!(start.elapsed() >= LINGER && start.elapsed() < LINGER * 2);
    drop(writes);
    assert!(gather(&mut waiting).await.is_none(), "nobody is left");
}
