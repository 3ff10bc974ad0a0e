//! The peer of a check: a volatile notice, which is as recurrent, and which a session is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reveille::adapter::{HostLocal, HostTapped};
use reveille::domain::{
    About, CountFrom, Dialect, Durability, Every, Message, Missed, Notice, Payload, Policy, SessionId,
    Settings, Span, Trigger, When,
};
use reveille::engine::NewSchedule;

use crate::Figures;
use crate::engine::{Engine, PER_SESSION};
use crate::system::{processor_time, wait};

/// What each notice takes of a processor, where an engine has more of them than it can show.
pub(crate) fn figures(count: usize, load: Duration) -> Figures {
    let shown = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&shown);
    let host = HostTapped::new(Arc::new(HostLocal::new()), move |_: &SessionId, _: &Message| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let engine = Engine::with(count, Arc::new(host), None);
    notify(&engine, count);
    // As long as the checks are given before they are measured.
    wait(Duration::from_secs(3));
    let (processor, begun) = (processor_time(), shown.load(Ordering::Relaxed));
    wait(load);
    let (processor, made) = (processor_time() - processor, shown.load(Ordering::Relaxed) - begun);
    engine.leave();
    vec![("notice-cpu", processor.as_nanos() as f64 / made as f64 / 1e3)]
}

/// Creates notices of each second, spread evenly over it.
fn notify(engine: &Engine, count: usize) {
    let period = Span::from_millis(1_000);
    let begin = engine.handle().now().wall.checked_add(period).expect("an instant");
    for number in 0..count {
        let offset = Span::from_nanos(period.nanos() / count as u64 * number as u64);
        let first = begin.checked_add(offset).expect("an instant");
        let every = Every::new(period, first, CountFrom::Finish).expect("a period");
        let policy = Policy { missed: Missed::Skip, ..Policy::PLAIN };
        let notice = Notice { about: About::Reminder, text: "Look.".into(), file: None };
        let new = NewSchedule {
            dialect: Dialect::Reminder,
            durability: Durability::Volatile,
            payload: Payload::Notice(Box::new(notice)),
            settings: Some(Box::new(Settings { policy, ..Settings::PLAIN })),
            ..NewSchedule::message(
                engine.session(number / PER_SESSION),
                When::By(Trigger::Every(Box::new(every))),
                "",
            )
        };
        engine.handle().schedule(new).expect("a session takes this many");
    }
}
