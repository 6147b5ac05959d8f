//! Fabrics: what generators make of them, files hold of them and `check` finds in them.

mod check;
mod format_as_they_come;
mod format_by_hand;
mod format_dot;
mod format_fabrics;
mod format_foreign;
mod format_graphs;
mod format_guids;
mod format_ibnetdiscover;
mod format_ibsim;
mod format_junk;
mod format_lst;
mod format_monkey;
mod format_mutations;
mod format_round_trip;
mod format_unknown_speeds;
mod generate_documented;
mod generate_grids;
mod generate_irregular;
mod generate_measure;
mod generate_random_parameters;
mod generate_refusals;
mod generate_saved;
mod generate_shapes;
mod ibsim;
mod real_dumps;
