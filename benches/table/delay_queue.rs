//! The first peer: `tokio_util::time::DelayQueue`, on the one thread that owns it.
//!
//! It needs no lock, because no other thread can reach it; a program in which several threads
//! create would need one, or a channel. Its timers have millisecond resolution and round deadlines
//! up.

use std::collections::HashMap;
use std::future::poll_fn;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;

use crate::child::{Figures, Measure};
use crate::peer::{Creations, Epoch, Id, Inboxes, Item, Maker, burst_figures, lateness, runtime};
use crate::system::{boot_nanos, processor_time, resident_bytes};
use crate::workload::{LEAD, Random, Sizes, message, number};

pub(crate) fn measure(measure: Measure, sizes: &Sizes) -> Figures {
    let maker = Maker::new(sizes);
    runtime().block_on(async {
        match measure {
            Measure::Fill => fill(&maker, sizes),
            Measure::Burst => burst(&maker, sizes).await,
            Measure::Rate => rate(&maker, sizes).await,
            Measure::Idle => idle(&maker, sizes).await,
            Measure::Edn | Measure::List | Measure::Cron => Vec::new(),
        }
    })
}

fn fill(maker: &Maker, sizes: &Sizes) -> Figures {
    let mut scheduler = Scheduler::default();
    let mut ids = vec![[0; 16]; sizes.pending];
    // Written once, so that its pages are counted before and not as the queue's memory.
    ids.fill([1; 16]);
    let before = resident_bytes();
    let mut random = Random::new();
    let epoch = Epoch::read();
    let mut creations = Creations::start();
    for (place, id) in ids.iter_mut().enumerate() {
        let item = maker.item(place, message(place));
        *id = scheduler.create(item, epoch.instant(random.far_delay()));
        creations.note();
    }
    let mut figures = creations.figures(sizes.pending);
    let weight = resident_bytes().saturating_sub(before);
    figures.push(("memory", weight as f64 / sizes.pending as f64));
    random.shuffle(&mut ids);
    let start = boot_nanos();
    for id in &ids {
        scheduler.cancel(id);
    }
    let cancelling = boot_nanos() - start;
    figures.push(("cancel", sizes.pending as f64 * 1_000.0 / cancelling as f64));
    // Not dropped: freeing a million timers only takes time.
    std::mem::forget(scheduler);
    figures
}

async fn burst(maker: &Maker, sizes: &Sizes) -> Figures {
    let mut scheduler = Scheduler::default();
    scheduler.fill(maker, sizes.pending - sizes.burst);
    let epoch = Epoch::read();
    for place in 0..sizes.burst {
        scheduler.create(maker.item(place, message(place)), epoch.instant(LEAD));
    }
    assert!(boot_nanos() < epoch.boot(LEAD), "creating took longer than the lead: the burst was cut");
    let mut inboxes = maker.inboxes();
    while inboxes.count < sizes.burst {
        scheduler.deliver_one(&mut inboxes, |_| ()).await;
    }
    let late = boot_nanos() - epoch.boot(LEAD);
    std::mem::forget(scheduler);
    burst_figures(sizes.burst, late)
}

async fn rate(maker: &Maker, sizes: &Sizes) -> Figures {
    let mut scheduler = Scheduler::default();
    let fires = sizes.rate * sizes.rate_seconds;
    scheduler.fill(maker, sizes.pending - fires);
    let epoch = Epoch::read();
    let mut random = Random::new();
    let mut deadlines = Vec::with_capacity(fires);
    for place in 0..fires {
        let after = LEAD + random.within(sizes.rate_seconds);
        scheduler.create(maker.item(place, message(place)), epoch.instant(after));
        deadlines.push(epoch.boot(after));
    }
    let mut inboxes = maker.inboxes();
    let mut receptions = vec![0; fires];
    while inboxes.count < fires {
        scheduler.deliver_one(&mut inboxes, |text| receptions[number(text)] = boot_nanos()).await;
    }
    std::mem::forget(scheduler);
    lateness(deadlines.into_iter().zip(receptions))
}

async fn idle(maker: &Maker, sizes: &Sizes) -> Figures {
    let mut scheduler = Scheduler::default();
    scheduler.fill(maker, sizes.pending);
    let mut inboxes = maker.inboxes();
    let (time, processor) = (boot_nanos(), processor_time());
    let seconds = Duration::from_secs(sizes.idle_seconds);
    // Idle inside the queue's own poll, so that its timer is armed as in use.
    let _ = tokio::time::timeout(seconds, scheduler.deliver_one(&mut inboxes, |_| ())).await;
    let used = (processor_time() - processor).as_nanos() as f64;
    let share = used * 100.0 / (boot_nanos() - time) as f64;
    std::mem::forget(scheduler);
    vec![("idle", share)]
}

#[derive(Default)]
struct Scheduler {
    queue: DelayQueue<Item>,
    keys: HashMap<Id, Key>,
}

impl Scheduler {
    fn fill(&mut self, maker: &Maker, pending: usize) {
        let (mut random, epoch) = (Random::new(), Epoch::read());
        for place in 0..pending {
            let item = maker.item(place, message(place));
            self.create(item, epoch.instant(random.far_delay()));
        }
    }

    fn create(&mut self, item: Item, due: Instant) -> Id {
        let id = item.id;
        let key = self.queue.insert_at(item, due);
        self.keys.insert(id, key);
        id
    }

    fn cancel(&mut self, id: &Id) {
        if let Some(key) = self.keys.remove(id) {
            self.queue.remove(&key);
        }
    }

    async fn deliver_one(&mut self, inboxes: &mut Inboxes, note: impl FnOnce(&str)) {
        if let Some(expired) = poll_fn(|context| self.queue.poll_expired(context)).await {
            let item = expired.into_inner();
            // A delivered item can no longer be cancelled, so its key is dropped as well.
            self.keys.remove(&item.id);
            note(&item.text);
            inboxes.push(item.session, item.text);
        }
    }
}
