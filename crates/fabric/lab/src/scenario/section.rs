//! Scenario sections whose keys override a preset, with each key declared once.
//!
//! ```text
//!   section! { key, help, type }
//!     ├─► Lanes            keys as written, each an `Option`, with help and schema
//!     ├─► LaneParameters   values in effect, for plans and manifests
//!     └─► Over             overrides preset values with written keys
//! ```
//!
//! A preset is also a section, read from its file. Values in effect are the defaults of a switching
//! kind, overridden by the keys of the preset and then by those of the scenario.

pub(crate) trait Over<T> {
    fn over(&self, base: T) -> T;
}

impl<S: Over<T>, T> Over<T> for Option<S> {
    fn over(&self, base: T) -> T {
        match self {
            Some(section) => section.over(base),
            None => base,
        }
    }
}

/// Declares a section of a scenario.
///
/// Brackets before each group of keys name the struct of the values in effect, or `written` if the
/// keys have no values in effect. `existing` names a struct defined elsewhere. Fields after the
/// struct's name belong to the struct, but no key of the section sets them. Keys are declared as:
///
/// - `value` if there is always a value in effect;
/// - `open` if there may be no value in effect;
/// - `merged` for a nested section, whose method `over` changes the value in effect;
/// - `only`, in groups `written`, with the complete type of the field.
macro_rules! section {
    (
        $(#[$about:meta])*
        pub struct $Section:ident {
            $(
                $(#[$group_about:meta])*
                [$($group:tt)*] {
                    $(
                        $(#[doc = $doc:literal])*
                        $(#[schemars($($schema:tt)*)])*
                        $kind:ident $key:ident: $type:ty,
                    )*
                }
            )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $Section {
            $($(
                $(#[doc = $doc])*
                $(#[schemars($($schema)*)])*
                pub $key: section!(@written $kind $type),
            )*)*
        }
        $(section! {
            @group $Section [$($group)*] $(#[$group_about])*
            { $($(#[doc = $doc])* $kind $key: $type,)* }
        })*
    };

    (@group $Section:ident [written] $($rest:tt)*) => {};
    (@group $Section:ident [existing $InForce:ident] {
        $($(#[doc = $doc:literal])* $kind:ident $key:ident: $type:ty,)*
    }) => {
        impl Over<$InForce> for $Section {
            fn over(&self, mut base: $InForce) -> $InForce {
                $(section!(@lay $kind self.$key, base.$key);)*
                base
            }
        }
    };
    (@group $Section:ident
        [$InForce:ident $(, $(#[$other_about:meta])* $other:ident: $Other:ty)*]
        $(#[$about:meta])* {
            $($(#[doc = $doc:literal])* $kind:ident $key:ident: $type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug, Serialize)]
        pub struct $InForce {
            $($(#[$other_about])* pub $other: $Other,)*
            $($(#[doc = $doc])* pub $key: section!(@in_force $kind $type),)*
        }
        section! {
            @group $Section [existing $InForce] { $($(#[doc = $doc])* $kind $key: $type,)* }
        }
    };

    (@written only $type:ty) => { $type };
    (@written $kind:ident $type:ty) => { Option<$type> };
    (@in_force open $type:ty) => { Option<$type> };
    (@in_force $kind:ident $type:ty) => { $type };
    (@lay value $written:expr, $base:expr) => {
        if let Some(written) = &$written {
            $base.clone_from(written);
        }
    };
    (@lay open $written:expr, $base:expr) => {
        if $written.is_some() {
            $base.clone_from(&$written);
        }
    };
    (@lay merged $written:expr, $base:expr) => {
        if let Some(written) = &$written {
            $base = written.over(&$base);
        }
    };
}

pub(crate) use section;
