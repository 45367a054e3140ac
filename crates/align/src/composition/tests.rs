//! The adjustment against BLAST's, at the edges, and on random sequences.

use proptest::prelude::*;

use super::*;
use crate::residue::{ANY, BORDER, LETTERS, STOP, code, letter};

/// Lambda of BLOSUM62, as BLAST+ 2.12 finds it.
const LAMBDA: f64 = 0.317_605_957_635_730_63;

fn codes(letters: &str) -> Vec<u8> {
    letters.bytes().map(code).collect()
}

fn adjuster() -> Adjuster {
    let frequencies = MatrixFrequencies::named("BLOSUM62").expect("it has frequencies");
    Adjuster::new(frequencies, LAMBDA)
}

fn adjusted(query: &str, subject: &str) -> (Scores, Adjustment) {
    let (query, subject) = (codes(query), codes(subject));
    let mut scores = [[0; CODES]; CODES];
    let compositions = [query, subject].map(|one| Composition::of(&one));
    let adjustment = adjuster().adjust(&compositions[0], &compositions[1], &mut scores);
    (scores, adjustment.expect("both have residues"))
}

const QUERY: &str = "MKVKMKTNRTMAKRFKLTANGHIKRAKANGSHYNTKKPKDRKRRLKKKTLITNPKVERKLKPLLQNI";
const SUBJECT: &str = "MPKMKTKKSLAKRVTVKSNGTLKRAKAYRSHRATGKTTKQKRQLSKATIISKVDMKNLKGLLQ";

/// What BLAST+ 2.12 makes of BLOSUM62 for the two: rows and columns are the letters of
/// `residue::LETTERS` but U.
const BLAST: [&str; 26] = [
    " 149  -93  -94  -60   21  -39  -33   22  -86  -45  -57  -76  -46  -73  -68   43  -14  -60  -62    1  -78  -37  -53  -28 -140  -28",
    " -56  157  -60  -61  -96   21  -11  -76  -41 -113  -89   24  -69 -101 -123  -34  -61  -72  -66  -92  -60   15  -95  -31 -140  -31",
    " -37  -39  191   70  -45    9    7   17   14  -98 -110  -37  -74  -85  -95   41    3  -86  -56  -82  156    8 -106  -26 -140  -26",
    " -33  -71   40  250  -63    9   85   -4  -38  -82 -107  -45  -96  -91  -63   21  -22  -93  -81  -80  178   32  -99  -35 -140  -35",
    "  27 -127  -97  -84  395  -78  -96  -38  -97   -2  -11 -122  -25  -40 -102    8   -5  -12  -46   17  -91  -81   -8  -47 -140  -47",
    " -29   -6  -39   -8  -73  186   67  -52  -10 -100  -83   -3  -29 -111  -87   -4  -39  -40  -51  -76  -25  169  -88  -25 -140  -25",
    "  -5  -20  -22   86  -73   85  206  -38   -5  -90  -84    5  -61  -85  -55   20  -20  -47  -47  -59   37  128  -85  -17 -140  -17",
    "  15 -120  -47  -38  -50  -69  -73  229  -95 -128 -131  -99 -105 -101 -111   -4  -65  -52 -103 -103  -43  -70 -130  -63 -140  -63",
    " -34  -26    8  -13  -51   32   19  -37  278  -92  -82  -51  -45  -13  -94   -8  -51  -29   91  -85    0   29  -85  -34 -140  -34",
    " -31 -136 -141  -95    7  -96 -104 -107 -130  169   70 -132   46   19 -124  -70  -23  -46  -30  118 -119  -98  111  -48 -140  -48",
    " -44 -112 -155 -121   -3  -80  -98 -111 -121   69  149 -131   71   32 -136  -81  -49  -18  -28   45 -139  -84  131  -50 -140  -50",
    " -47   16  -66  -43  -98   17    6  -63  -74 -117 -115   97  -84 -128  -97  -28  -59  -97  -86  -99  -55   14 -116  -29 -140  -29",
    " -33  -93 -118 -110  -17  -26  -76  -85  -84   45   71 -100  188    8 -131  -55  -39  -20  -34   32 -115  -35   64  -37 -140  -37",
    " -35 -100 -104  -80   -7  -82  -75  -56  -27   43   58 -118   34  278 -127  -42  -46  113  158   20  -93  -80   53  -41 -140  -41",
    "   9  -83  -75  -14  -31  -20   -6  -28  -70  -62  -73  -50  -67  -89  273    7  -16  -65  -69  -44  -45  -17  -69  -34 -140  -34",
    "  40  -73  -19   -9    0  -17  -10    1  -62  -87  -97  -60  -71  -84  -72  142   35  -72  -63  -58  -15  -15  -94  -26 -140  -26",
    " -11  -94  -51  -46   -8  -46  -45  -55 -100  -34  -59  -85  -48  -82  -90   41  145  -68  -68   -7  -49  -46  -51  -32 -140  -32",
    " -42  -91 -125 -103    0  -32  -57  -28  -63  -42  -14 -109  -15   92 -125  -52  -54  474  133  -49 -115  -37  -22  -56 -140  -56",
    " -35  -75  -86  -81  -25  -34  -48  -69   66  -17  -14  -88  -20  146 -118  -33  -44  143  277   -9  -84  -37  -15  -40 -140  -40",
    "   8 -121 -132 -100   19  -79  -79  -89 -129  111   39 -120   26  -11 -113  -48   -2  -59  -29  160 -117  -79   66  -39 -140  -39",
    " -36  -46  171  147  -49    9   31   13    4  -94 -110  -39  -78  -87  -86   37   -2  -87  -61  -81  162   14 -105  -27 -140  -27",
    " -15  -13  -29   54  -73  143  165  -44   -8  -94  -84    2  -45  -96  -68   10  -28  -43  -49  -66   14  148  -87  -19 -140  -19",
    " -39 -120 -150 -111    1  -85 -100 -110 -124  117  128 -131   63   28 -132  -77  -39  -27  -28   77 -132  -89  124  -47 -140  -47",
    " -18  -42  -56  -40  -40  -17  -23  -42  -59  -45  -46  -35  -33  -58  -87  -12  -22  -55  -45  -33  -46  -17  -44  -35 -140  -35",
    "-140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140 -140   29 -140",
    " -18  -42  -56  -40  -40  -17  -23  -42  -59  -45  -46  -35  -33  -58  -87  -12  -22  -55  -45  -33  -46  -17  -44  -35 -140  -35",
];

#[test]
fn scores_are_those_of_blast() {
    let (scores, adjustment) = adjusted(QUERY, SUBJECT);
    assert_eq!(adjustment.rule, AdjustmentRule::Optimised);
    let but_u = || LETTERS.iter().filter(|&&one| one != b'U');
    for (&row, expected) in but_u().zip(BLAST) {
        let found: Vec<i32> = but_u()
            .map(|&column| scores[code(row) as usize][code(column) as usize])
            .collect();
        let expected: Vec<i32> = expected
            .split_whitespace()
            .map(|score| score.parse().expect("the table has integers"))
            .collect();
        assert_eq!(found, expected, "row {}", char::from(row));
    }
}

/// A row of blastp 2.12 with its defaults: query, subject, both aligned, score.
type Printed = (&'static str, &'static str, &'static str, &'static str, i32);

/// Optimised, with a gap; scaled; scaled at the standard scale; every rare letter.
const PRINTED: [Printed; 4] = [
    (
        QUERY,
        SUBJECT,
        "KMKTNRTMAKRFKLTANGHIKRAKANGSHYNTKKPKDRKRRLKKKTLITNPKVERK-LKPLLQ",
        "KMKTKKSLAKRVTVKSNGTLKRAKAYRSHRATGKTTKQKRQLSKATIIS--KVDMKNLKGLLQ",
        107,
    ),
    (
        "MGKITIVNIDDCIACGACAGTCPQSVLEVNDHVEIKNPDDCIGCGACVDVCPQGVLKVE",
        "MFTFIKKVIKTGTATSSYPLEPIAVDKNFRGKPEQNPQQCIGCAACVNACPSNALTVETDLATGELAWEFNLGHCIFCGRCEEVCPTAAIKLSQEYELAVWKKEDFLQQSRFALCNCRVCNRPFAVQKEIDYAIALLKHNGDSRAENHRESFETCPECKRQKCLVPSDRIELTRHMKEAI",
        "NIDDCIACGACAGTCPQSVLEVNDHVEIK------NPDDCIGCGACVDVCPQGVLKV",
        "NPQQCIGCAACVNACPSNALTVETDLATGELAWEFNLGHCIFCGRCEEVCPTAAIKL",
        85,
    ),
    (
        "MTSSSASGAVERFFEACAGGTVADVTAALATGLFDVDVRSDAGTTGLHEAARKGRADVCRWLVANGASANAPDAMGYTALHWAAAQGALDVCDVLLTAGGADASLTTGYGETPADVARRMQHGRLAARLSDRERPPAGDVDTGTLDEFLSRLDLGGLHERFVAENVAVDVLPALTDADLRELGVDRMGDRKRFLLAARRLK",
        "DIGKWLSAIGLPQYQKKLAENGYDSISIVQDITWEDLQEIGITKLGHQKKLMLAVKRL",
        "HERFVAENV--AVDVLPALTDADLRELGVDRMGDRKRFLLAARRL",
        "YQKKLAENGYDSISIVQDITWEDLQEIGITKLGHQKKLMLAVKRL",
        75,
    ),
    (
        "MDRVTRLASQKAVVVFSKSSUGMSHAVTRLLRXLGVDARVVZLDEEPAGADMZNALAGMLJAGTAANGGGXGRGVVVPTVFIGG*LVGSTDRVMSLHVAGGJVPLLRDAGALWV",
        "MANVEIYTKETUPYUHRAKALLSSKGVSFQELPJBGNAAKREEMIKRSGRTTVPQJFIDAQHIGGUBDLYALDARGGLDPLLK",
        "VVVFSKSSUGMSHAVTRLLRXLGVDARVVZLDEEPAGADMZNALAGMLJAGTAANGGGXGRGVVVPTVFIGG*LVGSTDRVMSLHVAGGJVPLLR",
        "VEIYTKETUPYUHRAKALLSSKGVSFQELPJBGNAAKREEMIKRSGR---------------TTVPQJFIDAQHIGGUBDLYALDARGGLDPLLK",
        76,
    ),
];

/// The score of two aligned rows, each gap of which costs 11 and 1 a letter.
fn score_of(scores: &Scores, query: &str, subject: &str) -> i32 {
    let mut total = 0;
    let mut before = None;
    for (a, b) in query.bytes().zip(subject.bytes()) {
        let gap = [a, b].iter().position(|&one| one == b'-');
        total += match gap {
            None => scores[code(a) as usize][code(b) as usize],
            Some(_) if gap == before => -SCALE,
            Some(_) => -12 * SCALE,
        };
        before = gap;
    }
    (total + SCALE / 2).div_euclid(SCALE)
}

#[test]
fn alignments_score_what_blastp_prints() {
    let rules = [
        AdjustmentRule::Optimised,
        AdjustmentRule::Scaled,
        AdjustmentRule::Scaled,
        AdjustmentRule::Optimised,
    ];
    let ratios = [1.0, 0.853_272_774_617, 1.0, 1.0];
    for (at, (query, subject, top, bottom, expected)) in PRINTED.into_iter().enumerate() {
        let (scores, adjustment) = adjusted(query, subject);
        assert_eq!(adjustment.rule, rules[at]);
        assert!((adjustment.lambda_ratio - ratios[at]).abs() < 1e-11);
        assert_eq!(score_of(&scores, top, bottom), expected);
    }
}

#[test]
fn letters_without_scores_are_forbidden() {
    for (query, subject) in [(PRINTED[0].0, PRINTED[0].1), (PRINTED[1].0, PRINTED[1].1)] {
        let (scores, _) = adjusted(query, subject);
        for unused in [BORDER as usize, LETTERS.len()] {
            assert!(scores[unused].iter().all(|&score| score == FORBIDDEN));
            assert!(scores.iter().all(|row| row[unused] == FORBIDDEN));
        }
        for (like, one) in [(b'C', b'U'), (b'X', b'O')] {
            let [like, one] = [like, one].map(|letter| code(letter) as usize);
            assert_eq!(
                scores[one][..27],
                scores[like][..27],
                "{}",
                letter(one as u8)
            );
            assert!(scores[..27].iter().all(|row| row[one] == row[like]));
        }
        let stop = STOP as usize;
        assert_eq!(
            [scores[0][stop], scores[stop][0], scores[stop][stop]],
            [-140, -140, 29]
        );
    }
}

#[test]
fn sequences_without_residues_are_not_adjusted() {
    let adjuster = adjuster();
    let some = Composition::of(&codes("MKV"));
    for none in ["", "XXXX", "BZJXO*"] {
        let none = Composition::of(&codes(none));
        assert_eq!(none.standard(), 0);
        assert_eq!(none.frequencies(), &[0.0; STANDARD]);
        let mut scores = [[7; CODES]; CODES];
        assert_eq!(adjuster.adjust(&none, &some, &mut scores), None);
        assert_eq!(adjuster.adjust(&some, &none, &mut scores), None);
        assert_eq!(adjuster.scale(&none, &none, &mut scores), None);
        assert_eq!(scores, [[7; CODES]; CODES]);
    }
}

#[test]
fn compositions_count_u_as_c_and_leave_out_what_is_masked() {
    let composition = Composition::of(&codes("CUXAb*"));
    assert_eq!(composition.standard(), 3);
    assert_eq!(composition.frequencies()[code(b'C') as usize], 2.0 / 3.0);
    assert_eq!(composition.frequencies()[code(b'A') as usize], 1.0 / 3.0);
    assert_eq!(composition.length, 6);
}

#[test]
fn one_kind_of_residue_is_scaled_by_half() {
    // So much of one residue has no target frequencies of the relative entropy wanted.
    let all = "W".repeat(40_000);
    let (scores, adjustment) = adjusted(&all, &all);
    assert_eq!(adjustment.rule, AdjustmentRule::Scaled);
    assert_eq!(adjustment.lambda_ratio, 0.5);
    let w = code(b'W') as usize;
    // Half of 366.79, which the matrix has at scale.
    assert_eq!(scores[w][w], 183);
}

#[test]
fn few_residues_change_little() {
    let adjuster = adjuster();
    let five = Composition::of(&codes("MKVLA"));
    let mut scores = [[0; CODES]; CODES];
    let adjustment = adjuster.adjust(&five, &five, &mut scores);
    assert_eq!(
        adjustment.map(|one| one.rule),
        Some(AdjustmentRule::Optimised)
    );
    let (w, a) = (code(b'W') as usize, code(b'A') as usize);
    assert!((330..390).contains(&scores[w][w]), "{}", scores[w][w]);
    assert!((90..140).contains(&scores[a][a]), "{}", scores[a][a]);
}

#[test]
fn ideal_lambda_is_that_of_blast() {
    let frequencies = MatrixFrequencies::named("BLOSUM62").expect("it has frequencies");
    let mut matrix = [[-1i8; CODES]; CODES];
    // Scores of the matrix are half bits.
    for (scores, ratios) in matrix.iter_mut().zip(log_ratios(frequencies.ratios)) {
        for (score, ratio) in scores.iter_mut().zip(ratios) {
            *score = (2.0 * ratio / std::f64::consts::LN_2).round() as i8;
        }
    }
    let w = code(b'W') as usize;
    assert_eq!([matrix[0][0], matrix[w][w], matrix[0][w]], [4, 11, -3]);
    let lambda = ideal_lambda(&matrix).expect("chance loses");
    assert!((lambda - LAMBDA).abs() < 1e-14, "{lambda}");
    assert_eq!(ideal_lambda(&[[1; CODES]; CODES]), None);
    assert_eq!(ideal_lambda(&[[0; CODES]; CODES]), None);
}

/// Sequences of 1 to 400 letters, of which some are more frequent than others.
fn sequences() -> impl Strategy<Value = Vec<u8>> {
    let weights = proptest::collection::vec(0u32..100, STANDARD);
    (weights, 1usize..400, any::<u64>()).prop_map(|(weights, length, seed)| {
        let total: u32 = weights.iter().sum::<u32>().max(1);
        let mut state = seed | 1;
        let draw = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let mut at = (state >> 33) as u32 % total;
            let found = weights.iter().position(|&weight| {
                let here = at < weight;
                at = at.saturating_sub(weight);
                here
            });
            found.map_or(ANY, |code| code as u8)
        };
        (0..length).map(draw).collect()
    })
}

proptest! {
    #[test]
    fn kernels_agree(query in sequences(), subject in sequences()) {
        let adjuster = adjuster();
        let [query, subject] = [query, subject].map(|one| Composition::of(&one));
        prop_assume!(query.standard() > 0 && subject.standard() > 0);
        let optimise = |kernels: Kernels, scores: &mut Scores| {
            let work = Optimisation {
                adjuster: &adjuster,
                query: &query,
                subject: &subject,
                scores,
            };
            kernels.run(#[inline(always)] || work.run())
        };
        let mut portable = [[0; CODES]; CODES];
        let mut detected = [[0; CODES]; CODES];
        let done = optimise(Kernels::Scalar, &mut portable);
        let also = optimise(adjuster.kernels, &mut detected);
        prop_assert_eq!(done, also);
        prop_assert_eq!(portable, detected);
    }

    #[test]
    fn swapped_sequences_swap_rows_and_columns(query in sequences(), subject in sequences()) {
        let adjuster = adjuster();
        let [query, subject] = [query, subject].map(|one| Composition::of(&one));
        prop_assume!(query.standard() > 0 && subject.standard() > 0);
        let mut one = [[0; CODES]; CODES];
        let mut other = [[0; CODES]; CODES];
        let forth = adjuster.adjust(&query, &subject, &mut one);
        let back = adjuster.adjust(&subject, &query, &mut other);
        prop_assert_eq!(forth.map(|done| done.rule), back.map(|done| done.rule));
        for i in 0..CODES {
            for j in 0..CODES {
                prop_assert_eq!(one[i][j], other[j][i], "{} {}", i, j);
            }
        }
    }

    /// By definition of lambda, chance is expected to give one.
    #[test]
    fn scores_have_the_standard_lambda(query in sequences(), subject in sequences()) {
        let adjuster = adjuster();
        let [query, subject] = [query, subject].map(|one| Composition::of(&one));
        prop_assume!(query.standard() > 0 && subject.standard() > 0);
        let mut scores = [[0; CODES]; CODES];
        let done = adjuster.adjust(&query, &subject, &mut scores).expect("both have residues");
        let compositions = [&query, &subject].map(|one| match done.rule {
            AdjustmentRule::Optimised => one.with_pseudocounts(&adjuster.background),
            _ => one.frequencies,
        });
        let mut expected = 0.0;
        for i in 0..STANDARD {
            for j in 0..STANDARD {
                let chance = compositions[0][i] * compositions[1][j];
                expected += chance * (f64::from(scores[i][j]) * adjuster.lambda).exp();
            }
        }
        let bounded = [0.5, 1.0].contains(&done.lambda_ratio);
        let bounded = done.rule == AdjustmentRule::Scaled && bounded;
        prop_assert!(bounded || (expected - 1.0).abs() < 5e-3, "{expected} {done:?}");
    }
}
