//! The second peer: one task with a `tokio::time::sleep` per schedule, on a single-threaded
//! runtime.
//!
//! A schedule exists once its task has run up to its sleep, and a cancelled one is gone once its
//! task is dropped. Both are waited for, in steps, and are part of the figures. Tokio's timers have
//! millisecond resolution and round deadlines up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::{AbortHandle, yield_now};
use tokio::time::Instant;

use crate::child::{Figures, Measure};
use crate::peer::{Creations, Epoch, Id, Inboxes, Item, Maker, burst_figures, lateness, runtime};
use crate::system::{boot_nanos, processor_time, resident_bytes};
use crate::workload::{LEAD, Random, Sizes, message, number};

/// The number of spawns or aborts after which the runtime may run tasks.
const STEP: usize = 256;

pub(crate) fn measure(measure: Measure, sizes: &Sizes) -> Figures {
    let maker = Maker::new(sizes);
    let runtime = runtime();
    let figures = runtime.block_on(async {
        match measure {
            Measure::Fill => fill(&maker, sizes).await,
            Measure::Burst => burst(&maker, sizes).await,
            Measure::Rate => rate(&maker, sizes).await,
            Measure::Idle => idle(&maker, sizes).await,
            Measure::Edn | Measure::List | Measure::Cron => Vec::new(),
        }
    });
    // Not dropped: dropping the tasks one by one only takes time.
    std::mem::forget(runtime);
    figures
}

async fn fill(maker: &Maker, sizes: &Sizes) -> Figures {
    let mut scheduler = Scheduler::new(maker, 0);
    let mut ids = vec![[0; 16]; sizes.pending];
    // Written once, so that its pages are counted before and not as the tasks' memory.
    ids.fill([1; 16]);
    let before = resident_bytes();
    let mut random = Random::new();
    let epoch = Epoch::read();
    let mut creations = Creations::start();
    for (place, id) in ids.iter_mut().enumerate() {
        let item = maker.item(place, message(place));
        *id = scheduler.create(item, epoch.instant(random.far_delay()));
        // Without this, no task would run to its sleep before all are spawned.
        if place % STEP == STEP - 1 {
            scheduler.settle(STEP).await;
        }
        creations.note();
    }
    scheduler.settle(STEP).await;
    // The last step counts too: a schedule exists only once its task sleeps.
    creations.note();
    let mut figures = creations.figures(sizes.pending);
    let weight = resident_bytes().saturating_sub(before);
    figures.push(("memory", weight as f64 / sizes.pending as f64));
    random.shuffle(&mut ids);
    let start = boot_nanos();
    for (place, id) in ids.iter().enumerate() {
        scheduler.cancel(id);
        if place % STEP == STEP - 1 {
            scheduler.settle(STEP).await;
        }
    }
    scheduler.settle(STEP).await;
    let cancelling = boot_nanos() - start;
    figures.push(("cancel", sizes.pending as f64 * 1_000.0 / cancelling as f64));
    figures
}

async fn burst(maker: &Maker, sizes: &Sizes) -> Figures {
    let mut scheduler = Scheduler::new(maker, 0);
    scheduler.world().awaited = sizes.burst;
    scheduler.fill(maker, sizes.pending - sizes.burst).await;
    let epoch = Epoch::read();
    for place in 0..sizes.burst {
        scheduler.create(maker.item(place, message(place)), epoch.instant(LEAD));
    }
    scheduler.settle(sizes.burst).await;
    assert!(boot_nanos() < epoch.boot(LEAD), "creating took longer than the lead: the burst was cut");
    scheduler.delivered(sizes.burst).await;
    let late = scheduler.world().last.saturating_sub(epoch.boot(LEAD));
    burst_figures(sizes.burst, late)
}

async fn rate(maker: &Maker, sizes: &Sizes) -> Figures {
    let fires = sizes.rate * sizes.rate_seconds;
    let mut scheduler = Scheduler::new(maker, fires);
    scheduler.fill(maker, sizes.pending - fires).await;
    let epoch = Epoch::read();
    let mut random = Random::new();
    let mut deadlines = Vec::with_capacity(fires);
    for place in 0..fires {
        let after = LEAD + random.within(sizes.rate_seconds);
        scheduler.create(maker.item(place, message(place)), epoch.instant(after));
        deadlines.push(epoch.boot(after));
    }
    scheduler.settle(fires).await;
    scheduler.delivered(fires).await;
    let receptions = std::mem::take(&mut scheduler.world().receptions);
    lateness(deadlines.into_iter().zip(receptions))
}

async fn idle(maker: &Maker, sizes: &Sizes) -> Figures {
    let mut scheduler = Scheduler::new(maker, 0);
    scheduler.fill(maker, sizes.pending).await;
    let (time, processor) = (boot_nanos(), processor_time());
    rest(Duration::from_secs(sizes.idle_seconds)).await;
    let used = (processor_time() - processor).as_nanos() as f64;
    vec![("idle", used * 100.0 / (boot_nanos() - time) as f64)]
}

struct Scheduler {
    world: Arc<Mutex<World>>,
    tasks: HashMap<Id, AbortHandle>,
}

/// The state that all tasks share.
struct World {
    inboxes: Inboxes,
    /// The time of each delivery by its number; empty if not needed.
    receptions: Vec<u64>,
    /// The number of deliveries after which the clock is read.
    awaited: usize,
    last: u64,
}

impl Scheduler {
    fn new(maker: &Maker, fires: usize) -> Scheduler {
        Scheduler {
            world: Arc::new(Mutex::new(World {
                inboxes: maker.inboxes(),
                receptions: vec![0; fires],
                awaited: 0,
                last: 0,
            })),
            tasks: HashMap::new(),
        }
    }

    fn world(&self) -> std::sync::MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fill(&mut self, maker: &Maker, pending: usize) {
        let (mut random, epoch) = (Random::new(), Epoch::read());
        for place in 0..pending {
            let item = maker.item(place, message(place));
            self.create(item, epoch.instant(random.far_delay()));
            if place % STEP == STEP - 1 {
                self.settle(STEP).await;
            }
        }
        self.settle(STEP).await;
    }

    fn create(&mut self, item: Item, due: Instant) -> Id {
        let Item { id, session, text } = item;
        let world = Arc::clone(&self.world);
        let task = tokio::spawn(async move {
            tokio::time::sleep_until(due).await;
            let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(reception) = world.receptions.get_mut(number(&text)) {
                *reception = boot_nanos();
            }
            world.inboxes.push(session, text);
            // Only the last awaited delivery reads the clock, as with our engine.
            if world.inboxes.count == world.awaited {
                world.last = boot_nanos();
            }
        });
        self.tasks.insert(id, task.abort_handle());
        id
    }

    fn cancel(&mut self, id: &Id) {
        if let Some(task) = self.tasks.remove(id) {
            task.abort();
        }
    }

    /// Lets the runtime run this many ready tasks: it runs 61 of them between two polls of this
    /// one.
    async fn settle(&self, tasks: usize) {
        for _ in 0..tasks / 61 + 2 {
            yield_now().await;
        }
    }

    /// Waits for this many deliveries, checking rarely so as not to disturb.
    async fn delivered(&self, count: usize) {
        while self.world().inboxes.count < count {
            rest(Duration::from_millis(50)).await;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the peer is made of these sleeps")]
async fn rest(time: Duration) {
    tokio::time::sleep(time).await;
}
