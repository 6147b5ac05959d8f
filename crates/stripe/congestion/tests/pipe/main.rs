//! Controllers on a pipe in virtual time, each compared with published results. Each test states
//! its null hypothesis: the result of another rule.

mod alone;
mod change;
mod crowd;
mod extremes;
mod loss;
mod sim;
mod source;
mod together;

use gingham_congestion::{BbrParameters, Control, Thousandths};
use sim::{PACKET, Pipe, Sim, as_f64};

fn bbr(seed: u64) -> Control {
    Control::bbr(BbrParameters { seed, ..BbrParameters::default() }, PACKET)
}

fn bbr_with_headroom(seed: u64, thousandths: u64) -> Control {
    let headroom = Thousandths(thousandths);
    Control::bbr(BbrParameters { seed, headroom, ..BbrParameters::default() }, PACKET)
}

fn cubic() -> Control {
    Control::cubic(PACKET)
}

fn alone(pipe: Pipe, control: Control, until_ns: u64) -> Sim {
    let mut sim = Sim::new(pipe).with(control, 0);
    sim.run(until_ns);
    sim
}

fn share(sim: &Sim, flow: usize, from_ns: u64, to_ns: u64) -> f64 {
    sim.flows[flow].goodput(from_ns, to_ns) / as_f64(sim.pipe.bits_per_second)
}
