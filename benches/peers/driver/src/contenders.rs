//! The list of all competitors, their measurements and their programs.

use crate::program::Program::{self, Asked, Bench, Clojure, Node, Python, Rust};
use crate::rows::{FLUSH, NOTICE};

/// Our name: every ratio is relative to it.
pub(crate) const OURS: &str = "Reveille";
/// The name under which the machine's limit is reported.
pub(crate) const LIMIT: &str = "limit";

/// One measurement of one competitor: one process per round.
pub(crate) struct Contender {
    /// The peer of the figures that it prints, unless a line names another.
    pub(crate) peer: &'static str,
    pub(crate) measure: &'static str,
    pub(crate) program: Program,
    pub(crate) words: &'static [&'static str],
}

const fn of(
    measure: &'static str,
    peer: &'static str,
    program: Program,
    words: &'static [&'static str],
) -> Contender {
    Contender { peer, measure, program, words }
}

const TABLE: Program = Bench("table");
const TIMERS: Program = Rust("peer-timers");
const LIMITS: Program = Rust("peer-limits");
const WEB: Program = Rust("peer-web");
const NOTATION: Program = Rust("peer-notation");
const CRONS: Program = Rust("peer-crons");
const BULL: Program = Node("bullmq.mjs");
const APS: Program = Python("peer_apscheduler.py");
const PRIMITIVES: Program = Bench("primitives");
const ASYNCIO: Program = Python("peer_asyncio.py");

/// All measurements in the order of a round: competitors at one workload run one after the other,
/// under similar conditions.
pub(crate) const ALL: &[Contender] = &[
    of("fill", OURS, TABLE, &["--child", "fill", "reveille"]),
    of("fill", "DelayQueue", TABLE, &["--child", "fill", "delay-queue"]),
    of("fill", "one sleep each", TABLE, &["--child", "fill", "sleeps"]),
    of("fill", "tokio-cron-scheduler", TIMERS, &["fill"]),
    of("fill", "BullMQ", BULL, &["fill"]),
    of("fill", "APScheduler", APS, &["fill"]),
    of("fill", LIMIT, LIMITS, &["fill"]),
    of("burst", OURS, TABLE, &["--child", "burst", "reveille"]),
    of("burst", "DelayQueue", TABLE, &["--child", "burst", "delay-queue"]),
    of("burst", "one sleep each", TABLE, &["--child", "burst", "sleeps"]),
    of("burst", "tokio-cron-scheduler", TIMERS, &["burst"]),
    of("burst", "BullMQ", BULL, &["burst"]),
    of("burst", "APScheduler", APS, &["burst"]),
    of("burst", LIMIT, LIMITS, &["burst"]),
    of("rate", OURS, TABLE, &["--child", "rate", "reveille"]),
    of("rate", "DelayQueue", TABLE, &["--child", "rate", "delay-queue"]),
    of("rate", "one sleep each", TABLE, &["--child", "rate", "sleeps"]),
    of("rate", "tokio-cron-scheduler", TIMERS, &["rate"]),
    of("rate", "BullMQ", BULL, &["rate"]),
    of("rate", "APScheduler", APS, &["rate"]),
    of("rate", LIMIT, LIMITS, &["rate"]),
    of("idle", OURS, TABLE, &["--child", "idle", "reveille"]),
    of("idle", "DelayQueue", TABLE, &["--child", "idle", "delay-queue"]),
    of("idle", "one sleep each", TABLE, &["--child", "idle", "sleeps"]),
    of("idle", "tokio-cron-scheduler", TIMERS, &["idle"]),
    of("idle", "BullMQ", BULL, &["idle"]),
    of("idle", "APScheduler", APS, &["idle"]),
    of("idle", LIMIT, LIMITS, &["idle"]),
    // Also prints the figures of SQLite alone.
    of("durable", OURS, Bench("durable"), &["--child", "creates"]),
    of("durable", "apalis-sqlite", Rust("peer-queue"), &["durable"]),
    of("durable", "BullMQ", BULL, &["durable"]),
    of("durable", "APScheduler", APS, &["durable"]),
    of("restart", OURS, Bench("durable"), &["--child", "start"]),
    of("restart", "BullMQ", BULL, &["restart"]),
    of("restart", "APScheduler", APS, &["restart"]),
    of("list", OURS, TABLE, &["--child", "list", "reveille"]),
    of("list", "async-graphql", WEB, &["list", "async-graphql"]),
    of("list", "juniper", WEB, &["list", "juniper"]),
    of("list", LIMIT, WEB, &["list", "hand"]),
    // Also prints the figures of static async-graphql and of hand-written JSON.
    of("http", OURS, Bench("wire"), &["--child"]),
    of("http", "juniper", WEB, &["http", "juniper"]),
    of("http", "mercurius", Asked("mercurius.mjs"), &[]),
    of("edn", OURS, TABLE, &["--child", "edn", "reveille"]),
    of("edn", "clojure-reader", NOTATION, &["clojure-reader"]),
    of("edn", "edn-format", NOTATION, &["edn-format"]),
    of("edn", "Clojure", Clojure("edn.clj"), &[]),
    of("edn", "serde_json, as JSON", NOTATION, &["serde-json"]),
    of("edn", LIMIT, LIMITS, &["edn"]),
    of("cron", OURS, TABLE, &["--child", "cron", "reveille"]),
    of("cron", "croner", CRONS, &["croner"]),
    of("cron", "cron", CRONS, &["cron"]),
    of("cron", "saffron, in UTC", CRONS, &["saffron"]),
    of("cron", "croniter", Python("peer_croniter.py"), &["cron"]),
    of("watches", OURS, PRIMITIVES, &["--child", "watches"]),
    of("watches", "asyncio", ASYNCIO, &["watches"]),
    of("checks", OURS, PRIMITIVES, &["--child", "checks"]),
    of("checks", "asyncio", ASYNCIO, &["checks"]),
    of("checks", NOTICE, PRIMITIVES, &["--child", "notices"]),
    of("steady", OURS, PRIMITIVES, &["--child", "steady"]),
    of("parallel", OURS, PRIMITIVES, &["--child", "parallel"]),
    of("parallel", "tokio", PRIMITIVES, &["--child", "tokio"]),
    of("parallel", "asyncio", ASYNCIO, &["parallel"]),
    of("slow", OURS, PRIMITIVES, &["--child", "slow"]),
    of("slow", "tokio", PRIMITIVES, &["--child", "slow-tokio"]),
    of("slow", OURS, PRIMITIVES, &["--child", "wide"]),
    of("slow", "tokio", PRIMITIVES, &["--child", "wide-tokio"]),
    of("host", OURS, PRIMITIVES, &["--child", "host"]),
    of("bulletins", OURS, PRIMITIVES, &["--child", "bulletins"]),
    of("bulletins", OURS, PRIMITIVES, &["--child", "bulletins-durable"]),
    of("bulletins", FLUSH, PRIMITIVES, &["--child", "flush"]),
    of("ring", OURS, PRIMITIVES, &["--child", "ring"]),
    of("returned", OURS, PRIMITIVES, &["--child", "returned"]),
    of("stored", OURS, PRIMITIVES, &["--child", "stored"]),
    of("conditions", OURS, PRIMITIVES, &["--child", "conditions"]),
];
