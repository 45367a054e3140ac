//! The numbers that the text of the publication has, and the same of the model.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_work::{Progress, in_parallel};

use super::constants::SsdConstants;
use super::device::{BusyWith, SsdDesign};
use super::error::SsdError;
use super::hosts::OtherCounter;
use super::mapping::PartitionMapping;
use super::profile::StorageProfile;
use super::run::{Division, SsdConfig, SsdRun, chips_of};
use super::sets::{PUBLISHED_K, PUBLISHED_SETS};

/// Sets and lengths: reads of set s and length k are number `3 s + place of k`.
const CASES: usize = PUBLISHED_SETS.len() * PUBLISHED_K.len();

/// How a number came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarOrigin {
    /// Constants were fitted to it.
    Fitted,
    /// Nothing was.
    Predicted,
}

/// A number of the text beside that of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedScalar {
    /// Where it stands.
    pub place: &'static str,
    /// What it is.
    pub what: &'static str,
    /// As published.
    pub published: f64,
    /// As modelled.
    pub found: f64,
    /// How.
    pub origin: ScalarOrigin,
}

impl PublishedScalar {
    /// How far the model is off, as a part of the published number.
    pub fn error(&self) -> f64 {
        self.found / self.published - 1.0
    }
}

/// A sentence of the text, and whether it holds in the model.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedSentence {
    /// Where it stands.
    pub place: &'static str,
    /// In our words.
    pub words: &'static str,
    /// True where it holds.
    pub holds: bool,
    /// The numbers.
    pub because: String,
}

/// A variation of a device: what figures compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation {
    /// The design.
    pub design: SsdDesign,
    /// Channels, if others.
    pub channels: Option<usize>,
    /// KiB of a scratchpad, if others.
    pub pad_kib: Option<u64>,
    /// The mapping.
    pub mapping: PartitionMapping,
}

impl Variation {
    /// A design as it is.
    pub fn of(design: SsdDesign) -> Variation {
        let mapping = PartitionMapping::Heuristic;
        Variation {
            design,
            channels: None,
            pad_kib: None,
            mapping,
        }
    }

    fn config(&self, grain: SsdConfig) -> SsdConfig {
        let Variation {
            design,
            channels,
            pad_kib,
            mapping,
        } = *self;
        let pad = pad_kib.map(|kib| kib << 10);
        SsdConfig {
            design,
            channels,
            pad,
            mapping,
            ..grain
        }
    }

    fn op() -> Variation {
        Variation::of(SsdDesign::Op)
    }

    fn channels(channels: usize) -> Variation {
        Variation {
            channels: Some(channels),
            ..Variation::op()
        }
    }

    fn pad(kib: u64) -> Variation {
        Variation {
            pad_kib: Some(kib),
            ..Variation::op()
        }
    }

    fn mapped(design: SsdDesign, mapping: PartitionMapping) -> Variation {
        Variation {
            mapping,
            ..Variation::of(design)
        }
    }

    /// Those that constants are fitted to: figure 9 and section 7.4.2.
    pub fn fitted() -> Vec<Variation> {
        let designs = SsdDesign::ALL.map(Variation::of);
        designs
            .into_iter()
            .chain([16, 8].map(Variation::channels))
            .collect()
    }

    /// All of the publication.
    pub fn all() -> Vec<Variation> {
        let mut all = Variation::fitted();
        all.extend(PADS.map(Variation::pad));
        let designs = SsdDesign::ALL.into_iter();
        all.extend(designs.flat_map(|one| MAPPINGS.map(|mapping| Variation::mapped(one, mapping))));
        all
    }
}

/// Scratchpads of figure 12 beside that of 2 MB, in KiB.
pub const PADS: [u64; 6] = [512, 1024, 4096, 8192, 16384, 32768];
/// Mappings of figure 11 beside the heuristic one, and the other readings of that.
pub const MAPPINGS: [PartitionMapping; 6] = [
    PartitionMapping::RoundRobin,
    PartitionMapping::Random,
    PartitionMapping::HeuristicModulo,
    PartitionMapping::HeuristicSnake,
    PartitionMapping::HeuristicBlocks,
    PartitionMapping::Greedy,
];

/// Variations of a device that have their partitions.
#[derive(Clone, Debug)]
pub struct PublishedCases {
    profiles: Vec<StorageProfile>,
    variations: Vec<Variation>,
    /// By variation, then by set and k.
    divisions: Vec<Division>,
}

impl PublishedCases {
    /// Batches of a chip: finer ones change ratios by less than 2 %.
    pub const GRAIN: u64 = 16;

    /// Gives the partitions of all sets and lengths to the chips of all variations, whose batches
    /// and random mappings are those of `grain`.
    ///
    /// # Errors
    /// A device cannot be, or the run was cancelled.
    ///
    /// # Panics
    /// When there are not five sets at three lengths.
    pub fn divide(
        profiles: Vec<StorageProfile>,
        variations: Vec<Variation>,
        constants: &SsdConstants,
        grain: SsdConfig,
        (threads, progress): (usize, &Progress),
    ) -> Result<PublishedCases, SsdError> {
        assert_eq!(profiles.len(), CASES, "five sets, three lengths");
        progress.start("divide", 0);
        // Many variations have the same partitions on the same chips.
        let alike = |one: &Variation, other: &Variation| {
            (one.mapping, one.channels) == (other.mapping, other.channels)
        };
        let mut kinds: Vec<Variation> = Vec::new();
        for variation in &variations {
            if !kinds.iter().any(|kind| alike(kind, variation)) {
                kinds.push(*variation);
            }
        }
        let chips = at_once(threads, kinds.len() * CASES, |number| {
            progress.go_on()?;
            let config = kinds[number / CASES].config(grain);
            Ok(chips_of(&profiles[number % CASES], &config, constants))
        })?;
        let divisions = at_once(threads, variations.len() * CASES, |number| {
            progress.go_on()?;
            let (variation, case) = (&variations[number / CASES], number % CASES);
            let kind = kinds.iter().position(|kind| alike(kind, variation));
            let chips = &chips[kind.expect("each has a kind") * CASES + case];
            Division::on(&profiles[case], &variation.config(grain), constants, chips)
        })?;
        Ok(PublishedCases {
            profiles,
            variations,
            divisions,
        })
    }

    /// Lets time pass in all of them.
    ///
    /// # Errors
    /// A device cannot be, or the run was cancelled.
    pub fn simulate(
        &self,
        constants: &SsdConstants,
        (threads, progress): (usize, &Progress),
    ) -> Result<PublishedRuns<'_>, SsdError> {
        progress.start("simulate", self.divisions.len() as u64);
        let found = at_once(threads, self.divisions.len(), |number| {
            progress.go_on()?;
            progress.advance(1);
            self.divisions[number].simulate(constants)
        })?;
        let mut found = found.into_iter();
        let of = |variation: &Variation| (*variation, found.by_ref().take(CASES).collect());
        let runs = self.variations.iter().map(of).collect();
        Ok(PublishedRuns {
            profiles: &self.profiles,
            runs,
        })
    }
}

/// Does `all` things on threads, and gives what comes of them in their order.
fn at_once<T: Send>(
    threads: usize,
    all: usize,
    each: impl Fn(usize) -> Result<T, SsdError> + Sync,
) -> Result<Vec<T>, SsdError> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(all)));
    in_parallel((0..threads.max(1)).collect(), |_: usize| {
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= all {
                return Ok::<(), SsdError>(());
            }
            let made = each(number)?;
            found.lock().expect(HELD).push((number, made));
        }
    })?;
    let mut found = found.into_inner().expect(HELD);
    found.sort_unstable_by_key(|(number, _)| *number);
    Ok(found.into_iter().map(|(_, made)| made).collect())
}

/// Runs of variations over all sets and lengths.
#[derive(Clone, Debug)]
pub struct PublishedRuns<'p> {
    /// The profiles, by set and then by k.
    pub profiles: &'p [StorageProfile],
    runs: Vec<(Variation, Vec<SsdRun>)>,
}

impl PublishedRuns<'_> {
    /// The runs of a variation, by set and then by k.
    ///
    /// # Panics
    /// When it was not simulated.
    pub fn of(&self, variation: Variation) -> &[SsdRun] {
        let found = self.runs.iter().find(|(one, _)| *one == variation);
        &found.expect("it was simulated").1
    }

    /// Seconds of a variation.
    fn seconds(&self, variation: Variation) -> Vec<f64> {
        self.of(variation).iter().map(|run| run.seconds).collect()
    }

    /// How many times as long as the second the first takes.
    pub fn ratios(&self, slow: Variation, fast: Variation) -> Vec<f64> {
        let pairs = self.seconds(slow).into_iter().zip(self.seconds(fast));
        pairs.map(|(slow, fast)| slow / fast).collect()
    }

    /// How many times as long as OP another counter takes.
    pub fn against(&self, other: OtherCounter, constants: &SsdConstants) -> Vec<f64> {
        let pairs = self.profiles.iter().zip(self.seconds(Variation::op()));
        pairs
            .map(|(profile, op)| other.seconds(profile, constants) / op)
            .collect()
    }

    fn energy_against(&self, other: OtherCounter, constants: &SsdConstants) -> f64 {
        let pairs = self.profiles.iter().zip(self.of(Variation::op()));
        mean(pairs.map(|(profile, op)| other.joules(profile, constants) / op.joules))
    }

    fn energy_of(&self, design: SsdDesign) -> f64 {
        let pairs = self
            .of(Variation::op())
            .iter()
            .zip(self.of(Variation::of(design)));
        mean(pairs.map(|(op, other)| op.joules / other.joules))
    }

    /// The scalars of figure 9 and of section 7.4.2.
    pub fn fitted_scalars(&self, constants: &SsdConstants) -> Vec<PublishedScalar> {
        let times = |other| self.against(other, constants);
        let [cpu, gpu, nest, smart] = OtherCounter::ALL.map(times);
        let designs = [SsdDesign::Basic, SsdDesign::Bf];
        let [basic, bf] = designs.map(|one| self.ratios(Variation::of(one), Variation::op()));
        let channels = |many| self.ratios(Variation::channels(8), many);
        let energy = |other| self.energy_against(other, constants);
        let [of_cpu, of_gpu, of_nest, of_smart] = OtherCounter::ALL.map(energy);
        let [by_basic, by_bf] = designs.map(|one| self.energy_of(one));
        let (nine, fit) = ("fig. 9", |place, what, published, found| {
            scalar(place, what, published, found, ScalarOrigin::Fitted)
        });
        vec![
            fit(nine, "OP faster than the CPU", 8.38, mean(cpu)),
            fit(nine, "OP faster than CPU and GPU", 6.95, mean(gpu.clone())),
            predicted(nine, "the same, at most", 11.20, most(&gpu)),
            fit(nine, "OP faster than NEST", 2.32, mean(nest.clone())),
            predicted(nine, "the same, at most", 9.84, most(&nest)),
            fit(nine, "OP faster than SmartSSD", 3.47, mean(smart)),
            fit(nine, "OP faster than Basic", 2.57, mean(basic)),
            fit(nine, "OP faster than BF", 1.76, mean(bf)),
            fit(nine, "energy of the CPU by OP's", 15.22, of_cpu),
            fit(nine, "energy of CPU and GPU by OP's", 19.93, of_gpu),
            fit(nine, "energy of NEST by OP's", 3.23, of_nest),
            fit(nine, "energy of SmartSSD by OP's", 2.18, of_smart),
            fit(nine, "energy of OP by Basic's", 0.98, by_basic),
            fit(nine, "energy of OP by BF's", 1.66, by_bf),
            fit(
                "7.4.2",
                "16 channels faster than 8",
                1.63,
                mean(channels(Variation::channels(16))),
            ),
            fit(
                "7.4.2",
                "32 channels faster than 8",
                2.44,
                mean(channels(Variation::op())),
            ),
        ]
    }

    /// All thirty.
    pub fn scalars(&self, constants: &SsdConstants) -> Vec<PublishedScalar> {
        let mut all = self.fitted_scalars(constants);
        let compute = self.compute_share(SsdDesign::Op);
        all.push(predicted(
            "fig. 10",
            "share of computation in OP",
            0.593,
            compute,
        ));
        let random = self.of_all_designs(PartitionMapping::Random);
        let heuristic = self.of_all_designs(PartitionMapping::Heuristic);
        let [least_k, best_k] = [least(&random), most(&random)];
        let eleven = |what, published, found| predicted("fig. 11", what, published, found);
        all.extend([
            eleven("random faster than round-robin, least k", 1.65, least_k),
            eleven("random faster than round-robin, best k", 2.18, best_k),
            eleven(
                "heuristic faster than round-robin, k = 14",
                1.87,
                heuristic[0],
            ),
            eleven(
                "heuristic faster than round-robin, k = 21",
                2.36,
                heuristic[1],
            ),
            eleven(
                "heuristic faster than round-robin, k = 28",
                1.97,
                heuristic[2],
            ),
        ]);
        all.extend(self.figure_12());
        let largest = self
            .of(Variation::pad(4096))
            .iter()
            .map(|run| run.large)
            .max();
        let what = "partitions too large for 4 MB, worst case";
        all.push(predicted("5.2.2", what, 7.0, largest.unwrap_or(0) as f64));
        all
    }

    /// Figure 12 is of "five workloads": of k = 28, which table 2 names the default.
    fn figure_12(&self) -> Vec<PublishedScalar> {
        let by_set = |slow, fast| every(&self.ratios(slow, fast), PUBLISHED_K.len() - 1);
        let slower = |slow, fast| mean(by_set(slow, fast));
        let (op, pad) = (Variation::op(), Variation::pad);
        let mut by_set = by_set(pad(512), op);
        by_set.sort_unstable_by(f64::total_cmp);
        let twelve = |what, published, found| predicted("fig. 12", what, published, found);
        vec![
            twelve("2 MB slower than 4 MB", 1.03, slower(op, pad(4096))),
            twelve("2 MB slower than 8 MB", 1.08, slower(op, pad(8192))),
            twelve("2 MB slower than 16 MB", 1.17, slower(op, pad(16384))),
            twelve("2 MB slower than 32 MB", 1.43, slower(op, pad(32768))),
            twelve("1 MB slower than 2 MB", 1.19, slower(pad(1024), op)),
            twelve("512 KB slower than 2 MB", 1.98, slower(pad(512), op)),
            twelve("the same, third of five sets", 1.04, by_set[2]),
        ]
    }

    /// The mean share of computation.
    pub fn compute_share(&self, design: SsdDesign) -> f64 {
        mean(
            self.of(Variation::of(design))
                .iter()
                .map(|run| run.share(BusyWith::Compute)),
        )
    }

    /// How many times as fast as round-robin a mapping is, for each k.
    pub fn over_round_robin(&self, design: SsdDesign, mapping: PartitionMapping) -> Vec<f64> {
        let [slow, fast] = [PartitionMapping::RoundRobin, mapping]
            .map(|mapping| Variation::mapped(design, mapping));
        let ratios = self.ratios(slow, fast);
        (0..PUBLISHED_K.len())
            .map(|place| mean(every(&ratios, place)))
            .collect()
    }

    /// The same on the mean of all designs: figure 11 is "for Abakus", and does not say of which.
    pub fn of_all_designs(&self, mapping: PartitionMapping) -> Vec<f64> {
        let each = SsdDesign::ALL.map(|design| self.over_round_robin(design, mapping));
        (0..PUBLISHED_K.len())
            .map(|place| mean(each.iter().map(|times| times[place])))
            .collect()
    }

    /// What the text says in words.
    pub fn sentences(&self) -> Vec<PublishedSentence> {
        let [basic, bf, op] = SsdDesign::ALL.map(Variation::of);
        let filter = self.ratios(basic, bf);
        let (at_14, at_28) = (every(&filter, 0), every(&filter, 2));
        let mut order: Vec<usize> = (0..at_28.len()).collect();
        order.sort_by(|&a, &b| at_28[b].total_cmp(&at_28[a]));
        order.truncate(2);
        order.sort_unstable();
        let (over_basic, over_bf) = (self.ratios(basic, op), self.ratios(bf, op));
        let wins = over_basic
            .iter()
            .zip(&over_bf)
            .filter(|(a, b)| a.min(**b) > 1.0)
            .count();
        let shares = SsdDesign::ALL.map(|design| self.compute_share(design));
        vec![
            says(
                "7.2",
                "BF gains most over Basic for Crassa and Thaliana at k = 28",
                order == [CRASSA, THALIANA],
                format!("Basic / BF by set at k = 28: {}", short(&at_28)),
            ),
            says(
                "7.2",
                "BF is only a little faster than Basic at k = 14",
                at_14.iter().all(|ratio| (0.95..1.15).contains(ratio)),
                format!("Basic / BF by set at k = 14: {}", short(&at_14)),
            ),
            says(
                "7.2",
                "OP is faster than Basic and BF in most cases",
                2 * wins > CASES,
                format!("in {wins} of {CASES}"),
            ),
            self.vesca(&every(&over_bf, 2)),
            says(
                "7.3",
                "the share of computation in OP is more than twice that of the others",
                shares[2] > 2.0 * shares[0].max(shares[1]),
                format!("Basic, BF, OP: {}", short(&shares)),
            ),
        ]
    }

    /// That OP suffers for Vesca, where it has these advantages over BF at k = 28.
    fn vesca(&self, over_bf: &[f64]) -> PublishedSentence {
        let case = PUBLISHED_K.len() * VESCA + 2;
        let writes = &self.of(Variation::op())[case].chip_writes;
        let alone = most(writes) / mean(writes.iter().copied());
        let others = least(&over_bf[..VESCA]);
        says(
            "7.2",
            "OP suffers for Vesca at k = 28, for one chip that writes most",
            over_bf[VESCA] < others && alone > 2.0,
            format!(
                "BF / OP is {:.2} there and at least {others:.2} for other reads; one chip writes \
                 {alone:.1} times the mean",
                over_bf[VESCA],
            ),
        )
    }
}

/// Places of sets that the text has something to say about.
const CRASSA: usize = 1;
const THALIANA: usize = 3;
const VESCA: usize = 4;

fn scalar(
    place: &'static str,
    what: &'static str,
    published: f64,
    found: f64,
    origin: ScalarOrigin,
) -> PublishedScalar {
    PublishedScalar {
        place,
        what,
        published,
        found,
        origin,
    }
}

fn predicted(
    place: &'static str,
    what: &'static str,
    published: f64,
    found: f64,
) -> PublishedScalar {
    scalar(place, what, published, found, ScalarOrigin::Predicted)
}

fn says(
    place: &'static str,
    words: &'static str,
    holds: bool,
    because: String,
) -> PublishedSentence {
    PublishedSentence {
        place,
        words,
        holds,
        because,
    }
}

fn short(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|value| format!("{value:.2}")).collect();
    words.join(", ")
}

const HELD: &str = "no thread panics while it holds this";

/// The values of all sets at one k.
fn every(values: &[f64], k: usize) -> Vec<f64> {
    values
        .iter()
        .skip(k)
        .step_by(PUBLISHED_K.len())
        .copied()
        .collect()
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0u32);
    values.into_iter().for_each(|value| {
        sum += value;
        count += 1;
    });
    sum / f64::from(count.max(1))
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MAX, f64::min)
}
