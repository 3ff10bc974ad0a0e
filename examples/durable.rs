//! A schedule that outlives the program: start it, kill it while it waits, and start it again.

use std::io::{self, Write};
use std::sync::{Arc, mpsc};

use reveille::adapter::{StoreOptions, StoreSqlite};
use reveille::app::Embedded;
use reveille::domain::{Durability, HostId, SessionConfig, SessionId, Span, When};
use reveille::engine::NewSchedule;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (deliveries, inbox) = mpsc::channel();
    let engine = Embedded::with_listener(move |_, message| {
        // The inbox lives as long as main does: there is nobody to miss a message after it.
        let _ = deliveries.send(message.text());
    })?;
    let scheduler = engine.handle();
    let store = StoreSqlite::open(StoreOptions::new("state", scheduler.now().wall))?;
    // From here on, what an earlier life left behind may be delivered.
    scheduler.take_up(Arc::new(store), 0)?;

    let session = SessionId::new("main")?;
    if scheduler.view(|state| state.session(&session).is_none()) {
        scheduler.open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default())?;
        let in_two_seconds = When::After(Span::from_millis(2_000));
        let reminder = NewSchedule::message(session, in_two_seconds, "Check whether the build finished.");
        // On disk when this returns.
        scheduler.schedule(NewSchedule { durability: Durability::Durable, ..reminder })?;
        writeln!(io::stdout(), "scheduled at {}", scheduler.now().wall)?;
    }

    let text = inbox.recv()?;
    writeln!(io::stdout(), "delivered at {}: {text}", scheduler.now().wall)?;
    Ok(())
}
