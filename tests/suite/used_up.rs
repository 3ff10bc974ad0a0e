//! A session whose queries took all the time that they may take: what it changes is answered all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reveille::dialect::{Answer, Notation};
use reveille::domain::{Now, Span};
use reveille::edn::{Caps, read};
use reveille::port::Clock;
use reveille::runtime::{Handle, Parts};
use reveille::service::Service;
use reveille::testkit::SimClock;

use crate::simulated::{self, ask_service, token};

/// A clock that goes on by some milliseconds whenever it is read, so that a query takes time.
struct Ticking {
    clock: Arc<SimClock>,
    millis: AtomicU64,
}

impl Clock for Ticking {
    fn now(&self) -> Now {
        self.clock.advance(Span::from_millis(self.millis.load(Ordering::Relaxed)));
        self.clock.now()
    }
}

fn call(service: &Service, tool: &str, args: &str) -> Answer {
    let args = read(args.as_bytes(), &Caps::DEFAULT).expect("EDN");
    let answer = service.call_tool(tool, &token("alice"), &args, Notation::Edn);
    answer.expect("it may").expect("it is a tool")
}

/// The change is made before it is shown. A model that got an error would make it again.
#[test]
fn a_change_is_answered_when_the_time_of_queries_is_used_up() {
    let (parts, clock) = simulated::parts();
    let clock = Arc::new(Ticking { clock, millis: AtomicU64::new(0) });
    let handle = Handle::new(Parts { clock: Arc::<Ticking>::clone(&clock), ..parts });
    simulated::open(&handle, "alice", reveille::domain::SessionConfig::default());
    let service = Service::new(handle);
    let ask = || ask_service(&service, &token("alice"), "[:psi.scheduler/pending-count]", false);
    let refused = |answer: &str| answer.contains("take more than");
    clock.millis.store(20, Ordering::Relaxed);
    let last = (0..1_000).map(|_| ask()).find(|answer| refused(answer));
    clock.millis.store(0, Ordering::Relaxed);
    assert!(last.is_some(), "{}", ask());
    for (tool, args, shown) in [
        ("create", r#"{:message "m" :when "in 1 hour" :key "once"}"#, ":status"),
        ("create", r#"{:message "m" :when "in 1 hour" :key "once"}"#, ":created false"),
        ("update", r#"{:key "once" :label "l"}"#, r#":label "l""#),
        ("update", r#"{:key "once" :paused true}"#, ":paused"),
        ("update", r#"{:key "once" :paused false}"#, ":pending"),
    ] {
        assert!(refused(&ask()), "{}", ask());
        let answer = call(&service, tool, args);
        let text = answer.value.to_string();
        assert!(!answer.is_error && text.contains(shown), "{tool} {args}: {text}");
    }
}
