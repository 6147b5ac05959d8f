//! Arrays of output ports, with one byte per port if all port numbers fit.
//!
//! Routes of a large fabric contain hundreds of millions of ports, and most switches have at most
//! 255.

#[derive(Clone, Debug)]
pub(crate) enum Ports {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum PortSlice<'a> {
    Bytes(&'a [u8]),
    Words(&'a [u16]),
}

impl Default for Ports {
    fn default() -> Self {
        Self::Bytes(Vec::new())
    }
}

impl PartialEq for Ports {
    /// Compares the ports, regardless of their width in memory.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(one), Self::Bytes(other)) => one == other,
            (Self::Words(one), Self::Words(other)) => one == other,
            _ => {
                let mut pairs = (0..self.len()).map(|at| (self.at(at), other.at(at)));
                self.len() == other.len() && pairs.all(|(one, other)| one == other)
            }
        }
    }
}

impl Eq for Ports {}

impl Ports {
    pub(crate) fn zeros(count: usize) -> Self {
        Self::Bytes(vec![0; count])
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(ports) => ports.len(),
            Self::Words(ports) => ports.len(),
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> u16 {
        match self {
            Self::Bytes(ports) => ports[place].into(),
            Self::Words(ports) => ports[place],
        }
    }

    pub(crate) fn slice(&self, places: std::ops::Range<usize>) -> PortSlice<'_> {
        match self {
            Self::Bytes(ports) => PortSlice::Bytes(&ports[places]),
            Self::Words(ports) => PortSlice::Words(&ports[places]),
        }
    }

    pub(crate) fn set(&mut self, place: usize, port: u16) {
        self.make_room_for(port);
        match self {
            Self::Bytes(ports) => ports[place] = byte(port),
            Self::Words(ports) => ports[place] = port,
        }
    }

    pub(crate) fn push(&mut self, port: u16) {
        self.make_room_for(port);
        match self {
            Self::Bytes(ports) => ports.push(byte(port)),
            Self::Words(ports) => ports.push(port),
        }
    }

    pub(crate) fn truncate(&mut self, count: usize) {
        match self {
            Self::Bytes(ports) => ports.truncate(count),
            Self::Words(ports) => ports.truncate(count),
        }
    }

    fn make_room_for(&mut self, port: u16) {
        if let Self::Bytes(ports) = self
            && port > u8::MAX.into()
        {
            *self = Self::Words(ports.iter().copied().map(u16::from).collect());
        }
    }
}

impl<'a> PortSlice<'a> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Bytes(ports) => ports.len(),
            Self::Words(ports) => ports.len(),
        }
    }

    #[inline]
    pub(crate) fn at(self, place: usize) -> u16 {
        match self {
            Self::Bytes(ports) => ports[place].into(),
            Self::Words(ports) => ports[place],
        }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u16> + 'a {
        (0..self.len()).map(move |place| self.at(place))
    }
}

fn byte(port: u16) -> u8 {
    u8::try_from(port).expect("there is room for the port")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_above_255_widens_the_storage() {
        let mut ports = Ports::zeros(2);
        ports.set(0, 255);
        assert!(matches!(ports, Ports::Bytes(_)));
        let narrow = ports.clone();
        ports.set(1, 256);
        assert!(matches!(ports, Ports::Words(_)));
        assert_eq!((ports.at(0), ports.at(1), ports.len()), (255, 256, 2));
        assert_ne!(ports, narrow);
        ports.set(1, 0);
        assert_eq!(ports, narrow, "the width is no difference");
        ports.push(7);
        assert_ne!(ports, narrow);
        assert!(ports.slice(1..3).iter().eq([0, 7]));
    }
}
