//! The peer in Rust: tokio spawns fifty tasks and waits for all of them, with nothing around it. It lacks names, permissions,
//! time-outs, bounds and an answer that says what became of each.

use tokio::task::JoinSet;

use crate::system::boot_nanos;
use crate::{CALLS, Figures, percentiles};

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
