//! Why a datagram is not taken.

/// What was wrong with a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// It is none of ours, or not as long as it is to be.
    Malformed,
    /// It is of another version of the protocol.
    OtherVersion,
    /// The other end sends in clear.
    InClear,
    /// It is sealed with a key that is not there, or not there any more.
    NoKey,
    /// It is not what was sealed, or was sealed with another key.
    NotAuthentic,
    /// It has come before, or is too old to tell.
    Replayed,
    /// Who begins a handshake does not know our public key.
    BadMac,
    /// Who begins a handshake is another one.
    OtherPeer,
    /// The other end has another public key for us, or another preshared key.
    OtherSecret,
    /// Too many begin a handshake from this address.
    Busy,
}

impl Discard {
    /// All, in the order of their places.
    pub const ALL: [Self; 10] = [
        Self::Malformed,
        Self::OtherVersion,
        Self::InClear,
        Self::NoKey,
        Self::NotAuthentic,
        Self::Replayed,
        Self::BadMac,
        Self::OtherPeer,
        Self::OtherSecret,
        Self::Busy,
    ];

    /// As reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::OtherVersion => "other_version",
            Self::InClear => "in_clear",
            Self::NoKey => "no_key",
            Self::NotAuthentic => "not_authentic",
            Self::Replayed => "replayed",
            Self::BadMac => "bad_mac",
            Self::OtherPeer => "other_peer",
            Self::OtherSecret => "other_secret",
            Self::Busy => "busy",
        }
    }
}

/// How many datagrams were not taken, by what was wrong with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discards([u64; Discard::ALL.len()]);

impl Discards {
    /// One more.
    pub const fn count(&mut self, discard: Discard) {
        self.0[discard as usize] += 1;
    }

    /// So many.
    pub const fn of(&self, discard: Discard) -> u64 {
        self.0[discard as usize]
    }

    /// These and others.
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        Self(std::array::from_fn(|place| self.0[place] + others.0[place]))
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// What was wrong most often.
    pub fn most(&self) -> Option<Discard> {
        Discard::ALL.into_iter().max_by_key(|one| self.of(*one)).filter(|one| self.of(*one) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_place_and_its_name() {
        let names: std::collections::BTreeSet<_> = Discard::ALL.map(Discard::name).into();
        assert_eq!(names.len(), Discard::ALL.len());
        for (place, discard) in Discard::ALL.into_iter().enumerate() {
            assert_eq!(discard as usize, place);
        }
    }

    #[test]
    fn what_was_wrong_most_often_is_known_once_anything_was() {
        let mut counts = Discards::default();
        assert_eq!((counts.total(), counts.most()), (0, None));
        for discard in [Discard::NoKey, Discard::Replayed, Discard::Replayed] {
            counts.count(discard);
        }
        assert_eq!((counts.total(), counts.most()), (3, Some(Discard::Replayed)));
    }
}
