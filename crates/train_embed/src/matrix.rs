//! The arithmetic of the trainer: matrix products, exponentials, principal axes.
//!
//! Every sum has one order, whatever the number of threads and however wide the machine's registers are, so the same
//! inputs give the same bits.

use std::path::Path;

use super::error::Error;

/// Rows and columns processed together: eight registers of eight sums.
const ROWS: usize = 4;
const COLUMNS: usize = 16;

/// Sets `out` to the matrix product `a · b`, with `a` of `inner` columns and `b` of `width`
/// columns, both row by row. The number of rows of `a` must be a multiple of 4, `width` one of 16.
/// Runs on all cores.
pub(super) fn product(a: &[f32], b: &[f32], inner: usize, width: usize, out: &mut [f32]) {
    let some = (a.len() / inner / super::threads())
        .next_multiple_of(ROWS)
        .max(ROWS);
    std::thread::scope(|scope| {
        for (a, out) in a.chunks(some * inner).zip(out.chunks_mut(some * width)) {
            scope.spawn(move || rows(a, b, inner, width, out));
        }
    });
}

fn rows(a: &[f32], b: &[f32], inner: usize, width: usize, out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        #[expect(
            unsafe_code,
            reason = "the line above asked the processor for just these features"
        )]
        unsafe {
            wide_rows(a, b, inner, width, out);
        }
        return;
    }
    plain_rows(a, b, inner, width, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn wide_rows(a: &[f32], b: &[f32], inner: usize, width: usize, out: &mut [f32]) {
    plain_rows(a, b, inner, width, out);
}

#[inline(always)]
fn plain_rows(a: &[f32], b: &[f32], inner: usize, width: usize, out: &mut [f32]) {
    for (a, out) in a
        .chunks_exact(ROWS * inner)
        .zip(out.chunks_exact_mut(ROWS * width))
    {
        let lines: [&[f32]; ROWS] = std::array::from_fn(|row| &a[row * inner..][..inner]);
        for column in (0..width).step_by(COLUMNS) {
            let mut sums = [[0.0_f32; COLUMNS]; ROWS];
            for (at, b) in b.chunks_exact(width).take(inner).enumerate() {
                let Some(b) = b[column..].first_chunk::<COLUMNS>() else {
                    return;
                };
                for (line, sums) in lines.iter().zip(&mut sums) {
                    let factor = line[at];
                    for (sum, number) in sums.iter_mut().zip(b) {
                        *sum = factor.mul_add(*number, *sum);
                    }
                }
            }
            for (row, sums) in sums.iter().enumerate() {
                out[row * width + column..][..COLUMNS].copy_from_slice(sums);
            }
        }
    }
}

/// Sets `out` to the transpose of `a`, a matrix of `width` columns, row by row.
pub(super) fn turned(a: &[f32], width: usize, out: &mut [f32]) {
    let height = a.len() / width;
    for (row, line) in a.chunks_exact(width).enumerate() {
        for (column, number) in line.iter().enumerate() {
            out[column * height + row] = *number;
        }
    }
}

/// e to the power of `x`, to a few units in the last place, for |x| up to 80; the same bits on every machine.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let turns = (x * std::f32::consts::LOG2_E).round();
    let rest = x - turns * 0.693_359_4 - turns * -2.121_944_4e-4;
    let series = [
        1.987_569_1e-4,
        1.398_2e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        1.666_666_5e-1,
        0.5,
    ];
    let sum = series.iter().fold(0.0, |sum, factor| sum * rest + factor);
    let near = sum * rest * rest + rest + 1.0;
    near * f32::from_bits(((turns as i32 + 127) as u32) << 23)
}

/// Returns the eigenvectors of a symmetric matrix of `size` rows, largest eigenvalue first (Jacobi
/// rotations).
pub(super) fn axes(mut a: Vec<f64>, size: usize) -> Vec<Vec<f64>> {
    let mut axes: Vec<f64> = (0..size * size)
        .map(|at| f64::from(u8::from(at % (size + 1) == 0)))
        .collect();
    for _ in 0..12 {
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut a, &mut axes, size, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|one, other| a[other * size + other].total_cmp(&a[one * size + one]));
    order
        .iter()
        .map(|row| axes[row * size..][..size].to_vec())
        .collect()
}

fn rotate(a: &mut [f64], axes: &mut [f64], size: usize, p: usize, q: usize) {
    let off = a[p * size + q];
    if off.abs() < 1e-300 {
        return;
    }
    let angle = (a[q * size + q] - a[p * size + p]) / (2.0 * off);
    let tangent = angle.signum() / (angle.abs() + (angle * angle + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    let turn = |one: &mut f64, other: &mut f64| {
        let (first, second) = (*one, *other);
        (*one, *other) = (
            cosine * first - sine * second,
            sine * first + cosine * second,
        );
    };
    for matrix in [&mut *a, axes] {
        let (before, after) = matrix.split_at_mut(q * size);
        before[p * size..][..size]
            .iter_mut()
            .zip(&mut after[..size])
            .for_each(|(one, other)| turn(one, other));
    }
    for row in a.chunks_exact_mut(size) {
        let (before, after) = row.split_at_mut(q);
        turn(&mut before[p], &mut after[0]);
    }
}

/// Reads a file of 32-bit floats, little-endian; an incomplete last number is left out.
pub(super) fn read(path: &Path) -> Result<Vec<f32>, Error> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    Ok(bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect())
}

/// Writes numbers as 32-bit floats, little-endian.
pub(super) fn write(path: &Path, numbers: &[f32]) -> Result<(), Error> {
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    std::fs::write(path, bytes).map_err(Error::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::{axes, exp, product, turned};

    #[test]
    fn products_are_those_of_the_definition() {
        let number = |at: usize| ((at * 7919) % 31) as f32 - 15.0;
        let (height, inner, width) = (12, 5, 32);
        let a: Vec<f32> = (0..height * inner).map(number).collect();
        let b: Vec<f32> = (0..inner * width).map(|at| number(at + 3)).collect();
        let mut out = vec![0.0; height * width];
        product(&a, &b, inner, width, &mut out);
        for (at, sum) in out.iter().enumerate() {
            let (row, column) = (at / width, at % width);
            let expected: f32 = (0..inner)
                .map(|k| a[row * inner + k] * b[k * width + column])
                .sum();
            assert_eq!(*sum, expected, "{row} {column}");
        }
        let mut back = vec![0.0; b.len()];
        turned(&b, width, &mut back);
        assert_eq!(back[3 * inner + 2], b[2 * width + 3]);
    }

    #[test]
    fn exponentials_are_near() {
        for step in -200..=200 {
            let x = step as f32 / 10.0;
            assert!(
                (exp(x) / x.exp() - 1.0).abs() < 1e-6,
                "{x}: {} {}",
                exp(x),
                x.exp()
            );
        }
    }

    #[test]
    fn the_strongest_axis_comes_first() {
        // Stretched by 9 along (1, 1) and by 1 along (1, -1).
        let axes = axes(vec![5.0, 4.0, 4.0, 5.0], 2);
        assert!(
            (axes[0][0].abs() - 0.5_f64.sqrt()).abs() < 1e-9
                && (axes[0][0] - axes[0][1]).abs() < 1e-9,
            "{axes:?}"
        );
    }
}
