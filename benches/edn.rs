//! Benchmarks EDN: reading, framing and writing a megabyte of schedules.
//!
//! The documentation quotes these figures. Comparisons with other crates are in `benches/peers`.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use reveille::edn::{Caps, Framer, read, read_all, write};

const CAPS: Caps = Caps { bytes_max: 4 << 20, depth_max: 64, digits_max: 512, forms_max: 4_000_000 };
const BYTES: usize = 1 << 20;

fn edn(criterion: &mut Criterion) {
    let maps = schedules();
    let vector = format!("[{maps}]");
    let value = read(vector.as_bytes(), &CAPS).expect("the benchmark's input is sound");
    let mut group = criterion.benchmark_group("edn");
    group.throughput(Throughput::Bytes(maps.len() as u64));
    group.bench_function("read", |bencher| {
        bencher.iter(|| read(black_box(vector.as_bytes()), &CAPS));
    });
    group.bench_function("read_all", |bencher| {
        bencher.iter(|| read_all(black_box(maps.as_bytes()), &CAPS));
    });
    group.bench_function("frame", |bencher| {
        bencher.iter(|| frame(black_box(maps.as_bytes())));
    });
    group.bench_function("write", |bencher| {
        bencher.iter(|| {
            let mut out = String::new();
            write(black_box(&value), &mut out);
            out
        });
    });
    group.finish();
}

/// Feeds the input in pieces of the size in which a pipe delivers them.
fn frame(input: &[u8]) -> usize {
    let mut framer = Framer::new(CAPS);
    let mut bytes = 0;
    for piece in input.chunks(8192) {
        framer.push(piece);
        while let Some(frame) = framer.next_frame() {
            bytes += frame.map_or(0, |frame| frame.len());
        }
    }
    bytes
}

fn schedules() -> String {
    let mut out = String::with_capacity(BYTES + 512);
    let mut number = 0_u64;
    while out.len() < BYTES {
        number += 1;
        let _ = writeln!(
            out,
            "{{:schedule-id \"sch-6f9619ff-8b86-4d01-b42d-{number:012x}\" :kind :message :label \"check-build\" \
             :message \"Look at the build that was started an hour ago and report on it\" :status :pending \
             :created-at \"2026-03-01T09:00:00Z\" :fire-at \"2026-03-01T10:00:00Z\" \
             :origin-session-id \"s-{number}\" :created-session-id nil :delivery-phase nil :error-summary nil \
             :session-config-summary nil}}"
        );
    }
    out
}

criterion_group!(benches, edn);
criterion_main!(benches);
