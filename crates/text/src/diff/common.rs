//! Finds the common start and end of two texts.

/// Returns the number of equal bytes at the start of two texts that are given in chunks. The number
/// can lie within a char.
pub(super) fn at_start<'a>(
    mut a: impl Iterator<Item = &'a str>,
    mut b: impl Iterator<Item = &'a str>,
) -> usize {
    let (mut x, mut y): (&[u8], &[u8]) = (b"", b"");
    let mut same = 0;
    while refill(&mut x, &mut a) && refill(&mut y, &mut b) {
        let len = x.len().min(y.len());
        let (head_x, head_y) = (&x[..len], &y[..len]);
        // Chunks shared by both snapshots need no comparison.
        if !std::ptr::eq(head_x, head_y) && head_x != head_y {
            return same
                + head_x
                    .iter()
                    .zip(head_y)
                    .take_while(|(a, b)| a == b)
                    .count();
        }
        same += len;
        (x, y) = (&x[len..], &y[len..]);
    }
    same
}

/// Returns the number of equal bytes at the end of two texts; the chunks come from last to first.
/// The number can lie within a char.
pub(super) fn at_end<'a>(
    mut a: impl Iterator<Item = &'a str>,
    mut b: impl Iterator<Item = &'a str>,
) -> usize {
    let (mut x, mut y): (&[u8], &[u8]) = (b"", b"");
    let mut same = 0;
    while refill(&mut x, &mut a) && refill(&mut y, &mut b) {
        let len = x.len().min(y.len());
        let (rest_x, tail_x) = x.split_at(x.len() - len);
        let (rest_y, tail_y) = y.split_at(y.len() - len);
        if !std::ptr::eq(tail_x, tail_y) && tail_x != tail_y {
            let pairs = tail_x.iter().rev().zip(tail_y.iter().rev());
            return same + pairs.take_while(|(a, b)| a == b).count();
        }
        same += len;
        (x, y) = (rest_x, rest_y);
    }
    same
}

/// Takes the next chunk once the current one is used up; `false` if there is none.
fn refill<'a>(piece: &mut &'a [u8], pieces: &mut impl Iterator<Item = &'a str>) -> bool {
    if piece.is_empty() {
        *piece = pieces.next().unwrap_or_default().as_bytes();
    }
    !piece.is_empty()
}
