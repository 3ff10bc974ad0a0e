//! Measures apalis-sqlite: delayed tasks pushed by several callers, each of whom waits for the
//! flush.
//!
//! `peer-queue durable [--quick]` prints lines of a name and a number. Its own `setup` sets
//! `synchronous = OFF`, which can lose data in a power cut; here each push is flushed, as ours are.
//! All callers share one connection: SQLite has one writer, and waiting for a connection is cheaper
//! than waiting for its lock.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use apalis::prelude::{TaskBuilder, TaskSink};
use apalis_sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteStorage};
use serde::{Deserialize, Serialize};
use workload::message;

#[expect(dead_code, reason = "the product's bench needs more of it")]
#[path = "../../../table/workload.rs"]
mod workload;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Wake {
    session: String,
    text: Box<str>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().map(String::as_str) != Some("durable") {
        return ExitCode::FAILURE;
    }
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let for_each = Duration::from_millis(if is_quick { 100 } else { 1_200 });
    for callers in [1, 64, 256] {
        println!("durable-{callers} {}", creates(callers, for_each).await);
    }
    ExitCode::SUCCESS
}

/// Measures pushes per second.
async fn creates(callers: usize, for_each: Duration) -> f64 {
    let base = std::env::var_os("STORE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("reveille-bench-apalis-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("it can be made");
    let storage = storage(&dir.join("jobs.db")).await;
    let done = Arc::new(AtomicU64::new(0));
    let begin = Instant::now();
    let caller = |place: usize| {
        let (mut storage, done) = (storage.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            while begin.elapsed() < for_each {
                let wake = Wake { session: format!("session-{place}"), text: message(place) };
                // Far enough ahead that none runs during the measurement.
                let task = TaskBuilder::new(wake).run_after(Duration::from_hours(24)).build();
                storage.push_task(task).await.expect("it is kept");
                done.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let callers: Vec<_> = (0..callers).map(caller).collect();
    for caller in callers {
        caller.await.expect("nobody panics");
    }
    let rate = done.load(Ordering::Relaxed) as f64 / begin.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(&dir);
    rate
}

async fn storage(path: &std::path::Path) -> SqliteStorage<Wake> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .pragma("journal_mode", "WAL")
        .pragma("synchronous", "FULL");
    // The default timeout of thirty seconds would fail callers that only wait for their turn.
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_mins(5))
        .connect_with(options)
        .await
        .expect("it opens");
    SqliteStorage::migrations().run(&pool).await.expect("its tables are made");
    SqliteStorage::new(&pool)
}
