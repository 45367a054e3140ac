//! Whether the files of a list arrived, and arrived whole.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_picture::words::{grouped, things};
use gyrase_work::in_parallel;
use serde_json::json;

use super::list::{self, Listed, SUMS};
use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use crate::sink;

/// What GTDB and others call a file of checksums.
const OTHER_SUMS: [&str; 3] = ["MD5SUM.txt", "MD5SUMS", "md5sum.txt"];

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wrong {
    Missing(String),
    Damaged(String),
}

/// Checks the files of the lists in `folder`; prints what is wrong, and writes a list of it.
pub fn run(
    lists: &[PathBuf],
    folder: &Path,
    again: Option<&Path>,
    session: &Session,
) -> Result<()> {
    let (mut files, mut taker) = (Vec::new(), None);
    for path in lists {
        let (more, of) = list::parse(path)?;
        files.extend(more);
        taker.get_or_insert(of);
    }
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(Failure::usage(format!(
            "{folder} is no folder; --check names one"
        )));
    }
    let sums = sums_in(folder)?;
    session.progress.start("check", files.len() as u64);
    let found = session.shown(|progress| {
        let next = AtomicUsize::new(0);
        in_parallel(vec![(); session.threads], |()| {
            let mut found = Vec::new();
            while let Some(file) = files.get(next.fetch_add(1, Relaxed)) {
                found.push((file, look(folder, file, &sums)));
                progress.advance(1);
                if progress.is_cancelled() {
                    return Err(Failure::new(Code::Interrupted, "stopped as asked"));
                }
            }
            Ok(found)
        })
    })?;
    let wrong: HashMap<&str, Wrong> = found
        .into_iter()
        .flatten()
        .filter_map(|(file, wrong)| Some((file.name.as_str(), wrong?)))
        .collect();
    let wrong: Vec<(&Listed, &Wrong)> = files
        .iter()
        .filter_map(|file| Some((file, wrong.get(file.name.as_str())?)))
        .collect();
    if let Some(path) = again {
        let files: Vec<Listed> = wrong.iter().map(|&(file, _)| file.clone()).collect();
        let text = taker.map_or(String::new(), |taker| list::text(&files, taker));
        sink::write_all(Some(path), text.as_bytes())?;
    }
    tell(&files, &wrong, &sums, session)
}

/// Prints what is wrong; a failure if anything is.
fn tell(
    files: &[Listed],
    wrong: &[(&Listed, &Wrong)],
    sums: &HashMap<String, String>,
    session: &Session,
) -> Result<()> {
    let lines: String = wrong
        .iter()
        .map(|(file, wrong)| match wrong {
            Wrong::Missing(why) => format!("{}\tmissing\t{why}\n", file.name),
            Wrong::Damaged(why) => format!("{}\tdamaged\t{why}\n", file.name),
        })
        .collect();
    sink::write_all(None, lines.as_bytes())?;
    let is_missing = |(_, wrong): &&(&Listed, &Wrong)| matches!(wrong, Wrong::Missing(_));
    let missing = wrong.iter().filter(is_missing).count() as u64;
    let damaged = wrong.len() as u64 - missing;
    let known = |file: &&Listed| sums.contains_key(&file.name);
    let by_sum = files.iter().filter(known).count() as u64;
    session.note(
        "counts",
        json!({
            "files": files.len(), "missing": missing, "damaged": damaged, "with_md5": by_sum,
        }),
    );
    let all = grouped(files.len() as u64);
    tracing::info!(
        "{} checked, {} by their MD5 sum",
        things(files.len() as u64, "file"),
        grouped(by_sum)
    );
    if wrong.is_empty() {
        return Ok(());
    }
    // What is missing did not come; what is damaged came wrong.
    let code = if damaged > 0 {
        Code::Input
    } else {
        Code::Network
    };
    Err(Failure::new(
        code,
        format!(
            "of {all} files {} missing and {} damaged; remove what is damaged, and download both \
             again with the list that -o writes",
            are(missing),
            are(damaged)
        ),
    ))
}

fn are(count: u64) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", grouped(count))
}

/// The MD5 sums by the name of the file, of all files of such in the folder.
fn sums_in(folder: &Path) -> Result<HashMap<String, String>> {
    let failure = |error: io::Error| {
        Failure::usage(format!(
            "cannot read the folder {}: {error}",
            folder.display()
        ))
    };
    let mut sums = HashMap::new();
    for entry in std::fs::read_dir(folder).map_err(failure)? {
        let path = entry.map_err(failure)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.ends_with(SUMS) && !OTHER_SUMS.contains(&&*name) {
            continue;
        }
        // What is damaged is told when this very file is looked at.
        let text = std::fs::read(&path).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines() {
            if let Some((sum, file)) = sum_of(line) {
                sums.insert(file, sum);
            }
        }
    }
    Ok(sums)
}

/// The sum and the last part of the name of a line as md5sum writes it.
fn sum_of(line: &str) -> Option<(String, String)> {
    let (sum, path) = line.split_once(char::is_whitespace)?;
    let is_sum = sum.len() == 32 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    let path = path.trim_start().trim_start_matches('*');
    let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
    is_sum.then(|| (sum.to_ascii_lowercase(), name.to_owned()))
}

fn look(folder: &Path, file: &Listed, sums: &HashMap<String, String>) -> Option<Wrong> {
    let path = folder.join(&file.name);
    // aria2c keeps notes beside what it has not finished.
    if folder.join(format!("{}.aria2", file.name)).exists() {
        return Some(Wrong::Missing("the download did not end".into()));
    }
    let there = match path.metadata() {
        Ok(there) if there.is_file() => there,
        Ok(_) => return Some(Wrong::Damaged("it is no file".into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Some(Wrong::Missing("it is not there".into()));
        }
        Err(error) => return Some(Wrong::Damaged(error.to_string())),
    };
    if there.len() == 0 {
        return Some(Wrong::Damaged("it is empty".into()));
    }
    let checked = match sums.get(&file.name) {
        Some(sum) => has_sum(&path, sum),
        None => is_whole(&path, file),
    };
    checked.err().map(Wrong::Damaged)
}

fn has_sum(path: &Path, expected: &str) -> std::result::Result<(), String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let (mut sum, mut piece) = (md5::Context::new(), vec![0; PIECE]);
    loop {
        let read = file.read(&mut piece).map_err(|error| error.to_string())?;
        if read == 0 {
            break;
        }
        sum.consume(&piece[..read]);
    }
    let found = format!("{:x}", sum.finalize());
    match found == expected {
        true => Ok(()),
        false => Err(format!("its MD5 sum is {found}, and should be {expected}")),
    }
}

/// Decompresses it to its end, where its name says that it is compressed.
fn is_whole(path: &Path, file: &Listed) -> std::result::Result<(), String> {
    if file.name.ends_with(SUMS) {
        let text = std::fs::read(path).map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let is_table = !text.is_empty() && text.lines().all(|line| sum_of(line).is_some());
        return match is_table {
            true => Ok(()),
            false => Err("it is no list of MD5 sums".into()),
        };
    }
    if !file.name.ends_with(".gz") {
        return Ok(());
    }
    let mut start = [0; 2];
    let mut opened = File::open(path).map_err(|error| error.to_string())?;
    let is_gzip = opened.read_exact(&mut start).is_ok() && start == [0x1f, 0x8b];
    if !is_gzip {
        return Err("it is not gzip; a message of the server may have come instead".into());
    }
    let open = || gyrase_fastx::decompress(File::open(path)?);
    let read = open().and_then(|mut text| io::copy(&mut text, &mut io::sink()));
    match read {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err("it is cut off".into()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_lines_of_md5sum() {
        let sum = "d41d8cd98f00b204e9800998ecf8427e";
        for line in [
            format!("{sum}  ./x.fna.gz"),
            format!("{} *a/b/x.fna.gz", sum.to_uppercase()),
        ] {
            assert_eq!(sum_of(&line), Some((sum.into(), "x.fna.gz".into())));
        }
        for line in ["", "d41d8 x", "<html>", sum] {
            assert_eq!(sum_of(line), None, "{line}");
        }
    }
}
