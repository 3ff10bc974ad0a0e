//! The scheduler inside your own program: build it, schedule something, get the delivery.

use std::io::{self, Write};
use std::sync::mpsc;

use reveille::app::Embedded;
use reveille::domain::{HostId, SessionConfig, Span, When};
use reveille::engine::NewSchedule;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (deliveries, inbox) = mpsc::channel();
    let engine = Embedded::with_listener(move |session, message| {
        // The inbox lives as long as main does: there is nobody to miss a message after it.
        let _ = deliveries.send((session.clone(), message.text()));
    })?;
    let scheduler = engine.handle();

    let (session, _token) = scheduler.open_session(None, HostId::LOCAL, SessionConfig::default())?;
    let in_a_second = When::After(Span::from_millis(1_000));
    scheduler.schedule(NewSchedule::message(session, in_a_second, "Check whether the build finished."))?;

    let (session, text) = inbox.recv()?;
    writeln!(io::stdout(), "delivered into session {session}: {text}")?;
    Ok(())
}
