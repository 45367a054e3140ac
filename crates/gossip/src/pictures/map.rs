//! A topology: devices, and a line for each link between two of them.

use gyrase_picture::words::things;
use gyrase_picture::{Anchor, GREY, INK, Stroke, Svg, bold, plain};

use super::{colour, ink_on};
use crate::topology::{Topology, on_circle};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 640.0;
/// Where devices stand: left, top, and how wide and high that is.
const AREA: (f64, f64, f64, f64) = (80.0, 130.0, 560.0, 440.0);
/// Of a device, in pixels.
const RADIUS: f64 = 20.0;
/// Between the lines of two devices.
const APART: f64 = 5.0;
/// So many links are lines each; of more there is one line, and their number.
const MOST_LINES: u32 = 6;

type Point = (f64, f64);

/// Draws a topology: a line for each link between two devices, or to the switch.
pub fn draw_topology(topology: &Topology) -> Svg {
    let devices = topology.devices();
    let label = format!("topology {}", topology.name());
    let mut svg = Svg::new(WIDTH, HEIGHT, &label);
    let links: u32 = (0..devices).map(|device| topology.leaving(device)).sum();
    let (about, rate) = (things(devices as u64, "device"), topology.rate());
    let counted = match topology.ports() {
        Some(_) => format!("{links} ports to a switch"),
        None => format!("{links} links, counted by direction"),
    };
    let subtitle = format!("{about}, {counted}, {rate} GB/s each");
    svg.heading(24.0, topology.name(), &subtitle);
    let places: Vec<Point> = (0..devices).map(|device| place(topology, device)).collect();
    match topology.ports() {
        Some(ports) => to_switch(&mut svg, &places, ports),
        None => between(&mut svg, topology, &places),
    }
    for (device, &(x, y)) in places.iter().enumerate() {
        let fill = colour(device);
        svg.put(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" fill=\"{fill}\" stroke=\"#ffffff\" \
             stroke-width=\"2\"/>"
        ));
        let style = bold(16, ink_on(device));
        svg.text(x, y + 5.5, Anchor::Middle, &style, &device.to_string());
    }
    svg
}

fn place(topology: &Topology, device: usize) -> Point {
    let (left, top, width, height) = AREA;
    let (x, y) = match topology.places() {
        Some(places) => places[device],
        None => on_circle(device, topology.devices()),
    };
    (left + x * width, top + y * height)
}

fn between(svg: &mut Svg, topology: &Topology, places: &[Point]) {
    for from in 0..places.len() {
        for to in from + 1..places.len() {
            let (there, back) = (topology.links(from, to), topology.links(to, from));
            let links = there.max(back);
            if links == 0 {
                continue;
            }
            let note = match there == back {
                true if links <= MOST_LINES => String::new(),
                true => links.to_string(),
                false => format!("{there} / {back}"),
            };
            let bent = in_the_way(places, from, to);
            lines(svg, (places[from], places[to]), links, bent, &note);
        }
    }
}

/// True where the straight line between two devices passes over a third one.
fn in_the_way(places: &[Point], from: usize, to: usize) -> bool {
    let ((ax, ay), (bx, by)) = (places[from], places[to]);
    let (dx, dy) = (bx - ax, by - ay);
    let length = dx.hypot(dy).max(1.0);
    places.iter().enumerate().any(|(other, &(x, y))| {
        let along = ((x - ax) * dx + (y - ay) * dy) / length;
        let aside = ((x - ax) * dy - (y - ay) * dx).abs() / length;
        other != from && other != to && aside < RADIUS && along > 0.0 && along < length
    })
}

/// Lines side by side from a point to another one, straight or bent.
fn lines(svg: &mut Svg, (a, b): (Point, Point), links: u32, bent: bool, note: &str) {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy).max(1.0);
    let aside = |by: f64| (dy / length * by, -dx / length * by);
    let bend = if bent { length * 0.03 + RADIUS } else { 0.0 };
    let shown = if links <= MOST_LINES { links } else { 1 };
    let width = if links <= MOST_LINES { 2.2 } else { 6.0 };
    for line in 0..shown {
        let by = APART * (f64::from(line) - f64::from(shown - 1) / 2.0);
        let ((sx, sy), (cx, cy)) = (aside(by), aside(by + 2.0 * bend));
        let (mx, my) = ((a.0 + b.0) / 2.0 + cx, (a.1 + b.1) / 2.0 + cy);
        svg.put(format_args!(
            "<path d=\"M{:.1} {:.1}Q{mx:.1} {my:.1} {:.1} {:.1}\" fill=\"none\" \
             stroke=\"{GREY}\" stroke-width=\"{width}\"/>",
            a.0 + sx,
            a.1 + sy,
            b.0 + sx,
            b.1 + sy
        ));
    }
    if !note.is_empty() {
        let (x, y) = aside(bend + 10.0);
        let middle = ((a.0 + b.0) / 2.0 + x, (a.1 + b.1) / 2.0 + y + 4.5);
        svg.text(middle.0, middle.1, Anchor::Middle, &plain(13, INK), note);
    }
}

fn to_switch(svg: &mut Svg, places: &[Point], ports: &[u32]) {
    let (left, top, width, height) = AREA;
    let middle = (left + width / 2.0, top + height / 2.0);
    for (&place, &ports) in places.iter().zip(ports) {
        if ports <= MOST_LINES {
            lines(svg, (place, middle), ports, false, "");
            continue;
        }
        let stroke = Stroke {
            colour: GREY,
            width: 6.0,
            dashed: false,
        };
        svg.polyline(&[place, middle], &stroke);
        let (x, y) = (
            (place.0 * 0.62 + middle.0 * 0.38),
            (place.1 * 0.62 + middle.1 * 0.38),
        );
        svg.put(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"13\" fill=\"#ffffff\"/>"
        ));
        svg.text(
            x,
            y + 4.5,
            Anchor::Middle,
            &plain(13, INK),
            &ports.to_string(),
        );
    }
    let (x, y) = (middle.0 - 55.0, middle.1 - 20.0);
    svg.put(format_args!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"110\" height=\"40\" rx=\"6\" fill=\"{INK}\"/>"
    ));
    svg.text(
        middle.0,
        middle.1 + 5.0,
        Anchor::Middle,
        &bold(15, "#ffffff"),
        "switch",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_and_link_is_drawn() {
        let drawn = |name: &str| draw_topology(&name.parse().unwrap()).finish();
        let dgx = drawn("dgx-1");
        assert_eq!(dgx.matches("<circle").count(), 8);
        assert_eq!(dgx.matches("<path").count(), 24);
        assert!(dgx.contains("48 links, counted by direction"));
        let switch = drawn("h100");
        assert!(switch.contains(">switch<") && switch.matches(">18<").count() == 8);
        assert_eq!(drawn("dgx-2").matches("<path").count(), 96);
        // Of the ways round a torus those over other devices are bent.
        assert_eq!(drawn("torus-4x4").matches("<path").count(), 32);
    }
}
