//! The scheduler embedded in a program: start it, schedule a message, receive the delivery.

use std::io::{self, Write};
use std::sync::mpsc;

use reveille::app::Embedded;
use reveille::domain::{HostId, SessionConfig, Span, When};
use reveille::engine::NewSchedule;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (deliveries, inbox) = mpsc::channel();
    let engine = Embedded::with_listener(move |session, message| {
        // `inbox` lives as long as `main`, so no message is lost by ignoring the error.
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
