//! probe
use gyrase_align::composition::*;
use gyrase_align::residue;
use std::io::BufRead;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let name = &a[1];
    let lambda: f64 = a[2].parse().unwrap();
    let mode: i32 = a[3].parse().unwrap();
    let reps: u32 = a.get(4).map_or(0, |r| r.parse().unwrap());
    let adj = Adjuster::new(MatrixFrequencies::named(name).unwrap(), lambda);
    let mut pairs = vec![];
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (q, s) = line.split_once('\t').unwrap();
        let e = |s: &str| s.bytes().map(residue::code).collect::<Vec<u8>>();
        pairs.push((Composition::of(&e(q)), Composition::of(&e(s))));
    }
    let mut sc = [[0; 32]; 32];
    if reps > 0 {
        let mut t = vec![];
        for _ in 0..reps {
            let t0 = std::time::Instant::now();
            for (q, s) in &pairs {
                std::hint::black_box(if mode == 1 {
                    adj.scale(q, s, &mut sc)
                } else {
                    adj.adjust(q, s, &mut sc)
                });
            }
            t.push(t0.elapsed().as_secs_f64() * 1e6 / pairs.len() as f64);
        }
        t.sort_by(f64::total_cmp);
        println!("us per pair: min {} median {}", t[0], t[t.len() / 2]);
        return;
    }
    for (q, s) in &pairs {
        let r = if mode == 1 {
            adj.scale(q, s, &mut sc)
        } else {
            adj.adjust(q, s, &mut sc)
        };
        match r {
            None => println!("none"),
            Some(r) => {
                print!(
                    "{} {:.12}",
                    if r.rule == Rule::Scaled { 1 } else { 2 },
                    r.lambda_ratio
                );
                for i in 0..27 {
                    for j in 0..27 {
                        print!(" {}", sc[i][j]);
                    }
                }
                println!();
            }
        }
    }
}
