//! Broken variants of the zone server, by which tests show that they would notice.
//!
//! Always: without the feature `simulation` there are none, and every question is answered no.

/// Which rules are broken; none by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mutants {
    /// Clients are told of value before the store has acknowledged it.
    #[cfg(any(test, feature = "simulation"))]
    pub ack_before_commit: bool,
    /// What two players exchanged is saved in two batches.
    #[cfg(any(test, feature = "simulation"))]
    pub separate_saves: bool,
    /// Nobody is pinned to the zone in which it acts.
    #[cfg(any(test, feature = "simulation"))]
    pub no_pin: bool,
}

macro_rules! broken {
    ($($(#[$meta:meta])* $name:ident => $field:ident;)*) => {
        #[cfg(any(test, feature = "simulation"))]
        impl Mutants {
            $($(#[$meta])* pub(crate) const fn $name(self) -> bool { self.$field })*
        }

        #[cfg(not(any(test, feature = "simulation")))]
        impl Mutants {
            $($(#[$meta])* pub(crate) const fn $name(self) -> bool { false })*
        }
    };
}

broken! {
    /// Whether value is told of before it is committed.
    acks_before_commit => ack_before_commit;
    /// Whether the sides of an exchange are saved apart.
    saves_separately => separate_saves;
    /// Whether nobody is pinned.
    never_pins => no_pin;
}
