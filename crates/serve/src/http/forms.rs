//! The forms of jobs of reads.

use gyrase_picture::escape;
use gyrase_picture::words::{self, things};

use super::views::{shell, tabs};
use crate::engine::Engine;
use crate::job::JobKind;
use crate::reads::ReadDatabase;

/// The form of a classification.
pub fn classify(engine: &Engine) -> String {
    let files = format!(
        "<label>Reads, or first mates: FASTA or FASTQ, which may be compressed \
         <input type=\"file\" name=\"reads\"></label>\n\
         <label>Second mates, if there are any <input type=\"file\" name=\"mates\"></label>\n\
         <label class=\"choice\"><input type=\"checkbox\" name=\"interleaved\" value=\"true\"> \
         Mates follow each other in one file</label>\n{}",
        pasted("or paste reads")
    );
    let options = "<label>Confidence at least <input name=\"confidence\" inputmode=\"decimal\" \
                   placeholder=\"0.035\" maxlength=\"20\"> <small>share of the k-mers of a read \
                   that its taxon has</small></label>\n\
                   <label>Hits at least <input name=\"min-hits\" inputmode=\"numeric\" \
                   placeholder=\"2\" maxlength=\"20\"> <small>in one place of one \
                   reference</small></label>\n\
                   <label>Name of the sample <input name=\"title\" maxlength=\"200\"></label>\n\
                   <label class=\"choice\"><input type=\"checkbox\" name=\"locations\" \
                   value=\"true\"> Lines of reads tell where each lies</label>\n";
    form(engine, JobKind::Classify, "Classify reads", &files, options)
}

/// The form of a look-up.
pub fn kmers(engine: &Engine) -> String {
    let files = format!(
        "<label>Sequences: FASTA or FASTQ, which may be compressed \
         <input type=\"file\" name=\"reads\"></label>\n{}",
        pasted("or paste them")
    );
    let options = "<label>Name of the job <input name=\"title\" maxlength=\"200\"></label>\n\
                   <label class=\"choice\"><input type=\"checkbox\" name=\"all\" value=\"true\"> \
                   The count of every k-mer of each sequence</label>\n";
    form(engine, JobKind::Kmers, "Look up k-mers", &files, options)
}

fn pasted(label: &str) -> String {
    format!(
        "<label for=\"text\">{label}</label>\n\
         <textarea id=\"text\" name=\"text\" rows=\"6\" spellcheck=\"false\" \
         placeholder=\"&gt;name&#10;GATTACAGATTACAGATTACAGATTACA\"></textarea>\n"
    )
}

fn form(engine: &Engine, kind: JobKind, title: &str, files: &str, options: &str) -> String {
    let all = engine.databases().of_reads().iter();
    let databases: Vec<&ReadDatabase> = all.filter(|own| own.kind() == kind).collect();
    let tabs = tabs(engine, kind);
    if databases.is_empty() {
        let body = format!("<h1>{title}</h1>\n{tabs}<p>This service has no database for it.</p>\n");
        return shell(title, "", &body);
    }
    let most = words::bytes(engine.config().limits.reads);
    let choices: String = databases.iter().enumerate().map(choice).collect();
    let body = format!(
        "<h1>{title}</h1>\n{tabs}\
         <form action=\"/reads\" method=\"post\" enctype=\"multipart/form-data\">\n\
         <fieldset><legend>Reads</legend>\n{files}\
         <p><small>At most {most} in all.</small></p>\n</fieldset>\n\
         <fieldset><legend>Database</legend>\n{choices}</fieldset>\n\
         <fieldset><legend>Options</legend>\n<div class=\"options\">\n{options}</div>\n\
         </fieldset>\n<p><button type=\"submit\">{title}</button></p>\n</form>\n\
         <section id=\"recent\" hidden><h2>Your jobs</h2><ul></ul></section>\n"
    );
    shell(title, "", &body)
}

fn choice((number, database): (usize, &&ReadDatabase)) -> String {
    let name = escape(&database.named.name);
    let description = escape(&database.named.description);
    let checked = if number == 0 { " checked" } else { "" };
    let (many, what) = database.size();
    format!(
        "<label class=\"choice\"><input type=\"radio\" name=\"database\" value=\"{name}\"{checked} \
         required> <b>{name}</b> <span>{description}</span> <small>{}</small></label>\n",
        things(many, what)
    )
}
