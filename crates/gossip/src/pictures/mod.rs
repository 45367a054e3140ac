//! Pictures of topologies, and of plans in time.

mod gantt;
mod map;

pub use gantt::draw_plan;
pub use map::draw_topology;

/// Colours of devices; the first eight are told apart by everybody (Okabe and Ito).
const COLOURS: [&str; 16] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7b8794",
    "#5b3a8c", "#8a5a00", "#b7d36b", "#e8b4a8", "#1f4e5f", "#b3412b", "#8fb8de", "#4d4d4d",
];

/// The colour of a device.
fn colour(device: usize) -> &'static str {
    COLOURS[device % COLOURS.len()]
}

/// The colour of letters that are read on the colour of a device.
fn ink_on(device: usize) -> &'static str {
    match colour(device) {
        "#e69f00" | "#56b4e9" | "#f0e442" | "#b7d36b" | "#e8b4a8" | "#8fb8de" | "#cc79a7" => {
            "#1f2933"
        }
        _ => "#ffffff",
    }
}
