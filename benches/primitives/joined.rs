//! The peer in Rust: tokio spawns fifty tasks and waits for all of them, with nothing around it. It lacks names, permissions,
//! time-outs and an answer that says what became of each.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::system::boot_nanos;
use crate::{CALLS, Figures, middle, percentiles};

pub(crate) fn figures(repeats: usize) -> Figures {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().build().expect("the system gives what it needs");
    let times = runtime.block_on(async {
        let mut times = Vec::with_capacity(repeats);
        for _ in 0..repeats {
            let begun = boot_nanos();
            let mut tasks = JoinSet::new();
            for place in 0..CALLS {
                tasks.spawn(async move { (place, "ok".to_owned()) });
            }
            let mut results = tasks.join_all().await;
            // In the order of the calls, as ours.
            results.sort_unstable();
            times.push(boot_nanos() - begun);
            assert_eq!(std::hint::black_box(results).len(), CALLS);
        }
        times
    });
    percentiles(times)
}

/// Fifty tasks that sleep, so many at a time, in milliseconds.
#[expect(clippy::disallowed_methods, reason = "a benchmark races against the real time")]
pub(crate) fn sleeping(repeats: usize, time: Duration, places: usize) -> f64 {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build()
        .expect("the system gives what it needs");
    let times = runtime.block_on(async {
        let mut times = Vec::with_capacity(repeats);
        for _ in 0..repeats {
            let begun = boot_nanos();
            let places = Arc::new(Semaphore::new(places));
            let mut tasks = JoinSet::new();
            for _ in 0..CALLS {
                let places = Arc::clone(&places);
                tasks.spawn(async move {
                    let _place = places.acquire().await.expect("nobody closes it");
                    tokio::time::sleep(time).await;
                });
            }
            tasks.join_all().await;
            times.push(boot_nanos() - begun);
        }
        times
    });
    middle(times) / 1e3
}
