//! The HTML of pages. Every text that is not of this program is escaped where it is written.

use gyrase_picture::escape;
use gyrase_picture::words::{self, grouped, things};

use super::events::Status;
use super::result::formats;
use crate::databases::Served;
use crate::engine::Engine;
use crate::job::{Job, JobKind, State, now};

/// Programs that may be chosen, and what they are for.
const PROGRAMS: [(&str, &str); 10] = [
    ("", "by the letters of queries and database"),
    ("blastp", "blastp: proteins in proteins"),
    ("blastn", "blastn: nucleotides in nucleotides"),
    ("megablast", "megablast: nucleotides that are nearly equal"),
    ("dc-megablast", "dc-megablast: nucleotides that differ much"),
    (
        "blastn-short",
        "blastn-short: primers and other short nucleotides",
    ),
    ("blastx", "blastx: translated nucleotides in proteins"),
    ("tblastn", "tblastn: proteins in translated nucleotides"),
    ("tblastx", "tblastx: translated in translated nucleotides"),
    ("blastp-short", "blastp-short: peptides in proteins"),
];

/// Options that stand in the form: name, label, what is so if nothing is written, what it means.
const NUMBERS: [(&str, &str, &str, &str); 6] = [
    (
        "evalue",
        "E-value at most",
        "10",
        "how many alignments chance may give",
    ),
    (
        "top",
        "Subjects of a query",
        "500",
        "the best of the whole database",
    ),
    (
        "query-cover",
        "Query cover in percent",
        "0",
        "of an alignment, at least",
    ),
    (
        "word-size",
        "Word size",
        "by the program",
        "nucleotides: bases in a row that are equal",
    ),
    (
        "gap-open",
        "Cost of a gap",
        "by the program",
        "beside its letters",
    ),
    (
        "gap-extend",
        "Cost of a letter beside a gap",
        "by the program",
        "",
    ),
];

const MATRICES: [&str; 8] = [
    "BLOSUM45", "BLOSUM50", "BLOSUM62", "BLOSUM80", "BLOSUM90", "PAM30", "PAM70", "PAM250",
];

/// Sequences of a look-up that a page shows.
const FIRST: usize = 100;

/// A whole page.
pub fn shell(title: &str, head: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <link rel=\"stylesheet\" href=\"/style.css\">\n\
         <script src=\"/script.js\" defer></script>\n{head}</head>\n<body>\n\
         <header><a href=\"/\">Gyrase</a><nav><a href=\"/\">New job</a> \
         <a href=\"/about\">For programs</a></nav></header>\n\
         <main>\n{body}</main>\n<footer>gyrase {}</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The forms of a service that has several, with the one that is shown.
pub fn tabs(engine: &Engine, shown: JobKind) -> String {
    let databases = engine.databases();
    let all = [
        (JobKind::Search, "/", "Search"),
        (JobKind::Classify, "/classify", "Classify reads"),
        (JobKind::Kmers, "/kmers", "Look up k-mers"),
    ];
    let there = |kind: JobKind| match kind {
        JobKind::Search => !databases.all().is_empty(),
        _ => databases.of_reads().iter().any(|own| own.kind() == kind),
    };
    let links: Vec<String> = all
        .into_iter()
        .filter(|&(kind, ..)| there(kind) || kind == shown)
        .map(|(kind, place, name)| match kind == shown {
            true => format!("<li><a href=\"{place}\" aria-current=\"page\">{name}</a></li>\n"),
            false => format!("<li><a href=\"{place}\">{name}</a></li>\n"),
        })
        .collect();
    match links.len() {
        1 => String::new(),
        _ => format!(
            "<nav class=\"tabs\" aria-label=\"Kinds of jobs\"><ul>\n{}</ul></nav>\n",
            links.concat()
        ),
    }
}

/// A button for each database.
fn choices(databases: &[Served]) -> String {
    databases
        .iter()
        .enumerate()
        .map(|(number, served)| {
            let (name, size) = (escape(&served.named.name), served.searched.size());
            let checked = if number == 0 { " checked" } else { "" };
            let description = escape(&served.named.description);
            format!(
                "<label class=\"choice\"><input type=\"radio\" name=\"database\" value=\"{name}\"\
                 {checked} required> <b>{name}</b> <span>{description}</span> <small>{} {} sequences, {} \
                 letters</small></label>\n",
                grouped(size.sequences),
                served.molecule(),
                grouped(size.letters)
            )
        })
        .collect()
}

/// The form.
pub fn start(engine: &Engine) -> String {
    let limits = &engine.config().limits;
    let databases = engine.databases().all();
    let choices = choices(databases);
    let programs: String = PROGRAMS
        .iter()
        .map(|(name, told)| format!("<option value=\"{name}\">{told}</option>\n"))
        .collect();
    let numbers: String = NUMBERS
        .iter()
        .map(|(name, label, usual, told)| {
            format!(
                "<label>{label} <input name=\"{name}\" inputmode=\"decimal\" \
                 placeholder=\"{usual}\" maxlength=\"20\"> <small>{told}</small></label>\n"
            )
        })
        .collect();
    let matrices: String = MATRICES
        .map(|name| format!("<option>{name}</option>\n"))
        .concat();
    let most = format!(
        "At most {} letters and {} queries; files of at most {}, which may be compressed.",
        grouped(limits.letters),
        grouped(limits.queries),
        words::bytes(limits.body)
    );
    let tabs = tabs(engine, JobKind::Search);
    let body = format!(
        "<h1>Search</h1>\n{tabs}\
         <form action=\"/jobs\" method=\"post\" enctype=\"multipart/form-data\" id=\"search\">\n\
         <fieldset><legend>Queries</legend>\n\
         <label for=\"queries\">Paste sequences: FASTA, FASTQ, or letters alone</label>\n\
         <textarea id=\"queries\" name=\"queries\" rows=\"9\" spellcheck=\"false\" \
         placeholder=\"&gt;name&#10;MKVLAWYGDERTIPLMNVCQHSAAKLEDGIVW\"></textarea>\n\
         <label>or choose a file, or drop one <input type=\"file\" name=\"file\"></label>\n\
         <p><small>{most}</small></p>\n</fieldset>\n\
         <fieldset><legend>Database</legend>\n{choices}</fieldset>\n\
         <fieldset><legend>Program</legend>\n\
         <label>What is compared <select name=\"program\">\n{programs}</select></label>\n\
         <details><summary>More options</summary>\n<div class=\"options\">\n{numbers}\
         <label>Matrix of proteins <select name=\"matrix\"><option value=\"\">by the program\
         </option>\n{matrices}</select></label>\n\
         <label>Taxids <input name=\"taxid\" maxlength=\"200\"> \
         <small>only these and all below them, with commas between</small></label>\n\
         <label>Without taxids <input name=\"not-taxid\" maxlength=\"200\"></label>\n\
         <label>Name of the job <input name=\"title\" maxlength=\"200\"></label>\n\
         <label class=\"choice\"><input type=\"checkbox\" name=\"fast\" value=\"true\"> \
         Proteins: find most, several times sooner</label>\n\
         </div></details>\n</fieldset>\n\
         <p><button type=\"submit\">Search</button></p>\n</form>\n\
         <section id=\"recent\" hidden><h2>Your jobs</h2><ul></ul></section>\n"
    );
    shell("Gyrase search", "", &body)
}

/// What programs need to know.
pub fn about(engine: &Engine) -> String {
    let first = engine.databases().all().first();
    let name = first.map_or("nt", |served| served.named.name.as_str());
    let name = escape(name);
    let reads = engine
        .databases()
        .of_reads()
        .first()
        .map_or(String::new(), |database| {
            format!(
                "<p>Reads are sent as files, and classified, or looked up:</p>\n\
             <pre>curl -s -F reads=@r_1.fq.gz -F mates=@r_2.fq.gz -F database={} \
             ADDRESS/api/v1/reads</pre>\n",
                escape(&database.named.name)
            )
        });
    let body = format!(
        "<h1>For programs</h1>\n\
         <p>The JSON interface is described by <a href=\"/api/v1/openapi.json\">openapi.json</a>. \
         In three commands:</p>\n\
         <pre>curl -s -F file=@queries.fa -F database={name} -F evalue=1e-5 ADDRESS/api/v1/jobs\n\
         curl -s ADDRESS/api/v1/jobs/ID\n\
         curl -s -OJ -H 'Prefer: wait=50' 'ADDRESS/api/v1/jobs/ID/result?format=tsv'</pre>\n\
         <p>Options have the names of <code>gyrase search</code>. The result answers with 202 \
         until the job is done; with <code>Prefer: wait=50</code> it waits so many seconds for \
         that. <code>/events</code> tells its progress as server-sent events; \
         <code>from</code> and <code>to</code> choose queries.</p>\n{reads}\
         <p>Programs that know NCBI's interface find it at <code>ADDRESS/Blast.cgi</code>:</p>\n\
         <pre>from Bio.Blast import NCBIWWW\n\
         NCBIWWW.qblast(\"blastn\", \"{name}\", open(\"queries.fa\").read(),\n    \
         url_base=\"ADDRESS/Blast.cgi\")</pre>\n"
    );
    shell("For programs", "", &body)
}

/// A job: how far it is, or what came of it.
pub fn job(engine: &Engine, job: &Job, status: &Status) -> String {
    let title = if job.title.is_empty() {
        job.kind.name()
    } else {
        &job.title
    };
    let (database, size) = (escape(&job.database), words::bytes(job.letters));
    let what = match job.kind {
        JobKind::Search => format!(
            "{} ({} letters) in <b>{database}</b> by {}",
            things(job.queries, "query sequence"),
            grouped(job.letters),
            escape(job.option("program").unwrap_or("search"))
        ),
        JobKind::Classify => format!("Reads ({size}) classified with <b>{database}</b>"),
        JobKind::Kmers => format!("k-mers of sequences ({size}) in <b>{database}</b>"),
    };
    let (head, state) = match job.state {
        State::Queued | State::Running => (
            "<noscript><meta http-equiv=\"refresh\" content=\"3\"></noscript>\n",
            waiting(job, status),
        ),
        State::Done => ("", done(engine, job)),
        State::Failed => {
            let why = escape(job.problem.as_deref().unwrap_or_default());
            (
                "",
                format!("<p class=\"error\" role=\"alert\">It failed: {why}</p>\n"),
            )
        }
    };
    let body = format!(
        "<h1>{}</h1>\n<p>{what}</p>\n{state}<details><summary>The same on the command line\
         </summary><pre>{}</pre></details>\n\
         <form action=\"/jobs/{}/delete\" method=\"post\"><button class=\"quiet\">Delete this \
         job</button></form>\n",
        escape(title),
        escape(&job.command()),
        job.id
    );
    let body = format!(
        "<div id=\"job\" data-id=\"{}\" data-state=\"{}\">{body}</div>\n",
        job.id,
        job.state.name()
    );
    shell(title, head, &body)
}

fn waiting(job: &Job, status: &Status) -> String {
    let told = match job.state {
        State::Running => {
            let since = now() - job.started.unwrap_or_else(now);
            format!("Running for {} s", grouped(since.max(0) as u64))
        }
        _ => match status.before {
            Some(0) | None => "Next in the queue".into(),
            Some(before) => format!("{} before this one in the queue", things(before, "job")),
        },
    };
    let value = status
        .percent
        .map_or(String::new(), |percent| format!(" value=\"{percent}\""));
    format!(
        "<p id=\"told\" role=\"status\">{told}</p>\n\
         <progress id=\"progress\" max=\"100\"{value} aria-label=\"progress\"></progress>\n\
         <p><small>The address of this page stays: come back whenever you like.</small></p>\n"
    )
}

fn done(engine: &Engine, job: &Job) -> String {
    let downloads: String = formats(job.kind)
        .iter()
        .map(|format| {
            let (id, name, told) = (&job.id, format.name, format.told);
            let place = format!("/api/v1/jobs/{id}/result?format={name}");
            format!("<li><a href=\"{place}\" download>{told}</a></li>\n")
        })
        .collect();
    let took = job
        .finished
        .zip(job.started)
        .map_or(0, |(end, start)| end - start);
    let days = engine.config().limits.keep.as_secs() / (24 * 3600);
    let left = job.finished.map_or(days, |end| {
        days.saturating_sub((now() - end).max(0) as u64 / (24 * 3600))
    });
    let report = match job.kind {
        JobKind::Search | JobKind::Classify => format!(
            "<iframe title=\"Report\" src=\"/jobs/{}/report\" \
             sandbox=\"allow-scripts allow-downloads allow-popups\"></iframe>\n\
             <p><a href=\"/jobs/{}/report\">The report alone</a></p>\n",
            job.id, job.id
        ),
        JobKind::Kmers => first_lines(engine, job),
    };
    format!(
        "<p role=\"status\">{}; {} s. Kept for {} more.</p>\n\
         <details class=\"downloads\"><summary>Download</summary><ul>\n{downloads}</ul></details>\n\
         {report}",
        told_of(job.kind, [job.queries, job.hits, job.with_hits]),
        grouped(took.max(0) as u64),
        things(left, "day"),
    )
}

/// What came of a job, in words.
fn told_of(kind: JobKind, [queries, hits, with_hits]: [u64; 3]) -> String {
    match kind {
        JobKind::Search => format!(
            "<b>{}</b>, {} of {} with hits",
            things(hits, "hit"),
            grouped(with_hits),
            things(queries, "query sequence")
        ),
        JobKind::Classify => format!(
            "<b>{} of {} reads or pairs</b> are classified, in {} {}",
            grouped(with_hits),
            grouped(queries),
            grouped(hits),
            if hits == 1 { "taxon" } else { "taxa" }
        ),
        JobKind::Kmers => format!(
            "<b>{} of {}</b> are there, in {}",
            grouped(hits),
            things(with_hits, "k-mer"),
            things(queries, "sequence")
        ),
    }
}

/// A table of the first sequences whose k-mers were looked up.
fn first_lines(engine: &Engine, job: &Job) -> String {
    let lines = engine.read_folder(&job.id).first_lines(FIRST + 1);
    let row = |(number, line): (usize, &String)| {
        let kind = if number == 0 { "th" } else { "td" };
        let cell = |text: &str| {
            let text: String = text.trim_start_matches('#').chars().take(200).collect();
            format!("<{kind}>{}</{kind}>", escape(&text))
        };
        let cells: String = line.split('\t').map(cell).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = lines.iter().enumerate().map(row).collect();
    let caption = match job.queries {
        all if all > FIRST as u64 => format!("The first {FIRST} of {}", grouped(all)),
        all => things(all, "sequence"),
    };
    format!(
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Sequences\">\
         <table><caption>{caption}</caption>\n{rows}</table></div>\n"
    )
}

/// Something was not done.
pub fn problem(message: &str) -> String {
    let body = format!(
        "<h1>This did not work</h1>\n<p class=\"error\" role=\"alert\">{}</p>\n\
         <p><a href=\"/\">New job</a></p>\n",
        escape(message)
    );
    shell("This did not work", "", &body)
}

/// A job is gone.
pub fn deleted() -> String {
    let body = "<h1>Deleted</h1>\n<p>What was sent and the result are gone.</p>\n\
                <p><a href=\"/\">New job</a></p>\n";
    shell("Deleted", "", body)
}
