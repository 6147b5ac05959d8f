//! Responses: what a flow makes of the marks that answers bring back.
//!
//! ```text
//!   answer ──┬─ marked ──────► down ─┐
//!            └─ not marked ──► up ───┴──► window and pace of its flow, from now on
//! ```
//!
//! A response is a file that says what it takes, with its two functions, and a line of
//! `responses!` below.

mod fixed;

pub use fixed::Fixed;

use crate::Pace;
use crate::bare_names::accept_bare_names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What bounds a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// Packets that may be under way and not answered.
    pub(crate) window_packets: u32,
    /// How fast packets may start; as fast as they can if not given.
    pub(crate) pace: Option<Pace>,
}

/// A response with its parameters.
pub(crate) trait Respond {
    /// What a flow remembers.
    type Memory: Adapt;

    fn start(&self) -> Self::Memory;
}

/// A response at work, for one flow.
pub(crate) trait Adapt {
    /// An answer says that its packet was marked.
    fn down(&mut self, limits: &mut Limits);

    /// An answer says that it was not.
    fn up(&mut self, limits: &mut Limits);
}

/// Makes [`Response`] and [`Responder`] of the types of the responses.
macro_rules! responses {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// What a flow makes of marks that come back.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(transform = accept_bare_names)]
        pub enum Response {
            $($(#[$about])* $name($name),)*
        }

        impl Response {
            /// That of a new flow.
            pub(crate) fn start(&self) -> Responder {
                match self {
                    $(Self::$name(of) => Responder::$name(of.start()),)*
                }
            }
        }

        /// A response at work.
        #[derive(Clone, Debug)]
        pub(crate) enum Responder {
            $($name(<$name as Respond>::Memory),)*
        }

        impl Responder {
            /// An answer has come.
            pub(crate) fn answered(&mut self, marked: bool, limits: &mut Limits) {
                match self {
                    $(Self::$name(of) => if marked { of.down(limits) } else { of.up(limits) },)*
                }
            }
        }
    };
}

responses! {
    /// Window and pace stay what they are.
    #[schemars(extend("x-source" = "textbook"))]
    Fixed,
}

impl Default for Response {
    fn default() -> Self {
        Self::Fixed(Fixed {})
    }
}
