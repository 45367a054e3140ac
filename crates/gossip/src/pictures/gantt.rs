//! A plan in time: a row for each direction of each edge, a bar for each transfer.

use gyrase_picture::{Anchor, Axes, GREY, INK, Scale, Stroke, Svg, plain, ticks};

use super::{colour, ink_on};
use crate::plan::TransferPlan;
use crate::planner::Bound;
use crate::simulator::{Timed, ideal, total};
use crate::topology::Topology;
use crate::transfers::{Sizes, Transfer};

const WIDTH: f64 = 1080.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 1050.0;
const TOP: f64 = 112.0;
/// Rows are so high, and all of them together not higher.
const ROW: f64 = 22.0;
const MOST: f64 = 1400.0;

/// Draws a plan in time, as if nothing took time but bytes on links: a row for each two devices
/// that are sent between, in the colours of the devices that the bytes are for.
pub fn draw_plan(
    plan: &TransferPlan,
    topology: &Topology,
    bound: &Bound,
    sizes: Option<&Sizes>,
) -> Svg {
    let (traffic, times) = ideal(plan, topology, sizes);
    let queues = traffic.queues();
    let row = ROW.min(MOST / queues.len().max(1) as f64);
    let bottom = TOP + row * queues.len() as f64;
    let end = total(&times);
    let label = format!("plan of {} on {}", plan.collective(), topology.name());
    let mut svg = Svg::new(WIDTH, bottom + 100.0, &label);
    heading(&mut svg, plan, topology, bound, end);
    let shown = end.max(bound.time).max(f64::MIN_POSITIVE) * 1.02;
    let x = |time: f64| LEFT + (RIGHT - LEFT) * time / shown;
    for (number, (&(from, to), queue)) in queues.iter().enumerate() {
        let top = TOP + row * number as f64;
        if row >= 9.0 {
            let style = plain(((row * 0.6) as u32).clamp(8, 13), INK);
            let words = format!("{from} > {to}");
            svg.text(LEFT - 8.0, top + row * 0.72, Anchor::End, &style, &words);
        }
        for &transfer in queue {
            let Timed { start, end } = times[transfer];
            bar(
                &mut svg,
                &traffic.transfers()[transfer],
                (x(start), x(end)),
                (top, row),
            );
        }
    }
    axis(&mut svg, shown, bottom);
    limit(&mut svg, x(bound.time), bottom);
    legend(&mut svg, plan.devices());
    svg
}

fn heading(svg: &mut Svg, plan: &TransferPlan, topology: &Topology, bound: &Bound, end: f64) {
    let title = format!(
        "{} on {}",
        capital(&plan.collective().to_string()),
        topology.name()
    );
    let (chunks, transfers) = (plan.chunks(), plan.transfers());
    let part = 100.0 * bound.time / end.max(f64::MIN_POSITIVE);
    let pieces = if chunks == 1 {
        "1 chunk".into()
    } else {
        format!("{chunks} chunks")
    };
    let subtitle = format!(
        "{pieces} a message, {transfers} transfers, {end:.3} link times: {part:.1} % of the bound \
         of {:.3}",
        bound.time
    );
    svg.heading(24.0, &title, &subtitle);
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A transfer; where there is room, with the devices that its bytes are from and for.
fn bar(svg: &mut Svg, transfer: &Transfer, (from, to): (f64, f64), (top, row): (f64, f64)) {
    let gap = if row > 6.0 { 1.0 } else { 0.2 };
    let (width, height) = ((to - from - gap / 2.0).max(0.3), row - gap);
    let fill = colour(transfer.target);
    svg.put(format_args!(
        "<rect x=\"{from:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" \
         fill=\"{fill}\"/>"
    ));
    if width > 40.0 && row > 14.0 {
        let words = format!("{} > {}", transfer.source, transfer.target);
        let style = plain(12, ink_on(transfer.target));
        svg.text(
            from + width / 2.0,
            top + row * 0.7,
            Anchor::Middle,
            &style,
            &words,
        );
    }
}

fn axis(svg: &mut Svg, end: f64, bottom: f64) {
    let axes = Axes {
        left: LEFT,
        right: RIGHT,
        top: TOP,
        bottom,
        x_end: end,
        y_end: 1.0,
        scale: Scale::Linear,
        x_title: "",
        y_title: "",
    };
    axes.outline(svg);
    // Ticks are whole numbers: of a short time they are parts.
    let parts = [1.0, 10.0, 100.0, 1000.0]
        .into_iter()
        .find(|parts| end * parts >= 5.0);
    let parts = parts.unwrap_or(1000.0);
    let style = plain(13, INK);
    for tick in ticks(end * parts) {
        let x = axes.x(tick as f64 / parts);
        svg.put(format_args!(
            "<path d=\"M{x:.1} {bottom}v6\" stroke=\"{INK}\"/>"
        ));
        let words = (tick as f64 / parts).to_string();
        svg.text(x, bottom + 22.0, Anchor::Middle, &style, &words);
    }
    let middle = (LEFT + RIGHT) / 2.0;
    let words = "Time, in what one message takes over one link";
    svg.text(
        middle,
        bottom + 46.0,
        Anchor::Middle,
        &plain(14, INK),
        words,
    );
}

fn limit(svg: &mut Svg, x: f64, bottom: f64) {
    let stroke = Stroke {
        colour: INK,
        width: 1.6,
        dashed: true,
    };
    svg.polyline(&[(x, TOP - 8.0), (x, bottom)], &stroke);
    svg.text(
        x,
        TOP - 12.0,
        Anchor::End,
        &plain(12, GREY),
        "no plan is faster",
    );
}

/// Colours of the devices that bytes are for.
fn legend(svg: &mut Svg, devices: usize) {
    let y = 82.0;
    svg.text(
        24.0,
        y + 4.5,
        Anchor::Start,
        &plain(13, INK),
        "Bytes for device",
    );
    for device in 0..devices.min(16) {
        let (x, fill) = (136.0 + 40.0 * device as f64, colour(device));
        svg.put(format_args!(
            "<rect x=\"{x}\" y=\"{:.1}\" width=\"30\" height=\"16\" fill=\"{fill}\"/>",
            y - 8.0
        ));
        let style = plain(12, ink_on(device));
        svg.text(
            x + 15.0,
            y + 4.5,
            Anchor::Middle,
            &style,
            &device.to_string(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Collective;
    use crate::planner::{Config, Method, plan};
    use gyrase_work::Progress;

    #[test]
    fn every_transfer_has_a_bar() {
        let config = Config {
            topology: "s1".parse().unwrap(),
            collective: Collective::Scatter { main: 0 },
            method: Method::Auto,
            chunks: None,
            sizes: None,
        };
        let planned = plan(&config, &Progress::default()).unwrap();
        let svg = draw_plan(&planned.plan, &config.topology, &planned.bound, None).finish();
        // One rectangle is the paper, four are of the legend.
        assert_eq!(
            svg.matches("<rect").count(),
            planned.plan.transfers() + 1 + 4
        );
        assert!(svg.contains(">0 &gt; 3</text>") && svg.contains("Scatter from device 0 on s1"));
        assert!(svg.contains("100.0 % of the bound of 0.750"));
    }
}
