//! Typed indices: an id of one kind cannot be used where another is meant.

/// Declares a `u32` index type with `new`, `index` and an iterator over the first `n`.
#[macro_export]
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(u32);

        impl $name {
            /// The id of the thing at `index`. Panics beyond 32 bits.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("an id fits 32 bits"))
            }

            /// The position this id stands for.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The first `count` ids in order.
            pub fn first(count: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
                (0..count).map(Self::new)
            }
        }
    };
}

/// The same with `new` and `index` only, of which there may be none at no cost: an `Option` of it
/// takes 32 bits too.
#[macro_export]
macro_rules! optional_id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(::core::num::NonZeroU32);

        impl $name {
            /// The id of the thing at `index`. Panics beyond 32 bits.
            pub fn new(index: usize) -> Self {
                let number = u32::try_from(index).ok().and_then(|index| index.checked_add(1));
                let number = number.and_then(::core::num::NonZeroU32::new);
                Self(number.expect("an id fits 32 bits"))
            }

            /// The position this id stands for.
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
    };
}
