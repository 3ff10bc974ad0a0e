//! Pings: who may ping a session, and the ping itself. The route and the mutation come here.
//!
//! What lives elsewhere: how many names a session can have (`engine`), the tool that says how old a ping is (`tools/watch.rs`).

use super::Service;
use super::admission::Admitted;
use crate::domain::{Moment, Op, PingName, Refusal, SessionId};
use crate::engine::{Command, Input};

impl Service {
    /// Pings a session, and returns when that was.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    pub(crate) fn ping(
        &self,
        admitted: Admitted<'_>,
        session: &SessionId,
        name: &PingName,
    ) -> Result<Moment, Refusal> {
        debug_assert_eq!(admitted.op(), Op::Ping, "it was admitted for something else");
        let by = Some(admitted.caller().actor());
        let command = Command::Ping { session: session.clone(), name: name.clone(), by };
        let at = self.handle().submit_with(Input::Command(command), |state| {
            state.session(session).and_then(|record| record.pings().at(name))
        })?;
        Ok(at.expect("a name that was just pinged is there"))
    }
}
