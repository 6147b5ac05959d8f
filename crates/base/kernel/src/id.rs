//! Typed indices, which prevent confusion of different kinds of ids.

/// Declares a `u32` index type with `new`, `index` and `first`.
#[macro_export]
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(u32);

        impl $name {
            /// Returns the id with index `index`. Panics beyond 32 bits.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("an id fits 32 bits"))
            }

            /// Returns the index of this id.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the first `count` ids in order.
            pub fn first(count: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
                (0..count).map(Self::new)
            }
        }
    };
}

/// Declares an index type with only `new` and `index`, whose `Option` also occupies 32 bits.
#[macro_export]
macro_rules! optional_id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(::core::num::NonZeroU32);

        impl $name {
            /// Returns the id with index `index`. Panics beyond 32 bits.
            pub fn new(index: usize) -> Self {
                let number = u32::try_from(index).ok().and_then(|index| index.checked_add(1));
                let number = number.and_then(::core::num::NonZeroU32::new);
                Self(number.expect("an id fits 32 bits"))
            }

            /// Returns the index of this id.
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
    };
}
