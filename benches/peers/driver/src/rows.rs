//! The rows of the table: title, unit, target, and what serves as the machine's limit.

pub(crate) struct Row {
    /// The name of our figure.
    pub(crate) figure: &'static str,
    /// The name of the figure of peers and limit; it differs for EQL, whose peers use GraphQL.
    pub(crate) peers: &'static str,
    pub(crate) workload: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    pub(crate) target: Target,
    /// What the limit is.
    pub(crate) limit: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    More,
    Less,
}

#[derive(Clone, Copy)]
pub(crate) enum Target {
    None,
    /// In the row's unit.
    Value(f64),
    /// This many times a peer's figure.
    Times(f64, &'static str),
}

impl Better {
    /// The better one of two values.
    pub(crate) fn of(self, one: f64, two: f64) -> f64 {
        match self {
            Better::More => one.max(two),
            Better::Less => one.min(two),
        }
    }
}

const fn more(
    figure: &'static str,
    workload: &'static str,
    unit: &'static str,
    target: Target,
    limit: &'static str,
) -> Row {
    Row { figure, peers: figure, workload, unit, better: Better::More, target, limit }
}

const fn less(
    figure: &'static str,
    workload: &'static str,
    unit: &'static str,
    target: Target,
    limit: &'static str,
) -> Row {
    Row { figure, peers: figure, workload, unit, better: Better::Less, target, limit }
}

const fn asked_as(peers: &'static str, row: Row) -> Row {
    Row { peers, ..row }
}

const MEMORY: &str = "messages, ids and a heap";
const WAKE: &str = "the kernel wakes a thread";
const SQLITE: &str = "SQLite alone";
const HAND: &str = "JSON by hand";
const COPY: &str = "a copy of the bytes";
const STATIC: &str = "async-graphql";
/// A notice that recurs as often, and is shown.
pub(crate) const NOTICE: &str = "a notice";
pub(crate) const FLUSH: &str = "one flush";

pub(crate) const ROWS: &[Row] = &[
    more("create", "create, one thread", "M/s", Target::Value(1.0), MEMORY),
    more("cancel", "cancel, random order", "M/s", Target::Value(0.7), "messages taken out and freed"),
    less("memory", "memory for each pending", "B", Target::Value(300.0), MEMORY),
    // A hundred thousand within 150 ms.
    more("burst-rate", "many due in one instant, handed over", "k/s", Target::Value(667.0), "messages moved"),
    less("late-p50", "lateness at a steady load, p50", "ms", Target::Value(0.1), WAKE),
    less("late-p99", "lateness at a steady load, p99", "ms", Target::Value(2.0), WAKE),
    less("early", "handed over early", "", Target::Value(0.0), ""),
    less("idle", "processor time while nothing is due", "%", Target::Value(0.1), "a process that sleeps"),
    more("durable-1", "durable create, 1 caller", "/s", Target::Value(4_000.0), SQLITE),
    more("durable-64", "durable create, 64 callers", "/s", Target::Value(40_000.0), SQLITE),
    more("durable-256", "durable create, 256 callers", "/s", Target::Value(40_000.0), SQLITE),
    // A million within two seconds, including the opening of the store.
    more("restart", "restart, all pending again", "k/s", Target::Value(500.0), "SQLite reads the rows"),
    less("list-graphql", "100 rows × 4 fields by GraphQL, in process", "µs", Target::None, HAND),
    asked_as(
        "list-graphql",
        less("list-eql", "the same by EQL, in process", "µs", Target::Value(50.0), HAND),
    ),
    more("http-graphql", "100 rows × 4 fields by GraphQL, over HTTP", "/s", Target::Times(1.5, STATIC), HAND),
    asked_as(
        "http-graphql",
        more("http-eql", "the same by EQL, over HTTP", "/s", Target::Times(3.0, STATIC), HAND),
    ),
    more("edn-read", "EDN, reading", "MB/s", Target::Value(100.0), COPY),
    more("edn-write", "EDN, writing", "MB/s", Target::None, COPY),
    less("cron-workdays", "next slot of `30 9 * * MON-FRI` in Berlin", "µs", Target::Value(2.0), ""),
    less("cron-leap-day", "next slot of `0 0 29 2 *` in New York", "µs", Target::Value(2.0), ""),
    less("watch-memory", "memory for each idle watch", "B", Target::Times(0.45, "asyncio"), ""),
    less("watch-ring", "the same with 100 checks in its history", "B", Target::Value(1_638.0), ""),
    less("watch-rows", "rows that it writes a minute while nothing is new", "", Target::Value(1.0), ""),
    less("watch-restart", "what 100,000 of them add to a start", "s", Target::Value(1.0), ""),
    less("watch-idle", "processor time while no check is due", "%", Target::Value(0.1), ""),
    more("check-rate", "checks that see nothing new", "k/s", Target::Value(100.0), ""),
    less("check-cpu", "processor time for each of them", "µs", Target::Value(5.0), ""),
    asked_as(
        "notice-cpu",
        less("check-cpu", "the same beside a notice in memory", "µs", Target::Times(1.25, NOTICE), ""),
    ),
    less("check-share", "processor time at 10 k/s", "%", Target::Value(10.0), ""),
    less("check-return", "the engine's step for an answer of 64 KiB", "µs", Target::Value(5.0), ""),
    less("check-late-p50", "lateness of checks at 10 k/s, p50", "ms", Target::Value(0.1), ""),
    less("check-late-p99", "lateness of checks at 10 k/s, p99", "ms", Target::Value(2.0), ""),
    less("check-early", "checks made early", "", Target::Value(0.0), ""),
    less("parallel-p50", "50 calls at once that do nothing, p50", "µs", Target::Times(5.0, "tokio"), ""),
    less("parallel-p99", "50 calls at once that do nothing, p99", "µs", Target::None, ""),
    less("parallel-slow", "50 calls of 20 ms, 16 at a time", "ms", Target::Times(1.1, "tokio"), ""),
    less("parallel-wide", "50 calls of 20 ms, all at a time", "ms", Target::Times(1.1, "tokio"), ""),
    less("parallel-host", "50 calls by an attached host over its socket", "ms", Target::Value(3.0), ""),
    less("bulletin", "from the end of a task to its bulletin", "ms", Target::Value(0.5), ""),
    less(
        "bulletin-durable",
        "the same of a scheduled call, on disk before",
        "ms",
        Target::Times(1.0, FLUSH),
        "",
    ),
    less("condition-read", "reading a condition", "µs", Target::Value(5.0), ""),
    less("condition-judge", "judging a result by it", "µs", Target::Value(0.5), ""),
    less("condition-worst", "the dearest text, on a result of 64 KB", "µs", Target::Value(1_000.0), ""),
];
