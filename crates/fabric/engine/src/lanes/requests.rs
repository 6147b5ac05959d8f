//! VC requests: input lanes whose heads request an output.

use crate::bits::{Bits, members};
use crate::lanes::layout::{SHIFT, number_of};
use crate::lanes::switches::SwitchPort;
use gingham_net::{PipelinePlan, Plan};

#[derive(Clone, Debug)]
pub(crate) struct Requests {
    base: Vec<u32>,
    words: Vec<u64>,
    /// Binary logarithm of the number of lanes per port in `words`; minimal, so that most switches
    /// fit into one word.
    shift: u32,
    are_single: bool,
    requested: Bits,
    lanes: Vec<u16>,
    levels: Vec<u8>,
    pub(crate) level_count: usize,
    /// Round-robin pointer of each output port and level: the bit number after the last winner.
    pointers: Vec<u16>,
    /// Round-robin state of each output port: bit mask of the lanes above the last granted lane.
    pub(crate) lane_pointers: Vec<u16>,
}

impl Requests {
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, ports: &[SwitchPort]) -> Self {
        let level_count = lanes.arbitration.level(plan.highest_priority()) + 1;
        let shift = u32::from(plan.lanes.count).next_power_of_two().trailing_zeros();
        let mut base = Vec::with_capacity(ports.len());
        let mut count = 0;
        for port in ports {
            base.push(u32::try_from(count).expect("words of a switch are few"));
            count += (usize::from(port.span) << shift).div_ceil(64);
        }
        Self {
            base,
            shift,
            are_single: count == ports.len(),
            requested: Bits::new(ports.len()),
            words: vec![0; count],
            lanes: vec![0; ports.len() << SHIFT],
            levels: vec![0; ports.len() << SHIFT],
            level_count,
            pointers: vec![0; ports.len() * level_count],
            lane_pointers: vec![u16::MAX; ports.len()],
        }
    }

    #[inline]
    pub(crate) fn requested(&self, word: usize) -> u64 {
        self.requested.words[word]
    }

    #[inline]
    const fn number(&self, input: usize) -> usize {
        input >> SHIFT << self.shift | number_of(input)
    }

    #[inline]
    const fn input(&self, number: usize) -> usize {
        number >> self.shift << SHIFT | number & ((1 << self.shift) - 1)
    }

    #[inline]
    fn words_of(&self, port: usize) -> &[u64] {
        let end = self.base.get(port + 1).map_or(self.words.len(), |end| *end as usize);
        &self.words[self.base[port] as usize..end]
    }

    pub(crate) fn of_port(&self, port: usize) -> impl Iterator<Item = usize> {
        let words = self.words_of(port).iter().enumerate();
        let numbers =
            words.flat_map(|(number, word)| members(*word).map(move |bit| number * 64 + bit));
        numbers.map(|number| self.input(number))
    }

    #[inline]
    pub(crate) fn lanes_of(&self, lane: usize) -> u16 {
        self.lanes[lane]
    }

    #[inline]
    pub(crate) fn insert(
        &mut self,
        port: usize,
        input: usize,
        lane: usize,
        lanes: u16,
        level: usize,
    ) {
        self.levels[lane] = u8::try_from(level).expect("levels are few");
        self.lanes[lane] = lanes;
        let number = self.number(input);
        let first = if self.are_single { port } else { self.base[port] as usize };
        self.words[first + number / 64] |= 1 << (number % 64);
        self.requested.insert(port);
    }

    #[inline]
    pub(crate) fn grant(&mut self, port: usize, input: usize, switch: &SwitchPort) {
        let level = self.level_of(switch.base as usize + input);
        let number = self.number(input);
        self.pointers[port * self.level_count + level] = self.after(input, switch);
        let is_last = if self.are_single {
            self.words[port] &= !(1 << number);
            self.words[port] == 0
        } else {
            self.words[self.base[port] as usize + number / 64] &= !(1 << (number % 64));
            self.words_of(port).iter().all(|word| *word == 0)
        };
        self.requested.words[port / 64] &= !(u64::from(is_last) << (port % 64));
    }

    #[inline]
    pub(crate) fn level_of(&self, lane: usize) -> usize {
        self.levels[lane].into()
    }

    /// Returns the bit number where a round-robin search starts after input lane `input` was
    /// served.
    #[inline]
    pub(crate) fn after(&self, input: usize, switch: &SwitchPort) -> u16 {
        let (number, end) = (self.number(input), usize::from(switch.span) << self.shift);
        let next = if number + 1 == end { 0 } else { number + 1 };
        u16::try_from(next).expect("lanes of a switch have 16 bits")
    }

    pub(crate) fn withdraw(&mut self, port: usize, input: usize) {
        let number = self.number(input);
        self.words[self.base[port] as usize + number / 64] &= !(1 << (number % 64));
        if self.words_of(port).iter().all(|word| *word == 0) {
            self.requested.words[port / 64] &= !(1 << (port % 64));
        }
    }

    /// Selects, by round robin at the highest level, a requesting input lane that could be granted
    /// a lane. Returns the winner, numbered within the switch, and its grantable lanes. The lanes
    /// of the switch start at `base`.
    #[inline]
    pub(crate) fn winner(
        &self,
        port: usize,
        base: usize,
        grantable: impl Fn(usize) -> u16,
    ) -> Option<(usize, u16)> {
        let pointers = &self.pointers[port * self.level_count..];
        self.winner_from(pointers, port, base, grantable)
    }

    #[inline]
    pub(crate) fn winner_from(
        &self,
        pointers: &[u16],
        port: usize,
        base: usize,
        grantable: impl Fn(usize) -> u16,
    ) -> Option<(usize, u16)> {
        if self.level_count == 1 {
            return self.search(port, pointers[0].into(), |input| {
                let lanes = grantable(input);
                (lanes != 0).then_some((input, lanes))
            });
        }
        let level = self.highest_level(port, base, &grantable)?;
        let pointer = pointers[usize::from(level)];
        self.search(port, pointer.into(), |input| {
            let lanes = if self.levels[base + input] == level { grantable(input) } else { 0 };
            (lanes != 0).then_some((input, lanes))
        })
    }

    #[inline(never)]
    fn highest_level(
        &self,
        port: usize,
        base: usize,
        grantable: &impl Fn(usize) -> u16,
    ) -> Option<u8> {
        let mut highest = None;
        self.search(port, 0, |input| {
            if grantable(input) != 0 {
                highest = highest.max(Some(self.levels[base + input]));
            }
            None::<()>
        });
        highest
    }

    /// Returns the first match in round-robin order from bit number `first` on. Lanes are numbered
    /// within the switch.
    #[inline]
    fn search<T>(
        &self,
        port: usize,
        first: usize,
        mut found: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        let (at, onward) = (first / 64, u64::MAX << (first % 64));
        if self.are_single {
            let word = self.words[port];
            for mut bits in [word & onward, word & !onward] {
                while bits != 0 {
                    let thing = found(self.input(bits.trailing_zeros() as usize));
                    if thing.is_some() {
                        return thing;
                    }
                    bits &= bits - 1;
                }
            }
            return None;
        }
        let words = self.words_of(port);
        // The search starts at the pointer, and ends with the lower bits of the pointer's word.
        let (mut number, mut mask) = (at, onward);
        for _ in 0..=words.len() {
            let mut bits = words[number] & mask;
            while bits != 0 {
                let thing = found(self.input(number * 64 + bits.trailing_zeros() as usize));
                if thing.is_some() {
                    return thing;
                }
                bits &= bits - 1;
            }
            number = if number + 1 == words.len() { 0 } else { number + 1 };
            mask = if number == at { !onward } else { u64::MAX };
        }
        None
    }
}
