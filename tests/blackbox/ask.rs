//! Asking for schedules, and reading what was answered.

use std::time::Duration;

use reveille::domain::{Moment, Span};
use reveille::edn::{Map, Value};

use crate::daemon::{Daemon, at, text};
use crate::stream::Stream;

/// Asks for a schedule of the session `main`: its id, or the code of the refusal.
pub(crate) fn create(stream: &mut Stream, rest: &str) -> Result<String, String> {
    let query = format!("[(psi.scheduler/create {{:kind :message :session-id \"main\" {rest}}})]");
    match stream.eql(&query).expect("it lives") {
        Ok(answer) => {
            let id = text(only(&answer), &["psi.scheduler/schedule-id"]).expect("an id");
            Ok(id.to_owned())
        }
        Err(answer) => {
            let why = at(&answer, &["ok", "reveille.error/why"]).and_then(Value::as_map);
            let code = why.and_then(|why| text(why, &["code"]));
            Err(code.unwrap_or_else(|| panic!("{answer:?}")).to_owned())
        }
    }
}

/// Everything acknowledged is in the answers.
pub(crate) fn assert_kept(daemon: &Daemon, ids: &[String]) {
    let answer = daemon.eql("[{:psi.scheduler/schedules [:psi.scheduler/schedule-id]}]");
    let list = Value::from(answer).to_string();
    for id in ids {
        assert!(list.contains(id.as_str()), "{id} was acknowledged and is lost");
    }
}

/// What a query with one thing in it was answered with.
pub(crate) fn only(answer: &Map) -> &Map {
    let mut values = answer.iter().map(|(_, value)| value);
    values.next().and_then(Value::as_map).unwrap_or_else(|| panic!("a map: {answer:?}"))
}

/// An instant of an answer.
pub(crate) fn instant(value: Option<&Value>) -> Moment {
    let inst = value.and_then(Value::as_inst).expect("an instant");
    Moment::new(inst.seconds(), inst.nanos()).expect("in range")
}

pub(crate) fn later(moment: Moment, millis: u64) -> Moment {
    moment.checked_add(Span::from_millis(millis)).expect("in range")
}

/// The middle one of some times: a machine that has other things to do spoils a few of them, and not half.
pub(crate) fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
