//! A durable schedule that survives its process: start the program, kill it while it waits, start
//! it again.

use std::io::{self, Write};
use std::sync::{Arc, mpsc};

use reveille::adapter::{StoreOptions, StoreSqlite};
use reveille::app::Embedded;
use reveille::domain::{Durability, HostId, SessionConfig, SessionId, Span, When};
use reveille::engine::NewSchedule;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (deliveries, inbox) = mpsc::channel();
    let engine = Embedded::with_listener(move |_, message| {
        // `inbox` lives as long as `main`, so no message is lost by ignoring the error.
        let _ = deliveries.send(message.text());
    })?;
    let scheduler = engine.handle();
    let store = StoreSqlite::open(StoreOptions::new("state", scheduler.now().wall))?;
    // Loads what an earlier process left; due schedules may be delivered from here on.
    scheduler.take_up(Arc::new(store), 0)?;

    let session = SessionId::new("main")?;
    // The session is durable as well: on the second start it is open already, with its schedule.
    if scheduler.view(|state| state.session(&session).is_none()) {
        scheduler.open_session(Some(session.clone()), HostId::LOCAL, SessionConfig::default())?;
        let in_two_seconds = When::After(Span::from_millis(2_000));
        let reminder = NewSchedule::message(session, in_two_seconds, "Check whether the build finished.");
        // The schedule is on disk when this returns.
        scheduler.schedule(NewSchedule { durability: Durability::Durable, ..reminder })?;
        writeln!(io::stdout(), "scheduled at {}", scheduler.now().wall)?;
    }

    let text = inbox.recv()?;
    writeln!(io::stdout(), "delivered at {}: {text}", scheduler.now().wall)?;
    Ok(())
}
