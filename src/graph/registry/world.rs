//! The world of a registry: what its readers read from, and what its mutations change.
//!
//! There are two worlds: the scheduler's, and a small one for the tests.

/// A world. The type has no values: it only names the types through which the world is read and changed.
pub trait World: 'static {
    /// What readers read from: a consistent snapshot.
    type View<'a>: ?Sized;
    /// What mutations act through.
    type Hand<'a>;
    /// A call of a mutation, with its parameters parsed.
    type Call;
}

/// The view of a world that readers get.
pub type ViewOf<'a, W> = &'a <W as World>::View<'a>;

/// One caller's access to a world while one query runs.
///
/// A query calls `with_view` once for everything that it reads between two mutations. So an implementation can lock the world
/// for each call, and the answer is still consistent.
pub trait Access<W: World> {
    /// Calls `reading` once, with a view of the world.
    fn with_view(&mut self, reading: &mut dyn FnMut(ViewOf<'_, W>));

    /// Calls `acting` once, with what a mutation acts through.
    fn act(&mut self, acting: &mut dyn FnMut(W::Hand<'_>));
}
