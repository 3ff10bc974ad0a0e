//! Answers as text: written while they are read where that can be done, else printed when they are there.

use super::walk::{Spot, Stop, Walk};
use super::{Answer, Failure, Refusal, Request, Sink, run};
use crate::graph::registry::{Access, Datum, Registry, World};

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// The answer.
    Done,
    /// Nothing: in strict mode, why there is no answer.
    Failed(Failure),
}

/// Answers a request into a text: by the short way if there is one, else by the long one.
///
/// # Errors
///
/// A limit that the request exceeds, or the callback's word to stop; nothing is written then.
pub fn write<W: World, S: Sink>(
    registry: &Registry<W>,
    request: &Request<'_>,
    access: &mut dyn Access<W>,
    sink: &mut S,
) -> Result<Written, Refusal> {
    if request.plan.direct.is_some() {
        let mark = sink.mark();
        let mut walked = Err(Stop::LongWay);
        access.look(&mut |view| {
            walked =
                Walk::begin(registry, request, view).and_then(|mut walk| map(&mut walk, Spot::ROOT, sink));
        });
        match walked {
            Ok(()) => return Ok(Written::Done),
            Err(Stop::Refused(refusal)) => {
                sink.rewind(mark);
                return Err(refusal);
            }
            Err(Stop::LongWay) => sink.rewind(mark),
        }
    }
    match run(registry, request, access)? {
        Answer::Done(map) => {
            sink.datum(&Datum::Value(map.into()));
            Ok(Written::Done)
        }
        Answer::Failed(failure) => Ok(Written::Failed(failure)),
    }
}

fn map<W: World, S: Sink>(walk: &mut Walk<'_, '_, W>, spot: Spot, sink: &mut S) -> Result<(), Stop> {
    sink.open_map();
    for (place, cell) in walk.cells(spot).iter().enumerate() {
        sink.key(&cell.key, place == 0);
        match walk.read(spot, place)? {
            Datum::Entity(number) => {
                let below = walk.join(spot, place, 1)?;
                map(walk, below.of(number), sink)?;
            }
            Datum::Entities(numbers) => {
                let below = walk.join(spot, place, numbers.len())?;
                sink.open_list();
                for (at, number) in numbers.iter().enumerate() {
                    sink.item(at == 0);
                    map(walk, below.of(*number), sink)?;
                }
                sink.close_list();
            }
            datum @ (Datum::Nil
            | Datum::Bool(_)
            | Datum::Int(_)
            | Datum::Text(_)
            | Datum::Shown(_)
            | Datum::Name(_)
            | Datum::Inst(_)
            | Datum::Value(_)) => sink.datum(&datum),
        }
    }
    sink.close_map();
    Ok(())
}
