//! A histogram as a chart of letters.

use gyrase_count::histogram::Histogram;

const COLUMNS: u32 = 60;
const ROWS: u64 = 9;
/// Counts below this are errors at the depth of the demonstration; they do not set the height.
const VALLEY: u32 = 8;

/// Columns are the counts 1 to 60, heights the k-mers that have them; what is cut off at the top
/// shows as `^`.
pub fn chart(histogram: &Histogram) -> String {
    let kmers: Vec<u64> = (1..=COLUMNS).map(|count| histogram.kmers(count)).collect();
    let top = kmers
        .iter()
        .skip(VALLEY as usize)
        .copied()
        .max()
        .unwrap_or(0)
        .max(1);
    let mut text = String::new();
    for row in (1..=ROWS).rev() {
        let line: String = kmers.iter().map(|&kmers| mark(kmers, top, row)).collect();
        let label = if row == ROWS {
            top.to_string()
        } else {
            String::new()
        };
        text += format!("  {label:>8} |{line}").trim_end();
        text.push('\n');
    }
    text += &format!("  {:>8} +{}\n", "k-mers", "-".repeat(COLUMNS as usize));
    text + &format!("  {:>8}  1{:>9}{:>20}{:>30}\n", "count", 10, 30, 60)
}

fn mark(kmers: u64, top: u64, row: u64) -> char {
    if kmers > top && row == ROWS {
        '^'
    } else if kmers * ROWS * 2 >= top * (2 * row - 1) {
        '#'
    } else {
        ' '
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_hill_and_errors() {
        let histogram: Histogram = [(1, 5000), (2, 40), (29, 50), (30, 90), (31, 60)]
            .into_iter()
            .collect();
        let chart = chart(&histogram);
        assert!(chart.starts_with("        90 |^"), "{chart}");
        let last = chart.lines().nth(8).unwrap();
        assert_eq!(&last[12..14], "##", "{chart}");
        assert_eq!(&last[40..43], "###", "{chart}");
        assert!(chart.lines().all(|line| line.len() <= 80));
    }
}
