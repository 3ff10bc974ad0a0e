//! What a registry is about: the world that its readers look at.
//!
//! Two real worlds exist: the scheduler's, and the toy world of the tests.

use super::ResolverError;

/// A kind of world: a type that only names the two ways of touching it.
pub trait World: 'static {
    /// What readers look at, as of one moment.
    type View<'a>: ?Sized;
    /// What mutations get.
    type Hand<'a>;
    /// A call of a mutation, with its parameters read.
    type Call;

    /// Refuses a caller who may call no mutation at all.
    ///
    /// # Errors
    /// Why not.
    fn admit(_hand: &Self::Hand<'_>) -> Result<(), ResolverError> {
        Ok(())
    }
}

/// A look at a world: what readers get.
pub type ViewOf<'a, W> = &'a <W as World>::View<'a>;

/// One caller's access to a world while one query runs.
///
/// A query looks at the world in few, long stretches: once for all that is read between two mutations,
/// so that an implementation can lock for each and still answer from one moment.
pub trait Access<W: World> {
    /// Calls `reading` once, with a look at the world.
    fn look(&mut self, reading: &mut dyn FnMut(ViewOf<'_, W>));

    /// Calls `acting` once, with a hand on the world.
    fn act(&mut self, acting: &mut dyn FnMut(W::Hand<'_>));
}
