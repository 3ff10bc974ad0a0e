//! Measures reading and writing of EDN: a vector of schedules, as a list answers it.

use std::hint::black_box;

use reveille::edn::{Caps, read, write};

use crate::child::Figures;
use crate::schedules::schedules;
use crate::system::boot_nanos;
use crate::workload::Sizes;

const CAPS: Caps = Caps { bytes_max: 4 << 20, depth_max: 64, digits_max: 512, forms_max: 4_000_000 };
const ROUNDS: usize = 50;

pub(crate) fn measure(sizes: &Sizes) -> Figures {
    let text = schedules(sizes.edn_bytes);
    let value = read(text.as_bytes(), &CAPS).expect("the benchmark's input is sound");
    let reading = fastest(text.len(), || black_box(read(black_box(text.as_bytes()), &CAPS)).is_ok());
    let write_once = || {
        let mut out = String::new();
        write(black_box(&value), &mut out);
        black_box(out).len()
    };
    let writing = fastest(write_once(), || write_once() > 0);
    vec![("edn-read", reading), ("edn-write", writing)]
}

/// MB/s of the fastest round, which shows the cost of the code when nothing disturbs it.
fn fastest(bytes: usize, mut round: impl FnMut() -> bool) -> f64 {
    let mut best = u64::MAX;
    for _ in 0..ROUNDS {
        let start = boot_nanos();
        assert!(round(), "the benchmark's input is sound");
        best = best.min(boot_nanos() - start);
    }
    bytes as f64 * 1_000.0 / best as f64
}
