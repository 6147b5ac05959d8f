//! Routes, their proof, their trace and their statistics, on hand-drawn and random fabrics.

mod adaptive;
mod datelines;
mod dimension_order;
mod ejection;
mod forms;
mod in_transit;
mod irregular_bands;
mod laid_paths;
mod lane_tables;
mod lanes;
mod legs;
mod levels;
mod ports_0;
mod proof;
mod real_dumps;
mod several_roots;
mod shortest_path;
mod simple_routes;
mod smart;
mod statistics;
mod support;
mod trace;
mod up_down;
